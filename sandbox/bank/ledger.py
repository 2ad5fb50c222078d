"""Double-entry bookkeeping by compartment. A compartment is the part of an account that holds one currency.

Only postings change a balance, so it is always the sum of the compartment's postings.
"""

from bisect import insort
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from decimal import Decimal
from itertools import chain
from operator import eq
from typing import Any, NamedTuple, overload

from sandbox.banking.money import Money

# The two sides that do not belong to a customer: the rest of the world, and the bank's own exchange desk.
OUTSIDE = "outside"
EXCHANGE = "exchange"
NOTHING = Decimal()

Compartment = tuple[str, str]  # IBAN (or one of the two names above) and currency


class Posting(NamedTuple):
    """One side of a ledger entry: an amount on an account, and the other party."""

    account: str
    amount: Money
    counterparty_account: str | None = None
    counterparty_name: str | None = None


class LedgerEntry(NamedTuple):
    """A booking of several postings. In each currency the postings sum to zero."""

    reference: str
    on: date
    value_on: date
    postings: tuple[Posting, ...]
    communication: str = ""
    structured: bool = False
    remark: str = ""


class AccountLine(NamedTuple):
    """A posting as its account shows it. Lines are ordered by date, then by number."""

    on: date
    number: int
    posting: Posting
    entry: LedgerEntry


class Books:
    """The ledger entries before a bank's opening. Many banks share one object of this class, so it never changes."""

    def __init__(self, entries: Iterable[LedgerEntry]) -> None:
        lines: dict[Compartment, list[AccountLine]] = defaultdict(list)
        sums: dict[Compartment, Decimal] = defaultdict(Decimal)
        self.count = 0
        for entry in sorted(entries, key=lambda entry: entry.on):
            for posting in entry.postings:
                self.count += 1
                compartment = posting.account, posting.amount.currency
                sums[compartment] += posting.amount.number
                if posting.account not in (OUTSIDE, EXCHANGE):
                    lines[compartment].append(AccountLine(entry.on, self.count, posting, entry))
        self.lines = {compartment: tuple(of) for compartment, of in lines.items()}
        self.balances = dict(sums)


class Lines(Sequence[AccountLine]):
    """The lines of a compartment (one currency of an account), oldest first. `past` has the lines from before the
    bank's opening, which many banks share. `own` has the lines that this bank added. The lines of the past are copied
    into `own` only when a new line must be inserted among them."""

    __slots__ = ("own", "past")

    def __init__(self, past: tuple[AccountLine, ...], own: list[AccountLine]) -> None:
        self.past = past
        self.own = own

    def add(self, line: AccountLine) -> None:
        """Inserts a line by its date. Its place is nearly always at the end."""
        last = self.own or self.past
        if not last or last[-1].on <= line.on:
            self.own.append(line)
            return
        if self.past and line.on < self.past[-1].on:  # among the past's lines: from now on they are this bank's too
            self.past, self.own = (), [*self.past, *self.own]
        insort(self.own, line, key=make_sort_key)

    def __len__(self) -> int:
        return len(self.past) + len(self.own)

    @overload
    def __getitem__(self, at: int) -> AccountLine: ...

    @overload
    def __getitem__(self, at: slice) -> list[AccountLine]: ...

    def __getitem__(self, at: int | slice) -> AccountLine | list[AccountLine]:
        if isinstance(at, slice):
            return [*self.past, *self.own][at]
        at = at + len(self) if at < 0 else at
        if at < 0:
            raise IndexError(at)
        return self.past[at] if at < len(self.past) else self.own[at - len(self.past)]

    def __iter__(self) -> Iterator[AccountLine]:
        return chain(self.past, self.own)

    def __reversed__(self) -> Iterator[AccountLine]:
        return chain(reversed(self.own), reversed(self.past))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(eq, self, other))


