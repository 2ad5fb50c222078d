"""Standing orders through bank time (service 2.2, 3.4; choice 6): nothing lost, nothing doubled, nothing early."""

from datetime import date, timedelta
from itertools import islice
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.bank import timeline
from sandbox.bank.records import StandingOrder
from sandbox.bank.state import Bank
from sandbox.banking.recurrence import Frequency
from sandbox.storage.state_hash import hash_state
from tests.bank.orders import (
    DAY,
    add,
    bank_at,
    euros,
    expected_days,
    give,
    pass_until,
    planned_days,
    run_days,
)
from tests.contracts import ALICE, SAVINGS

OPENING = "2027-03-01T09:00:00+01:00"
MONDAY = date(2027, 3, 1)
TEN_YEARS = timedelta(days=3653)

contracts = st.tuples(
    st.dates(MONDAY + DAY, date(2028, 12, 31)),
    st.sampled_from([frequency.value for frequency in Frequency]),
    st.booleans(),
    st.one_of(st.none(), st.integers(0, 12)),  # whole periods after which it ends
)
cuts = st.lists(st.one_of(st.integers(1, 400 * 86_400), st.sampled_from((1, 3600, 86_400, 7 * 86_400))), max_size=25)


def filled(rows: list[tuple[date, str, bool, int | None]]) -> tuple[Bank, list[StandingOrder]]:
    bank = bank_at(OPENING)
    orders = []
    for first, frequency, variable, periods in rows:
        ends: dict[str, Any] = {}
        if periods is not None:
            ends["end_date"] = next(islice(planned_days(first, frequency), periods, None))
        orders.append(add(bank, first, frequency, variable=variable, **ends))
    return bank, orders


# However time is cut


@settings(max_examples=40, deadline=None)
@given(st.lists(contracts, min_size=1, max_size=4), cuts)
def test_no_execution_is_lost_or_doubled_however_time_is_cut(rows: list[Any], seconds: list[int]) -> None:
    bank, orders = filled(rows)
    whole, _ = filled(rows)
    for span in seconds:
        timeline.advance(bank, bank.clock.now + timedelta(seconds=span))
    until = max(date(2029, 6, 30), bank.clock.today + DAY)
    for each in (bank, whole):
        pass_until(each, until)
    assert hash_state(bank) == hash_state(whole)
    for order, (_, _, _, periods) in zip(orders, rows, strict=True):
        days = expected_days(order, until)
        wanted = days if periods is None else days[: periods + 1]
        assert run_days(order) == wanted
        assert [run.number for run in order.runs] == list(range(1, len(wanted) + 1))
        booked = [line for line in bank.ledger.list_lines(ALICE, "EUR") if line.entry.reference.startswith(order.id)]
        assert [line.on for line in booked] == wanted


def test_ten_years_in_one_leap_are_ten_thousand_small_steps() -> None:
    def lives() -> Bank:
        bank = bank_at(OPENING, funds="20000.00")
        add(bank, date(2027, 3, 31), "MONTHLY")
        add(bank, date(2027, 3, 26), "WEEKLY", execution_date=date(2027, 4, 1))
        add(bank, date(2027, 5, 1), "MONTHLY", amount=euros("150.00"))  # until the money is gone
        add(bank, date(2027, 12, 31), "QUARTERLY", variable=True, minimal=euros("5.00"), maximal=None)
        return bank

    leap, small = lives(), lives()
    start = leap.clock.now
    timeline.advance(leap, start + TEN_YEARS)
    for step in range(1, 10_001):
        timeline.advance(small, start + TEN_YEARS * step / 10_000)
    assert hash_state(leap) == hash_state(small)
    assert any(run.amount is None for order in leap.standing_orders.values() for run in order.runs)
    assert sum(len(order.runs) for order in leap.standing_orders.values()) > 120 + 520 + 110 + 39


def test_an_execution_comes_neither_a_moment_early_nor_late() -> None:
    bank = bank_at(OPENING)
    order = add(bank, date(2027, 4, 1), "MONTHLY")
    pass_until(bank, date(2027, 3, 31))
    timeline.advance(bank, bank.clock.now + timedelta(hours=18) - timedelta(microseconds=1))
    assert order.runs == ()
    timeline.advance(bank, bank.clock.now + timedelta(microseconds=1))
    assert run_days(order) == [date(2027, 4, 1)]


# Ends


