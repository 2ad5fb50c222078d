"""A suite of 34 tests with one assertion each, which together notice the lies that they meet."""

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from sandbox.bulkfiles.samples import fill_sample
from sandbox.client import CallbackRefused, Initiation, StatusInfo, Tokens, returned
from sandbox.testing import BankFixture

ORDER: dict[str, Any] = {"creditor_iban": "BE68539007547034", "creditor_name": "Jan Peeters", "amount": "12.50"}
FILE = "three-bulks.pain.001.001.03.xml"
ACCOUNT = "BE56539100003188"  # of Bram, in three currencies


def pay(bank: BankFixture, **more: Any) -> Initiation:
    return bank.tpp.pay(**ORDER, **more)


def sign(bank: BankFixture, initiation: Initiation) -> Tokens:
    assert initiation.sca_address
    callback = bank.psu.approve(initiation.sca_address, customer="alice")
    return bank.tpp.tokens_from(callback, initiation.flow)


def details(bank: BankFixture, **more: Any) -> dict[str, Any]:
    payment = pay(bank, **more)
    return bank.tpp.details(payment, sign(bank, payment)) | {"expected": payment.payment_id}


def order(bank: BankFixture) -> Initiation:
    start = bank.clock.get().now.date() + timedelta(1)
    return bank.tpp.pay_regularly(**ORDER, start_date=start, end_date=start + timedelta(200), frequency="MONTHLY")


def order_details(bank: BankFixture) -> dict[str, Any]:
    found = order(bank)
    return bank.tpp.details(found, sign(bank, found))


def file(bank: BankFixture, days: int = 0) -> Initiation:
    sent = bank.tpp.send_file(fill_sample(FILE, bank.clock.get().now.date() - timedelta(days), "MAY"), reference="MAY")
    bank.clock.advance("10m")
    return sent


def access(bank: BankFixture) -> Tokens:
    consent = bank.tpp.consent_addresses()
    return bank.tpp.tokens_from(bank.psu.approve(consent.address, customer="bram"), consent.flow)


def refused(bank: BankFixture) -> StatusInfo:
    payment = pay(bank)
    assert payment.sca_address
    bank.psu.refuse(payment.sca_address, customer="alice")
    return bank.tpp.status(payment)


def refs(bank: BankFixture, pagesize: int) -> Counter[str]:
    tokens = access(bank)
    entry = bank.tpp.accounts(tokens)[0]
    query = {"pagesize": pagesize, "date_from": bank.clock.get().now.date() - timedelta(40)}
    lines = bank.tpp.all_transactions(entry.logical_id, tokens, **query)
    return Counter(line.transaction_ref for line in lines)


def newest(bank: BankFixture) -> dict[str, Any]:
    """A line that the tester booked by hand."""
    bank.controls.book(ACCOUNT, "-21.40", counterparty={"iban": ORDER["creditor_iban"], "name": "Jan Peeters"},
                       communication="Rent of May")  # fmt: skip
    tokens = access(bank)
    entry = bank.tpp.accounts(tokens)[0]
    reply = bank.tpp.transactions(entry.logical_id, tokens, currency="EUR").reply
    found: dict[str, Any] = reply.body["_embedded"]["transactions"][0]
    return found


def an_initiation_has_its_reference(bank: BankFixture) -> None:
    payment = pay(bank, reference="INVOICE-1")
    assert payment.reply.body["endtoend_identification"] == "INVOICE-1"


def an_initiation_waits(bank: BankFixture) -> None:
    payment = pay(bank)
    assert payment.status == "RCVD"


def an_initiation_has_its_id(bank: BankFixture) -> None:
    payment = pay(bank)
    assert [row["payment_id"] for row in bank.payments] == [payment.payment_id]


def details_have_the_amount(bank: BankFixture) -> None:
    found = details(bank)
    assert found["instructed_amount"] == {"amount": "12.50", "currency": "EUR"}


def details_have_the_account(bank: BankFixture) -> None:
    found = details(bank)
    assert found["creditor_account"]["iban"] == ORDER["creditor_iban"]


def details_have_the_name(bank: BankFixture) -> None:
    found = details(bank)
    assert found["creditor_name"] == "Jan Peeters"


def details_have_the_debtor(bank: BankFixture) -> None:
    found = details(bank)
    assert found["debtor_account"]["iban"] == "BE16539100001774"


def details_have_the_message(bank: BankFixture) -> None:
    found = details(bank, unstructured="Invoice 7")
    assert found["remittance_information_unstructured"] == "Invoice 7"


def details_have_the_reference(bank: BankFixture) -> None:
    found = details(bank, reference="INVOICE-1")
    assert found["endtoend_identification"] == "INVOICE-1"


def details_have_the_customer(bank: BankFixture) -> None:
    found = details(bank)
    assert found["psu_name"] == "Alice Delvigne"


def details_have_the_day(bank: BankFixture) -> None:
    today = bank.clock.get().now.date().isoformat()
    found = details(bank, on=today)
    assert found["requested_execution_date"] == today


def details_have_the_id(bank: BankFixture) -> None:
    found = details(bank)
    assert found["payment_id"] == found["expected"]


def details_have_the_status(bank: BankFixture) -> None:
    found = details(bank)
    assert found["status"] == "PDNG"


def a_signed_payment_is_pending(bank: BankFixture) -> None:
    payment = pay(bank)
    sign(bank, payment)
    assert bank.tpp.status(payment).status == "PDNG"


def a_signed_payment_is_settled(bank: BankFixture) -> None:
    payment = pay(bank)
    sign(bank, payment)
    bank.clock.advance("3h")
    assert bank.tpp.status(payment).status == "ACSC"


