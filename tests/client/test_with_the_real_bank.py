"""The client and the sandbox's own bank, in one program."""

from datetime import timedelta
from decimal import Decimal
from urllib.parse import urlsplit

import httpx
import pytest
from flask import Flask

from sandbox.bulkfiles.samples import fill_sample
from sandbox.client import CallbackRefused, Client, Controls, Manual, Refused, Signer, code_from, returned
from tests.client.contract import ORDER
from tests.conftest import HERE


@pytest.fixture
def tpp(http: httpx.Client) -> Client:
    return Client(HERE, http=http)


def iban_of(controls: Controls, customer: str) -> str:
    return next(str(row["accounts"][0]) for row in controls.listed("customers") if row["customer"] == customer)


def test_a_payment_from_initiation_to_settled_money(tpp: Client, controls: Controls) -> None:
    payment = tpp.pay(**ORDER, remittance_information_unstructured="Rent")
    assert payment.sca_address is not None
    tokens = tpp.tokens_from(controls.psu.approve(payment.sca_address, customer="alice"), payment.flow)
    assert tokens.scope == "PIS"
    assert tpp.details(payment, tokens)["remittance_information_unstructured"] == "Rent"
    controls.clock.advance("61s")
    assert tpp.status(payment).status == "ACSC"
    assert tpp.status(payment.external, tokens).status == "ACSC"


def test_tokens_rotate_and_pay_again(tpp: Client, controls: Controls) -> None:
    payment = tpp.pay(**ORDER)
    assert payment.sca_address is not None
    tokens = tpp.tokens_from(controls.psu.approve(payment.sca_address, "alice"), payment.flow)
    fresh = tpp.refresh(tokens)
    second = tpp.pay(token=fresh, **ORDER)
    assert second.sca_address is not None
    assert returned(controls.psu.approve(second.sca_address), second.flow) is None
    with pytest.raises(Refused, match="GEN-1203-100003"):
        tpp.pay(token=tokens, **ORDER)


def test_a_future_payment_is_cancelled(tpp: Client, controls: Controls) -> None:
    payment = tpp.pay(**ORDER, requested_execution_date="2027-03-15")
    assert payment.sca_address is not None
    tokens = tpp.tokens_from(controls.psu.approve(payment.sca_address, "alice"), payment.flow)
    assert tpp.cancel(payment, tokens).status == 204
    assert tpp.status(payment).status == "CANC"
    with pytest.raises(Refused) as caught:
        tpp.cancel(payment, tokens)
    assert (caught.value.status, caught.value.error) == (403, "NOT_CANCELLABLE")


def test_a_psu_refuses(tpp: Client, controls: Controls) -> None:
    payment = tpp.pay(**ORDER)
    assert payment.sca_address is not None
    with pytest.raises(CallbackRefused, match="access_denied"):
        code_from(controls.psu.refuse(payment.sca_address), payment.flow)
    assert tpp.status(payment).reason == "PSU_REFUSED"


def test_the_earlier_version_pays_too(tpp: Client, controls: Controls) -> None:
    payment = tpp.pay_earlier(**ORDER, remittance_information_unstructured="Rent")
    assert payment.sca_address is not None and payment.transaction_ref is not None
    controls.psu.approve(payment.sca_address, "alice")
    assert tpp.status(payment.external).status == "PDNG"


def test_a_standing_order_lives_and_ends(tpp: Client, controls: Controls) -> None:
    order = tpp.pay_regularly(**ORDER, start_date="2027-04-01", frequency="MONTHLY")
    assert order.sca_address is not None and order.status == "PATC"
    tokens = tpp.tokens_from(controls.psu.approve(order.sca_address, "alice"), order.flow)
    controls.clock.advance("2s")
    assert tpp.status(order).status == "ACWP"
    details = tpp.details(order.external, tokens)
    assert (details["start_date"], details["frequency"]) == ("2027-04-01", "MONTHLY")
    assert len(controls.listed("standing-orders")) == 1
    tpp.cancel(order, tokens)
    assert tpp.status(order).status == "CANC"


def test_polling_in_bank_time_ends_with_the_address(tpp: Client, controls: Controls) -> None:
    before = controls.clock.get().now
    found = tpp.poll(tpp.pay(**ORDER), every=60, pause=lambda span: controls.clock.advance(timedelta(seconds=span)))
    assert (found.status, controls.clock.get().now - before) == ("PATC", timedelta(minutes=5))


