"""An account with its habits, counterparties and amounts; used for the past and the future."""

from collections.abc import Iterator, Sequence
from datetime import date
from hashlib import blake2b
from random import Random
from typing import NamedTuple

from sandbox.bank import ledger
from sandbox.bank.ledger import LedgerEntry, Posting
from sandbox.bank.records import Account, Customer
from sandbox.banking import iban, remittance
from sandbox.banking.countries import rate
from sandbox.banking.money import Money
from sandbox.people.chronicle import BankingDay, Chronicle, minor, money
from sandbox.people.fixtures import Profile
from sandbox.people.habits import EXCHANGE, NOBODY, SELF, WORDS, DayPattern, Habit
from sandbox.people.people import BANK_CODES, ROLES, Party, People

CHANCES = 3  # of a habit without a day, on each day


class Routine(NamedTuple):
    """A habit with its counterparties, its amount where that is steady, and its chance where it has no day."""

    habit: Habit
    circle: Sequence[Party | None]
    steady: int
    chance: float


class Home:
    """An account with its owner, its routines and a chance of its own: other accounts do not change it."""

    def __init__(self, account: Account, profile: Profile, owner: Customer, people: People, seed: int) -> None:
        self.iban = account.iban
        self.profile = profile
        self.owner = owner
        self.rng = Random(f"{seed}/{account.iban}")
        self.income = minor(profile.income)
        self.keeps = minor(profile.keeps) if profile.keeps else 0
        self.routines = list(self._routines(profile.possible_habits(account), people))
        self.dated = [routine for routine in self.routines if routine.habit.due is not None]
        self.free = [routine for routine in self.routines if routine.habit.due is None]

    def open(self, chronicle: Chronicle, day: BankingDay) -> None:
        """Books the opening balances."""
        for amount in self.profile.opening:
            if amount.is_positive:
                text = WORDS["opening"][self.owner.language]
                self.rng.randrange(1000, 10000)  # drawn once, so drawn for ever: what follows stays as it is
                postings = with_outside(self.iban, amount, None)
                reference = chronicle.reference(self.iban)
                chronicle.book(LedgerEntry(reference, day.on, day.on, postings, text, remark="BALANCE BROUGHT FORWARD"))

    def live(self, chronicle: Chronicle, day: BankingDay, hours: Sequence[int]) -> None:
        """A banking day up to one of its hours: dated habits first, then those that chance decides."""
        for routine in self.dated:
            if routine.habit.hour in hours and falls_on(routine.habit, day):
                self.happen(chronicle, self.rng, day.on, day.on, routine)
        draw = self.rng.random
        for routine in self.free:
            chance = routine.chance
            for spent_on in day.since:
                for _ in range((draw() < chance) + (draw() < chance) + (draw() < chance)):
                    self.happen(chronicle, self.rng, day.on, spent_on, routine)

    def happen(self, chronicle: Chronicle, rng: Random, on: date, spent_on: date, routine: Routine) -> None:
        """An occurrence of a habit, booked on that banking day."""
        habit = routine.habit
        if habit.hold and not chronicle.covers(self.iban, habit.currency, habit.hold):
            return  # the terminal could not have reserved that
        value_on = spent_on if habit.by_card else on
        for party in routine.circle if habit.each else (rng.choice(routine.circle),):
            self._book(chronicle, rng, on, value_on, routine, party)

    def _book(
        self, chronicle: Chronicle, rng: Random, on: date, value_on: date, routine: Routine, party: Party | None
    ) -> None:
        habit = routine.habit
        cents = routine.steady or self._amount(habit, rng)
        if habit.sweep:
            above = chronicle.above(self.iban, self.keeps)
            cents = min(above % habit.unit - above, 0)
        if not cents:
            return
        entry = self._entry(chronicle, rng, habit, on, value_on, party)
        chronicle.book(entry._replace(postings=self._postings(chronicle, habit, money(cents, habit.currency), party)))

    def _postings(self, chronicle: Chronicle, habit: Habit, amount: Money, party: Party | None) -> tuple[Posting, ...]:
        """Our accounts, and the other side."""
        owner, saves_to = self.owner.name, self.profile.saves_to
        if habit.role == EXCHANGE:  # euros of the account for another currency on it
            paid = amount.converted(rate(amount.currency), "EUR")
            return (
                Posting(self.iban, -paid, self.iban, owner),
                Posting(ledger.EXCHANGE, paid, self.iban),
                Posting(ledger.EXCHANGE, -amount, self.iban),
                Posting(self.iban, amount, self.iban, owner),
            )
        if habit.role == SELF and saves_to and chronicle.is_open(saves_to):
            return Posting(self.iban, amount, saves_to, owner), Posting(saves_to, -amount, self.iban, owner)
        return with_outside(self.iban, amount, party)

    def _entry(
        self, chronicle: Chronicle, rng: Random, habit: Habit, on: date, value_on: date, party: Party | None
    ) -> LedgerEntry:
        """The entry of a habit, still without its postings."""
        reference = chronicle.reference(self.iban)
        if habit.structured:
            text = remittance.make_structured(rng.randrange(10**10))
        elif habit.text is not None:
            text = habit.text
        else:
            text = WORDS[habit.word][self.owner.language].format(
                month=f"{on.month:02}/{on.year}",
                year=on.year,
                day=f"{value_on.day:02}/{value_on.month:02}",
                number=f"{on.year}-{rng.randrange(1000, 10000)}",
                street=party.street if party else "",
                town=party.town if party else "",
                terminal=terminal_of(party) if party and habit.by_card else "",
            )
        return LedgerEntry(reference, on, value_on, (), text, habit.structured, habit.remark)

    def _routines(self, habits: Sequence[Habit], people: People) -> Iterator[Routine]:
        # At another bank, for a customer who saves on none of ours.
        own = iban.make_belgian(self.rng.choice(BANK_CODES), self.rng.randrange(10_000_000))
        circles: dict[str, Sequence[Party | None]] = {
            NOBODY: (None,),
            EXCHANGE: (None,),
            SELF: (Party(self.owner.name, own, "", ""),),
        }
        for habit in habits:
            if habit.role not in circles and habit.party is None:
                parties = people[habit.role, self.owner.language]
                circles[habit.role] = self.rng.sample(parties, ROLES[habit.role].circle)
            circle = circles[habit.role] if habit.party is None else (Party(*habit.party, "", ""),)
            steady = self._amount(habit, self.rng) if habit.steady else 0
            yield Routine(habit, circle, steady, habit.a_week / 7 / CHANCES)

    def _amount(self, habit: Habit, rng: Random) -> int:
        if habit.fixed:
            return rng.randint(habit.low, habit.high)
        cents = self.income * rng.randint(habit.low * 1000, habit.high * 1000) // 1_000_000
        return cents - cents % habit.unit


def with_outside(iban: str, amount: Money, party: Party | None) -> tuple[Posting, Posting]:
    """Money from or to another bank."""
    name, account = (party.name, party.iban) if party else (None, None)
    return Posting(iban, amount, account, name), Posting(ledger.OUTSIDE, -amount, iban)


def falls_on(habit: Habit, day: BankingDay) -> bool:
    """Whether a dated habit falls on that banking day."""
    if habit.due is DayPattern.FIRST:
        falls = day.first
    elif habit.due is DayPattern.LAST:
        falls = day.last
    else:
        falls = habit.due in day.due
    return falls and day.on.month % habit.every == 1 % habit.every


def terminal_of(party: Party) -> str:
    """The number of a shop's terminal: always the same."""
    drawn = blake2b(f"{party.name}/{party.town}".encode(), digest_size=4).digest()
    return f"{int.from_bytes(drawn) % 10**8:08}"
