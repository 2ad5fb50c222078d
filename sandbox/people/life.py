"""The life of a seed's people: their past up to the opening (choice 11), and their habits under the clock.

Nothing here is drawn from the bank's mint. An occurrence follows from the seed, the account, the habit and its slot
alone, so it is the same however the clock gets there. Habits never take what an account does not have: what it cannot
pay does not happen, as in its past.
"""

from calendar import monthrange
from collections.abc import Iterator
from datetime import date, datetime
from functools import lru_cache
from hashlib import blake2b
from random import Random
from threading import Lock
from typing import NamedTuple

from dateutil.relativedelta import relativedelta

from sandbox.bank import accounts
from sandbox.bank.habits import HabitOccurrence
from sandbox.bank.ledger import Books, LedgerEntry
from sandbox.bank.state import Bank
from sandbox.banking.calendar import (
    BRUSSELS,
    DAY,
    at_brussels,
    following_banking_day,
    next_banking_day,
    previous_banking_day,
)
from sandbox.people.chronicle import Booking, Chronicle, banking_days
from sandbox.people.fixtures import Fixtures
from sandbox.people.habits import HOURS, MORNING, DayPattern, Habit
from sandbox.people.homes import CHANCES, Home
from sandbox.people.people import draw_people

PEOPLE_SEEDS = 2**20  # seeds that agree modulo this share people, past and future
_LOCK = Lock()  # two that ask at once get one past, made once


class Past(NamedTuple):
    """The books before the opening; the homes that they are about, and how many references each has used."""

    books: Books
    homes: dict[str, Home]
    references: dict[str, int]


def past_of(fixtures: Fixtures, seed: int, first_day: date, runs: int = 0) -> Books:
    """The entries before `first_day`, and those of its first runs."""
    return whole_past_of(fixtures, seed, first_day, runs).books


def whole_past_of(fixtures: Fixtures, seed: int, first_day: date, runs: int) -> Past:
    with _LOCK:
        return _past(fixtures, seed % PEOPLE_SEEDS, first_day, runs)


@lru_cache(maxsize=16)
def _past(fixtures: Fixtures, seed: int, first_day: date, runs: int) -> Past:
    people = draw_people(seed)
    homes, begins = {}, {}
    for iban, account in fixtures.accounts.items():
        profile = fixtures.profiles[iban]
        homes[iban] = Home(account, profile, fixtures.customers[account.owners[0]], people, seed)
        begins[iban] = previous_banking_day(first_day - relativedelta(months=profile.months))
    chronicle = Chronicle()
    if homes:
        for day in banking_days(min(begins.values()), first_day + DAY if runs else first_day):
            hours = HOURS if day.on < first_day else HOURS[:runs]
            for iban, home in homes.items():
                if day.on > begins[iban]:
                    home.live(chronicle, day, hours)
                elif day.on == begins[iban]:
                    home.open(chronicle, day)
    return Past(Books(chronicle.entries), homes, chronicle.references)


USED_AT = 18  # hour at which a terminal reserves, on the day that the card is used
A_WEEK = 7 * CHANCES  # chances of a habit without a day
BITS = 24  # of each chance


class HabitRow(NamedTuple):
    """A habit of an account that goes on; `number` is its place among the account's habits."""

    iban: str
    number: int
    habit: Habit
    key: bytes
    chance: int  # of 2**BITS


def runs_before(opening: datetime) -> int:
    """How many of the opening day's runs lie before the opening, or at it."""
    hour = opening.astimezone(BRUSSELS).hour
    return sum(hour >= run for run in HOURS)


