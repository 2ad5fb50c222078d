"""Choice 14: the verification of payee by control, by the payee's account, the table, rules and well-known names."""

from typing import Any

import pytest

from tests.spec.bodies import ALICE, BAKKERIJ
from tests.tpp import BELGIAN, Tpp, refused

INVALID = "SBX-0400-000001"


def outcome(tpp: Tpp, iban: str, name: str) -> dict[str, Any]:
    reply = tpp.control("POST", "/payee-checks", iban=iban, name=name)
    assert reply.status_code == 200, reply.text
    body: dict[str, Any] = reply.get_json()
    return body


@pytest.mark.parametrize(
    "iban, name, expected",
    [
        (ALICE, "DELVIGNE Alice", {"outcome": "match"}),
        (ALICE, "A. Delvigne", {"outcome": "close_match", "name": "Alice Delvigne"}),
        (ALICE, "Jan Peeters", {"outcome": "no_match"}),
        (BAKKERIJ, "Bakkerij Zonnegraan BV", {"outcome": "match"}),
        ("BE55152410003144", "Emma Peters", {"outcome": "close_match", "name": "Emma Peeters"}),
        (BELGIAN, "Jan Peeters", {"outcome": "not_possible"}),
        (BELGIAN, "Test VoP match", {"outcome": "match"}),
        (ALICE, "Test VoP close", {"outcome": "close_match", "name": "Tess VoP Close"}),
        (ALICE, "Test VoP none", {"outcome": "no_match"}),
        (ALICE, "Test VoP impossible", {"outcome": "not_possible"}),
    ],
)
def test_the_outcome_is_decided_by_account_table_or_well_known_name(
    tpp: Tpp, iban: str, name: str, expected: dict[str, Any]
) -> None:
    assert outcome(tpp, iban, name) == expected
    assert tpp.listed("journal") == []


def test_a_closed_account_answers_nothing(tpp: Tpp) -> None:
    tpp.control("PATCH", f"/accounts/{ALICE}", closed=True)
    assert outcome(tpp, ALICE, "Alice Delvigne") == {"outcome": "not_possible"}


def test_a_rule_that_knows_the_payee_decides_before_the_account(tpp: Tpp) -> None:
    then = [{"payee": "close_match", "name": "Alice Delvigne-Peeters"}]
    rules = [
        {"when": {"creditor_iban": ALICE, "nth": 1}, "then": [{"payee": "not_possible"}]},  # never counted here
        {"when": {"creditor_iban": ALICE, "creditor_name": "Alice*"}, "then": then},
        {"when": {"client": "demo-tpp"}, "then": [{"payee": "no_match"}]},  # of nobody here
    ]
    assert tpp.control("PUT", "/scenario", scenario={"rules": rules}).status_code == 200
    for _ in range(2):
        assert outcome(tpp, ALICE, "Alice D.") == {"outcome": "close_match", "name": "Alice Delvigne-Peeters"}
    assert outcome(tpp, ALICE, "Jan Peeters") == {"outcome": "no_match"}
    assert outcome(tpp, ALICE, "DELVIGNE") == {"outcome": "close_match", "name": "Alice Delvigne"}


@pytest.mark.parametrize(
    "body, named",
    [
        ({"name": "Alice"}, "iban"),
        ({"iban": ALICE}, "name"),
        ({"iban": "BE00", "name": "Alice"}, "iban"),
        ({"iban": ALICE.lower(), "name": "Alice"}, "iban"),
        ({"iban": ALICE, "name": ""}, "name"),
        ({"iban": ALICE, "name": " "}, "name"),
        ({"iban": ALICE, "name": "x" * 71}, "name"),
        ({"iban": ALICE, "name": "a\nb"}, "name"),
        ({"iban": ALICE, "name": 7}, "name"),
        ({"iban": ALICE, "name": "Alice", "nam": 1}, "nam"),
    ],
)
def test_a_bad_body_is_refused_by_name(tpp: Tpp, body: dict[str, Any], named: str) -> None:
    reply = tpp.http.post("/_sandbox/payee-checks", json=body)
    code = "GEN-1201-100002" if set(body) < {"iban", "name"} else INVALID
    assert refused(reply, 400, code, named)


def test_only_a_business_customer_opts_out_of_the_check_of_files(tpp: Tpp) -> None:
    for customer, status in (("bakkerij", 200), ("alice", 400)):
        reply = tpp.control("PATCH", f"/customers/{customer}", payee_check_of_files=False)
        assert reply.status_code == status, reply.text
    assert tpp.http.get("/_sandbox/customers/bakkerij").get_json()["payee_check_of_files"] is False
    new = {"customer": "zoe", "kind": "private", "payee_check_of_files": False}
    assert refused(tpp.http.post("/_sandbox/customers", json=new), 400, INVALID, "only a business customer")
