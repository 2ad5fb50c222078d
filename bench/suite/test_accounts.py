"""Standing orders, files, consents, accounts and transactions."""

from decimal import Decimal

import pytest

from bench.suite.checkout import ORDER, PAID, Checkout
from sandbox.client import Refused


def test_a_standing_order_is_active_after_its_signature(shop: Checkout) -> None:
    order = shop.order()
    shop.sign(order)
    shop.bank.clock.advance("8d")
    assert shop.tpp.status(order).status == "ACWP"


def test_a_standing_order_is_cancelled(shop: Checkout) -> None:
    order = shop.order()
    tokens = shop.sign(order)
    shop.tpp.cancel(order, tokens)
    assert shop.tpp.status(order).status == "CANC"


def test_a_file_is_paid(shop: Checkout) -> None:
    sent = shop.file()
    shop.bank.clock.advance("10m")
    found = shop.tpp.status(sent)
    assert found.sca_address is not None and len(found.bulks) == 3
    shop.bank.psu.approve(found.sca_address)
    shop.bank.clock.advance("5d")
    done = shop.tpp.status(sent)
    assert {done.status, *(row.status for row in done.bulks)} <= set(PAID)


def test_a_file_is_cancelled(shop: Checkout) -> None:
    sent = shop.file()
    shop.tpp.cancel(sent)
    assert shop.tpp.status(sent).status == "CANC"


def test_a_consent_gives_tokens_for_accounts(shop: Checkout) -> None:
    assert shop.consent().scope == "AIS"


def test_accounts_have_balances(shop: Checkout) -> None:
    tokens = shop.consent()
    for entry in shop.tpp.accounts(tokens):
        assert shop.tpp.account(entry.logical_id, tokens).balance > 0


def test_transactions_come_once_each(shop: Checkout) -> None:
    tokens = shop.consent()
    entry = shop.tpp.accounts(tokens)[0]
    query = {"date_from": shop.bank.clock.get().now.date().replace(day=1), "pagesize": 20, "currency": "EUR"}
    lines = list(shop.tpp.all_transactions(entry.logical_id, tokens, **query))
    assert len({line.transaction_ref for line in lines}) == len(lines)


def test_transactions_have_signs(shop: Checkout) -> None:
    tokens = shop.consent()
    entry = shop.tpp.accounts(tokens)[0]
    lines = shop.tpp.transactions(entry.logical_id, tokens, currency="EUR").transactions
    assert all(line.amount != Decimal(0) for line in lines)


def test_no_accounts_with_the_tokens_of_a_payment(shop: Checkout) -> None:
    tokens = shop.sign(shop.tpp.pay(**ORDER))
    with pytest.raises(Refused) as refused:
        shop.tpp.accounts(tokens)
    if refused.value.status not in (401, 403):
        raise refused.value


def test_the_books_are_reconciled(shop: Checkout) -> None:
    shop.reconcile()
    assert shop.tpp.status(shop.tpp.pay(**ORDER)).status
