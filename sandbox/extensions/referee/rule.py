"""Rule: a table row with its clause, and a function over the calls with its own state."""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, NamedTuple

from sandbox.bank.state import Bank
from sandbox.extensions.referee.observations import ACTS, NEVER, CallKind, Observation, Sort, apart
from sandbox.worlds.calls import Exchange

KEPT_MAX = 4096  # things that one rule remembers; the oldest go first


class Severity(StrEnum):
    """error: breaks the contract or a security rule; warning: will fail some day; advice."""

    ERROR = "error"
    WARNING = "warning"
    ADVICE = "advice"

    def is_at_least(self, level: "Severity") -> bool:
        """Tells whether the severity is at or above the level."""
        return GRAVEST_FIRST.index(self) <= GRAVEST_FIRST.index(level)


GRAVEST_FIRST = tuple(Severity)
ERROR, WARNING, ADVICE = Severity


class RuleState(OrderedDict[Any, Any]):
    """The state of one rule in one world; the referee trims it regularly."""

    def trim(self) -> None:
        while len(self) > KEPT_MAX:
            self.popitem(last=False)

    def replace(self, key: Any, value: Any) -> Any:
        """Remembers the value; gives the earlier one, or None."""
        before = self.get(key)
        self[key] = value
        return before

    def count(self, key: Any) -> int:
        """How many times the key was counted, this one included."""
        times: int = self.get(key, 0) + 1
        self[key] = times
        return times

    def streak(self, key: Any, event: Observation, within: float) -> int:
        """How many calls in a row came with this key, each less than `within` seconds after the one before."""
        at, ended, times = self.get(key, NEVER)
        times = times + 1 if apart(event, at, ended) < within else 1
        self[key] = event.at, event.ended, times
        return times


class Proof(NamedTuple):
    """A finding's sentence, with the earlier calls that prove it and how the calls differ."""

    what: str
    calls: tuple[Exchange, ...] = ()
    difference: tuple[str, ...] = ()


See = Callable[[Observation, RuleState], str | Proof | None]
Open = tuple[Exchange, str]  # the call that a matter began with, and what is wrong
Close = Callable[[RuleState, Bank], Iterator[Open]]


@dataclass(frozen=True, slots=True)
class RefereeRule:
    """A row of the table, and the decorator of the function that detects the fault; `says` does without one."""

    id: str
    severity: Severity
    clause: str
    on: tuple[str, ...] = ()  # operations and acts; empty: every call
    refused: bool | None = None  # True: refused calls only; False: accepted ones
    input: str = ""  # it sees only refusals that name this input
    reason: str = ""  # and whose reason begins so
    close: Close | None = None  # what is wrong with a matter that is still open when someone asks
    only: Sort | None = None  # it never hears calls of another kind
    begins: Sort | None = None  # while it remembers nothing, it hears calls of these kinds only
    instead: str = ""
    title: str = ""
    see: See = lambda event, own: None

    def __call__(self, see: See) -> See:
        """Adds the row to the table. The docstring of the function is the title, and what to do instead."""
        title, _, instead = (see.__doc__ or "").partition("\n\n")
        self._add(title, " ".join(instead.split()), see)
        return see

    def says(self, what: str | See, title: str, instead: str) -> None:
        """Adds a row with its words. A sentence, where the conditions decide all, may name parts of the `event`."""
        self._add(title, instead, what if callable(what) else lambda event, own: what.format(event=event))

    def _add(self, title: str, instead: str, see: See) -> None:
        assert all(row.id != self.id for row in RULES), f"two rules are called {self.id}"
        assert title.endswith(".") and instead, f"{self.id} says not what to do instead"

        def see_refusal(event: Observation, own: RuleState) -> str | Proof | None:
            is_it = self.input in ("", event.input) and event.why.startswith(self.reason)
            return see(event, own) if is_it else None

        row_sees = see_refusal if self.input or self.reason else see
        RULES.append(replace(self, title=title[:-1], instead=instead, see=row_sees))

    def applies_to(self, kind: CallKind) -> bool:
        if kind.operation in ACTS:
            return kind.operation in self.on
        if self.on and kind.operation not in self.on:
            return False
        return self.refused in (None, kind.is_refused) and (self.only is None or self.only(kind))


@dataclass(frozen=True, slots=True)
class Found:
    """A broken rule, its call and the observed fault, with the calls that prove it."""

    rule: RefereeRule
    exchange: Exchange
    proof: Proof

    @property
    def what(self) -> str:
        return self.proof.what


# Operation, version, HTTP status, error, the subject's status: a cell of what a run has met.
Met = tuple[str | None, int, int, str | None, str | None]


@dataclass(slots=True)
class KindRules:
    """The rules for calls of one kind, and the number of these calls."""

    kind: CallKind
    rules: list[tuple[See, RuleState, bool, RefereeRule]]  # each with whether it sleeps while it remembers nothing
    gives: bool  # whether the calls make an initiation
    calls: int = 0


RULES: list[RefereeRule] = []
rule = RefereeRule

PAYMENTS = ("payment_initiation", "standing_order_initiation")
INITIATIONS = (*PAYMENTS, "bulk_initiation")
REDIRECTING = (*PAYMENTS, "consent_addresses")
TOKEN = ("token",)
STATUSES = ("payment_status", "standing_order_status")
CANCELLATIONS = ("payment_cancellation", "standing_order_cancellation", "bulk_cancellation")
