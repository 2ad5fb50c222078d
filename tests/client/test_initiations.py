"""Paths, versions, bodies and replies of initiations (service 4.1 to 4.6; choice 3, 5, 6, 7)."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from sandbox.client import PathKind, Reference, Unreadable, earlier_payment_body, payment_body, standing_order_body
from tests.client.contract import BANK, BELGIAN, ORDER, Bank, accepted, answer

XB = "cross-border-credit-transfers"
REGULAR: dict[str, Any] = {"creditor_iban": BELGIAN, "creditor_name": "Jan", "start": date(2027, 4, 1)}


def asked_version(bank: Bank) -> str:
    return bank.last.headers["Accept"].rpartition("=")[2]


def test_a_good_body() -> None:
    body = payment_body(**ORDER, reference="R-1", debtor_iban="BE1", text="Rent", on=date(2027, 4, 1), urgent=True)
    assert body == {
        "debtor_account": {"iban": "BE1"},
        "creditor_account": {"iban": BELGIAN},
        "creditor_name": "Jan Peeters",
        "endtoend_identification": "R-1",
        "instructed_amount": {"amount": "12.50", "currency": "EUR"},
        "instruction_priority": "HIGH",
        "remittance_information_unstructured": "Rent",
        "requested_execution_date": "2027-04-01",
    }


def test_what_is_not_given_is_not_sent() -> None:
    assert set(payment_body(**ORDER)) == {
        "creditor_account",
        "creditor_name",
        "endtoend_identification",
        "instructed_amount",
    }


@pytest.mark.parametrize("amount, text", [("1.50", "1.50"), (3, "3"), (Decimal("1E+2"), "100")])
def test_an_amount_is_a_decimal_string(amount: str | int | Decimal, text: str) -> None:
    body = payment_body(creditor_iban=BELGIAN, creditor_name="Jan", amount=amount)
    assert body["instructed_amount"]["amount"] == text


def test_references_are_fresh_and_fit() -> None:
    one, other = (payment_body(**ORDER)["endtoend_identification"] for _ in range(2))
    assert one != other and len(one) <= 35


def test_abroad_the_charges_are_shared_unless_told() -> None:
    account = {"bban": "123", "country": "US", "bank_national_id": "021000021"}
    body = payment_body(XB, creditor_name="Joe", amount="5", currency="USD", creditor_account=account)
    assert (body["charge_bearer"], body["creditor_account"]) == ("SHAR", account)


def test_a_variable_standing_order_has_no_amount() -> None:
    fixed = standing_order_body(**REGULAR, amount="5")
    variable = standing_order_body(**REGULAR, keep="100", at_most="50")
    assert (fixed["periodic_payment_type"], fixed["instructed_amount"]) == ("FIXED", {"currency": "EUR", "amount": "5"})
    assert variable["periodic_payment_type"] == "VARIABLE"
    assert variable["instructed_amount"] == {"currency": "EUR", "minimal_amount": "100", "maximal_amount": "50"}


def test_the_earlier_body_names_its_communication() -> None:
    assert earlier_payment_body(**ORDER, text="Rent")["communication_type"] == "FREETEXT"
    assert earlier_payment_body(**ORDER, structured="+++1+++")["communication_type"] == "STRUCTURED"
    assert "communication_type" not in earlier_payment_body(**ORDER)


def test_the_earlier_version_is_signed_where_location_says(bank: Bank) -> None:
    bank.says(answer(201, {"payment_id": "p-1", "transaction_ref": "t-1"}, Location=f"{BANK}/psu/sign/x"))
    payment = bank.client.pay_earlier(**ORDER, endtoend_identification="R-1")
    assert (asked_version(bank), bank.path) == ("1", "/payments/sepa-credit-transfers")
    assert (payment.transaction_ref, payment.status, payment.external_id) == ("t-1", None, "R-1")
    assert payment.sca_address == f"{BANK}/psu/sign/x?state={payment.flow.state}"


def test_a_standing_order_has_its_own_path_and_version(bank: Bank) -> None:
    bank.says(accepted(), answer(200, {"payment_id": "p-1", "status": "ACWP"}))
    order = bank.client.pay_regularly(**REGULAR, amount="5")
    assert (asked_version(bank), bank.path) == ("2", "/periodic-payments/sepa-credit-transfers")
    assert bank.client.status(order).status == "ACWP"
    assert (asked_version(bank), bank.path) == ("2", "/periodic-payments/sepa-credit-transfers/p-1/status")


def test_status_details_and_cancellation_by_either_reference(bank: Bank) -> None:
    bank.says(accepted(), *(answer(200, {"payment_id": "p-1", "status": "PDNG"}) for _ in range(2)), answer(204))
    payment = bank.client.pay(**ORDER, endtoend_identification="R 1")
    assert bank.client.status(payment).status == "PDNG"
    assert (asked_version(bank), bank.path) == ("3", "/payments/sepa-credit-transfers/p-1/status")
    assert "Authorization" not in bank.last.headers
    assert bank.client.details(payment.external, "abc")["status"] == "PDNG"
    assert bank.path == "/payments/sepa-credit-transfers/R%201/details?paymentIdType=EXTERNAL"
    assert bank.last.headers["Authorization"] == "Bearer abc"
    assert bank.client.cancel(payment, "abc").body is None
    assert (bank.last.method, asked_version(bank)) == ("DELETE", "2")
    assert bank.path == "/payments/sepa-credit-transfers/p-1"


def test_a_reply_about_another_payment_breaks_the_contract(bank: Bank) -> None:
    echo, other = accepted(endtoend_identification="R-1"), answer(200, {"payment_id": "p-2", "status": "ACSC"})
    payment = bank.says(echo, other, other).client.pay(**ORDER, endtoend_identification="R-1")
    for ask in (bank.client.status, lambda target: bank.client.details(target, "abc")):
        with pytest.raises(Unreadable, match="payment_id is 'p-2', and the call was about 'p-1'"):
            ask(payment)
    with pytest.raises(Unreadable, match="endtoend_identification"):
        bank.says(echo).client.pay(**ORDER, endtoend_identification="R-2")


def test_a_reason_is_told(bank: Bank) -> None:
    bank.says(answer(200, {"payment_id": "p", "status": "RJCT", "reason": "AM04"}))
    found = bank.client.status(Reference("sepa-credit-transfers", "p"))
    assert (found.status, found.reason) == ("RJCT", "AM04")


@pytest.mark.parametrize("product, media", [("pain.001", "application/xml"), ("csv", "text/csv")])
def test_a_file_goes_as_it_is(bank: Bank, product: str, media: str) -> None:
    bank.says(answer(201, {"payment_file_id": "f-1", "status": "RCVD"}))
    sent = bank.client.send_file(b"\xef\xbb\xbfbytes", product, reference="FILE-1")
    assert (bank.last.content, bank.last.headers["Content-Type"]) == (b"\xef\xbb\xbfbytes", media)
    assert (bank.path, bank.last.headers["PaymentInformationID"]) == (f"/bulk-payments/{product}", "FILE-1")
    assert "Code-Challenge" not in bank.last.headers
    assert (sent.sca_address, sent.external) == (None, Reference(product, "FILE-1", PathKind.BULK, external=True))


def test_a_files_status_tells_where_to_sign_and_what_became_of_each_bulk(bank: Bank) -> None:
    good = {"payment_information_id": "A", "status": "PATC", "number_of_transactions": 3, "control_sum": "12.50"}
    bad = {"payment_information_id": "B", "status": "RJCT", "reason": "X", "errors": [{"line": 3, "code": "IBAN"}]}
    link = {"sca_redirect": {"href": f"{BANK}/psu/sign/f"}}
    status = {"payment_file_id": "f-1", "status": "PATC", "bulks": [good, bad], "_links": link}
    bank.says(answer(201, {"payment_file_id": "f-1", "status": "RCVD"}), answer(200, status), answer(200, status))
    sent = bank.client.send_file(b"x", reference="FILE-1")
    found = bank.client.status(sent)
    assert found.sca_address == f"{BANK}/psu/sign/f?state={sent.flow.state}"
    assert [(bulk.status, bulk.control_sum) for bulk in found.bulks] == [("PATC", Decimal("12.50")), ("RJCT", None)]
    assert found.bulks[1].errors == ({"line": 3, "code": "IBAN"},)
    assert bank.client.status(sent.external).flow is not None
    assert bank.path == "/bulk-payments/pain.001/FILE-1/status?paymentFileIdType=EXTERNAL"


def test_polling_ends_when_it_is_signed(bank: Bank) -> None:
    statuses = ("RCVD", "PATC", "PDNG")
    bank.says(accepted(), *(answer(200, {"payment_id": "p-1", "status": status}) for status in statuses))
    pauses: list[float] = []
    assert bank.client.poll(bank.client.pay(**ORDER), every=2, pause=pauses.append).status == "PDNG"
    assert pauses == [2, 2]


def test_polling_ends_with_the_life_of_the_address(bank: Bank) -> None:
    bank.says(accepted(), *(answer(200, {"payment_id": "p-1", "status": "PATC"}) for _ in range(6)))
    pauses: list[float] = []
    assert bank.client.poll(bank.client.pay(**ORDER), every=60, pause=pauses.append).status == "PATC"
    assert sum(pauses) == 300


def test_the_api_names_and_the_short_words_give_the_same_body() -> None:
    long = {"endtoend_identification": "R", "remittance_information_unstructured": "Rent", "start_date": "2027-04-01"}
    short = {"reference": "R", "text": "Rent", "start": "2027-04-01"}
    order = {"creditor_iban": "BE1", "creditor_name": "Jan", "amount": "1.00"}
    assert standing_order_body(**order, **long) == standing_order_body(**order, **short)


def test_a_name_that_is_no_field_is_told_with_the_nearest() -> None:
    with pytest.raises(TypeError, match="did you mean 'requested_execution_date'"):
        payment_body(creditor_name="Jan", amount="1.00", requested_date="2027-04-01")
