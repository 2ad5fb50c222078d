"""The generated past: every habit of every account, lived day by day up to a first morning (choice 11)."""

from collections.abc import Iterator, Sequence
from datetime import date
from functools import lru_cache
from random import Random
from threading import Lock
from typing import NamedTuple

from dateutil.relativedelta import relativedelta

from sandbox.bank.ledger import Books
from sandbox.bank.records import Account, Customer
from sandbox.banking import iban, remittance
from sandbox.banking.calendar import previous_banking_day
from sandbox.banking.countries import rate
from sandbox.seed.chronicle import Chronicle, Day, Note, banking_days, minor, money
from sandbox.seed.fixtures import Fixtures, Profile
from sandbox.seed.habits import CIRCLE, EXCHANGE, LIVES, NOBODY, SELF, WORDS, Habit, When
from sandbox.seed.people import BANK_CODES, Party, People, draw_people

_LOCK = Lock()  # two that ask at once get one past, made once


def past_of(fixtures: Fixtures, people_seed: int, first_day: date) -> Books:
    """What happened before `first_day`. Seeds that agree modulo 2**20 share it."""
    with _LOCK:
        return _books(fixtures, people_seed % 2**20, first_day)


@lru_cache(maxsize=16)
def _books(fixtures: Fixtures, seed: int, first_day: date) -> Books:
    people = draw_people(seed)
    homes = [
        Home(
            account,
            fixtures.profiles[account.iban],
            fixtures.customers[account.owners[0]],
            people,
            seed,
            first_day,
        )
        for account in fixtures.accounts.values()
    ]
    chronicle = Chronicle()
    if homes:
        for day in banking_days(min(home.begins for home in homes), first_day):
            for home in homes:
                if day.on > home.begins:
                    home.live(chronicle, day)
                elif day.on == home.begins:
                    home.open(chronicle, day)
    return Books(chronicle.entries)


class Routine(NamedTuple):
    """A habit, with whom, its amount where that is steady, and its chance where it has no day."""

    habit: Habit
    circle: Sequence[Party | None]
    steady: int
    chance: float


class Home:
    """An account while its past is written. Its chance is its own: other accounts do not change it."""

    def __init__(
        self, account: Account, profile: Profile, owner: Customer, people: People, seed: int, end: date
    ) -> None:
        self.iban = account.iban
        self.profile = profile
        self.owner = owner
        self.begins = previous_banking_day(end - relativedelta(months=profile.months))
        self.rng = Random(f"{seed}/{account.iban}")
        self.income = minor(profile.income)
        self.keeps = minor(profile.keeps) if profile.keeps else 0
        habits = [habit for habit in LIVES[profile.life] if habit.currency in account.currencies]
        routines = list(self._routines(habits, people))
        self.dated = [routine for routine in routines if routine.habit.due is not None]
        self.free = [routine for routine in routines if routine.habit.due is None]
        self.count = 0

    def open(self, chronicle: Chronicle, day: Day) -> None:
        """The balances that the account brings along."""
        for amount in self.profile.opening:
            if amount.is_positive:
                note = self._note("opening", day, day.on, None, "BALANCE BROUGHT FORWARD")
                chronicle.outside(note, self.iban, minor(amount), amount.currency, None)

    def live(self, chronicle: Chronicle, day: Day) -> None:
        """A banking day: what has its date first, then what just happens."""
        for routine in self.dated:
            if _falls(routine.habit, day):
                for party in routine.circle if routine.habit.each else (self.rng.choice(routine.circle),):
                    self._happen(chronicle, day, day.on, routine, party)
        draw = self.rng.random
        for routine in self.free:
            chance = routine.chance
            for spent_on in day.since:
                for _ in range((draw() < chance) + (draw() < chance) + (draw() < chance)):
                    value_on = spent_on if routine.habit.by_card else day.on
                    self._happen(chronicle, day, value_on, routine, self.rng.choice(routine.circle))

    def _happen(self, chronicle: Chronicle, day: Day, value_on: date, routine: Routine, party: Party | None) -> None:
        habit = routine.habit
        cents = routine.steady or self._amount(habit)
        if habit.sweep:
            above = chronicle.balances[self.iban, "EUR"] - self.keeps
            cents = min(above % habit.unit - above, 0)
        if not cents:
            return
        note = self._note(habit.word, day, value_on, party, habit.remark, habit.structured)
        own = self.profile.saves_to
        if habit.role == EXCHANGE:
            bought = money(cents, habit.currency)
            chronicle.exchanged(note, self.iban, bought, rate(habit.currency), self.owner.name)
        elif habit.role == SELF and own and chronicle.balances.get((own, "EUR")):
            chronicle.between(note, self.iban, own, -cents, self.owner.name)
        else:
            chronicle.outside(note, self.iban, cents, habit.currency, party)

    def _note(
        self, word: str, day: Day, value_on: date, party: Party | None, remark: str, structured: bool = False
    ) -> Note:
        self.count += 1
        reference = f"P{self.iban[7:14]}{self.count:06}"
        if structured:
            text = remittance.make_structured(self.rng.randrange(10**10))
        else:
            text = WORDS[word][self.owner.language].format(
                month=f"{day.on.month:02}/{day.on.year}",
                day=f"{value_on.day:02}/{value_on.month:02}",
                number=f"{day.on.year}-{self.rng.randrange(1000, 10000)}",
                street=party.street if party else "",
                town=party.town if party else "",
            )
        return Note(reference, day.on, value_on, text, remark, structured)

    def _routines(self, habits: Sequence[Habit], people: People) -> Iterator[Routine]:
        circles: dict[str, Sequence[Party | None]] = {
            NOBODY: (None,),
            EXCHANGE: (None,),
            SELF: (self._elsewhere(),),
        }
        for habit in habits:
            if habit.role not in circles:
                known = people[habit.role, self.owner.language]
                circles[habit.role] = self.rng.sample(known, CIRCLE.get(habit.role, 1))
            steady = self._amount(habit) if habit.steady else 0
            yield Routine(habit, circles[habit.role], steady, habit.a_week / 7 / 3)  # three chances a day

    def _elsewhere(self) -> Party:
        """The customer's account at another bank, for who saves on none of ours."""
        account = iban.make_belgian(self.rng.choice(BANK_CODES), self.rng.randrange(10_000_000))
        return Party(self.owner.name, account, "", "")

    def _amount(self, habit: Habit) -> int:
        cents = self.income * self.rng.randint(habit.low * 1000, habit.high * 1000) // 1_000_000
        return cents - cents % habit.unit


def _falls(habit: Habit, day: Day) -> bool:
    """Whether a dated habit falls on that banking day."""
    if habit.due is When.FIRST:
        falls = day.first
    elif habit.due is When.LAST:
        falls = day.last
    else:
        falls = habit.due in day.due
    return falls and day.on.month % habit.every == 1 % habit.every
