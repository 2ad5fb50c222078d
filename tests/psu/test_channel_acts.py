"""service 1, 3.4: the channel shows balances and what the customer signed, and cancels what may be cancelled."""

import re

import pytest
from flask import Flask

from sandbox.bank.state import Bank
from sandbox.worlds.registry import WorldRegistry
from tests.payer import Begun, approve, begin, refuse_further, signed, told
from tests.psu.psu import Psu, file_address, file_id, order_address, row
from tests.tpp import SCT, XB, Tpp

NAMED = re.compile(r"<b>aan ([^<]*)</b>")
NUMBERED = re.compile(r"<b>aan (Number [^<]*)</b>")


@pytest.fixture
def bank(worlds: WorldRegistry) -> Bank:
    return worlds.get("default").bank


def channel(app: Flask, customer: str) -> Psu:
    psu = Psu(app, "nl")
    psu.open("/psu/channel")
    psu.send("/psu/channel/login", login=customer)
    return psu


def test_balances_payments_and_their_statuses_are_shown_and_a_future_payment_is_cancelled(app: Flask, tpp: Tpp) -> None:
    coming = signed(tpp, requested_execution_date="2027-03-08", creditor_name="Jan <b>")
    psu = channel(app, "alice")
    text = psu.page.text
    assert "BE16 5391 0000 1774" in text and "Spaarrekening" in text and "€" in text
    assert "Ondertekend, in afwachting" in text and "Jan <b>" not in text
    assert "geannuleerd" in psu.send(f"/psu/channel/payments/{coming.id}/cancel").text
    assert told(tpp, coming)[0] == "CANC"
    again = psu.send(f"/psu/channel/payments/{coming.id}/cancel")
    assert again.status_code == 422 and "kan niet meer geannuleerd worden" in again.text


@pytest.mark.parametrize("product", (SCT, XB))
def test_what_may_not_be_cancelled_has_no_button_and_stays(app: Flask, tpp: Tpp, product: str) -> None:
    begun = signed(tpp, product)
    psu = channel(app, "alice")
    assert "/cancel" not in psu.page.text
    assert psu.send(f"/psu/channel/payments/{begun.id}/cancel").status_code == 422
    assert told(tpp, begun)[0] == "PDNG"


def test_nobody_else_cancels_it_and_no_form_without_its_proof(app: Flask, tpp: Tpp) -> None:
    coming = signed(tpp, requested_execution_date="2027-03-08")
    stranger = channel(app, "bram")
    assert coming.id not in stranger.page.text
    assert stranger.send(f"/psu/channel/payments/{coming.id}/cancel").status_code == 422
    own = channel(app, "alice")
    assert own.send(f"/psu/channel/payments/{coming.id}/cancel", proof="0" * 48).status_code == 403
    assert told(tpp, coming)[0] == "PDNG"


@pytest.mark.parametrize("end", ("cancel", "time", "refuse", "move"))
def test_what_ended_after_its_first_signature_waits_in_nobodys_channel(
    app: Flask, tpp: Tpp, bank: Bank, end: str
) -> None:
    begun: Begun = begin(tpp, debtor_account__iban=tpp.iban_of("notaris"))
    approve(tpp, begun.address, "notaris")
    assert [*bank.partly_signed] == [begun.id]
    if end == "cancel":
        psu = channel(app, "notaris")
        psu.send(f"/psu/channel/payments/{begun.id}/cancel")
    elif end == "time":
        tpp.advance("61m")
    elif end == "refuse":
        refuse_further(tpp, begun.id, "griet")
    else:
        tpp.control("POST", f"/payments/{begun.id}/move", status="CANC")
    assert told(tpp, begun)[0] == "CANC" and not bank.partly_signed


def test_all_that_leaves_from_an_account_is_listed_for_each_who_holds_or_signs_for_it(app: Flask, tpp: Tpp) -> None:
    signed(tpp, customer="notaris", debtor_account__iban=tpp.iban_of("notaris"), creditor_name="Half signed")
    begin(tpp, debtor_account__iban=tpp.iban_of("notaris"), creditor_name="Not signed yet")
    for customer in ("notaris", "griet"):
        assert {"Half signed", "Not signed yet"} <= set(NAMED.findall(channel(app, customer).page.text))
    assert "Half signed" not in channel(app, "alice").page.text


def test_what_nobody_signed_in_time_is_not_listed(app: Flask, tpp: Tpp) -> None:
    begin(tpp, debtor_account__iban=tpp.iban_of("alice"), creditor_name="Never signed")
    assert "Never signed" in channel(app, "alice").page.text
    tpp.advance("61m")
    assert "Never signed" not in channel(app, "alice").page.text


def test_an_unsigned_payment_of_the_own_account_is_cancelled_there(app: Flask, tpp: Tpp) -> None:
    begun = begin(tpp, debtor_account__iban=tpp.iban_of("alice"))
    psu = channel(app, "alice")
    psu.send(f"/psu/channel/payments/{begun.id}/cancel")
    assert told(tpp, begun)[0] == "CANC"


def test_long_lists_have_pages_and_orders_a_list_of_their_own(app: Flask, tpp: Tpp) -> None:
    for number in range(23):
        signed(tpp, instructed_amount__amount="1.00", creditor_name=f"Number {number}.")
    approve(tpp, order_address(tpp), "alice")
    psu = channel(app, "alice")
    assert [f"Number {number}." for number in range(22, 2, -1)] == NUMBERED.findall(psu.page.text)
    assert "Uw doorlopende opdrachten" in psu.page.text and "650,00" in psu.page.text
    older = psu.open("/psu/channel?payments=2").text
    assert [f"Number {number}." for number in (2, 1, 0)] == NUMBERED.findall(older) and "650,00" in older
    assert "payments=1" in older and "payments=3" not in older
    assert not NUMBERED.findall(psu.open("/psu/channel?payments=999999").text)
    for nonsense in ("0", "-1", "x", "٣", "9" * 400):
        assert len(NUMBERED.findall(psu.open(f"/psu/channel?payments={nonsense}").text)) == 20


def test_a_file_that_was_executed_is_listed_with_what_it_paid(app: Flask, tpp: Tpp) -> None:
    found = file_id(tpp, row(tpp.iban_of("bakkerij"), "2027-03-01", "Jan Peeters", "40.00", "A-1"))
    approve(tpp, file_address(tpp, found), "bakkerij")
    for after, status in (("1s", "Ondertekend, in afwachting"), ("2m", "Uitgevoerd")):
        tpp.advance(after)
        text = channel(app, "bakkerij").page.text
        assert status in text and "40,00" in text
