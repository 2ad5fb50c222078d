from datetime import UTC, date, datetime, timedelta

import holidays
import pytest

from sandbox.banking.calendar import (
    explain_wrong_date,
    find_brussels_date,
    find_following_banking_day,
    find_next_banking_day,
    find_previous_banking_day,
    is_banking_day,
    make_brussels_instant,
    name_closed_day,
)


def test_an_independent_calendar_agrees_on_every_day_of_22_years() -> None:
    theirs = holidays.financial_holidays("XECB", years=range(2024, 2046))
    first = date(2024, 1, 1)
    days = [first + timedelta(days=number) for number in range((date(2046, 1, 1) - first).days)]
    assert [day for day in days if is_banking_day(day) == (day in theirs or day.weekday() >= 5)] == []


@pytest.mark.parametrize(
    ("day", "why"),
    [
        (date(2027, 1, 1), "new year's day"),
        (date(2027, 3, 26), "good friday"),
        (date(2027, 3, 27), "saturday"),
        (date(2027, 3, 28), "sunday"),
        (date(2027, 3, 29), "easter monday"),
        (date(2028, 5, 1), "labour day"),
        (date(2026, 12, 25), "christmas day"),
        (date(2026, 12, 26), "26 december"),
    ],
)
def test_a_closed_day_says_why(day: date, why: str) -> None:
    assert name_closed_day(day) == why
    assert not is_banking_day(day)


@pytest.mark.parametrize("day", [date(2027, 3, 25), date(2027, 7, 21), date(2027, 12, 31)])
def test_an_open_day_has_no_reason_and_stays(day: date) -> None:
    assert name_closed_day(day) is None
    assert find_next_banking_day(day) == find_previous_banking_day(day) == day


@pytest.mark.parametrize(
    "text, why",
    [
        ("2027-02-30", "2027-02-30 does not exist: February 2027 has 28 days"),
        ("2028-02-30T06:00+01:00", "2028-02-30 does not exist: February 2028 has 29 days"),
        ("2027-04-00", "2027-04-00 does not exist: April 2027 has 30 days"),
        ("2027-13-01", "2027-13-01 does not exist: the months are 01 to 12"),
        ("0000-01-01", "0000-01-01 does not exist: there is no year 0"),
    ],
)
def test_a_date_that_does_not_exist_says_why(text: str, why: str) -> None:
    assert explain_wrong_date(text) == why


@pytest.mark.parametrize("text", ["2028-02-29", "9999-12-31", "0001-01-01T00:00", "2027-3-30", "2027-02-300", ""])
def test_any_other_text_has_no_such_reason(text: str) -> None:
    assert explain_wrong_date(text) == ""


def test_easter_is_stepped_over_in_both_directions() -> None:
    assert find_next_banking_day(date(2027, 3, 26)) == date(2027, 3, 30)
    assert find_previous_banking_day(date(2027, 3, 29)) == date(2027, 3, 25)
    assert find_following_banking_day(date(2027, 3, 25)) == date(2027, 3, 30)
    assert find_following_banking_day(date(2027, 3, 30)) == date(2027, 3, 31)


@pytest.mark.parametrize(
    ("day", "hour"),
    [
        (date(2027, 3, 27), 5),
        (date(2027, 3, 28), 4),  # the clocks went forward that night
        (date(2027, 10, 30), 4),
        (date(2027, 10, 31), 5),  # and back
    ],
)
def test_six_in_brussels_is_right_across_clock_changes(day: date, hour: int) -> None:
    assert make_brussels_instant(day, 6) == datetime(day.year, day.month, day.day, hour, tzinfo=UTC)
    assert make_brussels_instant(day, 6).tzinfo is UTC
    assert find_brussels_date(make_brussels_instant(day, 0)) == day
    assert find_brussels_date(make_brussels_instant(day, 23, 59)) == day


def test_late_in_utc_is_already_tomorrow_in_brussels() -> None:
    assert find_brussels_date(datetime(2027, 7, 1, 21, 59, tzinfo=UTC)) == date(2027, 7, 1)
    assert find_brussels_date(datetime(2027, 7, 1, 22, tzinfo=UTC)) == date(2027, 7, 2)


def test_an_instant_without_a_zone_is_refused() -> None:
    with pytest.raises(AssertionError):
        find_brussels_date(datetime(2027, 7, 1, 22))
