"""service 4.2, 4.4, choice 2 and 5: who may read and cancel a payment, and what the details tell."""

from typing import Any

import pytest
from flask import Flask

from tests.payer import (
    Begun,
    approve,
    bearer,
    begin,
    callback,
    cancel,
    code_form,
    cosign,
    details,
    post_form,
    signed,
    status,
    tokens,
)
from tests.spec.bodies import ALICE, BRAM, STRUCTURED, to_the_emirates
from tests.tpp import ISCT, SCT, XB, Tpp, payment, refused, version

PRODUCTS = (SCT, ISCT, XB)
CALLS = {"details": details, "cancellation": cancel}
both = pytest.mark.parametrize("call", CALLS)


# What the details tell


@pytest.mark.parametrize("product", PRODUCTS)
def test_details_have_the_fields_of_the_service_once_a_psu_is_known(tpp: Tpp, product: str) -> None:
    pair, begun = tokens(tpp), signed(tpp, product)
    reply = details(tpp, begun, pair)
    assert reply.status_code == 200
    found = reply.get_json()
    assert (found.pop("payment_id"), found.pop("status")) == (begun.id, status(tpp, begun))
    assert (found.pop("psu_name"), found.pop("debtor_account")) == (
        "Alice Delvigne",
        {"iban": ALICE, "currency": "EUR"},
    )
    assert found == payment(product)


def test_before_a_psu_is_known_neither_the_name_nor_a_debtor_is_told(tpp: Tpp) -> None:
    found = details(tpp, begin(tpp), tokens(tpp)).get_json()
    assert found["status"] == "RCVD" and "psu_name" not in found and "debtor_account" not in found


FULL: dict[str, dict[str, Any]] = {
    SCT: payment(
        debtor_account={"iban": ALICE, "currency": "EUR"},
        creditor_account__bic="GKCCBEBB",
        instruction_priority="NORM",
        remittance_information_structured=STRUCTURED,
        requested_execution_date="2027-03-09",
    ),
    ISCT: payment(
        ISCT, debtor_account={"iban": ALICE, "currency": "EUR"}, remittance_information_unstructured="Loyer <mars> & co"
    ),
    XB: to_the_emirates(
        debtor_account={"iban": BRAM, "currency": "USD"},
        creditor_address={
            "street": "Road",
            "building_number": "1",
            "postcode": "0",
            "city": "Dubai",
            "country": "AE",
        },
        instruction_priority="NORM",
        requested_execution_date="2027-03-09",
        remittance_information_unstructured="Salary",
    ),
}


@pytest.mark.parametrize("product", PRODUCTS)
@pytest.mark.parametrize("number", (1, 2, 3))
def test_every_field_of_the_initiation_comes_back(tpp: Tpp, product: str, number: int) -> None:
    customer = "bram" if product == XB else "alice"
    pair = tokens(tpp, customer)
    reply = tpp.initiate(product, FULL[product])
    assert reply.status_code == 201, reply.text
    begun = Begun(reply.get_json()["payment_id"], product, reply.headers["Location"])
    found = details(tpp, begun, pair, accept=version(number)).json
    assert found == {"payment_id": begun.id, "status": "RCVD"} | FULL[product]


def test_what_came_by_default_is_told_too(tpp: Tpp) -> None:
    begun = begin(tpp, instructed_amount={"amount": "5"}, debtor_account={"iban": ALICE})
    found = details(tpp, begun, tokens(tpp)).get_json()
    assert found["instructed_amount"] == {"amount": "5.00", "currency": "EUR"}
    assert found["debtor_account"] == {"iban": ALICE, "currency": "EUR"}


# Who may


@both
def test_without_a_token_nothing_is_read_or_cancelled(tpp: Tpp, call: str) -> None:
    begun = begin(tpp)
    reply = CALLS[call](tpp, begun, None)
    assert refused(reply, 401, "GEN-1203-100003", "Authorization")
    assert reply.headers["WWW-Authenticate"] == "Bearer"
    assert status(tpp, begun) == "RCVD"


@both
@pytest.mark.parametrize("value", ("Bearer none", "Bearer", "Bearer ", "Basic x", "", "none"))
def test_a_token_that_is_none_is_refused(tpp: Tpp, call: str, value: str) -> None:
    assert refused(CALLS[call](tpp, begin(tpp), None, authorization=value), 401, "GEN-1203-100003", "Authorization")


@both
def test_the_word_bearer_may_be_written_in_any_case(tpp: Tpp, call: str) -> None:
    pair = tokens(tpp)
    reply = CALLS[call](tpp, begin(tpp), None, authorization=f"bearer {pair['access_token']}")
    assert reply.status_code in (200, 204)


@both
def test_a_token_of_another_client_is_refused(tpp: Tpp, other: Tpp, call: str) -> None:
    theirs = tokens(other)
    assert refused(CALLS[call](tpp, begin(tpp), theirs), 401, "GEN-1203-100003", "another client")


@both
def test_another_client_finds_no_such_payment(tpp: Tpp, other: Tpp, call: str) -> None:
    begun = signed(tpp, requested_execution_date="2027-03-09")
    assert refused(CALLS[call](other, begun, tokens(other)), 404, "SBX-0404-000001")
    assert status(tpp, begun) == "PDNG"