def a_refused_payment_is_cancelled(bank: BankFixture) -> None:
    found = refused(bank)
    assert found.status == "CANC"


def a_refused_payment_has_a_reason(bank: BankFixture) -> None:
    found = refused(bank)
    assert found.reason == "PSU_REFUSED"


def a_rejected_payment_is_rejected(bank: BankFixture) -> None:
    payment = pay(bank)
    sign(bank, payment)
    bank.move(payment, "RJCT", "AC04")
    assert bank.tpp.status(payment).status == "RJCT"


def a_status_has_the_id(bank: BankFixture) -> None:
    payment = pay(bank)
    found = bank.tpp.status(payment)
    assert found.reply.body["payment_id"] == payment.payment_id


def an_order_has_its_days(bank: BankFixture) -> None:
    found = order_details(bank)
    assert (found["start_date"], found["end_date"]) == ("2027-03-02", "2027-09-18")


def an_order_has_its_frequency(bank: BankFixture) -> None:
    found = order_details(bank)
    assert found["frequency"] == "MONTHLY"


def an_order_is_active(bank: BankFixture) -> None:
    found = order(bank)
    sign(bank, found)
    assert bank.tpp.status(found).status in ("PDNG", "ACWP")


def a_cancelled_order_is_cancelled(bank: BankFixture) -> None:
    found = order(bank)
    bank.tpp.cancel(found, sign(bank, found))
    assert bank.tpp.status(found).status == "CANC"


def a_file_has_its_bulks(bank: BankFixture) -> None:
    sent = file(bank)
    found = bank.tpp.status(sent).reply.body
    rows = [(row["number_of_transactions"], float(row["control_sum"])) for row in found["bulks"]]
    assert (found["status"], rows) == ("PATC", [(2, 4310.0), (2, 995.3), (1, 100.0)])


def a_file_is_settled(bank: BankFixture) -> None:
    sent = file(bank)
    bank.psu.approve(bank.tpp.status(sent).sca_address or "")
    bank.clock.advance("5d")
    assert bank.tpp.status(sent).status == "ACSC"


def a_cancelled_file_is_cancelled(bank: BankFixture) -> None:
    sent = file(bank)
    bank.tpp.cancel(sent)
    assert bank.tpp.status(sent).status == "CANC"


def a_bad_file_is_rejected_with_its_errors(bank: BankFixture) -> None:
    sent = file(bank, days=9)
    found = bank.tpp.status(sent).reply.body
    assert found["status"] == "RJCT" and any("errors" in row for row in (found, *found["bulks"]))


def a_token_has_its_scope_and_life(bank: BankFixture) -> None:
    found = access(bank)
    assert (found.scope, found.expires_in) == ("AIS", 3600)


def tokens_are_refreshed_again_and_again(bank: BankFixture) -> None:
    first = access(bank)
    second = bank.tpp.refresh(first)
    assert second.refresh != first.refresh


def accounts_are_those_of_the_customer(bank: BankFixture) -> None:
    tokens = access(bank)
    assert [entry.iban for entry in bank.tpp.accounts(tokens)] == [ACCOUNT]


def an_account_has_its_balances(bank: BankFixture) -> None:
    tokens = access(bank)
    body = bank.tpp.account(bank.tpp.accounts(tokens)[0].logical_id, tokens).reply.body
    shown = {row["currency"]: float(row["balance"]) for row in (body, *body["other_compartments"])}
    assert (body["iban"], shown) == (ACCOUNT, {"EUR": 5623.12, "USD": 1394.31, "GBP": 545.19})


def a_line_is_what_was_booked(bank: BankFixture) -> None:
    found = newest(bank)
    names = ("amount", "currency", "execution_date", "counterparty_info", "communication")
    assert [str(found[name]) for name in names] == ["-21.40", "EUR", "2027-03-01", "Jan Peeters", "Rent of May"]


def pages_have_each_line_once(bank: BankFixture) -> None:
    small, large = refs(bank, 5), refs(bank, 50)
    assert small == large and len(small) == 55 and set(small.values()) == {1}


def a_refusal_comes_back_as_one(bank: BankFixture) -> None:
    payment = pay(bank)
    callback = bank.psu.refuse(payment.sca_address or "", customer="alice")
    try:
        code = returned(callback, payment.flow)
    except CallbackRefused:
        code = ""
    assert not code


TESTS: tuple[Callable[[BankFixture], None], ...] = (
    an_initiation_has_its_reference,
    an_initiation_waits,
    an_initiation_has_its_id,
    details_have_the_amount,
    details_have_the_account,
    details_have_the_name,
    details_have_the_debtor,
    details_have_the_message,
    details_have_the_reference,
    details_have_the_customer,
    details_have_the_day,
    details_have_the_id,
    details_have_the_status,
    a_signed_payment_is_pending,
    a_signed_payment_is_settled,
    a_refused_payment_is_cancelled,
    a_refused_payment_has_a_reason,
    a_rejected_payment_is_rejected,
    a_status_has_the_id,
    an_order_has_its_days,
    an_order_has_its_frequency,
    an_order_is_active,
    a_cancelled_order_is_cancelled,
    a_file_has_its_bulks,
    a_file_is_settled,
    a_cancelled_file_is_cancelled,
    a_bad_file_is_rejected_with_its_errors,
    a_token_has_its_scope_and_life,
    tokens_are_refreshed_again_and_again,
    accounts_are_those_of_the_customer,
    an_account_has_its_balances,
    a_line_is_what_was_booked,
    pages_have_each_line_once,
    a_refusal_comes_back_as_one,
)
