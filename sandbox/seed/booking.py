"""Books habits in a running bank; Chronicle, its base class, books them in the past."""

from collections.abc import Mapping

from sandbox.bank import accounts, returns
from sandbox.bank.ledger import Entry, Posting
from sandbox.bank.records import Debtor
from sandbox.bank.state import Bank
from sandbox.banking.money import Money
from sandbox.seed.chronicle import Chronicle, Note, minor, money
from sandbox.seed.habits import DEBIT, Habit

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
            returns.meet_debit(self._bank, entry)
