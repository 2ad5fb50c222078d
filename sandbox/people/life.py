"""The past of the people of a bank up to the opening (choice 11), and their habits as bank time passes.

Many worlds may share one seed, and their clocks move in different steps. An occurrence of a habit must not depend on
these steps, on other accounts or on a tester's earlier acts. Otherwise a replay would differ. So a running bank does
not use a sequence of random numbers. Each habit has slots: its days, or three chances on each day. The random values of
a slot come from a hash of the seed, the account, the habit and the slot. So the next slot is found without computing
the slots before it. Chances are computed a week at a time, because one hash gives all 21 of them. The bank's mint is
not used, because its numbers depend on the order of calls.

One call generates the whole past, day by day. In the past, each account has one sequence of random numbers. In the past
and in a running bank, an occurrence that the account cannot pay does not happen.
"""

from collections.abc import Iterator
from datetime import date, datetime
from functools import lru_cache
from hashlib import blake2b
from random import Random
from threading import Lock
from typing import NamedTuple

from sandbox.bank import accounts
from sandbox.bank.habits import HabitOccurrence
from sandbox.bank.ledger import Books, LedgerEntry
from sandbox.bank.state import Bank
from sandbox.banking.calendar import (
    BRUSSELS,
    DAY,
    find_following_banking_day,
    find_next_banking_day,
    find_previous_banking_day,
    make_brussels_instant,
)
from sandbox.people.counterparties import draw_counterparties
from sandbox.people.fixtures import Fixtures
from sandbox.people.habit_accounts import CHANCES, GeneratedLedger, HabitAccount, LiveLedger, list_due_days
from sandbox.people.habits import HOURS, MORNING, Habit

PEOPLE_SEEDS = 2**20  # seeds that are equal modulo this number share people, past and future
USED_AT = 18  # the hour at which cards are used and terminals reserve the amount
WEEK_CHANCES = 7 * CHANCES
CHANCE_BITS = 24

_lock = Lock()  # so that two threads do not generate the same past at once


class Past(NamedTuple):
    """A past before the opening: its books, the accounts, and the number of references that each account has used."""

    books: Books
    accounts: dict[str, HabitAccount]
    references: dict[str, int]


def find_past_books(fixtures: Fixtures, seed: int, first_day: date, runs: int = 0) -> Books:
    """Returns the books of the days before `first_day`, and of the first `runs` runs of that day. A run books all
    habits of one hour of HOURS."""
    return find_past(fixtures, seed, first_day, runs).books


def find_past(fixtures: Fixtures, seed: int, first_day: date, runs: int) -> Past:
    with _lock:
        return _generate_past(fixtures, seed % PEOPLE_SEEDS, first_day, runs)


@lru_cache(maxsize=16)
def _generate_past(fixtures: Fixtures, seed: int, first_day: date, runs: int) -> Past:
    """Returns the past before `first_day`, with the first `runs` runs of that day. A run books all habits of one hour
    of HOURS."""
    counterparties = draw_counterparties(seed)
    habit_accounts = {}
    for iban, account in fixtures.accounts.items():
        owner = fixtures.customers[account.owners[0]]
        profile = fixtures.profiles[iban]
        habit_accounts[iban] = HabitAccount(account, profile, owner, counterparties, seed, first_day)
    books = GeneratedLedger()
    end = first_day + DAY if runs else first_day
    day = min((account.opens_on for account in habit_accounts.values()), default=end)
    while day < end:
        card_day = find_previous_banking_day(day - DAY)
        card_days = [card_day + DAY * number for number in range((day - card_day).days)]
        hours = HOURS if day < first_day else HOURS[:runs]
        for habit_account in habit_accounts.values():
            if day > habit_account.opens_on:
                habit_account.book_day(books, day, card_days, hours)
            elif day == habit_account.opens_on:
                habit_account.book_opening(books, day)
        day = find_following_banking_day(day)
    return Past(Books(books.entries), habit_accounts, books.references)


def count_runs_before(opening: datetime) -> int:
    """Returns how many runs of the opening day begin at or before the opening. A run books all habits of one hour of
    HOURS."""
    hour = opening.astimezone(BRUSSELS).hour
    return sum(hour >= run for run in HOURS)


class OngoingHabit(NamedTuple):
    iban: str
    number: int  # its position among the account's habits
    habit: Habit
    key: bytes  # the beginning of what is hashed for its random values
    chance: int  # its probability in each slot, times 2**CHANCE_BITS