class Future:
    """The habits of a seed's people after an opening. Shared between banks and never changed."""

    def __init__(self, fixtures: Fixtures, seed: int, first_day: date, runs: int) -> None:
        self._began = (fixtures, seed, first_day, runs)
        self._past: Past | None = None  # made when the first habit happens
        self._shared: dict[str, LedgerEntry] = {}  # what a thousand banks book alike is held once
        self.rows = [row for iban in fixtures.accounts for row in _rows_of(fixtures, seed, iban)]

    def first(self, since: datetime) -> tuple[HabitOccurrence, ...]:
        local = since.astimezone(BRUSSELS)
        return self._first(local.date(), runs_before(since), local.hour >= USED_AT)

    @lru_cache(maxsize=16)  # noqa: B019 - futures are few and live as long as the program
    def _first(self, day: date, runs: int, used: bool) -> tuple[HabitOccurrence, ...]:
        last = HOURS[runs - 1] if runs else -1  # what this day's runs did is done
        reserved = at_brussels(day if used else day - DAY, USED_AT)  # what terminals reserved until then is over
        return tuple(sorted(self._begin(rank, row, day, last, reserved) for rank, row in enumerate(self.rows)))

    def _begin(self, rank: int, row: HabitRow, day: date, last: int, reserved: datetime) -> HabitOccurrence:
        if row.habit.due is not None:
            done = day if row.habit.hour <= last else day - DAY
            return self._dated(rank, row, done)
        booking = next_banking_day(day if last < MORNING else day + DAY)
        since = previous_banking_day(booking - DAY)
        return self._by_chance(rank, row, since.toordinal() * CHANCES, reserved)

    def name(self, rank: int) -> str:
        row = self.rows[rank]
        return f"{row.iban}/{row.habit.word}"

    def happen(self, bank: Bank, now: HabitOccurrence) -> HabitOccurrence:
        row = self.rows[now.rank]
        if row.habit.due is not None:
            on = date.fromordinal(now.slot)
            self._book(bank, row, now, on, on)
            return self._dated(now.rank, row, on)
        spent_on = date.fromordinal(now.slot // CHANCES)
        on = following_banking_day(spent_on)
        booked_at = at_brussels(on, MORNING)
        if now.at < booked_at:
            booking = Booking(bank)
            if booking.covers(row.iban, row.habit.currency, row.habit.hold):
                booking.hold(row.iban, row.habit, +1)
                return HabitOccurrence(booked_at, now.rank, now.slot, held=True)
        else:
            if now.held:
                self.release_hold(bank, now)
            self._book(bank, row, now, on, spent_on)
        return self._by_chance(now.rank, row, now.slot + 1, now.at)

    def release_hold(self, bank: Bank, held: HabitOccurrence) -> None:
        row = self.rows[held.rank]
        Booking(bank).hold(row.iban, row.habit, -1)

    def _book(self, bank: Bank, row: HabitRow, now: HabitOccurrence, on: date, spent_on: date) -> None:
        if accounts.is_closed(bank, row.iban):
            return
        past = self._past = self._past or whole_past_of(*self._began)
        home = past.homes[row.iban]
        drawn = blake2b(row.key + b"/slot/%d" % now.slot, digest_size=16).digest()
        rng = Random(int.from_bytes(drawn))
        home.happen(Booking(bank, past.references, self._shared), rng, on, spent_on, home.routines[row.number])

    def _dated(self, rank: int, row: HabitRow, after: date) -> HabitOccurrence:
        """The first banking day after one on which the habit falls."""
        habit = row.habit
        on = next(day for day in _due_days(habit, after) if day > after and day.month % habit.every == 1 % habit.every)
        return HabitOccurrence(at_brussels(on, habit.hour), rank, on.toordinal())

    def _by_chance(self, rank: int, row: HabitRow, slot: int, now: datetime) -> HabitOccurrence:
        """The first chance from a slot on that comes true. A terminal that reserves comes before the booking."""
        found = _chance_from(row, slot)
        spent_on = date.fromordinal(found // CHANCES)
        used_at = at_brussels(spent_on, USED_AT)
        if row.habit.hold and used_at > now:
            return HabitOccurrence(used_at, rank, found)
        return HabitOccurrence(at_brussels(following_banking_day(spent_on), MORNING), rank, found)


def _rows_of(fixtures: Fixtures, seed: int, iban: str) -> Iterator[HabitRow]:
    """Dated habits before the others, as in the past."""
    profile = fixtures.profiles[iban]
    if not profile.goes_on:
        return
    habits = list(enumerate(profile.possible_habits(fixtures.accounts[iban])))
    for number, habit in sorted(habits, key=lambda one: one[1].due is None):
        key = f"habit/{seed}/{iban}/{number}".encode()
        yield HabitRow(iban, number, habit, key, int(habit.a_week / A_WEEK * 2**BITS))


def _due_days(habit: Habit, after: date) -> Iterator[date]:
    """The banking days on which a dated habit falls, month by month, from the month before one."""
    year, month = (after.year, after.month - 1) if after.month > 1 else (after.year - 1, 12)
    while True:
        if habit.due is DayPattern.LAST:
            yield previous_banking_day(date(year, month, monthrange(year, month)[1]))
        else:
            day = habit.due if isinstance(habit.due, int) else 1
            yield next_banking_day(date(year, month, day))
        year, month = (year, month + 1) if month < 12 else (year + 1, 1)


def _chance_from(row: HabitRow, slot: int) -> int:
    """Draws the chances of a week at once, three bytes each."""
    week, place = divmod(slot, A_WEEK)
    while True:
        drawn = blake2b(row.key + b"/week/%d" % week, digest_size=A_WEEK * BITS // 8).digest()
        for at in range(place, A_WEEK):
            if int.from_bytes(drawn[3 * at : 3 * at + 3]) < row.chance:
                return week * A_WEEK + at
        week, place = week + 1, 0


# Of a seed modulo PEOPLE_SEEDS, so that the seeds that share people share it.
future_of = lru_cache(maxsize=16)(Future)
