"""Each axis of the callback and of proofs, seen on the wire under each value; and that no axis was left out."""

from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from uuid import uuid4

import orjson
import pytest

from sandbox.client.transport import Signer
from sandbox.contract.decisions import AXES
from tests.payer import approve, bearer, begin, code_form, post_form, refuse, status, tokens
from tests.reader import consent_address
from tests.tpp import SCT, Tpp, payment
from tests.variants import (
    test_accounts,
    test_headers,
    test_initiation,
    test_orders_and_files,
    test_surprises,
    test_tokens,
)
from tests.variants.probing import Seen, Table, cases, show


def query_of(tpp: Tpp, *, yes: bool = True, state: str = "s-1") -> str:
    address = f"{begin(tpp).address}?state={state}"
    reply = approve(tpp, address, "alice") if yes else refuse(tpp, address)
    assert reply.status_code == 200, reply.text
    return str(urlsplit(reply.get_json()["redirect"]).query)


def pairs(tpp: Tpp) -> list[tuple[str, str]]:
    return parse_qsl(query_of(tpp))


def state(tpp: Tpp) -> list[str]:
    query_of(tpp, state="s-0")
    return [value for name, value in pairs(tpp) if name == "state"]


def code(tpp: Tpp) -> tuple[int, bool, int]:
    """How many codes come, whether one came before, and what the first is worth."""
    before = dict(pairs(tpp))["code"]
    found = [value for name, value in pairs(tpp) if name == "code"]
    return len(found), found[0] == before, post_form(tpp, code_form(found[0])).status_code


def names(tpp: Tpp) -> list[str]:
    return [name for name, _ in pairs(tpp)]


def error(tpp: Tpp) -> str:
    return dict(parse_qsl(query_of(tpp, yes=False)))["error"]


def blank(tpp: Tpp) -> str:
    return query_of(tpp, state="a%20b").rpartition("state=")[2]


def arrival(tpp: Tpp) -> tuple[Any, int]:
    """How often the callback comes, and what its code is worth."""
    reply = approve(tpp, begin(tpp).address, "alice").get_json()
    if reply["redirect"] is None:
        return None, 0
    code = dict(parse_qsl(urlsplit(reply["redirect"]).query))["code"]
    return reply.get("times", 1), post_form(tpp, code_form(code)).status_code


def after_a_no(tpp: Tpp) -> tuple[bool, str, bool]:
    begun, consent = begin(tpp), consent_address(tpp)
    sent_back = refuse(tpp, begun.address).get_json()["redirect"]
    return bool(sent_back), status(tpp, begun), bool(refuse(tpp, consent).get_json()["redirect"])


def code_with_a_token(tpp: Tpp) -> list[int]:
    """What the codes are worth that come where a token was used."""
    begun = begin(tpp, headers={"authorization": bearer(tokens(tpp))})
    found = parse_qsl(urlsplit(approve(tpp, begun.address, "alice").get_json()["redirect"]).query)
    return [post_form(tpp, code_form(value)).status_code for name, value in found if name == "code"]


def proofs(tpp: Tpp) -> list[int]:
    """The body in the payload part, detached, and three headers."""
    signer = Signer(lambda: datetime(2027, 3, 1, 8, tzinfo=UTC))
    tpp.control("PUT", "/clients/demo-tpp", keys=[signer.public])
    found = []
    for over in ("attached", "detached", "headers"):
        asked, body = str(uuid4()), orjson.dumps(payment())
        sent = {"request_id": asked, "content_type": "application/json", **signer.headers(body, over, asked)}
        found.append(tpp.call("POST", f"/payments/{SCT}", data=body, **sent).status_code)
    return found


def unsigned(tpp: Tpp) -> tuple[int, int]:
    return tpp.initiate().status_code, tpp.initiate(digest="SHA-256=x").status_code


def dated(tpp: Tpp) -> int:
    return tpp.initiate(date="Mon, 01 Mar 2027 08:01:00 GMT").status_code


SEEN: Table = {
    "callback_state": Seen(
        state, {"kept": ["s-1"], "missing": [], "altered": ["another-state"], "other_flow": ["s-0"]}
    ),
    "callback_code": Seen(
        code,
        {
            "given": (1, False, 200),
            "twice": (2, False, 200),
            "foreign": (1, False, 401),
            "other_flow": (1, True, 200),
        },
    ),
    "callback_arrival": Seen(arrival, {"once": (1, 200), "twice": (2, 200), "late": (1, 401), "never": (None, 0)}),
    "refusal_callback": Seen(after_a_no, {"error": (True, "CANC", True), "none": (False, "CANC", False)}),
    "code_beside_token": Seen(code_with_a_token, {"no": [], "yes": [401]}),
    "signature_over": Seen(
        proofs,
        {
            "body": [201, 201, 401],
            "attached": [201, 401, 401],
            "detached": [401, 201, 401],
            "headers": [401, 401, 201],
        },
    ),
    "callback_error": Seen(error, {"access_denied": "access_denied", "server_error": "server_error"}),
    "callback_outcome": Seen(names, {"one": ["code", "state"], "both": ["code", "error", "state"]}),
    "callback_parameters": Seen(names, {"known": ["code", "state"], "more": ["code", "state", "iss", "session_state"]}),
    "callback_encoding": Seen(blank, {"plus": "a+b", "percent": "a%20b"}),
    "signatures": Seen(unsigned, {"lenient": (201, 401), "off": (201, 201), "strict": (400, 400)}),
    "date_tolerance": Seen(dated, {"long": 201, "short": 401}),
}
EVERY: Table = {
    **test_accounts.SEEN,
    **test_tokens.SEEN,
    **test_headers.SEEN,
    **test_surprises.SEEN,
    **test_initiation.SEEN,
    **test_orders_and_files.SEEN,
    **SEEN,
}
ELSEWHERE: set[str] = {"sca_methods", "client_certificates", "certificate_clock"}  # tests/psu, tests/pki


@pytest.mark.parametrize("axis, value", cases(SEEN))
def test_each_value_shows_on_the_wire(tpp: Tpp, axis: str, value: str) -> None:
    show(tpp, SEEN, axis, value)


def test_every_value_of_every_axis_has_its_probe_and_no_two_look_alike() -> None:
    assert set(EVERY) | ELSEWHERE >= set(AXES)
    assert set(EVERY) <= set(AXES)
    for name, seen in EVERY.items():
        assert set(seen.values) == set(AXES[name].names), name
        looks = [repr(value) for value in seen.values.values()]
        assert len(set(looks)) == len(looks), name


def test_there_are_more_than_eighty_axes_and_those_outside_the_service_are_marked() -> None:
    assert len(AXES) >= 80
    outside = {name for name, axis in AXES.items() if not axis.within}
    assert outside == {"callback_state", "callback_code", "callback_outcome", "callback_arrival"}