class FutureHabits:
    """The habits that happen after an opening. Banks with the same fixtures, seed and opening share one object. It has
    no state that depends on a bank."""

    def __init__(self, fixtures: Fixtures, seed: int, first_day: date, runs: int) -> None:
        self._past_key = (fixtures, seed, first_day, runs)
        self._past: Past | None = None  # generated when the first habit happens
        self._shared: dict[str, LedgerEntry] = {}  # by reference; banks share entries that are equal
        self._habits = [habit for iban in fixtures.accounts for habit in _list_ongoing_habits(fixtures, seed, iban)]

    def find_first(self, since: datetime) -> tuple[HabitOccurrence, ...]:
        local = since.astimezone(BRUSSELS)
        return self._find_first(local.date(), count_runs_before(since), local.hour >= USED_AT)

    @lru_cache(maxsize=16)  # noqa: B019 - futures are few and live as long as the program
    def _find_first(self, day: date, runs: int, after_use: bool) -> tuple[HabitOccurrence, ...]:
        last_hour = HOURS[runs - 1] if runs else -1  # the hour of the last run that is over on this day
        reserved_until = make_brussels_instant(day if after_use else day - DAY, USED_AT)
        booking = find_next_banking_day(day if last_hour < MORNING else day + DAY)
        slot = find_previous_banking_day(booking - DAY).toordinal() * CHANCES
        occurrences = []
        for rank, ongoing in enumerate(self._habits):
            if ongoing.habit.due is None:
                occurrences.append(self._find_next_by_chance(rank, slot, reserved_until))
            else:
                done_until = day if ongoing.habit.hour <= last_hour else day - DAY
                occurrences.append(self._find_next_dated(rank, done_until))
        return tuple(sorted(occurrences))

    def find_name(self, rank: int) -> str:
        ongoing = self._habits[rank]
        return f"{ongoing.iban}/{ongoing.habit.word}"

    def perform(self, bank: Bank, now: HabitOccurrence) -> HabitOccurrence:
        ongoing = self._habits[now.rank]
        if ongoing.habit.due is not None:
            day = date.fromordinal(now.slot)
            self._book(bank, ongoing, now, day, day)
            return self._find_next_dated(now.rank, day)
        spent_on = date.fromordinal(now.slot // CHANCES)
        day = find_following_banking_day(spent_on)
        booked_at = make_brussels_instant(day, MORNING)
        if now.at < booked_at:
            ledger = LiveLedger(bank)
            if ledger.covers(ongoing.iban, ongoing.habit.currency, ongoing.habit.hold):
                ledger.hold(ongoing.iban, ongoing.habit, +1)
                return HabitOccurrence(booked_at, now.rank, now.slot, held=True)
        else:
            if now.held:
                self.release_hold(bank, now)
            self._book(bank, ongoing, now, day, spent_on)
        return self._find_next_by_chance(now.rank, now.slot + 1, now.at)

    def release_hold(self, bank: Bank, reservation: HabitOccurrence) -> None:
        ongoing = self._habits[reservation.rank]
        LiveLedger(bank).hold(ongoing.iban, ongoing.habit, -1)

    def _book(self, bank: Bank, ongoing: OngoingHabit, now: HabitOccurrence, day: date, spent_on: date) -> None:
        if accounts.is_closed(bank, ongoing.iban):
            return
        past = self._past = self._past or find_past(*self._past_key)
        account = past.accounts[ongoing.iban]
        random_bytes = blake2b(ongoing.key + b"/slot/%d" % now.slot, digest_size=16).digest()
        ledger = LiveLedger(bank, past.references, self._shared)
        account.perform(ledger, Random(int.from_bytes(random_bytes)), day, spent_on, account.plans[ongoing.number])

    def _find_next_dated(self, rank: int, after: date) -> HabitOccurrence:
        habit = self._habits[rank].habit
        day = next(list_due_days(habit, after))
        return HabitOccurrence(make_brussels_instant(day, habit.hour), rank, day.toordinal())

    def _find_next_by_chance(self, rank: int, slot: int, now: datetime) -> HabitOccurrence:
        """Returns the next occurrence of the habit number `rank`, whose days are drawn at random. The search starts at
        `slot`; each day has CHANCES slots.

        A habit that reserves money is due at the reservation, if this is after `now`. Otherwise the occurrence is due
        at its booking.
        """
        ongoing = self._habits[rank]
        slot = _draw_slot(ongoing, slot)
        spent_on = date.fromordinal(slot // CHANCES)
        used_at = make_brussels_instant(spent_on, USED_AT)
        if ongoing.habit.hold and used_at > now:
            return HabitOccurrence(used_at, rank, slot)
        return HabitOccurrence(make_brussels_instant(find_following_banking_day(spent_on), MORNING), rank, slot)


def _list_ongoing_habits(fixtures: Fixtures, seed: int, iban: str) -> Iterator[OngoingHabit]:
    """Yields the habits of an account that continue after the opening, habits with a fixed day first. Yields nothing if
    the profile does not go on."""
    profile = fixtures.profiles[iban]
    if profile.goes_on:
        habits = enumerate(profile.list_possible_habits(fixtures.accounts[iban]))
        for number, habit in sorted(habits, key=lambda pair: pair[1].due is None):
            key = f"habit/{seed}/{iban}/{number}".encode()
            yield OngoingHabit(iban, number, habit, key, int(habit.a_week / WEEK_CHANCES * 2**CHANCE_BITS))


def _draw_slot(ongoing: OngoingHabit, slot: int) -> int:
    week, place = divmod(slot, WEEK_CHANCES)
    while True:
        random_bytes = blake2b(ongoing.key + b"/week/%d" % week, digest_size=WEEK_CHANCES * CHANCE_BITS // 8).digest()
        for number in range(place, WEEK_CHANCES):
            if int.from_bytes(random_bytes[3 * number : 3 * number + 3]) < ongoing.chance:
                return week * WEEK_CHANCES + number
        week, place = week + 1, 0


# Called with the seed modulo PEOPLE_SEEDS, so that seeds which share people share their future.
future_of = lru_cache(maxsize=16)(FutureHabits)
