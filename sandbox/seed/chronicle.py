"""Booking habits: in the generated past, whose balances never overdraw, and in a running bank."""

from collections import defaultdict
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import NamedTuple

from sandbox.bank import accounts, execution
from sandbox.bank.ledger import EXCHANGE, OUTSIDE, Compartment, Entry, Posting
from sandbox.bank.records import Debtor
from sandbox.bank.state import Bank
from sandbox.banking.calendar import DAY, following_banking_day, previous_banking_day
from sandbox.banking.money import Money, decimals
from sandbox.seed.habits import DEBIT, Habit
from sandbox.seed.people import Party


class Day(NamedTuple):
    """A banking day, with the days that led to it."""

    on: date
    since: tuple[date, ...]  # the banking day before, and the closed days after that
    due: frozenset[int]  # days of a month that fall due: its own, and those of the closed days before
    first: bool  # of its month
    last: bool


def banking_days(first: date, end: date) -> list[Day]:
    """All from `first`, a banking day, to before `end`."""
    days: list[Day] = []
    before, on = previous_banking_day(first - DAY), first
    while on < end:
        after = following_banking_day(on)
        since = tuple(before + DAY * ahead for ahead in range((on - before).days))
        due = frozenset(day.day for day in (*since[1:], on))
        days.append(Day(on, since, due, before.month != on.month, after.month != on.month))
        before, on = on, after
    return days


class Note(NamedTuple):
    """What an entry says beside its amounts."""

    reference: str
    on: date
    value_on: date
    text: str
    remark: str
    structured: bool = False


class Chronicle:
    """The entries of a past, in order of day, and the balances that follow. Amounts are in minor units."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.references: dict[str, int] = defaultdict(int)  # how many each account has used
        self._balances: dict[Compartment, int] = defaultdict(int)

    def reference(self, iban: str) -> str:
        """The next one of an account."""
        self.references[iban] += 1
        return f"P{iban[7:14]}{self.references[iban]:06}"

    def above(self, iban: str, least: int) -> int:
        """How many euro cents an account has beyond what it keeps."""
        return self._balances[iban, "EUR"] - least

    def covers(self, iban: str, currency: str, cents: int) -> bool:
        """Tells whether the funds cover an amount."""
        return self._balances[iban, currency] >= cents

    def is_open(self, iban: str) -> bool:
        """Whether an account of the same customer takes savings by now."""
        return bool(self._balances.get((iban, "EUR")))

    def outside(self, note: Note, iban: str, cents: int, currency: str, party: Party | None) -> None:
        """Books money from or to another bank, unless funds are missing."""
        if not self._may(iban, currency, cents):
            return
        name, account = (party.name, party.iban) if party else (None, None)
        self._write(
            note,
            Posting(iban, money(cents, currency), account, name),
            Posting(OUTSIDE, money(-cents, currency), iban),
        )

    def between(self, note: Note, payer: str, payee: str, cents: int, owner: str) -> None:
        """Euros from one account of a customer to another."""
        if not self._may(payer, "EUR", -cents):
            return
        self._gain(payee, "EUR", cents)
        self._write(
            note,
            Posting(payer, money(-cents, "EUR"), payee, owner),
            Posting(payee, money(cents, "EUR"), payer, owner),
        )

    def exchanged(self, note: Note, iban: str, bought: Money, rate: Decimal, owner: str) -> None:
        """Euros of an account for another currency on it, over the bank's exchange desk."""
        paid = bought.converted(rate, "EUR")
        if not self._may(iban, "EUR", -minor(paid)):
            return
        self._gain(iban, bought.currency, minor(bought))
        self._write(
            note,
            Posting(iban, -paid, iban, owner),
            Posting(EXCHANGE, paid, iban),
            Posting(EXCHANGE, -bought, iban),
            Posting(iban, bought, iban, owner),
        )

    def _may(self, iban: str, currency: str, cents: int) -> bool:
        """Applies a change if the balance stays at zero or above; returns whether it did."""
        key = (iban, currency)
        balance = self._balances[key] + cents
        if balance < 0:
            return False
        self._balances[key] = balance
        return True

    def _gain(self, iban: str, currency: str, cents: int) -> None:
        self._balances[iban, currency] += cents

    def _write(self, note: Note, *postings: Posting) -> None:
        self.entries.append(
            Entry(note.reference, note.on, note.value_on, postings, note.text, note.structured, note.remark)
        )


def money(cents: int, currency: str) -> Money:
    """An amount from its minor units."""
    return Money(Decimal(cents).scaleb(-decimals(currency)), currency)


def minor(amount: Money) -> int:
    """The minor units of an amount."""
    return int(amount.number.scaleb(decimals(amount.currency)))


SHARED_MAX = 20_000  # entries: a few years of all the shipped customers


class Booking(Chronicle):
    """Books one occurrence of a habit. Habits do not spend funds that a payment reserved."""

    def __init__(
        self, bank: Bank, references: Mapping[str, int] | None = None, shared: dict[str, Entry] | None = None
    ) -> None:
        self._bank = bank
        self._before = references or {}  # those that the past used
        self._shared = {} if shared is None else shared  # entries of banks that live alike, by reference

    def reference(self, iban: str) -> str:
        number = self._before.get(iban, 0) + self._bank.habits.count(iban)
        return f"P{iban[7:14]}{number:06}"

    def above(self, iban: str, least: int) -> int:
        return minor(Money(accounts.unreserved(self._bank, Debtor(iban)), "EUR")) - least

    def covers(self, iban: str, currency: str, cents: int) -> bool:
        return self._cents(iban, currency) >= cents

    def is_open(self, iban: str) -> bool:
        return iban in self._bank.accounts and not accounts.is_closed(self._bank, iban)

    def reserve(self, iban: str, habit: Habit) -> bool:
        """A terminal reserves an amount where there are funds for it."""
        if not self.covers(iban, habit.currency, habit.hold):
            return False
        self._hold(iban, habit, +1)
        return True

    def release(self, iban: str, habit: Habit) -> None:
        self._hold(iban, habit, -1)

    def _hold(self, iban: str, habit: Habit, sign: int) -> None:
        amount = sign * money(habit.hold, habit.currency).number
        accounts.reserve(self._bank.reserved, Debtor(iban, habit.currency), amount)

    def _cents(self, iban: str, currency: str) -> int:
        return minor(accounts.available(self._bank, Debtor(iban, currency)))

    def _may(self, iban: str, currency: str, cents: int) -> bool:
        return cents >= 0 or self._cents(iban, currency) + cents >= 0

    def _gain(self, iban: str, currency: str, cents: int) -> None:
        """It follows from the posting."""

    def _write(self, note: Note, *postings: Posting) -> None:
        entry = Entry(note.reference, note.on, note.value_on, postings, note.text, note.structured, note.remark)
        kept_entry = self._shared.get(note.reference)
        if kept_entry is None and len(self._shared) < SHARED_MAX:
            self._shared[note.reference] = entry
        elif kept_entry == entry:
            entry = kept_entry
        self._bank.ledger.post(entry)
        if note.remark == DEBIT:
            execution.meet_debit(self._bank, entry)