@both
def test_a_token_of_another_customer_may_not(tpp: Tpp, call: str) -> None:
    begun = signed(tpp, requested_execution_date="2027-03-09")
    assert refused(CALLS[call](tpp, begun, tokens(tpp, "bram")), 403, "B14800ZZ-3004-000000")
    assert status(tpp, begun) == "PDNG"


@both
def test_an_unsigned_payment_from_another_customer_s_account_is_not_theirs_either(tpp: Tpp, call: str) -> None:
    begun = begin(tpp, debtor_account__iban=ALICE)
    assert refused(CALLS[call](tpp, begun, tokens(tpp, "bram")), 403, "B14800ZZ-3004-000000")
    assert CALLS[call](tpp, begun, tokens(tpp)).status_code in (200, 204)


@both
def test_a_payment_that_a_token_began_belongs_to_its_customer_at_once(tpp: Tpp, call: str) -> None:
    pair = tokens(tpp)
    begun = begin(tpp, headers={"authorization": bearer(pair)})
    assert refused(CALLS[call](tpp, begun, tokens(tpp, "bram")), 403, "B14800ZZ-3004-000000")
    assert CALLS[call](tpp, begun, pair).status_code in (200, 204)


@both
def test_both_who_signed_may(tpp: Tpp, call: str) -> None:
    begun = begin(tpp, debtor_account__iban=tpp.iban_of("notaris"), requested_execution_date="2027-03-09")
    approve(tpp, begun.address, "notaris")
    cosign(tpp, begun.id, "griet")
    for customer in ("griet", "notaris"):
        assert details(tpp, begun, tokens(tpp, customer)).status_code == 200
    assert CALLS[call](tpp, begun, tokens(tpp, "griet")).status_code in (200, 204)


@both
def test_a_token_of_accounts_is_of_the_wrong_scope(tpp: Tpp, call: str) -> None:
    (entry,) = tpp.call("GET", "/consent-uris?scope=AIS", accept=version(4)).get_json()
    code = callback(approve(tpp, entry["consent_uri"], "alice"))["code"]
    pair = post_form(tpp, code_form(code)).get_json()
    assert pair["scope"] == "AIS"
    assert refused(CALLS[call](tpp, begin(tpp), pair), 403, "B14800ZZ-3004-000000", "AIS")


# By which identifier, in which version


def by(tpp: Tpp, call: str, kind: str, reference: str, pair: dict[str, Any], product: str = SCT) -> Any:
    method, tail, number = ("GET", "/details", 3) if call == "details" else ("DELETE", "", 2)
    path = f"/payments/{product}/{reference}{tail}?paymentIdType={kind}"
    return tpp.call(method, path, authorization=bearer(pair), accept=version(number))


@both
@pytest.mark.parametrize("product", (SCT, ISCT))
def test_both_identifiers_lead_there(tpp: Tpp, call: str, product: str) -> None:
    pair = tokens(tpp)
    begun = [begin(tpp, product, endtoend_identification=f"MINE-{n}") for n in range(2)]
    assert by(tpp, call, "INTERNAL", begun[0].id, pair, product).status_code in (200, 204)
    assert by(tpp, call, "EXTERNAL", "MINE-1", pair, product).status_code in (200, 204)


@both
def test_what_is_not_there_and_what_is_there_twice(tpp: Tpp, call: str) -> None:
    pair = tokens(tpp)
    begun = [begin(tpp, endtoend_identification="MINE-1") for _ in range(2)]
    told = (409, "SBX-0409-000001") if call == "details" else (400, "GEN-1202-100002")  # a DELETE has no 409
    assert refused(by(tpp, call, "EXTERNAL", "MINE-1", pair), *told, "payment-id")
    for kind, reference in (("INTERNAL", "MINE-1"), ("EXTERNAL", begun[0].id), ("INTERNAL", "none")):
        assert refused(by(tpp, call, kind, reference, pair), 404, "SBX-0404-000001")
    assert refused(by(tpp, call, "INTERNAL", begun[0].id, pair, ISCT), 404, "SBX-0404-000001")
    assert refused(by(tpp, call, "internal", begun[0].id, pair), 400, "GEN-1202-100002", "paymentIdType")
    assert [status(tpp, one) for one in begun] == ["RCVD", "RCVD"]


@pytest.mark.parametrize("number", (1, 3, 4))
def test_a_cancellation_is_served_in_version_2_alone(tpp: Tpp, number: int) -> None:
    begun = begin(tpp)
    assert refused(cancel(tpp, begun, tokens(tpp), accept=version(number)), 406, "SBX-0406-000001")
    assert status(tpp, begun) == "RCVD"


def test_details_need_no_callback_and_no_proof_of_key(tpp: Tpp) -> None:
    without = {"redirect_uri": None, "code_challenge": None, "code_challenge_method": None}
    assert details(tpp, begin(tpp), tokens(tpp), **without).status_code == 200


def test_cross_border_payments_have_no_delete_whatever_the_call_brings(tpp: Tpp) -> None:
    reply = tpp.call("DELETE", f"/payments/{XB}/none", accept=None, client_id="nobody")
    assert refused(reply, 405, "SBX-0405-000001") and "Allow" in reply.headers


def test_worlds_do_not_share_payments_or_tokens(tpp: Tpp, app: Flask) -> None:
    pair, begun, beside = tokens(tpp), begin(tpp), Tpp(app, "beside")
    assert refused(details(beside, begun, pair), 401, "GEN-1203-100003")
    assert refused(details(beside, begun, tokens(beside)), 404, "SBX-0404-000001")
