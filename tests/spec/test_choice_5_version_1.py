"""service 2.1, 2.4, choice 3 and 5: the earlier body and reply of a SEPA credit transfer."""

from decimal import Decimal
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.payer import Begun, approve, balance, bearer, booked, details, status, tokens, told
from tests.spec.bodies import ALICE, BAKKERIJ, LIMITED, POOR, STRUCTURED, TUNISIAN
from tests.tpp import BELGIAN, FRENCH, ISCT, SCT, XB, Tpp, changed, payment, refused, version

BAD, MISSING, HEADER = "GEN-1202-100002", "GEN-1201-100002", "GEN-1201-100001"


def body(**changes: Any) -> dict[str, Any]:
    """A good body; a change of None takes a field away, `a__b` reaches inside."""
    earlier: dict[str, Any] = {
        "remote_account": {"name": "Jan Peeters", "iban": BELGIAN},
        "amount": "12.50",
        "currency": "EUR",
        "payment_id": "INVOICE-1",
    }
    return changed(earlier, changes)


def send(tpp: Tpp, content: Any, product: str = SCT, **changes: str | None) -> TestResponse:
    return tpp.initiate(product, content, **{"accept": version(1), **changes})


def order(tpp: Tpp, reply: TestResponse) -> dict[str, Any]:
    assert reply.status_code == 201, reply.text
    found: dict[str, Any] = tpp.control("GET", f"/payments/{reply.get_json()['payment_id']}").get_json()["order"]
    return found


def test_its_reply_has_two_references_and_the_address_in_location_alone(tpp: Tpp) -> None:
    reply = send(tpp, body())
    assert reply.status_code == 201 and set(reply.get_json()) == {"payment_id", "transaction_ref"}
    assert "/psu/sign/" in reply.headers["Location"]
    assert reply.get_json()["payment_id"] != "INVOICE-1"


def test_it_is_signed_settled_and_booked_under_its_transaction_ref(tpp: Tpp, worlds: Any) -> None:
    reply = send(tpp, body(origin_account={"iban": ALICE}))
    begun = Begun(reply.get_json()["payment_id"], SCT, reply.headers["Location"])
    bank = worlds.get("default").bank
    before = balance(bank, ALICE)
    assert approve(tpp, begun.address).status_code == 200
    tpp.advance("1m")
    assert (status(tpp, begun), before - balance(bank, ALICE)) == ("ACSC", Decimal("12.5"))
    assert len(booked(bank, ALICE, reply.get_json()["transaction_ref"])) == 1


@pytest.mark.parametrize("number", (1, 2, 3))
def test_its_own_reference_is_the_external_one(tpp: Tpp, number: int) -> None:
    payment_id = send(tpp, body()).get_json()["payment_id"]
    path = f"/payments/{SCT}/INVOICE-1/status?paymentIdType=EXTERNAL"
    reply = tpp.call("GET", path, accept=version(number))
    assert (reply.status_code, reply.get_json()["payment_id"]) == (200, payment_id)


@pytest.mark.parametrize("number", (1, 2, 3))
def test_its_details_are_told_as_those_of_every_payment(tpp: Tpp, number: int) -> None:
    reply = send(tpp, body(origin_account={"iban": ALICE}, communication="Rent"))
    begun = Begun(reply.get_json()["payment_id"], SCT, reply.headers["Location"])
    found = details(tpp, begun, tokens(tpp), accept=version(number)).get_json()
    assert found["creditor_account"] == {"iban": BELGIAN} and found["creditor_name"] == "Jan Peeters"
    assert found["debtor_account"] == {"iban": ALICE, "currency": "EUR"}
    assert found["remittance_information_unstructured"] == "Rent"


def test_without_a_signature_it_is_over_after_an_hour(tpp: Tpp) -> None:
    reply = send(tpp, body())
    tpp.advance("60m")
    assert told(tpp, Begun(reply.get_json()["payment_id"], SCT, "")) == ("CANC", "TIME_OUT")


def test_a_token_replaces_the_proof_of_key(tpp: Tpp) -> None:
    without: dict[str, Any] = {"code_challenge": None, "code_challenge_method": None}
    assert refused(send(tpp, body(), **without), 400, HEADER, "Code-Challenge-Method")
    assert send(tpp, body(), authorization=bearer(tokens(tpp)), **without).status_code == 201


