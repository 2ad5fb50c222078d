"""choice 2: the checks run in one order, and of two faults the caller hears of the earlier."""

import json
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import pytest

from tests.tpp import FRENCH, SCT, Tpp, payment, refused


@dataclass(frozen=True)
class Fault:
    """One thing wrong with an initiation, and what is heard of it."""

    name: str
    status: int
    code: str
    headers: dict[str, str | None] = field(default_factory=dict)
    body: dict[str, Any] = field(default_factory=dict)
    path: str = ""
    method: str = ""


# The order of choice 2; certificates are off here.
FAULTS = (
    Fault("path", 404, "SBX-0404-000001", path="/payments/seashells"),
    Fault("method", 405, "SBX-0405-000001", method="PUT"),
    Fault("Accept", 406, "SBX-0406-000001", {"accept": "*/*"}),
    Fault("Accept-Language", 406, "SBX-0406-000002", {"accept_language": None}),
    Fault("Content-Type", 415, "SBX-0415-000001", {"content_type": "text/plain"}),
    Fault("Request-ID", 400, "GEN-1201-100001", {"request_id": None}),
    Fault("Client-ID", 401, "GEN-1203-100009", {"client_id": "nobody"}),
    Fault("Redirect-URI", 400, "GEN-1202-100001", {"redirect_uri": "http://evil.example/"}),
    Fault("Code-Challenge", 400, "GEN-1202-100001", {"code_challenge": "short"}),
    Fault("Authorization", 401, "GEN-1203-100003", {"authorization": "Bearer nonsense"}),
    Fault("body", 400, "GEN-1202-100002", body={"colour": "red"}),
    Fault("business rule", 403, "B14800ZZ-3002-000000", body={"debtor_account": {"iban": FRENCH}}),
)
# A given token makes the bank ignore PKCE, so these two faults are never there together (service 4.1).
APART = ("Code-Challenge", "Authorization")
PAIRS = [pair for pair in combinations(FAULTS, 2) if tuple(fault.name for fault in pair) != APART]


def call_with(tpp: Tpp, *faults: Fault) -> Any:
    method, path, body = "POST", f"/payments/{SCT}", payment()
    headers: dict[str, str | None] = {"content_type": "application/json"}
    for fault in faults:
        method, path = fault.method or method, fault.path or path
        headers |= fault.headers
        body |= fault.body
    return tpp.call(method, path, data=json.dumps(body), **headers)


def test_without_a_fault_the_call_is_accepted(tpp: Tpp) -> None:
    assert call_with(tpp).status_code == 201


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_each_fault_alone_is_heard(tpp: Tpp, fault: Fault) -> None:
    assert refused(call_with(tpp, fault), fault.status, fault.code)


@pytest.mark.parametrize("earlier, later", PAIRS, ids=lambda fault: fault.name)
def test_of_two_faults_the_earlier_is_heard(tpp: Tpp, earlier: Fault, later: Fault) -> None:
    assert refused(call_with(tpp, earlier, later), earlier.status, earlier.code)


def test_a_refused_call_leaves_no_payment(tpp: Tpp) -> None:
    for fault in FAULTS:
        call_with(tpp, fault)
    assert tpp.listed("payments") == []
    assert tpp.listed("journal") == []


def test_a_missing_language_is_heard_before_a_bad_request_id_on_a_status(tpp: Tpp) -> None:
    reply = tpp.status("nothing", accept_language=None, request_id="7", client_id=None)
    assert refused(reply, 406, "SBX-0406-000002")


def test_a_bad_token_is_heard_before_an_unknown_payment(tpp: Tpp) -> None:
    assert refused(tpp.status("nothing", authorization="Bearer nonsense"), 401, "GEN-1203-100003")
