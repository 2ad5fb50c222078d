"""Accounts with their habits, and the two ledgers in which habits are booked: the one of a generated past, and the one
of a running bank."""

from calendar import monthrange
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from hashlib import blake2b
from itertools import takewhile
from random import Random
from typing import NamedTuple

from dateutil.relativedelta import relativedelta

from sandbox.bank import accounts, ledger, returns
from sandbox.bank.ledger import Compartment, LedgerEntry, Posting
from sandbox.bank.records import Account, Customer, Debtor
from sandbox.bank.state import Bank
from sandbox.banking import iban, remittance
from sandbox.banking.calendar import find_next_banking_day, find_previous_banking_day
from sandbox.banking.countries import rate
from sandbox.banking.money import Money
from sandbox.people.counterparties import BANK_CODES, LANGUAGES, ROLES, Counterparties, Counterparty
from sandbox.people.fixtures import Profile
from sandbox.people.habits import DEBIT, EXCHANGE, NOBODY, SELF, WORDS, DayPattern, Habit

CHANCES = 3  # how often a day a habit without a fixed day may happen
SHARED_MAX = 20_000  # entries that banks share, enough for a few years of all shipped customers


class GeneratedLedger:
    """The entries of a generated past, by day, and the resulting balances. Amounts are in minor units."""

    def __init__(self) -> None:
        self.entries: list[LedgerEntry] = []
        self.references: dict[str, int] = defaultdict(int)  # how many references each account has used
        self._balances: dict[Compartment, int] = defaultdict(int)

    def take_reference(self, iban: str) -> str:
        self.references[iban] += 1
        return f"P{iban[7:14]}{self.references[iban]:06}"

    def read_euro_cents(self, iban: str) -> int:
        return self._balances[iban, "EUR"]

    def covers(self, iban: str, currency: str, cents: int) -> bool:
        return self._balances[iban, currency] >= cents

    def is_open(self, iban: str) -> bool:
        """Whether savings can go to the account now. An account whose balance is 0 counts as not open yet."""
        return bool(self._balances.get((iban, "EUR")))

    def book(self, entry: LedgerEntry) -> None:
        """Books an entry. Does nothing if a paying account of this bank lacks the funds."""
        own = [posting for posting in entry.postings if posting.account not in (ledger.OUTSIDE, ledger.EXCHANGE)]
        paying = (posting for posting in own if posting.amount.number < 0)
        if all(self.covers(posting.account, posting.amount.currency, -posting.amount.minor) for posting in paying):
            self._write(entry, own)

    def _write(self, entry: LedgerEntry, own: list[Posting]) -> None:
        for posting in own:
            self._balances[posting.account, posting.amount.currency] += posting.amount.minor
        self.entries.append(entry)


class LiveLedger(GeneratedLedger):
    """The ledger of a running bank. Habits do not spend funds that a payment reserved."""

    def __init__(
        self, bank: Bank, references: Mapping[str, int] | None = None, shared: dict[str, LedgerEntry] | None = None
    ) -> None:
        self._bank = bank
        self._before = references or {}  # how many references each account used in the past
        self._shared = {} if shared is None else shared  # by reference; banks with the same habits share equal entries

    def take_reference(self, iban: str) -> str:
        number = self._before.get(iban, 0) + self._bank.habits.take_reference_number(iban)
        return f"P{iban[7:14]}{number:06}"

    def read_euro_cents(self, iban: str) -> int:
        return Money(accounts.compute_unreserved_balance(self._bank, Debtor(iban)), "EUR").minor

    def covers(self, iban: str, currency: str, cents: int) -> bool:
        return accounts.compute_available_funds(self._bank, Debtor(iban, currency)).minor >= cents

    def is_open(self, iban: str) -> bool:
        return iban in self._bank.accounts and not accounts.is_closed(self._bank, iban)

    def hold(self, iban: str, habit: Habit, sign: int) -> None:
        """Reserves the amount that a card terminal holds for a habit (`sign` +1), or releases it (`sign` -1)."""
        amount = sign * Money.of_minor(habit.hold, habit.currency).number
        accounts.reserve(self._bank.reserved, Debtor(iban, habit.currency), amount)

    def _write(self, entry: LedgerEntry, own: list[Posting]) -> None:
        shared_entry = self._shared.get(entry.reference)
        if shared_entry is None and len(self._shared) < SHARED_MAX:
            self._shared[entry.reference] = entry
        elif shared_entry == entry:
            entry = shared_entry
        self._bank.ledger.post(entry)
        if entry.remark == DEBIT:
            returns.promise_refund_by_rule(self._bank, entry)


