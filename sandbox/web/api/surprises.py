"""What JSON, HTTP and the network always allow: replies of another shape, and calls that fail once (axes_http)."""

import json
import re
import time
from collections.abc import Callable, Iterator
from decimal import Decimal

import orjson
from flask import Response, request
from orjson import Fragment
from werkzeug.datastructures import Headers

from sandbox.contract.errors import Error, Refusal
from sandbox.contract.field_rows import BodyRow
from sandbox.contract.fields import PAYMENT, STANDING_ORDER
from sandbox.web.api.body_schemas import reply_order
from sandbox.web.api.call import Call
from sandbox.web.api.failures import render_refusal
from sandbox.web.api.fault_replies import gateway_page, reshape
from sandbox.web.api.replies import MEDIA


def absent_in(body: BodyRow) -> tuple[str, ...]:
    return ("psu_name", *(row.path for row in reply_order(body.outers()) if not row.always))


# Fields that a reply may leave out, by operation.
MAY_BE_ABSENT: dict[str, tuple[str, ...]] = {
    "payment_status": ("reason",),
    "standing_order_status": ("reason",),
    "bulk_status": ("reason",),
    "payment_details": absent_in(PAYMENT),
    "standing_order_details": absent_in(STANDING_ORDER),
    "token": ("logical_id",),
}
OUTSIDE_ASCII = re.compile(r"[^\x00-\x7f]")
PIECES = 5
PAUSE = 0.002  # seconds between two pieces: enough for each to be sent by itself, and little for a suite of tests


def maybe_fail_first_call(call: Call, view: Callable[[], Response]) -> Response:
    """The call; the first of its operation may fail as the axes say."""
    if call.decisions.unavailable == "first_call" and call.world.is_first("unavailable", call.operation.name):
        response = render_refusal(Refusal(Error.UNAVAILABLE))
        del response.headers["Retry-After"]
        return response
    gateway = call.decisions.gateway
    if gateway == "silent" or not call.world.is_first("gateway", call.operation.name):
        return view()
    if gateway == "504":
        view()
    request.environ["sandbox.surprise"] = f"the axis gateway: {gateway}"
    return gateway_page(int(gateway))


def apply_reply_variants(call: Call, response: Response) -> None:
    """Lays the axes of JSON and HTTP over a finished reply, some by the server, which is missing in-process."""
    if response.content_type == MEDIA:
        body = response.get_data()
        dressed = reshaped(call, body)
        if dressed is not body:
            response.set_data(dressed)
        match call.decisions.content_type_reply:
            case "plain":
                response.headers["Content-Type"] = "application/json"
            case "vendor":
                vendor = call.world.decisions.vendor
                version = call.version or call.operation.versions[0]
                response.headers["Content-Type"] = f"application/vnd.{vendor}.api+json; version={version}"
    if call.decisions.header_case == "lower":
        response.headers = Headers([(name.lower(), value) for name, value in response.headers])
        call.environ.get("sandbox.lower", lambda: None)()
    if call.decisions.connection == "closed":
        call.environ.get("sandbox.close", lambda: None)()


def reshaped(call: Call, body: bytes) -> bytes:
    """The same content of JSON, written otherwise; untouched where no axis says so."""
    fields = call.decisions.unknown_fields == "everywhere"
    turned = call.decisions.key_order == "reversed"
    digits = call.decisions.number_digits
    absent = MAY_BE_ABSENT.get(call.operation.name, ()) if call.decisions.absent_fields == "null" else ()
    indented = call.decisions.json_layout == "indented"
    if fields or turned or digits != "all" or absent or indented:
        content = json.loads(body, parse_float=lambda text: Fragment(number_text(text, digits)))
        if absent and isinstance(content, dict) and "error_code" not in content:
            content |= {name: None for name in absent if name not in content}
        content = reshape(content, more=fields, turned=turned)
        body = orjson.dumps(content, option=orjson.OPT_INDENT_2 if indented else None)
    if call.decisions.json_escapes == "ascii":
        text = OUTSIDE_ASCII.sub(lambda found: json.dumps(found[0])[1:-1], body.decode())
        body = text.replace("/", r"\/").encode()
    return body


def number_text(text: str, digits: str) -> str:
    """A number of JSON with other digits and the same worth."""
    match digits:
        case "shortest":
            return f"{Decimal(text).normalize():f}"
        case "exponent":
            sign, places, exponent = Decimal(text).normalize().as_tuple()
            first, *rest = map(str, places)
            assert isinstance(exponent, int)
            return f"{'-' if sign else ''}{first}.{''.join(rest) or '0'}e{exponent + len(rest)}"
        case _:
            return text


def send_in_chunks(call: Call, response: Response) -> None:
    """The last that is done with a reply: its body comes slowly. The worker sleeps: another one would cost more."""
    if call.decisions.body_pieces == "whole" or not response.get_data():
        return
    body = response.get_data()
    size = max(1, -(-len(body) // PIECES))

    def pieces() -> Iterator[bytes]:
        for start in range(0, len(body), size):
            if start:
                time.sleep(PAUSE)
            yield body[start : start + size]

    response.response = pieces()
    response.headers["Content-Length"] = str(len(body))
