"""service 1, 3.4: the channel shows balances and what the customer signed, and cancels what may be cancelled."""

import pytest
from flask import Flask

from sandbox.bank.state import Bank
from sandbox.world.registry import Worlds
from tests.payer import Begun, approve, begin, refuse_further, signed, told
from tests.psu.psu import Psu
from tests.tpp import SCT, XB, Tpp


@pytest.fixture
def bank(worlds: Worlds) -> Bank:
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
