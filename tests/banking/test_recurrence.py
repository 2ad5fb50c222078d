from collections.abc import Iterable
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.banking.calendar import is_banking_day
from sandbox.banking.recurrence import Frequency, compute_occurrence, find_last_number, is_in_end_month

MONTHLY, WEEKLY, YEARLY = Frequency.MONTHLY, Frequency.WEEKLY, Frequency.YEARLY
DAYS = st.dates(date(2024, 1, 1), date(2045, 12, 31))


def planned(first: date, frequency: Frequency, numbers: Iterable[int]) -> list[date]:
    return [compute_occurrence(first, frequency, number, variable=False).planned for number in numbers]


def test_a_31st_falls_on_the_last_day_of_a_shorter_month_and_comes_back() -> None:
    days = planned(date(2027, 1, 31), MONTHLY, (1, 2, 3, 4, 14))
    assert days == [
        date(2027, 1, 31),
        date(2027, 2, 28),
        date(2027, 3, 31),
        date(2027, 4, 30),
        date(2028, 2, 29),
    ]


def test_a_29_february_falls_on_the_28th_in_other_years() -> None:
    days = planned(date(2028, 2, 29), YEARLY, (1, 2, 5))
    assert days == [date(2028, 2, 29), date(2029, 2, 28), date(2032, 2, 29)]


@pytest.mark.parametrize(
    ("frequency", "third"),
    [
        (WEEKLY, date(2027, 1, 18)),
        (MONTHLY, date(2027, 3, 4)),
        (Frequency.TWO_MONTHLY, date(2027, 5, 4)),
        (Frequency.QUARTERLY, date(2027, 7, 4)),
        (Frequency.HALF_YEARLY, date(2028, 1, 4)),
        (YEARLY, date(2029, 1, 4)),
    ],
)
def test_each_frequency_has_its_period(frequency: Frequency, third: date) -> None:
    assert planned(date(2027, 1, 4), frequency, [3]) == [third]


@pytest.mark.parametrize(
    ("day", "variable", "on", "why"),
    [
        (date(2027, 3, 25), False, date(2027, 3, 25), None),
        (date(2027, 3, 26), False, date(2027, 3, 30), "good friday; next banking day"),
        (date(2027, 3, 26), True, date(2027, 3, 25), "good friday; previous banking day"),
        (date(2027, 2, 27), False, date(2027, 3, 1), "saturday; next banking day"),
        (date(2027, 2, 27), True, date(2027, 2, 26), "saturday; previous banking day"),
        (
            date(2028, 12, 31),
            False,
            date(2028, 12, 29),
            "sunday; previous banking day, to stay inside the year",
        ),
        (date(2028, 12, 31), True, date(2028, 12, 29), "sunday; previous banking day"),
        (
            date(2027, 1, 1),
            True,
            date(2027, 1, 4),
            "new year's day; next banking day, to stay inside the year",
        ),
        (date(2027, 1, 1), False, date(2027, 1, 4), "new year's day; next banking day"),
    ],
)
def test_a_closed_day_is_shifted_by_kind_and_stays_in_its_year(
    day: date, variable: bool, on: date, why: str | None
) -> None:
    found = compute_occurrence(day, MONTHLY, 1, variable)
    assert (found.number, found.planned, found.on, found.why) == (1, day, on, why)


@given(DAYS, st.sampled_from(Frequency), st.integers(1, 60), st.booleans())
def test_every_execution_is_a_banking_day_of_its_own_year(
    first: date, frequency: Frequency, number: int, variable: bool
) -> None:
    found = compute_occurrence(first, frequency, number, variable)
    assert is_banking_day(found.on)
    assert found.on.year == found.planned.year
    assert abs((found.on - found.planned).days) <= 4
    assert (found.why is None) == (found.on == found.planned)


def test_executions_are_counted_from_one() -> None:
    with pytest.raises(AssertionError):
        compute_occurrence(date(2027, 1, 4), MONTHLY, 0, variable=False)


@pytest.mark.parametrize(
    ("first", "frequency", "end", "number"),
    [
        (date(2027, 1, 20), MONTHLY, date(2027, 3, 1), 3),  # that month's execution is still included
        (date(2027, 1, 20), MONTHLY, date(2027, 2, 28), 2),
        (date(2027, 1, 20), MONTHLY, date(2027, 1, 20), 1),
        (date(2027, 1, 20), Frequency.QUARTERLY, date(2028, 1, 1), 5),
        (date(2027, 1, 20), Frequency.QUARTERLY, date(2027, 12, 31), 4),
        (date(2027, 1, 20), YEARLY, date(2026, 12, 31), 0),
        (date(2027, 1, 4), WEEKLY, date(2027, 1, 18), 3),  # weekly: the planned day itself counts
        (date(2027, 1, 4), WEEKLY, date(2027, 1, 17), 2),
        (date(2027, 1, 4), WEEKLY, date(2027, 1, 3), 0),
        (date(2027, 1, 4), WEEKLY, None, None),
        (date(2027, 1, 4), MONTHLY, None, None),
    ],
)
def test_an_end_date_selects_the_last_execution(first: date, frequency: Frequency, end: date, number: int) -> None:
    assert find_last_number(first, frequency, end) == number


@given(DAYS, st.sampled_from(Frequency), st.integers(1, 60))
def test_an_end_on_a_planned_day_makes_it_the_last(first: date, frequency: Frequency, number: int) -> None:
    assert find_last_number(first, frequency, planned(first, frequency, [number])[0]) == number


@pytest.mark.parametrize(
    ("frequency", "end"),
    [
        (MONTHLY, date(2027, 2, 1)),
        (Frequency.TWO_MONTHLY, date(2027, 3, 1)),
        (Frequency.QUARTERLY, date(2027, 4, 30)),
        (Frequency.HALF_YEARLY, date(2028, 1, 1)),
        (YEARLY, date(2030, 1, 31)),
        (WEEKLY, date(2027, 2, 3)),
    ],
)
def test_an_end_in_a_month_of_the_contract_fits(frequency: Frequency, end: date) -> None:
    assert is_in_end_month(date(2027, 1, 20), frequency, end)


@pytest.mark.parametrize(
    ("frequency", "end"),
    [
        (Frequency.TWO_MONTHLY, date(2027, 2, 20)),
        (Frequency.QUARTERLY, date(2027, 5, 20)),
        (Frequency.HALF_YEARLY, date(2027, 4, 20)),
        (YEARLY, date(2027, 12, 20)),
    ],
)
def test_an_end_in_another_month_does_not(frequency: Frequency, end: date) -> None:
    assert not is_in_end_month(date(2027, 1, 20), frequency, end)
