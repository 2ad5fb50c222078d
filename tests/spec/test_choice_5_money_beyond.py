"""service 1, choice 5: money that returns, reaches this bank, changes its currency, or needs two signatures."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from flask import Flask

from sandbox.bank.state import Bank
from sandbox.banking.countries import rate
from sandbox.contract.decisions import Decisions
from sandbox.worlds.registry import WorldRegistry
from tests.payer import (
    approve,
    balance,
    begin,
    booked,
    cosign,
    is_balanced,
    move,
    signed,
    spendable,
    status,
    told,
)
from tests.spec.bodies import ALICE, BRAM, TUNISIAN, to_tunisia
from tests.tpp import ISCT, SCT, XB, Tpp, payment, refused

COST = Decimal("12.50")


# Return


@pytest.mark.parametrize("product", (SCT, ISCT, XB))
def test_after_a_late_rejection_the_money_returns_as_a_second_transaction(tpp: Tpp, bank: Bank, product: str) -> None:
    before = balance(bank, BRAM)
    begun = signed(tpp, product, "bram", debtor_account__iban=BRAM)
    tpp.advance("0s" if product == ISCT else "5s")
    assert balance(bank, BRAM) < before
    assert move(tpp, begun.id, "RJCT", reason="AC04").get_json()["status"] == "RJCT"
    assert told(tpp, begun) == ("RJCT", "AC04")
    assert balance(bank, BRAM) == before
    (out, *_), (back, *_) = booked(bank, BRAM, begun.id)
    assert (out < 0, out + back) == (True, Decimal(0))
    tpp.advance("1d")
    assert (told(tpp, begun), balance(bank, BRAM)) == (("RJCT", "AC04"), before)


def test_a_rejection_before_ACSP_books_nothing_and_frees_the_amount(tpp: Tpp, bank: Bank) -> None:
    before = balance(bank, ALICE)
    begun = signed(tpp, debtor_account__iban=ALICE)
    move(tpp, begun.id, "RJCT", reason="MS03")
    tpp.advance("1h")
    assert told(tpp, begun) == ("RJCT", "MS03")
    assert balance(bank, ALICE) == before and not booked(bank, ALICE, begun.id)
    assert spendable(tpp, ALICE, before)


# A beneficiary in this bank


@pytest.mark.parametrize("product", (SCT, ISCT))
def test_a_beneficiary_in_this_bank_is_credited_at_ACSC(tpp: Tpp, bank: Bank, product: str) -> None:
    before = balance(bank, ALICE), balance(bank, BRAM)
    begun = signed(tpp, product, debtor_account__iban=ALICE, creditor_account__iban=BRAM)
    tpp.advance("2.999s" if product == ISCT else "59.999s")
    assert status(tpp, begun) == "ACSP"
    assert (balance(bank, ALICE), balance(bank, BRAM)) == (before[0] - COST, before[1])
    tpp.advance("0.001s")
    assert status(tpp, begun) == "ACSC"
    assert (balance(bank, ALICE), balance(bank, BRAM)) == (before[0] - COST, before[1] + COST)
    assert [amount for amount, *_ in booked(bank, BRAM, begun.id)] == [COST]


def test_with_settlement_at_ACSP_the_beneficiary_is_credited_all_the_same(worlds: WorldRegistry, app: Flask) -> None:
    worlds.make("schema", replace(worlds.beginning, settings=Decisions(settled_status="ACSP")))
    tpp, bank = Tpp(app, "schema"), worlds.get("schema").bank
    before = balance(bank, BRAM)
    begun = signed(tpp, creditor_account__iban=BRAM)
    tpp.advance("59s")
    assert balance(bank, BRAM) == before
    tpp.advance("1s")
    assert (status(tpp, begun), balance(bank, BRAM)) == ("ACSP", before + COST)
    assert is_balanced(bank)


def test_a_payment_that_is_rejected_late_never_reaches_the_beneficiary(tpp: Tpp, bank: Bank) -> None:
    before = balance(bank, ALICE), balance(bank, BRAM)
    begun = signed(tpp, debtor_account__iban=ALICE, creditor_account__iban=BRAM)
    tpp.advance("5s")
    move(tpp, begun.id, "RJCT")
    tpp.advance("1h")
    assert (balance(bank, ALICE), balance(bank, BRAM)) == before and not booked(bank, BRAM, begun.id)


def test_between_two_accounts_of_one_customer_nothing_is_lost(tpp: Tpp, bank: Bank) -> None:
    current, savings = next(row["accounts"] for row in tpp.listed("customers") if row["customer"] == "alice")
    before = balance(bank, current) + balance(bank, savings)
    signed(tpp, debtor_account__iban=current, creditor_account__iban=savings)
    tpp.advance("1m")
    assert balance(bank, current) + balance(bank, savings) == before


# Other currencies


@pytest.mark.parametrize(
    "compartment, amount, currency, cost",
    [
        ("USD", "100.00", "USD", "100.00"),  # no exchange
        ("EUR", "100.00", "USD", "86.00"),
        ("GBP", "100.00", "USD", "74.78"),  # through the euro: 0.86 / 1.15
        ("USD", "10.00", "GBP", "13.37"),
        ("EUR", "1000", "JPY", "5.60"),
        ("EUR", "100.00", "TND", "29.50"),
    ],
)
def test_a_cross_border_payment_debits_its_compartment_at_the_fixed_rates(
    tpp: Tpp, bank: Bank, compartment: str, amount: str, currency: str, cost: str
) -> None:
    exact = Decimal(amount) * rate(currency) / rate(compartment)
    assert abs(exact - Decimal(cost)) <= Decimal("0.005")
    before = {one: balance(bank, BRAM, one) for one in ("EUR", "USD", "GBP")}
    begun = signed(
        tpp,
        XB,
        "bram",
        debtor_account={"iban": BRAM, "currency": compartment},
        instructed_amount={"amount": amount, "currency": currency},
    )
    tpp.advance("1m")
    after = {one: balance(bank, BRAM, one) for one in before}
    assert after == before | {compartment: before[compartment] - Decimal(cost)}
    assert [one for one, *_ in booked(bank, BRAM, begun.id, compartment)] == [-Decimal(cost)]


def test_euro_outside_SEPA_is_not_exchanged(tpp: Tpp, bank: Bank) -> None:
    before = balance(bank, ALICE)
    body = to_tunisia(debtor_account__iban=ALICE, instructed_amount={"amount": "40.00", "currency": "EUR"})
    assert body["creditor_account"]["iban"] == TUNISIAN
    approve(tpp, tpp.initiate(XB, body).headers["Location"])
    tpp.advance("1m")
    assert balance(bank, ALICE) == before - 40


def test_a_beneficiary_in_this_bank_is_credited_in_the_compartment_that_was_named(tpp: Tpp, bank: Bank) -> None:
    before = {one: balance(bank, BRAM, one) for one in ("EUR", "USD", "GBP")}
    for currency, named in (("USD", None), ("USD", "GBP"), ("CHF", None)):
        creditor = {"iban": BRAM} | ({"currency": named} if named else {})
        signed(tpp, XB, creditor_account=creditor, instructed_amount={"amount": "10.00", "currency": currency})
    tpp.advance("1m")
    gained = {one: balance(bank, BRAM, one) - before[one] for one in before}
    assert gained == {"USD": Decimal("10.00"), "GBP": Decimal("7.48"), "EUR": Decimal("10.70")}


def test_funds_are_asked_of_the_compartment_alone(tpp: Tpp, bank: Bank) -> None:
    much = balance(bank, BRAM, "USD") + Decimal("0.01")
    debtor = {"iban": BRAM, "currency": "USD"}
    amount = {"amount": f"{much:.2f}", "currency": "USD"}
    reply = tpp.initiate(XB, payment(XB, debtor_account=debtor, instructed_amount=amount))
    assert refused(reply, 403, "SBX-0403-000001")


# Two signatures


def test_a_payment_with_two_signatures_costs_once(tpp: Tpp, bank: Bank) -> None:
    iban = tpp.iban_of("notaris")
    before = balance(bank, iban)
    begun = begin(tpp, debtor_account__iban=iban)
    approve(tpp, begun.address)
    assert not bank.reserved
    cosign(tpp, begun.id, "griet")
    assert sum(bank.reserved.values()) == COST
    tpp.advance("1m")
    assert balance(bank, iban) == before - COST


def test_the_last_signature_asks_for_the_funds_again(tpp: Tpp, bank: Bank) -> None:
    iban = tpp.iban_of("notaris")
    everything: dict[str, Any] = {
        "debtor_account__iban": iban,
        "instructed_amount__amount": f"{balance(bank, iban):.2f}",
    }
    first, second = begin(tpp, **everything), begin(tpp, **everything)
    for begun in (first, second):
        assert approve(tpp, begun.address).status_code == 200
    assert cosign(tpp, first.id, "griet").status_code == 200
    assert refused(cosign(tpp, second.id, "griet"), 403, "SBX-0403-000001")
    assert status(tpp, second) == "PATC"
