"""Computes the days on which a standing order is executed (service 2.2 rules 3 and 4, choice 6)."""

from calendar import monthrange
from datetime import date, timedelta
from functools import lru_cache
from typing import NamedTuple

from sandbox.banking.calendar import (
    find_following_banking_day,
    find_next_banking_day,
    find_previous_banking_day,
    name_closed_day,
)
from sandbox.contract.fields import Frequency as Frequency

WEEK = timedelta(weeks=1)


MONTHS = {  # of one period; weeks are not counted in months
    Frequency.MONTHLY: 1,
    Frequency.TWO_MONTHLY: 2,
    Frequency.QUARTERLY: 3,
    Frequency.HALF_YEARLY: 6,
    Frequency.YEARLY: 12,
}


class Customs(NamedTuple):
    """How a bank moves executions. `belgian`: whether Belgian holidays count as closed days. `day_31`: what happens in
    a month that lacks the order's day. The execution is on the month's `last_day`, on the `first_of_next` month, or is
    `skipped`."""

    belgian: bool = False
    day_31: str = "last_day"


USUAL = Customs()


class Occurrence(NamedTuple):
    """An execution of a standing order: its planned day by the contract, the banking day on which it runs, and why the
    two differ (None if they do not)."""

    number: int
    planned: date
    on: date
    why: str | None


@lru_cache(maxsize=16_384)  # contracts by the thousand begin on the same few days
def compute_occurrence(
    first: date, frequency: Frequency, number: int, variable: bool, customs: Customs = USUAL
) -> Occurrence:
    """Returns the n-th execution, counted from 1. Its day is computed from the first execution, not from the previous
    one. So an order of the 31st that ran on the 28th in February runs on the 31st in March."""
    assert number >= 1, number
    if frequency is Frequency.WEEKLY:
        planned = first + (number - 1) * WEEK
    else:
        planned = _add_months(first, (number - 1) * MONTHS[frequency], customs.day_31)
    on, shift_reason = _shift_to_banking_day(planned, variable, customs.belgian)
    return Occurrence(number, planned, on, shift_reason)


def has_day(first: date, frequency: Frequency, number: int) -> bool:
    """Whether the month of the n-th execution has the day of the first execution, such as a 31st. The order must not be
    weekly."""
    return _add_months(first, (number - 1) * MONTHS[frequency]).day == first.day


def compute_late_occurrence(missed: Occurrence, active: date, belgian: bool = False) -> Occurrence:
    """Returns the execution `missed` with a new day: the banking day after `active`, the day on which the order became
    active."""
    reason = "passed before the contract was active; following banking day"
    return missed._replace(
        on=find_following_banking_day(active, belgian), why=f"{missed.why}, {reason}" if missed.why else reason
    )


def find_last_number(first: date, frequency: Frequency, end: date | None) -> int | None:
    """Returns the number of the last execution of an order. Returns None if the order has no end, and 0 if it ends
    before its first execution."""
    if end is None:
        return None
    if frequency is Frequency.WEEKLY:
        return max(0, (end - first) // WEEK + 1)
    # an end date inside a month still includes that month's execution (service 2.2 rule 3)
    return max(0, _count_months(first, end) // MONTHS[frequency] + 1)


def is_in_end_month(start: date, frequency: Frequency, end: date) -> bool:
    """Whether the order has an execution in the month of the end date. Always True for a weekly order."""
    return frequency is Frequency.WEEKLY or _count_months(start, end) % MONTHS[frequency] == 0


def _shift_to_banking_day(planned: date, variable: bool, belgian: bool) -> tuple[date, str | None]:
    """Returns the day on which an execution runs, and why it differs from the planned day, or None if it does not
    differ.

    On a closed day, the execution moves to the next banking day, or with `variable` to the previous one. If that day is
    in another year, it moves in the other direction (service 2.2 rule 4).
    """
    closed = name_closed_day(planned, belgian)
    if closed is None:
        return planned, None
    later = find_next_banking_day(planned, belgian), "next banking day"
    earlier = find_previous_banking_day(planned, belgian), "previous banking day"
    (day, which), (other_day, other) = (earlier, later) if variable else (later, earlier)
    if day.year == planned.year:
        return day, f"{closed}; {which}"
    return other_day, f"{closed}; {other}, to stay inside the year"


def _add_months(first: date, months: int, day_31: str = "last_day") -> date:
    """Returns the day that is `months` months after `first`, with the same day of the month. If that month is too
    short, returns its last day, or the first day of the following month if `day_31` is `first_of_next`."""
    years, month = divmod(first.month - 1 + months, 12)
    year = first.year + years
    last = 31 if first.day <= 28 else monthrange(year, month + 1)[1]
    if first.day > last and day_31 == "first_of_next":
        return date(year, month + 1, last) + timedelta(days=1)
    return date(year, month + 1, min(first.day, last))


def _count_months(first: date, last: date) -> int:
    return (last.year - first.year) * 12 + last.month - first.month