# Fields


@pytest.mark.parametrize(
    "changes, field, value",
    [
        ({"origin_account": {"iban": ALICE}}, "debtor_account", {"iban": ALICE, "currency": "EUR"}),
        ({"remote_account__iban": FRENCH}, "creditor_account", {"iban": FRENCH}),
        ({"remote_account__bic": "GKCCBEBB"}, "creditor_account", {"iban": BELGIAN, "bic": "GKCCBEBB"}),
        ({"remote_account__name": "é" * 70}, "creditor_name", "é" * 70),
        ({"amount": "7"}, "instructed_amount", {"amount": "7.00", "currency": "EUR"}),
        ({"amount": 7}, "instructed_amount", {"amount": "7.00", "currency": "EUR"}),
        ({"amount": 7.5}, "instructed_amount", {"amount": "7.50", "currency": "EUR"}),
        ({"amount": 0.01}, "instructed_amount", {"amount": "0.01", "currency": "EUR"}),
        ({"amount": 100}, "instructed_amount", {"amount": "100.00", "currency": "EUR"}),
        ({"amount": 9999999999999}, "instructed_amount", {"amount": "9999999999999.00", "currency": "EUR"}),
        ({"currency": None}, "instructed_amount", {"amount": "12.50", "currency": "EUR"}),
        ({"communication": "Thank you"}, "remittance_information_unstructured", "Thank you"),
        (
            {"communication": STRUCTURED, "communication_type": "FREETEXT"},
            "remittance_information_unstructured",
            STRUCTURED,
        ),
        (
            {"communication": STRUCTURED, "communication_type": "STRUCTURED"},
            "remittance_information_structured",
            STRUCTURED,
        ),
        ({"execution_date": "2027-03-09"}, "requested_execution_date", "2027-03-09"),
        ({"execution_date": "2028-02-29"}, "requested_execution_date", "2028-02-29"),
        ({"payment_id": "x" * 35}, "endtoend_identification", "x" * 35),
        ({"payment_treatment_type": "NORMAL"}, "instruction_priority", "NORM"),
        ({"payment_treatment_type": "URGENT"}, "instruction_priority", "HIGH"),
    ],
)
def test_a_field_is_held(tpp: Tpp, changes: dict[str, Any], field: str, value: Any) -> None:
    assert order(tpp, send(tpp, body(**changes)))[field] == value


