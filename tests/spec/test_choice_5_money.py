"""service 1, 2.1, choice 5: the money before and after each path; the sum of all postings is always zero."""

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from flask import Flask

from sandbox.bank.state import Bank
from sandbox.rules.countries import rate
from sandbox.settings import Settings
from sandbox.worlds import Worlds
from tests.payer import (
    approve,
    balance,
    begin,
    booked,
    clock_to,
    cosign,
    is_balanced,
    move,
    refuse,
    signed,
    status,
    told,
)
from tests.spec.bodies import ALICE, BAKKERIJ, BRAM, POOR, TUNISIAN, to_tunisia
from tests.tpp import ISCT, SCT, XB, Tpp, payment, refused

COST = Decimal("12.50")
TODAY, TOMORROW = "2027-03-01", "2027-03-02"


@pytest.fixture
def bank(tpp: Tpp, worlds: Worlds) -> Iterator[Bank]:
    """After every test the books are balanced and nothing settled is still reserved."""
    found = worlds.get("default").bank
    yield found
    assert is_balanced(found)
    over = all(one.status not in ("RCVD", "PATC", "PDNG") for one in found.payments.values())
    assert not over or not (found.reserved or found.reserved_later)


def spendable(tpp: Tpp, iban: str, amount: Decimal, product: str = ISCT) -> bool:
    """Whether an initiation from that account would find its funds."""
    reply = tpp.initiate(
        product, payment(product, debtor_account__iban=iban, instructed_amount__amount=f"{amount:.2f}")
    )
    return reply.status_code == 201 or not refused(reply, 403, "SBX-0403-000001", iban)


# Reservation


@pytest.mark.parametrize("changes", [{}, {"requested_execution_date": "2027-03-09"}], ids=["direct", "future-dated"])
def test_from_the_signature_until_settlement_the_amount_is_reserved_and_not_booked(
    tpp: Tpp, bank: Bank, changes: dict[str, Any]
) -> None:
    before = balance(bank, ALICE)
    begun = begin(tpp, debtor_account__iban=ALICE, **changes)
    assert spendable(tpp, ALICE, before)
    approve(tpp, begun.address)
    assert balance(bank, ALICE) == before and not booked(bank, ALICE, begun.id)
    assert spendable(tpp, ALICE, before - COST)
    assert not spendable(tpp, ALICE, before - COST + Decimal("0.01"))


def test_two_who_want_the_same_money_cannot_both_sign(tpp: Tpp, bank: Bank) -> None:
    everything = {"debtor_account__iban": ALICE, "instructed_amount__amount": f"{balance(bank, ALICE):.2f}"}
    first, second = begin(tpp, **everything), begin(tpp, **everything)
    assert approve(tpp, first.address).status_code == 200
    assert refused(approve(tpp, second.address), 403, "SBX-0403-000001", ALICE)
    tpp.advance("1m")
    assert (status(tpp, first), balance(bank, ALICE)) == ("ACSC", 0)


def test_after_missing_funds_the_psu_picks_another_account(tpp: Tpp, bank: Bank) -> None:
    begun = begin(tpp, instructed_amount__amount="500.00")
    assert refused(approve(tpp, begun.address, "poor"), 403, "SBX-0403-000001", POOR)
    assert approve(tpp, begun.address, "alice").status_code == 200
    tpp.advance("1m")
    assert told(tpp, begun) == ("ACSC", None)
    assert [amount for amount, *_ in booked(bank, ALICE, begun.id)] == [Decimal("-500.00")]


@pytest.mark.parametrize("end", ["refused", "unsigned", "half signed"])
def test_what_nobody_signed_in_full_costs_nothing(tpp: Tpp, bank: Bank, end: str) -> None:
    iban = tpp.iban_of("notaris")
    before = balance(bank, iban)
    begun = begin(tpp, debtor_account__iban=iban)
    if end == "refused":
        refuse(tpp, begun.address)
    if end == "half signed":
        approve(tpp, begun.address)
        assert not bank.reserved
    tpp.advance("60m")
    assert status(tpp, begun) == "CANC"
    assert balance(bank, iban) == before and not booked(bank, iban, begun.id)


# Debit and value date