def test_a_lost_reply_does_not_pay_twice(app: Flask, controls: Controls) -> None:
    inner = httpx.WSGITransport(app=app)
    lost: list[str] = []

    def serve(request: httpx.Request) -> httpx.Response:
        reply = inner.handle_request(request)
        if not lost:
            lost.append(request.headers["Request-ID"])
            raise httpx.ReadTimeout("the reply never came")
        return httpx.Response(reply.status_code, headers=reply.headers, content=reply.read())

    with httpx.Client(transport=httpx.MockTransport(serve)) as line:
        payment = Client(HERE, http=line).pay(**ORDER)
    assert [row["payment_id"] for row in controls.listed("payments")] == [payment.payment_id]
    assert payment.reply.response_id == lost[0]


def test_an_account_is_read_from_consent_to_the_last_page(tpp: Client, controls: Controls) -> None:
    consent = tpp.consent_addresses()
    assert urlsplit(consent.address).query == f"state={consent.flow.state}"
    tokens = tpp.tokens_from(controls.psu.approve(consent.address, customer="alice"), consent.flow)
    assert tokens.sca_token is not None
    entry = next(row for row in tpp.accounts(tokens) if row.iban == iban_of(controls, "alice"))
    controls.book(entry.iban, "2650.00", counterparty="An employer", communication="Salary")
    newest, *rest = tpp.all_transactions(entry.logical_id, tokens, pagesize=50)
    assert (newest.amount, newest.counterparty_info) == (Decimal("2650.00"), "An employer")
    references = [transaction.transaction_ref for transaction in rest]
    assert len(references) > 400 and len(set(references)) == len(references)
    opening = tpp.account(entry.logical_id, tokens)
    assert (opening.type, opening.multicurrency) == ("current-account", False)


def test_a_consent_of_one_account(tpp: Client, controls: Controls) -> None:
    consent = tpp.consent_addresses("CAF", iban=iban_of(controls, "bram"))
    tokens = tpp.tokens_from(controls.psu.approve(consent.address, "bram"), consent.flow)
    assert tokens.scope == "CAF" and tokens.logical_id is not None
    account = tpp.account(tokens.logical_id, tokens)
    assert {part.currency for part in account.other_compartments} == {"USD", "GBP"}
    assert tpp.refresh(tokens).logical_id == tokens.logical_id


def test_a_consent_is_withdrawn(tpp: Client, controls: Controls) -> None:
    consent = tpp.consent_addresses()
    tokens = tpp.tokens_from(controls.psu.approve(consent.address, "alice"), consent.flow)
    controls.psu.withdraw("demo-tpp", "alice")
    with pytest.raises(Refused, match="NO_ACTIVE_CONSENT"):
        tpp.accounts(tokens)


def test_the_clock_is_the_testers(controls: Controls) -> None:
    assert controls.clock.get().mode == "frozen"
    before = controls.clock.get().now
    assert controls.clock.advance(timedelta(seconds=1.5)).now - before == timedelta(seconds=1.5)
    later = before + timedelta(days=2)
    assert controls.clock.set(later).now == later
    assert (controls.clock.run(60).rate, controls.clock.freeze().rate) == (60, 0)
    with pytest.raises(Refused) as caught:
        controls.clock.set(before)
    assert caught.value.status == 400


def test_worlds_are_made_reset_and_dropped(controls: Controls, http: httpx.Client) -> None:
    world = controls.make_world("b", seed=3, clock={"at": "2028-01-03T09:00:00+01:00", "frozen": True})
    tpp = Client(controls.world_url("b"), http=http)
    payment = tpp.pay(**ORDER)
    assert payment.sca_address is not None and payment.sca_address.startswith(f"{HERE}/worlds/b/psu/")
    assert world.clock.get().due_next is not None
    assert [row["payment_id"] for row in world.listed("payments")] == [payment.payment_id]
    assert controls.listed("payments") == []
    with pytest.raises(Refused, match="exists already"):
        controls.make_world("b")
    assert len(world.listed("payments")) == 1
    world.reset()
    assert world.listed("payments") == []
    controls.drop_world("b")
    assert "b" not in [row["name"] for row in controls.listed("worlds")]


def test_a_second_signature_and_a_forced_move(tpp: Client, controls: Controls) -> None:
    payment = tpp.pay(**ORDER, debtor_iban=iban_of(controls, "notaris"))
    assert payment.sca_address is not None
    controls.psu.approve(payment.sca_address)
    assert tpp.status(payment).status == "PATC"
    controls.psu.sign(payment.payment_id, "griet")
    assert tpp.status(payment).status == "PDNG"
    assert controls.move(payment.payment_id, "RJCT", "AC04").body["status"] == "RJCT"
    assert tpp.status(payment).reason == "AC04"


def test_the_journal_and_the_requests_go_on_from_a_number(tpp: Client, controls: Controls) -> None:
    payment = tpp.pay(**ORDER)
    (first,) = controls.listed("requests")
    tpp.status(payment)
    (second,) = controls.listed("requests", since=first["seq"])
    assert (first["operation"], second["operation"]) == ("payment_initiation", "payment_status")


