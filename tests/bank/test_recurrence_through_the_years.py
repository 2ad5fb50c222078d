"""service 2.2 rules 3 and 4, choice 6: the days of execution, against an independent calendar."""

from datetime import date, datetime
from itertools import islice, takewhile

import pytest

from sandbox.banking.recurrence import Frequency, compute_occurrence, find_last_number
from tests.bank.orders import (
    BRUSSELS,
    DAY,
    add,
    bank_at,
    banking_day,
    expected_days,
    pass_until,
    planned_days,
    run_days,
)
from tests.contracts import ALICE

STARTS = [date(2027, 1, 1) + DAY * ahead for ahead in range((date(2030, 1, 1) - date(2027, 1, 1)).days)]
SOME = [
    *(date(year, month, day) for year in (2027, 2028, 2029) for month, day in ((1, 1), (1, 31), (5, 1), (12, 25))),
    *(date(year, 12, day) for year in (2027, 2028, 2029) for day in (26, 30, 31)),
    date(2028, 2, 29),
    date(2027, 3, 26),  # Good Friday
    date(2027, 3, 29),  # Easter Monday
    date(2028, 4, 14),
    date(2028, 4, 17),
    date(2029, 3, 30),
    date(2029, 4, 2),
    date(2027, 8, 30),
    date(2028, 8, 31),
]


@pytest.mark.parametrize("variable", (False, True), ids=("fixed", "variable"))
@pytest.mark.parametrize("frequency", Frequency)
def test_every_start_day_of_three_years(frequency: Frequency, variable: bool) -> None:
    horizon = {Frequency.WEEKLY: 53, Frequency.MONTHLY: 37}.get(frequency, 13)
    assert len(STARTS) == 1096
    for first in STARTS:
        for number, planned in enumerate(islice(planned_days(first, frequency), horizon), 1):
            found = compute_occurrence(first, frequency, number, variable)
            on = banking_day(planned, variable=variable)
            assert (found.planned, found.on, found.why is None) == (planned, on, on == planned), (first, number)


@pytest.mark.parametrize("frequency", Frequency)
def test_every_end_date_of_a_year_from_every_start_day_of_a_year(frequency: Frequency) -> None:
    for first in STARTS[:365:3]:
        days = list(takewhile(lambda day: day.year < 2030, planned_days(first, frequency)))
        for end in (first + DAY * ahead for ahead in range(0, 700, 7)):
            if frequency is Frequency.WEEKLY:
                included = [day for day in days if day <= end]
            else:  # the whole month of the end counts
                included = [day for day in days if (day.year, day.month) <= (end.year, end.month)]
            assert find_last_number(first, frequency, end) == len(included), (first, end)


@pytest.mark.parametrize("variable", (False, True), ids=("fixed", "variable"))
def test_a_bank_executes_on_those_days_at_six_in_brussels(variable: bool) -> None:
    bank = bank_at("2026-12-29T09:00:00+01:00")
    orders = [add(bank, first, frequency, variable=variable) for first in SOME for frequency in Frequency]
    until = date(2030, 3, 1)
    pass_until(bank, until)
    for order in orders:
        assert run_days(order) == expected_days(order, until), order.order
        assert all(run.amount is not None for run in order.runs)
        assert {run.at.astimezone(BRUSSELS).strftime("%H:%M:%S.%f") for run in order.runs} == {"06:00:00.000000"}
    executed = sum(len(order.runs) for order in orders)
    past = len(bank.ledger.past.lines[ALICE, "EUR"])
    assert len(bank.ledger.list_lines(ALICE, "EUR")) == past + 1 + executed
    assert not any(bank.ledger.sum_by_currency().values())


@pytest.mark.parametrize(
    "first, variable, days",
    [
        # 31 December 2027 is a Friday, 2028 a Sunday, 2029 a Monday; 1 January 2028 a Saturday
        (date(2027, 12, 31), False, ["2027-12-31", "2028-12-29", "2029-12-31"]),
        (date(2028, 12, 31), False, ["2028-12-29", "2029-12-31", "2030-12-31"]),
        (date(2028, 12, 30), False, ["2028-12-29", "2029-12-31", "2030-12-30"]),  # two Saturdays and Sundays
        (date(2028, 1, 1), True, ["2028-01-03", "2029-01-02", "2030-01-02"]),
        (date(2028, 1, 2), True, ["2028-01-03", "2029-01-02", "2030-01-02"]),
        (date(2028, 1, 1), False, ["2028-01-03", "2029-01-02", "2030-01-02"]),
        (date(2028, 12, 31), True, ["2028-12-29", "2029-12-31", "2030-12-31"]),
        (date(2027, 12, 25), False, ["2027-12-27", "2028-12-27", "2029-12-27"]),
        (date(2027, 12, 26), True, ["2027-12-24", "2028-12-22", "2029-12-24"]),
    ],
)
def test_the_year_end_keeps_an_execution_in_its_fiscal_year(first: date, variable: bool, days: list[str]) -> None:
    bank = bank_at("2027-12-01T09:00:00+01:00")
    order = add(bank, first, "YEARLY", variable=variable)
    pass_until(bank, date(2031, 1, 15))
    assert [day.isoformat() for day in run_days(order)][:3] == days


@pytest.mark.parametrize(
    "first, frequency, days",
    [
        (date(2028, 1, 31), "MONTHLY", ["2028-01-31", "2028-02-29", "2028-03-31", "2028-05-02", "2028-05-31"]),
        (date(2028, 2, 29), "YEARLY", ["2028-02-29", "2029-02-28", "2030-02-28", "2031-02-28", "2032-03-01"]),
        (date(2028, 8, 31), "HALF_YEARLY", ["2028-08-31", "2029-02-28", "2029-08-31", "2030-02-28", "2030-09-02"]),
        (date(2028, 12, 31), "TWO_MONTHLY", ["2028-12-29", "2029-02-28", "2029-04-30", "2029-07-02", "2029-08-31"]),
    ],
)
def test_a_day_that_a_month_lacks_is_its_last_and_comes_back(first: date, frequency: str, days: list[str]) -> None:
    bank = bank_at("2027-12-01T09:00:00+01:00")
    order = add(bank, first, frequency)
    pass_until(bank, date(2033, 3, 2))
    assert [day.isoformat() for day in run_days(order)][:5] == days


@pytest.mark.parametrize(
    "before, after, hours",
    [
        (date(2027, 3, 22), date(2027, 3, 30), (5, 4)),  # summer time begins on 28 March; the 29th is Easter Monday
        (date(2027, 10, 25), date(2027, 11, 1), (4, 5)),  # and ends on 31 October
    ],
)
def test_six_in_brussels_is_another_hour_in_summer(before: date, after: date, hours: tuple[int, int]) -> None:
    bank = bank_at("2027-03-01T09:00:00+01:00")
    order = add(bank, before, "WEEKLY")
    pass_until(bank, after)
    assert [(run.at.hour, run.at.minute) for run in order.runs] == [(hours[0], 0), (hours[1], 0)]
    assert [run.at.astimezone(BRUSSELS) for run in order.runs] == [
        datetime(day.year, day.month, day.day, 6, tzinfo=BRUSSELS) for day in (before, after)
    ]
