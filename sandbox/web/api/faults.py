"""Changes replies, delays them or holds them back, because a tester or an axis asked for it (choice 13).

A tester may order a fault: another reply, a late reply, half a reply, or no reply. Two kinds of faults happen in the
customer's browser: on the bank's own pages, and on the way back to the TPP. A tester may also set a barrier. A call
waits there until the tester releases it: before its act, after its act, or before its reply. Axes ask for things that
JSON, HTTP and the network always allow: replies of another form, and calls that fail once.

A call that waits holds no lock, but it occupies a worker (a thread) of the server. So it reserves a worker before it
may change anything. If no worker is free to wait, the call is refused.
"""

import json
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from decimal import Decimal
from functools import partial
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import orjson
from flask import Response, current_app, request
from markupsafe import escape
from orjson import Fragment
from werkzeug.datastructures import Headers

from sandbox.contract.errors import Error, Refusal
from sandbox.contract.field_rows import BodyRow
from sandbox.contract.fields import PAYMENT, STANDING_ORDER
from sandbox.contract.languages import SCREENS
from sandbox.contract.operations import GATEWAY
from sandbox.lazy import load
from sandbox.web.api.body_schemas import reply_order
from sandbox.web.api.call import Call
from sandbox.web.api.failures import RETRY_AFTER, make_refusal_response, render_refusal
from sandbox.web.api.headers import find_client_id
from sandbox.web.api.replies import MEDIA, make_json_response
from sandbox.worlds.faults import EDGES, LINE, ConnectionFault, Fault, FaultAnswer
from sandbox.worlds.holds import HeldCall, Wait
from sandbox.worlds.world import World

# The error that gives the body of a status, if the tester gives none.
BY_STATUS = {
    400: Error.INPUT_INVALID,
    401: Error.ACCESS_TOKEN_REFUSED,
    403: Error.ACCESS_DENIED,
    404: Error.NOT_FOUND,
    405: Error.METHOD_NOT_ALLOWED,
    406: Error.NOT_ACCEPTABLE,
    408: Error.REQUEST_TIMEOUT,
    409: Error.CONFLICT,
    415: Error.UNSUPPORTED_MEDIA_TYPE,
    429: Error.TOO_MANY_REQUESTS,
    495: Error.CERTIFICATE_REFUSED,
    500: Error.INTERNAL,
    503: Error.UNAVAILABLE,
}
HTML = "text/html; charset=utf-8"
TOO_MANY_WAIT = (
    "Too many calls wait already, by fault rules and holds: a world has at most 200 that wait, the server 400."
)
NEW_FIELDS = {"x_new_field": "a field that came later", "x_new_object": {"since": 4}}
ALTERED = "altered-by-a-fault-rule"

# Reserves a worker for a call that is about to wait in a world. Yields False if the bound is reached.
Reserve = Callable[[str], AbstractContextManager[bool]]


class Cut(ConnectionError):
    """Raised while a reply is sent, to end the connection. It is raised only if the server has no exception of its own
    for this."""


# Faults of a call


def apply_fault(fault: Fault, view: Callable[[], Response]) -> Response:
    """Returns the reply to a call to which a fault rule applies. If the rule orders a reply, returns this reply and
    does not call `view`. Otherwise returns the reply of `view`. The rule may also order that the reply is changed or
    cut, that it comes late, or that connections fail from now on. A late reply waits after the view, when no lock is
    held."""
    with reserve_worker(request.environ) if fault.delay else nullcontext():
        response = _make_ordered_reply(fault.answer, is_page=fault.when.operation in EDGES) if fault.answer else view()
        if fault.change is not None and response.content_type == MEDIA:
            response.set_data(_change_body(response.get_data(), fault.change))
        pause(fault.delay)
    if fault.connection is not None:
        line: ConnectionFault | None = current_app.config.get(LINE)
        if line is not None:
            line.order(fault.connection, fault.seconds)
    return _cut(response, fault.cut) if fault.cut else response


@contextmanager
def reserve_worker(environ: dict[str, Any]) -> Iterator[None]:
    """Reserves a worker (thread) of the server while the block runs, for a call that is about to wait. Refuses the call
    if too many calls wait already. Reserves nothing in a process without a server."""
    reserve: Reserve | None = environ.get("sandbox.reserve")
    with nullcontext(True) if reserve is None else reserve(environ["sandbox.world"]) as has_room:
        if not has_room:
            raise Refusal(Error.UNAVAILABLE, seconds=RETRY_AFTER, sentence=TOO_MANY_WAIT, clause="choice 13")
        yield


