"""Reads and writes durations and instants in the forms that users type (choice 10)."""

import re
from datetime import UTC, datetime, timedelta

from sandbox.banking.calendar import BRUSSELS, explain_wrong_date

UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}  # 1d is 24 hours
LONGEST = timedelta(days=366 * 200)
RATE_MAX = 1_000_000  # of a clock: bank seconds per second
# What a caller may write as a moment. Far from both ends of what Python can hold, so no later computation overflows.
FIRST_MOMENT = datetime(2000, 1, 1, tzinfo=UTC)
LAST_MOMENT = datetime(2199, 12, 31, 23, 59, 59, tzinfo=UTC)
_SHORT = re.compile(r"(?:[0-9]{1,9}(?:\.[0-9]{1,6})?[smhdw])+\Z")
_PART = re.compile(r"([0-9.]+)([smhdw])")
_ISO = re.compile(
    r"P(?=.)(?:(?P<w>[0-9]{1,9})W)?(?:(?P<d>[0-9]{1,9})D)?"
    r"(?:T(?=.)(?:(?P<h>[0-9]{1,9})H)?(?:(?P<m>[0-9]{1,9})M)?(?:(?P<s>[0-9]{1,9}(?:\.[0-9]{1,6})?)S)?)?\Z"
)


def read_duration(text: object) -> timedelta:
    """Reads a duration such as `90s`, `61m`, `1h30m`, `2d` or `1w`, or one in ISO 8601 such as `PT61M`. Raises
    ValueError for any other value, and for more than 200 years."""
    if not isinstance(text, str):
        raise ValueError("a duration is a text such as 61m")
    if _SHORT.match(text):
        parts = [(number, unit) for number, unit in _PART.findall(text)]
    elif match := _ISO.match(text):
        parts = [(number, unit) for unit, number in match.groupdict().items() if number]
    else:
        raise ValueError("a duration is written like 90s, 61m, 2h, 5d, 1w or PT61M")
    seconds = sum(float(number) * UNITS[unit] for number, unit in parts)
    if seconds > LONGEST.total_seconds():
        raise ValueError("a duration of over 200 years")
    return timedelta(seconds=seconds)


def write_duration(span: timedelta) -> str:
    """Writes a duration as a number of the largest unit that divides it, such as `61m`. `read_duration` reads this
    text."""
    seconds = span.total_seconds()
    for unit in reversed(UNITS):
        if seconds and seconds % UNITS[unit] == 0:
            return f"{int(seconds // UNITS[unit])}{unit}"
    return f"{seconds:.6f}".rstrip("0").rstrip(".") + "s"


def read_instant(text: object) -> datetime:
    """Reads a time in ISO 8601 and returns it in UTC. A time without an offset is Brussels time. Raises ValueError for
    any other value, and for years outside 2000 to 2199."""
    if not isinstance(text, str):
        raise ValueError("a time is a text such as 2027-01-02T06:00:00+01:00")
    try:
        instant = datetime.fromisoformat(text)
        aware = instant if instant.tzinfo else instant.replace(tzinfo=BRUSSELS)
    except ValueError:
        raise ValueError(explain_wrong_date(text) or "a time is written like 2027-01-02T06:00:00+01:00") from None
    return bound_instant(aware)


def bound_instant(aware: datetime) -> datetime:
    """Returns the instant in UTC. Raises ValueError if it is outside the years 2000 to 2199."""
    if not FIRST_MOMENT <= aware <= LAST_MOMENT:
        raise ValueError("a time lies between the years 2000 and 2200")
    return aware.astimezone(UTC)


def write_instant(instant: datetime) -> str:
    """Writes an instant in Brussels time. Near the first and last year that Python can express, keeps the instant's own
    zone."""
    try:
        return instant.astimezone(BRUSSELS).isoformat()
    except (OverflowError, ValueError):
        return instant.isoformat()
