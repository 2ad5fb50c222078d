"""Payments: initiation, redirect, callback, token, status, details and cancellation."""

from datetime import timedelta

import pytest

from bench.suite.checkout import ORDER, SIGNED, Checkout
from sandbox.client import CallbackRefused, ForeignCallback, NoCallback, Reference, Refused, returned

SCT, INSTANT, ABROAD = "sepa-credit-transfers", "instant-sepa-credit-transfers", "cross-border-credit-transfers"
UNSIGNED = ("RCVD", "PATC")
ENDED = ("CANC", "RJCT")


# Initiation


@pytest.mark.parametrize("product", [SCT, INSTANT])
def test_a_payment_waits_for_its_signature(shop: Checkout, product: str) -> None:
    payment = shop.tpp.pay(product, **ORDER)
    assert payment.sca_address is not None and shop.tpp.status(payment).status in UNSIGNED


def test_a_payment_abroad_waits_for_its_signature(shop: Checkout) -> None:
    place = {"city": "London", "country": "GB"}
    order = ORDER | {"charge_bearer": "SHAR", "currency": "GBP", "creditor_iban": "GB29NWBK60161331926819"}
    payment = shop.tpp.pay(ABROAD, **order, creditor_address=place)
    assert payment.sca_address is not None


def test_a_payment_carries_its_message(shop: Checkout) -> None:
    payment = shop.tpp.pay(**ORDER, remittance_information_unstructured="Invoice 2027/14")
    details = shop.tpp.details(payment, shop.sign(payment))
    assert details["creditor_name"] == "Jan Peeters"


def test_no_payment_without_a_beneficiary(shop: Checkout) -> None:
    with pytest.raises(Refused) as refused:
        shop.tpp.pay(creditor_iban="BE68539007547035", creditor_name="Jan Peeters", amount="12.50")
    demand_no(refused.value)


# Redirect and callback


def test_a_signed_payment_comes_back_with_a_code(shop: Checkout) -> None:
    payment = shop.tpp.pay(**ORDER)
    assert payment.sca_address is not None
    assert returned(shop.bank.psu.approve(payment.sca_address, customer="alice"), payment.flow)


def test_a_refusal_comes_back_as_an_error(shop: Checkout) -> None:
    payment = shop.tpp.pay(**ORDER)
    assert payment.sca_address is not None
    with pytest.raises((CallbackRefused, NoCallback)):
        returned(shop.bank.psu.refuse(payment.sca_address, customer="alice"), payment.flow)
    shop.bank.clock.advance("61m")
    assert shop.tpp.status(payment).status in ENDED


def test_the_callback_of_another_customer_is_refused(shop: Checkout) -> None:
    one, other = shop.tpp.pay(**ORDER), shop.tpp.pay(**ORDER)
    assert one.sca_address is not None
    with pytest.raises(ForeignCallback):
        returned(shop.bank.psu.approve(one.sca_address, customer="alice"), other.flow)


# Tokens


def test_a_code_gives_tokens(shop: Checkout) -> None:
    tokens = shop.sign(shop.tpp.pay(**ORDER))
    assert tokens.scope == "PIS" and tokens.expires_in > 0


def test_tokens_are_refreshed(shop: Checkout) -> None:
    payment = shop.tpp.pay(**ORDER)
    first = shop.sign(payment)
    shop.bank.clock.advance("2h")
    fresh = shop.tpp.refresh(first)
    assert fresh.access != first.access and shop.tpp.details(payment, fresh)


def test_a_code_is_used_once(shop: Checkout) -> None:
    payment = shop.tpp.pay(**ORDER)
    assert payment.sca_address is not None
    callback = shop.bank.psu.approve(payment.sca_address, customer="alice")
    shop.tpp.tokens_from(callback, payment.flow)
    with pytest.raises(Refused) as refused:
        shop.tpp.tokens_from(callback, payment.flow)
    demand_no(refused.value)


# Status and details


def test_a_signed_payment_is_on_its_way(shop: Checkout) -> None:
    payment = shop.tpp.pay(**ORDER)
    shop.sign(payment)
    assert shop.tpp.status(payment).status in SIGNED


def test_a_signed_payment_is_paid_in_the_end(shop: Checkout) -> None:
    payment = shop.tpp.pay(**ORDER)
    shop.sign(payment)
    shop.bank.clock.advance("5d")
    assert shop.is_paid(payment)


def test_an_instant_payment_is_paid_soon(shop: Checkout) -> None:
    payment = shop.tpp.pay(INSTANT, **ORDER)
    shop.sign(payment)
    shop.bank.clock.advance("1h")
    assert shop.is_paid(payment)


def test_a_forgotten_payment_ends(shop: Checkout) -> None:
    payment = shop.tpp.pay(**ORDER)
    shop.bank.clock.advance("61m")
    assert shop.tpp.status(payment).status == "CANC"


def test_an_unknown_payment_is_refused(shop: Checkout) -> None:
    with pytest.raises(Refused) as refused:
        shop.tpp.status(Reference(SCT, "nobody"))
    demand_no(refused.value)


def test_details_have_the_amount(shop: Checkout) -> None:
    payment = shop.tpp.pay(**ORDER)
    assert shop.amount_of(shop.tpp.details(payment, shop.sign(payment))) == 12.5


# Cancellation


def test_an_unsigned_payment_is_cancelled(shop: Checkout) -> None:
    tokens = shop.sign(shop.tpp.pay(**ORDER))
    payment = shop.tpp.pay(**ORDER)
    shop.tpp.cancel(payment, tokens)
    assert shop.tpp.status(payment).status == "CANC"


def test_a_payment_of_next_week_is_cancelled(shop: Checkout) -> None:
    later = shop.bank.clock.get().now.date() + timedelta(20)
    payment = shop.tpp.pay(**ORDER, requested_execution_date=later)
    shop.tpp.cancel(payment, shop.sign(payment))
    assert shop.tpp.status(payment).status == "CANC"


def test_a_payment_that_is_paid_is_not_cancelled(shop: Checkout) -> None:
    payment = shop.tpp.pay(INSTANT, **ORDER)
    tokens = shop.sign(payment)
    shop.bank.clock.advance("10m")
    with pytest.raises(Refused) as refused:
        shop.tpp.cancel(payment, tokens)
    demand_no(refused.value)


def demand_no(refused: Refused) -> None:
    """A refusal that a second try does not mend; a busy bank is another thing."""
    if refused.status in (429, 502, 503, 504):
        raise refused
    assert refused.status // 100 == 4 and refused.error