@pytest.mark.parametrize(
    "name", ["three-bulks.pain.001.001.03.xml", "three-bulks.pain.001.001.09.xml", "three-bulks.csv"]
)
def test_a_file_from_sending_to_its_last_bulk(tpp: Client, controls: Controls, name: str) -> None:
    content, product = fill_sample(name, controls.clock.get().now.date()), "csv" if name.endswith("csv") else "pain.001"
    sent = tpp.send_file(content, product, reference="MARCH")
    assert (sent.status, sent.sca_address) == ("RCVD", None)
    assert tpp.status(sent).bulks == ()
    controls.clock.advance("120s")
    found = tpp.status(sent)
    assert found.status == "PATC" and found.sca_address is not None
    assert [(row.number_of_transactions, row.control_sum) for row in found.bulks] == [
        (2, Decimal("4310.00")),
        (2, Decimal("995.30")),
        (1, Decimal("100.00")),
    ]
    assert found.flow is not None
    assert returned(controls.psu.approve(found.sca_address), found.flow) is None
    controls.clock.advance("60s")
    assert [row.status for row in tpp.status(sent.external).bulks] == ["PDNG", "ACSC", "PDNG"]
    controls.clock.advance("1d")
    assert tpp.status(sent).status == "ACSC"


def test_a_file_with_faults_is_told_about_and_one_is_cancelled(tpp: Client, controls: Controls) -> None:
    today = controls.clock.get().now.date()
    faulty = tpp.send_file(fill_sample("one-bad-bulk.pain.001.001.03.xml", today))
    controls.clock.advance("120s")
    found = tpp.status(faulty)
    assert [row.status for row in found.bulks] == ["PATC", "RJCT"]
    assert {error["code"] for error in found.bulks[1].errors} == {"IBAN", "AMOUNT", "CURRENCY", "DUPLICATE_ENDTOEND"}
    assert tpp.cancel(faulty).status == 204
    assert tpp.status(faulty).status == "CANC"
    with pytest.raises(Refused, match="GEN-1202-100002"):
        tpp.send_file(b"<Document>")


def test_a_bulk_without_a_name_is_told_about_too(tpp: Client, controls: Controls) -> None:
    content = fill_sample("three-bulks.pain.001.001.03.xml", controls.clock.get().now.date())
    sent = tpp.send_file(content.replace(b"<PmtInfId>A-RENT</PmtInfId>", b""))
    controls.clock.advance("120s")
    assert [row.payment_information_id for row in tpp.status(sent).bulks] == ["A-WAGES", "A-FLOUR", None]


def test_a_psu_authenticates_again_and_the_same_token_reads_on(tpp: Client, controls: Controls) -> None:
    consent = tpp.consent_addresses()
    tokens = tpp.tokens_from(controls.psu.approve(consent.address, "alice"), consent.flow)
    (entry, *_) = tpp.accounts(tokens)
    controls.clock.advance("91d")
    tokens = tpp.refresh(tokens)
    with pytest.raises(Refused) as caught:
        tpp.transactions(entry.logical_id, tokens)
    again = tpp.renewal(caught.value)
    assert urlsplit(again.address).query == f"state={again.flow.state}" and again.flow.state != consent.flow.state
    assert returned(controls.psu.approve(again.address, "alice"), again.flow) is None
    assert tpp.transactions(entry.logical_id, tokens, date_from="2027-01-01").transactions


def test_initiations_are_signed_where_the_bank_demands_it(http: httpx.Client, controls: Controls) -> None:
    controls.call("PATCH", "/settings", {"signatures": "strict"})
    signer = Signer(lambda: controls.clock.get().now)
    with pytest.raises(Refused, match="Digest"):
        Client(HERE, http=http).pay(**ORDER)
    controls.call("PUT", "/clients/demo-tpp", {"keys": [signer.public]})
    signing = Client(HERE, http=http, signer=signer)
    assert signing.pay(**ORDER).status == "RCVD"
    content = fill_sample("three-bulks.pain.001.001.03.xml", controls.clock.get().now.date())
    assert signing.send_file(content).status == "RCVD"


def test_what_the_service_leaves_open_is_asked_for_as_the_manual_says(http: httpx.Client, controls: Controls) -> None:
    controls.call("PATCH", "/settings", {"variants": {"vendor": "bank.example", "scope_in": "header"}})
    tpp = Client(HERE, http=http, manual=Manual("bank.example", scope_in="header"))
    assert tpp.consent_addresses().address
    with pytest.raises(Refused, match="406"):
        Client(HERE, http=http).consent_addresses()