def pause(seconds: float) -> None:
    """Waits for this number of seconds. The caller must have reserved a worker by `reserve_worker`."""
    if seconds:
        wait: Callable[[float], None] = request.environ.get("sandbox.wait", time.sleep)
        wait(seconds)


def _make_ordered_reply(answer: FaultAnswer, *, is_page: bool) -> Response:
    if is_page or answer.status in GATEWAY or answer.content_type is not None:
        return _make_foreign_reply(answer)
    error = BY_STATUS[answer.status]
    seconds = RETRY_AFTER if answer.retry_after is None else answer.retry_after
    reason = "a fault rule says so"
    response = make_refusal_response(
        Refusal(error, input="call", why=reason, method=request.method, allow="", expected="another", seconds=seconds)
    )
    wait = response.headers.get("Retry-After") if answer.retry_after is None else str(seconds)
    if answer.body is not None:
        response = make_json_response(answer.body, answer.status)
    if wait is not None:
        response.headers["Retry-After"] = wait
    return response


def _make_foreign_reply(answer: FaultAnswer) -> Response:
    """Returns a reply as a gateway in front of the bank would send it. The only header of the bank in it is
    Response-ID, which is added later."""
    if answer.body is None and answer.content_type is None:
        response = make_gateway_page(answer.status)
    else:
        is_text = isinstance(answer.body, str | None)
        content = (answer.body or "").encode() if is_text else orjson.dumps(answer.body)
        response = Response(content, answer.status, content_type=answer.content_type or (HTML if is_text else MEDIA))
    if answer.retry_after is not None:
        response.headers["Retry-After"] = str(answer.retry_after)
    return response


def make_gateway_page(status: int) -> Response:
    title = f"{status} {HTTPStatus(status).phrase}"
    body = f"<html><head><title>{title}</title></head><body><h1>{title}</h1></body></html>\n"
    return Response(body, status, content_type=HTML)


