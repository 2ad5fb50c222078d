"""Brussels time, and the banking days: the days on which TARGET2, the payment system of the euro area, is open (choice
6)."""

import re
from calendar import month_name, monthrange
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from dateutil.easter import easter

BRUSSELS = ZoneInfo("Europe/Brussels")
DAY = timedelta(days=1)
DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?![0-9])")
WEEKEND = {5: "saturday", 6: "sunday"}
HALF_DAYS = ((12, 24), (12, 31))  # month and day
BOOKED_AT = 5  # hour in Brussels of what waits for a banking day to be booked


@lru_cache(maxsize=128)
def list_holidays(year: int, belgian: bool) -> dict[date, str]:
    """Returns the holidays of a year on which TARGET2 is closed, each with its name. Weekends are not included. With
    `belgian`, includes the holidays of Belgian banks."""
    sunday = easter(year)
    closed = {
        date(year, 1, 1): "new year's day",
        sunday - 2 * DAY: "good friday",
        sunday + DAY: "easter monday",
        date(year, 5, 1): "labour day",
        date(year, 12, 25): "christmas day",
        date(year, 12, 26): "26 december",
    }
    if not belgian:
        return closed
    national = {
        sunday + 39 * DAY: "ascension day",
        sunday + 50 * DAY: "whit monday",
        date(year, 7, 21): "national day",
        date(year, 8, 15): "assumption",
        date(year, 11, 1): "all saints' day",
        date(year, 11, 11): "armistice day",
    }
    return national | closed


def name_closed_day(day: date, belgian: bool = False) -> str | None:
    """Returns why banks are closed on a day: the name of a holiday, `saturday` or `sunday`. Returns None on a banking
    day."""
    return list_holidays(day.year, belgian).get(day) or WEEKEND.get(day.weekday())


def is_banking_day(day: date, belgian: bool = False) -> bool:
    """Whether TARGET2 is open on the day. With `belgian`, Belgian banks must be open too."""
    return name_closed_day(day, belgian) is None


@lru_cache(maxsize=4096)  # asked of the same days by every payment that is executed
def find_next_banking_day(day: date, belgian: bool = False) -> date:
    """Returns the day itself if it is a banking day, else the first one after it."""
    while not is_banking_day(day, belgian):
        day += DAY
    return day


def find_following_banking_day(day: date, belgian: bool = False) -> date:
    """Returns the first banking day after the day. Unlike `find_next_banking_day`, never returns the day itself."""
    return find_next_banking_day(day + DAY, belgian)


def find_previous_banking_day(day: date, belgian: bool = False) -> date:
    """Returns the day itself if it is a banking day, else the last one before it."""
    while not is_banking_day(day, belgian):
        day -= DAY
    return day


def find_brussels_date(instant: datetime) -> date:
    """Returns the date that Brussels has at this instant."""
    assert instant.tzinfo is not None, "an instant without a zone"
    return instant.astimezone(BRUSSELS).date()


@lru_cache(maxsize=4096)  # asked of the same mornings again and again
def make_brussels_instant(day: date, hour: int, minute: int = 0) -> datetime:
    """Returns a time of day in Brussels as an instant in UTC."""
    return datetime.combine(day, time(hour, minute), BRUSSELS).astimezone(UTC)


def is_after_cut_off(now: datetime) -> bool:
    """Whether today is a banking day and its cut-off time has passed: 15:00 in Brussels, or 12:00 on 24 and 31
    December."""
    day = find_brussels_date(now)
    hour = 12 if (day.month, day.day) in HALF_DAYS else 15
    return is_banking_day(day) and now >= make_brussels_instant(day, hour)


def explain_wrong_date(text: str) -> str:
    """Returns why the date at the beginning of a text does not exist, such as `2027-02-30 does not exist: February 2027
    has 28 days`. Returns an empty text if the date exists, or if the text does not begin with a date."""
    parts = DATE.match(text)
    if parts is None:
        return ""
    year, month, day = map(int, parts.groups())
    if year == 0:
        return f"{parts[0]} does not exist: there is no year 0"
    if not 1 <= month <= 12:
        return f"{parts[0]} does not exist: the months are 01 to 12"
    days = monthrange(year, month)[1]
    if not 1 <= day <= days:
        return f"{parts[0]} does not exist: {month_name[month]} {year} has {days} days"
    return ""


def move_to_banking_day(at: datetime) -> datetime:
    """Returns the instant unchanged if it is on a banking day. Otherwise returns 05:00 in Brussels on the next banking
    day."""
    day = find_brussels_date(at)
    return at if is_banking_day(day) else make_brussels_instant(find_next_banking_day(day), BOOKED_AT)
