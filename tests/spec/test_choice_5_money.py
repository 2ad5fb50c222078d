"""service 1, 2.1, choice 5: the money before and after each path; the sum of all postings is always zero."""

from decimal import Decimal
from typing import Any

import pytest

from sandbox.bank.state import Bank
from tests.payer import (
    approve,
    balance,
    begin,
    booked,
    clock_to,
    refuse,
    signed,
    spendable,
    status,
    told,
)
from tests.spec.bodies import ALICE, BAKKERIJ, POOR
from tests.tpp import ISCT, SCT, XB, Tpp, refused

COST = Decimal("12.50")
TODAY, TOMORROW = "2027-03-01", "2027-03-02"


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
    everything: dict[str, Any] = {
        "debtor_account__iban": ALICE,
        "instructed_amount__amount": f"{balance(bank, ALICE):.2f}",
    }
    first, second = begin(tpp, **everything), begin(tpp, **everything)
    assert approve(tpp, first.address).status_code == 200
    assert refused(approve(tpp, second.address), 403, "SBX-0403-000001", ALICE)
    tpp.advance("1m")
    assert (status(tpp, first), balance(bank, ALICE)) == ("ACSC", Decimal(0))


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