@pytest.mark.parametrize(
    "changes, code, named",
    [
        ({"remote_account": None}, MISSING, "remote_account"),
        ({"remote_account__name": None}, MISSING, "remote_account.name"),
        ({"remote_account__iban": None}, MISSING, "remote_account.iban"),
        ({"amount": None}, MISSING, "amount"),
        ({"payment_id": None}, "B14821ZZ-1200-000000", "payment_id"),
        ({"origin_account": {}}, MISSING, "origin_account.iban"),
        ({"origin_account": {"iban": "BE00539100001774"}}, BAD, "origin_account.iban"),
        ({"origin_account": {"iban": ALICE.lower()}}, BAD, "origin_account.iban"),
        ({"origin_account": {"iban": ALICE, "currency": "EUR"}}, BAD, "origin_account.currency"),
        ({"remote_account__iban": "BE00539007547034"}, BAD, "remote_account.iban"),
        ({"remote_account__iban": TUNISIAN}, "B14821ZZ-1227-000000", "remote_account.iban"),
        ({"remote_account__bic": "x"}, BAD, "remote_account.bic"),
        ({"remote_account__bic": "BIATTNTT"}, "B14821ZZ-2102-000000", "remote_account.bic"),
        ({"remote_account__name": ""}, BAD, "remote_account.name"),
        ({"remote_account__name": "x" * 71}, BAD, "remote_account.name"),
        ({"remote_account__name": "a\nb"}, BAD, "remote_account.name"),
        ({"remote_account__country": "BE"}, BAD, "remote_account.country"),
        ({"remote_account": []}, BAD, "remote_account"),
        ({"amount": "0"}, "B14821ZZ-1231-000000", "amount"),
        ({"amount": 0}, "B14821ZZ-1231-000000", "amount"),
        ({"amount": -1}, "B14821ZZ-1231-000000", "amount"),
        ({"amount": "-0.01"}, "B14821ZZ-1231-000000", "amount"),
        ({"amount": "12,50"}, BAD, "amount"),
        ({"amount": "1.234"}, BAD, "amount"),
        ({"amount": 1.234}, BAD, "amount"),
        ({"amount": 1e13}, BAD, "amount"),
        ({"amount": 1e300}, BAD, "amount"),
        ({"amount": True}, BAD, "amount"),
        ({"amount": []}, BAD, "amount"),
        ({"currency": "USD"}, "B14821ZZ-1232-000000", "currency"),
        ({"currency": "eur"}, BAD, "currency"),
        ({"communication": "x" * 141}, BAD, "communication"),
        ({"communication": "Rent", "communication_type": "STRUCTURED"}, BAD, "communication"),
        ({"communication_type": "STRUCTURED"}, BAD, "communication"),
        ({"communication": "+++090/9337/55494+++", "communication_type": "STRUCTURED"}, BAD, "communication"),
        ({"communication_type": "structured"}, BAD, "communication_type"),
        ({"execution_date": "2027-3-9"}, BAD, "execution_date"),
        ({"execution_date": "2027-02-30"}, BAD, "execution_date"),
        ({"execution_date": "2027-02-28"}, BAD, "'execution_date'"),
        ({"execution_date": "2028-03-01"}, BAD, "'execution_date'"),
        ({"payment_id": "x" * 36}, BAD, "payment_id"),
        ({"payment_id": "a_b"}, BAD, "payment_id"),
        ({"payment_treatment_type": "HIGH"}, BAD, "payment_treatment_type"),
        ({"colour": "red"}, BAD, "colour"),
        ({"creditor_name": "Jan"}, BAD, "creditor_name"),
    ],
)
def test_a_bad_field_is_refused_by_its_own_name(tpp: Tpp, changes: dict[str, Any], code: str, named: str) -> None:
    assert refused(send(tpp, body(**changes)), 400, code, named)
    assert tpp.listed("payments") == []


@pytest.mark.parametrize("content", ([], "x", 1, None))
def test_a_body_that_is_no_object_is_refused(tpp: Tpp, content: Any) -> None:
    reply = tpp.call("POST", f"/payments/{SCT}", json=content, content_type="application/json", accept=version(1))
    assert refused(reply, 400, BAD, "body")


@pytest.mark.parametrize(
    "changes, code, named",
    [
        ({"origin_account": {"iban": FRENCH}}, "B14800ZZ-3002-000000", "'origin_account.iban'"),
        ({"origin_account": {"iban": "BE53539100009353"}}, "B14800ZZ-3007-000000", "'origin_account.iban'"),
        ({"origin_account": {"iban": POOR}, "amount": 12.51}, "SBX-0403-000001", POOR),
        ({"origin_account": {"iban": LIMITED}, "amount": 250.01}, "B14821ZZ-2101-000000", "daily"),
        ({"origin_account": {"iban": ALICE}, "payment_treatment_type": "URGENT"}, "B14821ZZ-2101-000000", "urgent"),
    ],
)
def test_the_debtor_s_account_is_checked_as_in_version_3(
    tpp: Tpp, changes: dict[str, Any], code: str, named: str
) -> None:
    assert refused(send(tpp, body(**changes)), 403, code, named)


def test_a_professional_account_pays_urgently(tpp: Tpp) -> None:
    changes = {"origin_account": {"iban": BAKKERIJ}, "payment_treatment_type": "URGENT"}
    assert send(tpp, body(**changes)).status_code == 201


def test_the_two_bodies_are_not_mixed_up(tpp: Tpp) -> None:
    assert refused(send(tpp, payment()), 400, "GEN-120")
    assert refused(send(tpp, body(), accept=version(3)), 400, "GEN-120")


@pytest.mark.parametrize("product", (ISCT, XB))
def test_the_other_products_have_no_version_1(tpp: Tpp, product: str) -> None:
    assert refused(send(tpp, body(), product), 406, "SBX-0406-000001")