class HabitPlan(NamedTuple):
    """A habit of an account, with the counterparties that it uses. If the amount never changes, `steady` is this
    amount, else 0. `days` are the days of the past on which a habit with a fixed day is due. Any other habit has
    CHANCES chances a day, and happens at each of them with the probability `chance`."""

    habit: Habit
    counterparties: Sequence[Counterparty | None]
    steady: int
    days: frozenset[date]
    chance: float


class HabitAccount:
    """An account with its owner, its habits and its own random numbers, which do not depend on other accounts."""

    def __init__(
        self,
        account: Account,
        profile: Profile,
        owner: Customer,
        counterparties: Counterparties,
        seed: int,
        first_day: date,
    ) -> None:
        self.iban = account.iban
        self.profile = profile
        self.owner = owner
        # There are counterparties for French and Dutch only. A customer of another language gets the French ones.
        self._language = owner.language if owner.language in LANGUAGES else LANGUAGES[0]
        self.opens_on = find_previous_banking_day(first_day - relativedelta(months=profile.months))
        self._last_day = first_day
        self._rng = Random(f"{seed}/{account.iban}")
        self.plans = list(self._make_plans(profile.list_possible_habits(account), counterparties))
        self._dated = [plan for plan in self.plans if plan.habit.due is not None]
        self._by_chance = [plan for plan in self.plans if plan.habit.due is None]

    def _make_plans(self, habits: Sequence[Habit], counterparties: Counterparties) -> Iterator[HabitPlan]:
        # A savings account at another bank, for a customer who has no savings account at this bank.
        savings_iban = iban.make_belgian(self._rng.choice(BANK_CODES), self._rng.randrange(10_000_000))
        by_role: dict[str, Sequence[Counterparty | None]] = {
            NOBODY: (None,),
            EXCHANGE: (None,),
            SELF: (Counterparty(self.owner.name, savings_iban, "", ""),),
        }
        for habit in habits:
            if habit.role not in by_role and habit.party is None:
                candidates = counterparties[habit.role, self._language]
                by_role[habit.role] = self._rng.sample(candidates, ROLES[habit.role].per_account)
            parties = by_role[habit.role] if habit.party is None else (Counterparty(*habit.party, "", ""),)
            steady = self._draw_amount(habit, self._rng) if habit.steady else 0
            days = takewhile(lambda day: day <= self._last_day, list_due_days(habit, self.opens_on))
            yield HabitPlan(habit, parties, steady, frozenset(days), habit.a_week / 7 / CHANCES)

    def _draw_amount(self, habit: Habit, rng: Random) -> int:
        if habit.fixed:
            return rng.randint(habit.low, habit.high)
        income = self.profile.income.minor
        cents = income * rng.randint(habit.low * 1000, habit.high * 1000) // 1_000_000
        return cents - cents % habit.unit

    def book_opening(self, books: GeneratedLedger, day: date) -> None:
        for amount in self.profile.opening:
            if amount.is_positive:
                text = WORDS["opening"][self._language]
                self._rng.randrange(1000, 10000)  # unused; removing it would change every later random number
                postings = make_outside_postings(self.iban, amount, None)
                reference = books.take_reference(self.iban)
                books.book(LedgerEntry(reference, day, day, postings, text, remark="BALANCE BROUGHT FORWARD"))

    def book_day(self, books: GeneratedLedger, day: date, card_days: Sequence[date], hours: Sequence[int]) -> None:
        """Books the habits of a banking day in the past. First books the habits with a fixed day that are due on this
        day, if their hour is in `hours`. Then draws the other habits for each day in `card_days`: the days from the
        last banking day up to the day before this one."""
        for plan in self._dated:
            if plan.habit.hour in hours and day in plan.days:
                self.perform(books, self._rng, day, day, plan)
        draw = self._rng.random
        for plan in self._by_chance:
            chance = plan.chance
            for spent_on in card_days:
                for _ in range((draw() < chance) + (draw() < chance) + (draw() < chance)):
                    self.perform(books, self._rng, day, spent_on, plan)

    def perform(self, books: GeneratedLedger, rng: Random, day: date, spent_on: date, plan: HabitPlan) -> None:
        """Books an occurrence of a habit on the banking day `day`: one entry with a drawn counterparty, or one with
        each counterparty if the habit has `each`. Leaves out an amount of 0, and one that the account cannot pay.
        `spent_on` is the day on which the card was used. It becomes the value date of a card payment."""
        habit = plan.habit
        if habit.hold and not books.covers(self.iban, habit.currency, habit.hold):
            return  # the terminal could not have reserved the amount, so the card was not used
        value_on = spent_on if habit.by_card else day
        for party in plan.counterparties if habit.each else (rng.choice(plan.counterparties),):
            cents = plan.steady or self._draw_amount(habit, rng)
            if habit.sweep:
                above = books.read_euro_cents(self.iban) - (self.profile.keeps.minor if self.profile.keeps else 0)
                cents = min(above % habit.unit - above, 0)
            if cents:
                reference = books.take_reference(self.iban)
                text = self._write_text(habit, rng, day, value_on, party)
                postings = self._make_postings(books, habit, Money.of_minor(cents, habit.currency), party)
                books.book(LedgerEntry(reference, day, value_on, postings, text, habit.structured, habit.remark))

    def _write_text(self, habit: Habit, rng: Random, day: date, value_on: date, party: Counterparty | None) -> str:
        if habit.structured:
            return remittance.make_structured(rng.randrange(10**10))
        if habit.text is not None:
            return habit.text
        return WORDS[habit.word][self._language].format(
            month=f"{day.month:02}/{day.year}",
            year=day.year,
            day=f"{value_on.day:02}/{value_on.month:02}",
            number=f"{day.year}-{rng.randrange(1000, 10000)}",
            street=party.street if party else "",
            town=party.town if party else "",
            terminal=compute_terminal(party) if party and habit.by_card else "",
        )

    def _make_postings(
        self, books: GeneratedLedger, habit: Habit, amount: Money, party: Counterparty | None
    ) -> tuple[Posting, ...]:
        """Returns the postings of a habit's amount, which together sum to zero. An exchange has two postings in each
        currency. Money that the owner saves goes to the savings account, if that is open. Any other amount comes from
        another bank, or goes to another bank."""
        owner, saves_to = self.owner.name, self.profile.saves_to
        if habit.role == EXCHANGE:  # the account exchanges its euros for its other currency
            paid = amount.convert(rate(amount.currency), "EUR")
            return (
                Posting(self.iban, -paid, self.iban, owner),
                Posting(ledger.EXCHANGE, paid, self.iban),
                Posting(ledger.EXCHANGE, -amount, self.iban),
                Posting(self.iban, amount, self.iban, owner),
            )
        if habit.role == SELF and saves_to and books.is_open(saves_to):
            return Posting(self.iban, amount, saves_to, owner), Posting(saves_to, -amount, self.iban, owner)
        return make_outside_postings(self.iban, amount, party)