class Ledger:
    """The books of one bank: the past from before its opening, which it shares with other banks, and the entries that
    this bank added."""

    __slots__ = ("posted", "_balances", "_lines", "_past", "_past_of")

    def __init__(self, past_of: Callable[[], Books]) -> None:
        self._past_of = past_of
        self._past: Books | None = None
        self._lines: dict[Compartment, Lines] = {}
        self._balances: dict[Compartment, Decimal] = {}
        self.posted = 0  # postings that this bank added

    @property
    def past(self) -> Books:
        """The entries from before the bank's opening. They are generated on first use, because many worlds never need
        them."""
        if self._past is None:
            self._past = self._past_of()
        return self._past

    @property
    def count(self) -> int:
        """The number of postings so far, including those of the past. The newest posting has this number."""
        return self.past.count + self.posted

    def read_balance(self, account: str, currency: str) -> Money:
        return Money(self.read_number((account, currency)), currency)

    def read_number(self, key: Compartment) -> Decimal:
        """Returns the balance as a number, without its currency."""
        number = self._balances.get(key)
        return self.past.balances.get(key, NOTHING) if number is None else number

    def list_lines(self, account: str, currency: str) -> Sequence[AccountLine]:
        """Returns the lines of a compartment, oldest first. The result is not a copy, so it can grow with later
        bookings."""
        key = (account, currency)
        return self._lines.get(key) or self.past.lines.get(key, ())

    def post(self, entry: LedgerEntry) -> None:
        sums: dict[str, Decimal] = {}
        for posting in entry.postings:
            amount = posting.amount
            sums[amount.currency] = sums.get(amount.currency, NOTHING) + amount.number
        assert not any(sums.values()), f"unbalanced entry: {entry}"
        balances = self._balances
        # Two sides may be the same account's, so each has a number of its own.
        for number, posting in enumerate(entry.postings, self.count + 1):
            account, amount = posting.account, posting.amount
            compartment = account, amount.currency
            before = balances.get(compartment)
            balances[compartment] = (self.read_number(compartment) if before is None else before) + amount.number
            if account not in (OUTSIDE, EXCHANGE):
                self._write(compartment, AccountLine(entry.on, number, posting, entry))
        self.posted += len(entry.postings)

    def _write(self, compartment: Compartment, line: AccountLine) -> None:
        lines = self._lines.get(compartment)
        if lines is None:
            lines = self._lines[compartment] = Lines(self.past.lines.get(compartment, ()), [])
        lines.add(line)

    def sum_by_currency(self) -> dict[str, Decimal]:
        """Returns the sum of all postings by currency, which is always zero."""
        sums: dict[str, Decimal] = defaultdict(Decimal)
        for (_, currency), number in (self.past.balances | self._balances).items():
            sums[currency] += number
        return dict(sums)

    def list_balances(self) -> dict[Compartment, Decimal]:
        """Returns the balance of every compartment in which this bank booked something."""
        return dict(self._balances)

    def list_added_lines(self) -> dict[Compartment, Sequence[AccountLine]]:
        """Returns the lines of every compartment in which this bank booked something, including the lines of the shared
        past."""
        return dict(self._lines)

    def checkpoint_parts(self) -> tuple[Any, ...]:
        """Returns the state that this bank added, for a checkpoint. The lines are not part of it: `list_own_lines`
        returns them."""
        return tuple(self._lines), self._balances, self.posted

    def list_own_lines(self) -> dict[Compartment, list[AccountLine]]:
        """Returns the lines that this bank added, without those of the shared past."""
        count = self.past.count
        return {
            key: lines.own if lines.past else [line for line in lines.own if line.number > count]
            for key, lines in self._lines.items()
        }

    def restore(self, parts: tuple[Any, ...]) -> Callable[[Compartment, Iterable[AccountLine]], None]:
        """Restores a checkpoint without its lines. Returns a function that adds the lines of one compartment."""
        touched, self._balances, self.posted = parts
        self._lines = {key: Lines(self.past.lines.get(key, ()), []) for key in touched}

        def add(key: Compartment, lines: Iterable[AccountLine]) -> None:
            for line in lines:
                self._lines[key].add(line)

        return add

    def copy(self) -> "Ledger":
        twin = Ledger(self._past_of)
        twin._past = self._past
        twin._lines = {key: Lines(lines.past, list(lines.own)) for key, lines in self._lines.items()}
        twin._balances = dict(self._balances)
        twin.posted = self.posted
        return twin


def make_sort_key(line: AccountLine) -> tuple[date, int]:
    return line.on, line.number