@pytest.mark.parametrize(
    "first, frequency, end, last",
    [
        (date(2027, 3, 20), "MONTHLY", date(2027, 5, 1), "2027-05-20"),  # that month's execution is included
        (date(2027, 3, 20), "MONTHLY", date(2027, 5, 31), "2027-05-20"),
        (date(2027, 3, 31), "MONTHLY", date(2027, 6, 1), "2027-06-30"),
        (date(2027, 3, 20), "QUARTERLY", date(2027, 9, 1), "2027-09-20"),
        (date(2027, 3, 20), "YEARLY", date(2029, 3, 1), "2029-03-20"),
        (date(2027, 3, 31), "MONTHLY", date(2027, 7, 31), "2027-08-02"),  # the shift may pass the end
        (date(2027, 3, 4), "WEEKLY", date(2027, 3, 18), "2027-03-18"),
        (date(2027, 3, 4), "WEEKLY", date(2027, 3, 17), "2027-03-11"),
    ],
)
def test_an_end_date_includes_its_months_execution(first: date, frequency: str, end: date, last: str) -> None:
    bank = bank_at(OPENING)
    order = add(bank, first, frequency, end_date=end)
    pass_until(bank, date(2031, 1, 1))
    assert run_days(order)[-1].isoformat() == last
    assert (order.status, order.reason) == ("CANC", "CONTRACT_ENDED")
    assert order.history[-1].at == order.runs[-1].at


def test_a_weekly_one_has_a_day_of_its_own() -> None:
    bank = bank_at(OPENING)
    order = add(bank, date(2027, 3, 8), "WEEKLY", execution_date=date(2027, 3, 11), end_date=date(2027, 4, 1))
    pass_until(bank, date(2027, 6, 1))
    assert [day.isoformat() for day in run_days(order)] == ["2027-03-11", "2027-03-18", "2027-03-25", "2027-04-01"]


# Money


@pytest.mark.parametrize(
    "minimal, maximal, funds, paid",
    [
        (None, None, "900.00", "900.00"),
        ("250.00", None, "900.00", "650.00"),
        ("250.00", None, "250.01", "0.01"),
        ("250.00", None, "250.00", None),
        ("250.00", None, "100.00", None),
        ("0.00", None, "900.00", "900.00"),
        (None, "100.00", "900.00", "100.00"),
        (None, "100.00", "40.00", "40.00"),
        ("250.00", "100.00", "900.00", "100.00"),
        ("250.00", "100.00", "300.00", "50.00"),
        ("250.00", "100.00", "350.00", "100.00"),
        ("250.00", "100.00", "250.00", None),
        (None, None, "0.00", None),
    ],
)
def test_a_variable_one_moves_what_its_bounds_leave(
    minimal: str | None, maximal: str | None, funds: str, paid: str | None
) -> None:
    bank = bank_at(OPENING)
    gift = bank.ledger.read_balance(ALICE, "EUR") - euros(funds)
    bank = bank_at(OPENING, funds=str(euros("1000000.00").number - gift.number))
    before = {iban: bank.ledger.read_balance(iban, "EUR") for iban in (ALICE, SAVINGS)}
    assert before[ALICE] == euros(funds)
    bounds = {"minimal": minimal and euros(minimal), "maximal": maximal and euros(maximal)}
    order = add(bank, date(2027, 4, 1), "MONTHLY", variable=True, **bounds)
    pass_until(bank, date(2027, 4, 1))
    moved = euros(paid or "0.00")
    assert bank.ledger.read_balance(ALICE, "EUR") == before[ALICE] - moved
    assert bank.ledger.read_balance(SAVINGS, "EUR") == before[SAVINGS] + moved
    assert [run.amount for run in order.runs] == [moved if paid else None]
    assert order.status == "ACWP"


def test_a_failed_execution_is_recorded_and_the_contract_lives_on() -> None:
    bank = bank_at(OPENING)
    order = add(bank, date(2027, 4, 1), "MONTHLY", amount=euros("1500000.00"))
    pass_until(bank, date(2027, 4, 30))
    assert [run.amount for run in order.runs] == [None]
    assert (order.history[-1].trigger, order.history[-1].reason, order.status) == ("funds_missing", "AM04", "ACWP")
    assert not any(line.entry.reference.startswith(order.id) for line in bank.ledger.list_lines(ALICE, "EUR"))
    give(bank, "1000000.00")
    pass_until(bank, date(2027, 5, 31))
    assert [run.amount for run in order.runs] == [None, euros("1500000.00")]  # and no second try of the first
    assert order.reason is None


def test_the_first_takes_what_the_second_lacks() -> None:
    bank = bank_at(OPENING)
    all_of_it = add(bank, date(2027, 4, 1), "MONTHLY", variable=True, maximal=None)
    rent = add(bank, date(2027, 4, 1), "MONTHLY")
    pass_until(bank, date(2027, 4, 1))
    assert [order.runs[0].amount is None for order in (all_of_it, rent)] == [False, True]
