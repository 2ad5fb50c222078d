"""Each axis of the callback and of proofs, seen on the wire under each value; and that no axis was left out."""

from urllib.parse import parse_qsl, urlsplit

import pytest

from sandbox.contract.variants import AXES
from tests.payer import approve, begin, code_form, post_form, refuse
from tests.tpp import Tpp
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
    return [value for name, value in pairs(tpp) if name == "state"]


def code(tpp: Tpp) -> tuple[int, int]:
    found = [value for name, value in pairs(tpp) if name == "code"]
    return len(found), post_form(tpp, code_form(found[0])).status_code


def names(tpp: Tpp) -> list[str]:
    return [name for name, _ in pairs(tpp)]


def error(tpp: Tpp) -> str:
    return dict(parse_qsl(query_of(tpp, yes=False)))["error"]


def blank(tpp: Tpp) -> str:
    return query_of(tpp, state="a%20b").rpartition("state=")[2]


def unsigned(tpp: Tpp) -> tuple[int, int]:
    return tpp.initiate().status_code, tpp.initiate(digest="SHA-256=x").status_code


def dated(tpp: Tpp) -> int:
    return tpp.initiate(date="Mon, 01 Mar 2027 08:01:00 GMT").status_code


def without_certificate(tpp: Tpp) -> int:
    return tpp.initiate().status_code


SEEN: Table = {
    "callback_state": Seen(state, {"kept": ["s-1"], "missing": [], "altered": ["another-state"]}),
    "callback_code": Seen(code, {"given": (1, 200), "twice": (2, 200), "foreign": (1, 401)}),
    "callback_error": Seen(error, {"access_denied": "access_denied", "server_error": "server_error"}),
    "callback_outcome": Seen(names, {"one": ["code", "state"], "both": ["code", "error", "state"]}),
    "callback_parameters": Seen(names, {"known": ["code", "state"], "more": ["code", "state", "iss", "session_state"]}),
    "callback_encoding": Seen(blank, {"plus": "a+b", "percent": "a%20b"}),
    "signatures": Seen(unsigned, {"lenient": (201, 401), "off": (201, 201), "strict": (400, 400)}),
    "date_tolerance": Seen(dated, {"long": 201, "short": 401}),
    "client_certificates": Seen(without_certificate, {"off": 201, "proxy": 495}),
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
ELSEWHERE: set[str] = {"sca_methods"}  # its tests stand with the ways of signing


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
    assert outside == {"callback_state", "callback_code", "callback_outcome"}
