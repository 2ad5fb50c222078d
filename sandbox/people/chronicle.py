"""Booking habits: in the generated past, whose balances never overdraw, and in a running bank."""

from collections import defaultdict
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import NamedTuple

from sandbox.bank import accounts, returns
from sandbox.bank.ledger import EXCHANGE, OUTSIDE, Compartment, LedgerEntry, Posting
from sandbox.bank.records import Debtor
from sandbox.bank.state import Bank
from sandbox.banking.calendar import DAY, following_banking_day, previous_banking_day
from sandbox.banking.money import Money, decimals
from sandbox.people.habits import DEBIT, Habit


class BankingDay(NamedTuple):
    """A banking day, with the days that led to it."""

    on: date
    since: tuple[date, ...]  # the banking day before, and the closed days after that
    due: frozenset[int]  # days of a month that fall due: its own, and those of the closed days before
    first: bool  # of its month
    last: bool


def banking_days(first: date, end: date) -> list[BankingDay]:
    """All from `first`, a banking day, to before `end`."""
    days: list[BankingDay] = []
    before, on = previous_banking_day(first - DAY), first
    while on < end:
        after = following_banking_day(on)
        since = tuple(before + DAY * ahead for ahead in range((on - before).days))
        due = frozenset(day.day for day in (*since[1:], on))
        days.append(BankingDay(on, since, due, before.month != on.month, after.month != on.month))
        before, on = on, after
    return days


class Chronicle:
    """The entries of a past, in order of day, and the balances that follow. Amounts are in minor units."""

    def __init__(self) -> None:
        self.entries: list[LedgerEntry] = []
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

    def book(self, entry: LedgerEntry) -> None:
        """Books an entry, unless an account lacks the funds for it."""
        ours = [one for one in entry.postings if one.account not in (OUTSIDE, EXCHANGE)]
        paid = (one for one in ours if one.amount.number < 0)
        if all(self.covers(one.account, one.amount.currency, -minor(one.amount)) for one in paid):
            self._write(entry, ours)

    def _write(self, entry: LedgerEntry, ours: list[Posting]) -> None:
        for posting in ours:
            self._balances[posting.account, posting.amount.currency] += minor(posting.amount)
        self.entries.append(entry)


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
        self, bank: Bank, references: Mapping[str, int] | None = None, shared: dict[str, LedgerEntry] | None = None
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
        return minor(accounts.available(self._bank, Debtor(iban, currency))) >= cents

    def is_open(self, iban: str) -> bool:
        return iban in self._bank.accounts and not accounts.is_closed(self._bank, iban)

    def hold(self, iban: str, habit: Habit, sign: int) -> None:
        """A terminal reserves its amount (+1), or releases it (-1)."""
        amount = sign * money(habit.hold, habit.currency).number
        accounts.reserve(self._bank.reserved, Debtor(iban, habit.currency), amount)

    def _write(self, entry: LedgerEntry, ours: list[Posting]) -> None:
        kept_entry = self._shared.get(entry.reference)
        if kept_entry is None and len(self._shared) < SHARED_MAX:
            self._shared[entry.reference] = entry
        elif kept_entry == entry:
            entry = kept_entry
        self._bank.ledger.post(entry)
        if entry.remark == DEBIT:
            returns.meet_debit(self._bank, entry)
