"""Double entry in compartments of currency. A balance is never written: it follows from postings alone."""

from bisect import insort
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple

from sandbox.banking.money import Money

# The two sides that are no customer's: the rest of the world, and the bank's own exchange desk.
OUTSIDE = "outside"
EXCHANGE = "exchange"
NOTHING = Decimal()

Compartment = tuple[str, str]  # IBAN (or one of the two names above) and currency


class Posting(NamedTuple):
    """One side of an entry, with the other party as this side sees it."""

    account: str
    amount: Money
    counterparty_account: str | None = None
    counterparty_name: str | None = None


class Entry(NamedTuple):
    """What moved, and when; the postings of each currency sum to zero."""

    reference: str
    on: date
    value_on: date
    postings: tuple[Posting, ...]
    communication: str = ""
    structured: bool = False
    remark: str = ""


class Line(NamedTuple):
    """A posting as its account shows it; date and number put lines in order."""

    on: date
    number: int
    posting: Posting
    entry: Entry


class Books:
    """The past of a bank: entries made before its first morning. Shared by many banks, so never changed."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.lines: dict[Compartment, tuple[Line, ...]] = {}
        self.balances: dict[Compartment, Decimal] = {}
        lines: dict[Compartment, list[Line]] = defaultdict(list)
        sums: dict[Compartment, Decimal] = defaultdict(Decimal)
        self.count = 0
        for entry in sorted(entries, key=lambda entry: entry.on):
            for posting in entry.postings:
                self.count += 1
                compartment = posting.account, posting.amount.currency
                sums[compartment] += posting.amount.number
                if posting.account not in (OUTSIDE, EXCHANGE):
                    lines[compartment].append(Line(entry.on, self.count, posting, entry))
        self.lines = {compartment: tuple(of) for compartment, of in lines.items()}
        self.balances = dict(sums)


class Ledger:
    """The books of one bank: the shared past, and what this bank added to it."""

    __slots__ = ("_added", "_balances", "_lines", "_past", "_past_of")

    def __init__(self, past_of: Callable[[], Books]) -> None:
        self._past_of = past_of
        self._past: Books | None = None
        self._lines: dict[Compartment, list[Line]] = {}
        self._balances: dict[Compartment, Decimal] = {}
        self._added = 0

    @property
    def past(self) -> Books:
        """Made when first looked at: many worlds never open their books."""
        if self._past is None:
            self._past = self._past_of()
        return self._past

    @property
    def count(self) -> int:
        """How many postings there are; the newest bears this number."""
        return self.past.count + self._added

    @property
    def posted(self) -> int:
        """How many postings this bank added."""
        return self._added

    def balance(self, account: str, currency: str) -> Money:
        return Money(self.number((account, currency)), currency)

    def number(self, key: Compartment) -> Decimal:
        """A balance without its currency, for those who reckon on."""
        number = self._balances.get(key)
        return self.past.balances.get(key, NOTHING) if number is None else number

    def lines(self, account: str, currency: str) -> Sequence[Line]:
        """Oldest first. The past's own tuple until this bank books something on the account."""
        key = (account, currency)
        return self._lines.get(key) or self.past.lines.get(key, ())

    def post(self, entry: Entry) -> None:
        sums: dict[str, Decimal] = {}
        for _, amount, *_ in entry.postings:
            sums[amount.currency] = sums.get(amount.currency, NOTHING) + amount.number
        assert not any(sums.values()), f"unbalanced entry: {entry}"
        for posting in entry.postings:
            self._added += 1  # two sides may be the same account's, so each has a number of its own
            account, amount = posting[:2]
            compartment = account, amount.currency
            self._balances[compartment] = self.number(compartment) + amount.number
            if account not in (OUTSIDE, EXCHANGE):
                self._write(compartment, Line(entry.on, self.count, posting, entry))

    def _write(self, compartment: Compartment, line: Line) -> None:
        """At its place by date; nearly always that is the end."""
        lines = self._lines.get(compartment)
        if lines is None:
            lines = self._lines[compartment] = list(self.past.lines.get(compartment, ()))
        if not lines or lines[-1].on <= line.on:
            lines.append(line)
        else:
            insort(lines, line, key=_place)

    def totals(self) -> dict[str, Decimal]:
        """The sum of all postings by currency: always zero."""
        sums: dict[str, Decimal] = defaultdict(Decimal)
        for (_, currency), number in (self.past.balances | self._balances).items():
            sums[currency] += number
        return dict(sums)

    def balances(self) -> dict[Compartment, Decimal]:
        """The balance of every compartment that this bank touched."""
        return dict(self._balances)

    def added(self) -> dict[Compartment, Sequence[Line]]:
        """The lines of every compartment that this bank touched."""
        return dict(self._lines)

    def kept(self) -> tuple[Any, ...]:
        """What this bank added, for a checkpoint: its own lines and not those of the shared past."""
        return self.own(), self._balances, self._added

    def own(self) -> dict[Compartment, list[Line]]:
        """The lines that this bank added, without those of the shared past."""
        return {key: [line for line in lines if line.number > self.past.count] for key, lines in self._lines.items()}

    def restore(self, kept: tuple[Any, ...]) -> None:
        own, self._balances, self._added = kept
        for key, lines in own.items():
            self._lines[key] = sorted([*self.past.lines.get(key, ()), *lines], key=_place)

    def copy(self) -> "Ledger":
        twin = Ledger(self._past_of)
        twin._past = self._past
        twin._lines = {key: list(lines) for key, lines in self._lines.items()}
        twin._balances = dict(self._balances)
        twin._added = self._added
        return twin


def _place(line: Line) -> tuple[date, int]:
    return line.on, line.number
