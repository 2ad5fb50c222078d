"""choice 10: the controls that act as the PSU, that force a move, and the published countries."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from sandbox.banking.countries import read_fixture
from tests.payer import Begun, approve, begin, cosign, history, is_balanced, move, refuse, signed, status, told
from tests.tpp import ISCT, SCT, XB, Tpp, payment, refused

CONTROL = "SBX-0400-000001"
DENIED = "B14800ZZ-3004-000000"
MISSING = "GEN-1201-100002"
PRODUCTS = (SCT, ISCT, XB)


def accounts_of(tpp: Tpp, customer: str) -> list[str]:
    return next(row["accounts"] for row in tpp.listed("customers") if row["customer"] == customer)


def shown(tpp: Tpp, begun: Begun) -> dict[str, Any]:
    found: dict[str, Any] = tpp.control("GET", f"/payments/{begun.id}").get_json()
    return found


# approve and refuse


@pytest.mark.parametrize("customer", ("alice", "bram", "bakkerij", "griet"))
def test_left_out_the_customer_is_the_debtor_account_s_first_owner(tpp: Tpp, customer: str) -> None:
    begun = begin(tpp, debtor_account__iban=tpp.iban_of(customer))
    reply = approve(tpp, begun.address)
    assert reply.status_code == 200 and set(reply.get_json()) == {"redirect"}
    assert shown(tpp, begun)["customer"] == customer


def test_with_no_debtor_account_somebody_must_be_named(tpp: Tpp) -> None:
    begun = begin(tpp)
    assert refused(approve(tpp, begun.address), 400, CONTROL, "customer")
    assert status(tpp, begun) == "RCVD"


@pytest.mark.parametrize("customer", ("alice", "bram", "bakkerij", "griet"))
def test_left_out_the_account_is_that_customer_s_first_current_one(tpp: Tpp, customer: str) -> None:
    begun = begin(tpp)
    approve(tpp, begun.address, customer)
    assert shown(tpp, begun)["order"]["debtor_account"] == {"iban": tpp.iban_of(customer), "currency": "EUR"}


def test_an_account_may_be_picked(tpp: Tpp) -> None:
    second = accounts_of(tpp, "bakkerij")[1]
    for named in ({"customer": "bakkerij"}, {}):
        begun = begin(tpp)
        assert tpp.control("POST", "/psu/approve", address=begun.address, account=second, **named).status_code == 200
        assert shown(tpp, begun)["order"]["debtor_account"]["iban"] == second


def test_someone_else_s_account_is_refused(tpp: Tpp) -> None:
    begun = begin(tpp)
    theirs = tpp.iban_of("bram")
    assert refused(approve(tpp, begun.address, "alice", account=theirs), 403, "B14800ZZ-3004-000000")
    given = begin(tpp, debtor_account__iban=theirs)
    assert refused(approve(tpp, given.address, "alice"), 403, "B14800ZZ-3004-000000")
    own = begin(tpp, debtor_account__iban=tpp.iban_of("alice"))
    assert refused(approve(tpp, own.address, account=theirs), 403, "B14800ZZ-3004-000000")
    assert refused(approve(tpp, own.address, account=accounts_of(tpp, "alice")[1]), 400, CONTROL, "account")
    for one in (begun, given):
        assert status(tpp, one) == "RCVD"
        assert shown(tpp, one)["customer"] is None


@pytest.mark.parametrize(
    "customer, amount, product, code",
    [
        ("poor", "12.51", SCT, "SBX-0403-000001"),
        ("poor", "12.51", ISCT, "SBX-0403-000001"),
        ("limited", "250.01", SCT, "B14821ZZ-2101-000000"),
        ("limited", "1.00", XB, "B14821ZZ-2121-000000"),
        ("blocked", "1.00", SCT, "B14800ZZ-3007-000000"),
    ],
)
def test_the_account_that_is_picked_is_checked_as_at_the_initiation(
    tpp: Tpp, customer: str, amount: str, product: str, code: str
) -> None:
    begun = begin(tpp, product, instructed_amount__amount=amount)
    assert refused(approve(tpp, begun.address, customer), 403, code)
    assert status(tpp, begun) == "RCVD" and shown(tpp, begun)["customer"] is None
    assert approve(tpp, begun.address, "bakkerij").status_code == 200


def test_an_urgent_payment_is_signed_from_a_professional_account_alone(tpp: Tpp) -> None:
    begun = begin(tpp, instruction_priority="HIGH")
    assert refused(approve(tpp, begun.address, "alice"), 403, "B14821ZZ-2101-000000")
    assert approve(tpp, begun.address, "bakkerij").status_code == 200


@pytest.mark.parametrize(
    "body, code, named",
    [
        ({}, MISSING, "address"),
        ({"address": None}, CONTROL, "address"),
        ({"address": ""}, CONTROL, "address"),
        ({"address": 1}, CONTROL, "address"),
        ({"address": "HERE", "customer": "nobody"}, CONTROL, "customer"),
        ({"address": "HERE", "customer": 1}, CONTROL, "customer"),
        ({"address": "HERE", "customer": "alice", "account": []}, CONTROL, "account"),
        ({"address": "HERE", "customer": "alice", "accounts": "x"}, CONTROL, "accounts"),
        ({"address": "HERE", "customer": "alice", "accounts": []}, CONTROL, "accounts"),
        ({"address": "HERE", "colour": "red"}, CONTROL, "colour"),
    ],
)
@pytest.mark.parametrize("verb", ("approve", "refuse"))
def test_a_bad_body_is_refused(tpp: Tpp, verb: str, body: dict[str, Any], code: str, named: str) -> None:
    begun = begin(tpp)
    sent = {name: begun.address if value == "HERE" else value for name, value in body.items()}
    if verb == "refuse" and named in ("account", "accounts"):
        return
    code = "GEN-1201-100002" if code == MISSING else code
    assert refused(tpp.control("POST", f"/psu/{verb}", **sent), 400, code, named)
    assert status(tpp, begun) == "RCVD"


def test_only_who_has_to_do_with_the_account_refuses(tpp: Tpp) -> None:
    begun = begin(tpp, debtor_account__iban=accounts_of(tpp, "notaris")[0])
    assert refused(refuse(tpp, begun.address, customer="alice"), 403, DENIED, "customer")
    assert status(tpp, begun) == "RCVD"
    assert refuse(tpp, begun.address, customer="griet").status_code == 200  # a signer who does not own it


def test_a_refusal_needs_no_name(tpp: Tpp) -> None:
    begun = begin(tpp)
    assert set(refuse(tpp, begun.address).get_json()) == {"redirect"}
    assert told(tpp, begun) == ("CANC", "PSU_REFUSED")


@pytest.mark.parametrize("body, code, named", [({}, MISSING, "payment_id"), ({"payment_id": "x"}, MISSING, "customer")])
def test_a_further_signature_needs_both_names(tpp: Tpp, body: dict[str, Any], code: str, named: str) -> None:
    assert refused(tpp.control("POST", "/psu/sign", **body), 400, code, named)


# A forced move

Stage = Callable[[Tpp, str], Begun]
ALICE_PAYS = "alice"


def received(tpp: Tpp, product: str) -> Begun:
    return begin(tpp, product, debtor_account__iban=tpp.iban_of(ALICE_PAYS))


def waiting(tpp: Tpp, product: str) -> Begun:
    begun = received(tpp, product)
    tpp.advance("1s")
    return begun


def pending(tpp: Tpp, product: str) -> Begun:
    return signed(tpp, product, debtor_account__iban=tpp.iban_of(ALICE_PAYS))


def settling(tpp: Tpp, product: str) -> Begun:
    begun = pending(tpp, product)
    tpp.advance("0s" if product == ISCT else "5s")
    return begun


def settled(tpp: Tpp, product: str) -> Begun:
    begun = pending(tpp, product)
    tpp.advance("1m")
    return begun


STAGES: dict[str, Stage] = {
    "RCVD": received,
    "PATC": waiting,
    "PDNG": pending,
    "ACSP": settling,
    "ACSC": settled,
}
STATUSES = ("RCVD", "PATC", "PDNG", "ACSP", "ACSC", "ACWP", "RJCT", "CANC")
LEGAL = {
    SCT: {"RCVD": {"PATC", "CANC"}, "PATC": {"PDNG", "CANC"}, "PDNG": {"PDNG", "ACSP", "RJCT"}},
    ISCT: {"RCVD": {"PATC", "CANC"}, "PATC": {"ACSP", "CANC"}},
    XB: {"RCVD": {"PATC", "CANC"}, "PATC": {"PDNG", "CANC"}, "PDNG": {"PDNG", "ACSP", "RJCT"}},
}
for rows in LEGAL.values():
    rows["ACSP"] = {"ACSC", "RJCT"}
CELLS = [
    (product, stage, target)
    for product in PRODUCTS
    for stage in STAGES
    for target in STATUSES
    if not (product == ISCT and stage == "PDNG")
]


@pytest.mark.parametrize("product, stage, target", CELLS)
def test_a_legal_move_is_made_with_its_reason_and_another_is_refused(
    tpp: Tpp, worlds: Any, product: str, stage: str, target: str
) -> None:
    begun = STAGES[stage](tpp, product)
    before = history(tpp, begun)
    reply = move(tpp, begun.id, target, reason="XX01")
    if target in LEGAL[product].get(stage, ()):
        assert reply.status_code == 200, reply.text
        assert (reply.get_json()["payment_id"], reply.get_json()["status"]) == (begun.id, target)
        ended = target in ("RJCT", "CANC")
        assert told(tpp, begun) == (target, "XX01" if ended else None)
    elif target == "PATC" and stage == "PATC":
        assert refused(reply, 409, "SBX-0409-000002")  # a signature that is not the last is the PSU's alone
    else:
        assert refused(reply, 409, "SBX-0409-000002", target)
        assert history(tpp, begun) == before and status(tpp, begun) == stage
    tpp.advance("30d")
    assert status(tpp, begun) in ("ACSC", "RJCT", "CANC")
    bank = worlds.get("default").bank
    assert is_balanced(bank) and not bank.reserved and not bank.reserved_later


def test_a_future_dated_payment_may_be_cancelled_by_force(tpp: Tpp) -> None:
    begun = signed(tpp, requested_execution_date="2027-03-09")
    assert move(tpp, begun.id, "CANC").status_code == 200


def test_a_payment_whose_account_nobody_picked_is_not_signed_by_force(tpp: Tpp) -> None:
    begun = begin(tpp)
    tpp.advance("1s")
    assert refused(move(tpp, begun.id, "PDNG"), 409, "SBX-0409-000002")
    assert status(tpp, begun) == "PATC"


def test_a_half_signed_payment_is_signed_by_force_and_waits_for_nobody(tpp: Tpp) -> None:
    begun = begin(tpp, debtor_account__iban=tpp.iban_of("notaris"))
    approve(tpp, begun.address)
    assert move(tpp, begun.id, "PDNG").status_code == 200
    assert refused(cosign(tpp, begun.id, "griet"), 409, "SBX-0409-000003", "PDNG")


@pytest.mark.parametrize("value", ("ACTC", "pdng", "", None, 1, []))
def test_a_status_that_is_none_is_refused(tpp: Tpp, value: Any) -> None:
    begun = begin(tpp)
    reply = tpp.control("POST", f"/payments/{begun.id}/move", status=value)
    assert refused(reply, 400, CONTROL, "status")
    assert status(tpp, begun) == "RCVD"


def test_a_move_names_its_status_and_its_payment(tpp: Tpp) -> None:
    assert refused(tpp.control("POST", f"/payments/{begin(tpp).id}/move"), 400, MISSING, "status")
    assert refused(move(tpp, "none", "PATC"), 404, "SBX-0404-000001")
    assert refused(move(tpp, begin(tpp).id, "PATC", colour="red"), 400, CONTROL, "colour")
    assert refused(move(tpp, begin(tpp).id, "CANC", reason=1), 400, CONTROL, "reason")


# What is published


def test_the_countries_currencies_and_purposes_are_published(tpp: Tpp) -> None:
    reply = tpp.control("GET", "/reference/countries")
    assert reply.status_code == 200
    held = json.loads(read_fixture("countries.json"))
    assert {name: reply.get_json()[name] for name in ("sepa", "eea", "currencies", "countries", "purpose_codes")} == {
        name: held[name] for name in ("sepa", "eea", "currencies", "countries", "purpose_codes")
    }
    codes = [row["code"] for row in reply.get_json()["countries"]]
    assert len(set(codes)) == len(codes) > 50
    assert {row["code"]: row["rate"] for row in reply.get_json()["currencies"]}["EUR"] == "1"


def test_every_published_currency_is_accepted_and_another_is_not(tpp: Tpp) -> None:
    published = {row["code"] for row in tpp.control("GET", "/reference/countries").get_json()["currencies"]}
    for currency in published - {"EUR"}:
        assert begin(tpp, XB, instructed_amount={"amount": "100", "currency": currency}).id
    for currency in ("XAU", "ZZZ", "VES"):
        assert currency not in published
        body = payment(XB, instructed_amount={"amount": "100", "currency": currency})
        assert refused(tpp.initiate(XB, body), 400, "B14821ZZ-1232-000000", "instructed_amount.currency")


def test_a_first_signature_is_not_given_in_the_channel(tpp: Tpp) -> None:
    begun = begin(tpp, debtor_account__iban=tpp.iban_of("notaris"))
    told = "its first signature is given at its SCA address"
    assert refused(cosign(tpp, begun.id, "griet"), 409, "SBX-0409-000003", told)
    approve(tpp, begun.address, "notaris")
    assert cosign(tpp, begun.id, "griet").status_code == 200
    assert refused(cosign(tpp, begun.id, "griet"), 409, "SBX-0409-000003", "This is PDNG and can no longer")


def test_an_unknown_status_or_scope_is_refused_with_what_is_known(tpp: Tpp) -> None:
    begun = begin(tpp)
    assert refused(move(tpp, begun.id, "ASCC"), 400, "SBX-0400-000001", "did you mean 'ACSC'?")
    body = {"client_id": "demo-tpp", "customer": "alice", "scope": "PIS"}
    assert refused(tpp.control("POST", "/psu/withdraw", **body), 400, "SBX-0400-000001", "it is one of AIS, CAF")