def _change_body(body: bytes, change: str) -> bytes:
    """Returns the body with the change that a fault rule orders. The result is unusual but allowed JSON, or for
    `malformed` the first two thirds of the body."""
    if change == "malformed":
        return body[: max(1, len(body) * 2 // 3)]
    content = orjson.loads(body)
    if change == "unknown_fields" and isinstance(content, dict):
        content |= NEW_FIELDS
    elif change == "key_order":
        content = reshape(content, reversed_keys=True)
    elif change == "both_languages" and isinstance(content, list) and content:  # a bank may offer all that it has
        languages = {row.get("language") for row in content}
        content += [content[0] | {"language": other} for other in SCREENS if other not in languages]
    return orjson.dumps(content)


def reshape(value: Any, *, new_fields: bool = False, reversed_keys: bool = False) -> Any:
    """Returns the value with new fields in each object (`new_fields`), with the keys of each object in reversed order
    (`reversed_keys`), or with both."""
    if isinstance(value, dict):
        rows = [
            (name, reshape(item, new_fields=new_fields, reversed_keys=reversed_keys)) for name, item in value.items()
        ]
        return dict(reversed(rows) if reversed_keys else rows) | (NEW_FIELDS if new_fields else {})
    if isinstance(value, list):
        return [reshape(item, new_fields=new_fields, reversed_keys=reversed_keys) for item in value]
    return value


class HangingUp(Response):
    """A response whose connection breaks within the body. It sends a body even if its status, such as 204, forbids a
    body."""

    def get_app_iter(self, environ: Any) -> Iterable[bytes]:
        return self.iter_encoded()


def _cut(response: Response, place: str) -> Response:
    """Returns a reply that breaks off: before its first byte if `place` is `before`, else in the middle of its body. If
    `place` is `reset`, the connection also ends with a reset (RST). The error that ends the connection is raised while
    the body is sent, because the framework would turn an error in the view into a 500."""
    body = response.get_data()
    ended = request.environ.get("sandbox.cut", Cut)
    reset = request.environ.get("sandbox.reset")

    def pieces() -> Iterator[bytes]:
        if place != "before":
            yield body[: len(body) // 2]
        if place == "reset" and reset is not None:
            reset()
        raise ended("a fault rule cuts the connection")

    cut_short = HangingUp(pieces(), response.status, content_type=response.content_type)
    cut_short.headers.extend((name, value) for name, value in response.headers if name != "Content-Type")
    cut_short.headers["Content-Length"] = str(len(body))
    return cut_short


# Barriers


@contextmanager
def claim_barrier(call: Call, place: str) -> Iterator[Callable[[], None]]:
    """Claims the barrier that a tester has set for this call at this place. Yields a function that waits there until
    the tester releases the call. If there is no such barrier, yields a function that does nothing. Raises Refusal if no
    worker is free to wait."""
    if not call.world.holds.by_name:
        yield pass_by
        return
    environ = call.request.environ
    facts = HeldCall(
        environ.get("HTTP_REQUEST_ID", "")[:64],
        call.operation.name,
        environ["REQUEST_METHOD"],
        environ["PATH_INFO"][:1_000],
        call.world.look(find_client_id, environ, call.operation),
    )
    hold = call.world.holds.claim(place, facts)
    if hold is None:
        yield pass_by
        return
    with ExitStack() as reserved:
        try:
            reserved.enter_context(reserve_worker(environ))
        except Refusal:
            call.world.holds.let_pass(hold)
            raise
        yield partial(call.world.holds.hold, hold, find_waiting(environ))


def pass_by() -> None:
    """Does nothing. `claim_barrier` yields this function if no barrier is set for the call."""


def find_waiting(environ: dict[str, Any]) -> Wait:
    """Returns the function that waits at a barrier. The server has such a function. A process without a server uses
    `wait_here`. The caller must have reserved a worker by `reserve_worker`."""
    wait: Wait | None = environ.get("sandbox.hold")
    return wait or wait_here


def wait_here(event: threading.Event, seconds: float) -> None:
    event.wait(seconds)


# Faults in the customer's browser


class WayBack(NamedTuple):
    """How the browser gets back to the TPP: the callback address, and how often the browser visits it. If the address
    is None, the browser is not sent back."""

    address: str | None
    times: int = 1


def choose_way_back(world: World, address: str) -> WayBack:
    """Returns the address to which the browser is really sent, and how often, when the bank redirects it to the
    callback `address`. Extensions, fault rules and axes can change both. Waits if a fault rule delays the callback. The
    returned address is None if `address` is empty, or if a fault rule or an axis loses the callback."""
    if not address:  # this bank sends nobody back after a refusal
        return WayBack(None)
    if world.decisions.extensions:
        address = load("sandbox.web.api.reply_filter:filter_callback")(world, address)
    fault = world.faults.find_for_call("callback", None)
    if fault is not None and fault.delay:
        with reserve_worker(request.environ):
            pause(fault.delay)
    match world.decisions.callback_arrival if fault is None else fault.callback:
        case "twice":
            return WayBack(address, 2)
        case "never" | "lost":
            return WayBack(None)
        case "altered_state":
            parts = urlsplit(address)
            pairs = [pair for pair in parse_qsl(parts.query, keep_blank_values=True) if pair[0] != "state"]
            return WayBack(urlunsplit(parts._replace(query=urlencode([*pairs, ("state", ALTERED)]))))
    return WayBack(address)


def send_browser(world: World, response: Response) -> Response:
    """Returns the redirection of the browser to the TPP, with the changes by fault rules and axes. Returns a page in
    its place if the browser is not sent back, or if it visits the address twice."""
    address = response.headers["Location"]
    way = choose_way_back(world, address)
    if way.address is None:
        return _make_page("The way back to the application was lost: a fault rule or an axis says so.", response)
    if way.times > 1:
        return _visit_twice(way.address, response)
    response.headers["Location"] = way.address
    return response


def _visit_twice(address: str, before: Response) -> Response:
    """Returns a page that opens the address in a frame, and a second later in the browser itself."""
    escaped_address = escape(address)
    again = f'<meta http-equiv="refresh" content="1;url={escaped_address}">'
    response = _make_page("You are sent back.", before, again, f'<iframe src="{escaped_address}" hidden></iframe>')
    parts = urlsplit(address)
    response.headers["Content-Security-Policy"] = f"default-src 'none'; frame-src {parts.scheme}://{parts.netloc}"
    return response


def _make_page(text: str, before: Response, head: str = "", more: str = "") -> Response:
    content = (
        f"<!doctype html><html><head><title>Bank</title>{head}</head><body><p>{escape(text)}</p>{more}</body></html>"
    )
    response = Response(content, content_type=HTML)
    for cookie in before.headers.getlist("Set-Cookie"):
        response.headers.add("Set-Cookie", cookie)
    response.headers["Content-Security-Policy"] = "default-src 'none'"
    response.headers["Cache-Control"] = "no-store"
    return response


# Axes


def list_absent_fields(body: BodyRow) -> tuple[str, ...]:
    return ("psu_name", *(row.path for row in reply_order(body.list_outers()) if not row.always))


# The fields that a reply may leave out, by operation.
MAY_BE_ABSENT: dict[str, tuple[str, ...]] = {
    "payment_status": ("reason",),
    "standing_order_status": ("reason",),
    "bulk_status": ("reason",),
    "payment_details": list_absent_fields(PAYMENT),
    "standing_order_details": list_absent_fields(STANDING_ORDER),
    "token": ("logical_id",),
}
OUTSIDE_ASCII = re.compile(r"[^\x00-\x7f]")
PIECES = 5
PAUSE = 0.002  # seconds between two pieces: enough for each to be sent by itself, and little for a suite of tests


def fail_first_call_or_view(call: Call, view: Callable[[], Response]) -> Response:
    """Calls the view and returns its reply. Under the axes `unavailable` and `gateway`, the first call of each
    operation fails instead. With the value `504` of `gateway`, the failed call has been executed."""
    if call.decisions.unavailable == "first_call" and call.world.calls.is_first_use("unavailable", call.operation.name):
        response = render_refusal(Refusal(Error.UNAVAILABLE))
        del response.headers["Retry-After"]
        return response
    gateway = call.decisions.gateway
    if gateway == "silent" or not call.world.calls.is_first_use("gateway", call.operation.name):
        return view()
    if gateway == "504":
        view()
    request.environ["sandbox.surprise"] = f"the axis gateway: {gateway}"
    return make_gateway_page(int(gateway))


def apply_reply_variants(call: Call, response: Response) -> None:
    """Changes a finished reply as the axes about JSON and HTTP say. The axes `header_case` and `connection` have their
    full effect only if a real server sends the reply."""
    if response.content_type == MEDIA:
        body = response.get_data()
        variant = write_body_variant(call, body)
        if variant is not body:
            response.set_data(variant)
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


def write_body_variant(call: Call, body: bytes) -> bytes:
    """Returns the JSON written in another form, if axes ask for it. Returns the object `body` itself if no axis changes
    it."""
    new_fields = call.decisions.unknown_fields == "everywhere"
    reversed_keys = call.decisions.key_order == "reversed"
    digits = call.decisions.number_digits
    absent = MAY_BE_ABSENT.get(call.operation.name, ()) if call.decisions.absent_fields == "null" else ()
    indented = call.decisions.json_layout == "indented"
    if new_fields or reversed_keys or digits != "all" or absent or indented:
        content = json.loads(body, parse_float=lambda text: Fragment(write_other_digits(text, digits)))
        if absent and isinstance(content, dict) and "error_code" not in content:
            content |= {name: None for name in absent if name not in content}
        content = reshape(content, new_fields=new_fields, reversed_keys=reversed_keys)
        body = orjson.dumps(content, option=orjson.OPT_INDENT_2 if indented else None)
    if call.decisions.json_escapes == "ascii":
        text = OUTSIDE_ASCII.sub(lambda match: json.dumps(match[0])[1:-1], body.decode())
        body = text.replace("/", r"\/").encode()
    return body


def write_other_digits(text: str, digits: str) -> str:
    """Returns a JSON number with the same value in other digits. For `12.50`, this is `12.5` with `shortest` and
    `1.25e1` with `exponent`. With any other value of `digits`, returns the text unchanged."""
    match digits:
        case "shortest":
            return f"{Decimal(text).normalize():f}"
        case "exponent":
            sign, places, exponent = Decimal(text).normalize().as_tuple()
            first, *other_digits = map(str, places)
            assert isinstance(exponent, int)
            return f"{'-' if sign else ''}{first}.{''.join(other_digits) or '0'}e{exponent + len(other_digits)}"
        case _:
            return text


def send_in_chunks(call: Call, response: Response) -> None:
    """Makes the server send the body slowly and in pieces, if the axis `body_pieces` asks for it. The worker sleeps
    between the pieces."""
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