def make_outside_postings(iban: str, amount: Money, party: Counterparty | None) -> tuple[Posting, Posting]:
    """Returns the two postings of money that comes from another bank, or goes to another bank."""
    name, account = (party.name, party.iban) if party else (None, None)
    return Posting(iban, amount, account, name), Posting(ledger.OUTSIDE, -amount, iban)


def list_due_days(habit: Habit, after: date) -> Iterator[date]:
    """Yields the banking days after `after` on which a habit is due, without end. Yields nothing for a habit without a
    fixed day."""
    year, month = (after.year, after.month - 1) if after.month > 1 else (after.year - 1, 12)
    while habit.due is not None:
        if habit.due is DayPattern.LAST:
            day = find_previous_banking_day(date(year, month, monthrange(year, month)[1]))
        else:
            day = find_next_banking_day(date(year, month, habit.due if isinstance(habit.due, int) else 1))
        if day > after and day.month % habit.every == 1 % habit.every:
            yield day
        year, month = (year, month + 1) if month < 12 else (year + 1, 1)


def compute_terminal(party: Counterparty) -> str:
    """Returns the number of a shop's terminal. A shop always has the same number."""
    digest = blake2b(f"{party.name}/{party.town}".encode(), digest_size=4).digest()
    return f"{int.from_bytes(digest) % 10**8:08}"