@pytest.mark.parametrize(
    "product, customer, changes, value",
    [
        (SCT, "bakkerij", {}, TOMORROW),
        (SCT, "bakkerij", {"instruction_priority": "NORM"}, TOMORROW),
        (SCT, "bakkerij", {"instruction_priority": "HIGH"}, TODAY),
        (ISCT, "bakkerij", {}, TODAY),
        (XB, "bakkerij", {"instructed_amount": {"amount": "12.50", "currency": "GBP"}}, TOMORROW),
        (
            XB,
            "bakkerij",
            {"instructed_amount": {"amount": "12.50", "currency": "GBP"}, "instruction_priority": "HIGH"},
            TODAY,
        ),
    ],
)
def test_the_money_leaves_at_ACSP_with_its_value_date(
    tpp: Tpp, bank: Bank, product: str, customer: str, changes: dict[str, Any], value: str
) -> None:
    before = balance(bank, BAKKERIJ)
    cost = COST if product != XB else Decimal("14.38")  # 12.50 at 1.15, half a cent up
    begun = signed(tpp, product, customer, debtor_account__iban=BAKKERIJ, **changes)
    if product != ISCT:
        tpp.advance("4.999s")
        assert balance(bank, BAKKERIJ) == before
        tpp.advance("0.001s")
    assert status(tpp, begun) == "ACSP"
    assert booked(bank, BAKKERIJ, begun.id) == [(-cost, TODAY, value)]
    tpp.advance("1m")
    assert (status(tpp, begun), balance(bank, BAKKERIJ)) == ("ACSC", before - cost)
    assert len(booked(bank, BAKKERIJ, begun.id)) == 1


def test_a_weekend_lies_between_the_booking_and_the_value(tpp: Tpp, bank: Bank) -> None:
    clock_to(tpp, "2027-03-25T12:00:00+01:00")  # before Good Friday
    begun = signed(tpp)
    tpp.advance("1m")
    assert booked(bank, ALICE, begun.id) == [(-COST, "2027-03-25", "2027-03-30")]


def test_a_future_dated_payment_is_booked_on_the_day_of_its_execution(tpp: Tpp, bank: Bank) -> None:
    begun = signed(tpp, requested_execution_date="2027-03-06")
    tpp.advance("30d")
    assert booked(bank, ALICE, begun.id) == [(-COST, "2027-03-08", "2027-03-09")]


def test_a_future_dated_payment_asks_for_its_funds_on_the_day_alone(tpp: Tpp, bank: Bank) -> None:
    changes = {"requested_execution_date": TOMORROW, "instructed_amount__amount": "90000.00"}
    begun = signed(tpp, debtor_account__iban=ALICE, **changes)
    before = balance(bank, ALICE)
    tpp.advance("2w")
    assert told(tpp, begun) == ("RJCT", "AM04")
    assert balance(bank, ALICE) == before and not booked(bank, ALICE, begun.id)
    assert spendable(tpp, ALICE, before)


def test_of_two_dated_payments_for_which_the_money_suffices_once_the_earlier_goes(tpp: Tpp, bank: Bank) -> None:
    everything = f"{balance(bank, ALICE):.2f}"
    days = (TOMORROW, "2027-03-03")
    first, second = (
        signed(tpp, requested_execution_date=day, instructed_amount__amount=everything, debtor_account__iban=ALICE)
        for day in days
    )
    tpp.advance("3w")
    assert (told(tpp, first), told(tpp, second)) == (("ACSC", None), ("RJCT", "AM04"))
    assert balance(bank, ALICE) == 0


# Return


@pytest.mark.parametrize("product", (SCT, ISCT, XB))
def test_after_a_late_rejection_the_money_returns_as_a_second_transaction(tpp: Tpp, bank: Bank, product: str) -> None:
    before = balance(bank, BRAM)
    begun = signed(tpp, product, "bram", debtor_account__iban=BRAM)
    tpp.advance("0s" if product == ISCT else "5s")
    assert balance(bank, BRAM) < before
    assert move(tpp, begun.id, "RJCT", reason="AC04").json["status"] == "RJCT"
    assert told(tpp, begun) == ("RJCT", "AC04")
    assert balance(bank, BRAM) == before
    (out, *_), (back, *_) = booked(bank, BRAM, begun.id)
    assert (out < 0, out + back) == (True, 0)
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


def test_with_settlement_at_ACSP_the_beneficiary_is_credited_all_the_same(worlds: Worlds, app: Flask) -> None:
    worlds.make("schema", replace(worlds.beginning, settings=Settings(settled_status="ACSP")))
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
    everything = {"debtor_account__iban": iban, "instructed_amount__amount": f"{balance(bank, iban):.2f}"}
    first, second = begin(tpp, **everything), begin(tpp, **everything)
    for begun in (first, second):
        assert approve(tpp, begun.address).status_code == 200
    assert cosign(tpp, first.id, "griet").status_code == 200
    assert refused(cosign(tpp, second.id, "griet"), 403, "SBX-0403-000001")
    assert status(tpp, second) == "PATC"
