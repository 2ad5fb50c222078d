"""A rule of the referee is a row of a table. The row has a clause, conditions, and a function that checks one call. The
function may store facts of the call for its check of later calls."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice
from typing import Any, NamedTuple

from sandbox.bank.state import Bank
from sandbox.extensions.referee.observations import ACTS, Observation
from sandbox.worlds.calls import Exchange

KEPT_MAX = 4096  # entries in the memory of a rule; the oldest are dropped first

PAYMENTS = ("payment_initiation", "standing_order_initiation")
INITIATIONS = (*PAYMENTS, "bulk_initiation")
REDIRECTING = (*PAYMENTS, "consent_addresses")
TOKEN = ("token",)
STATUSES = ("payment_status", "standing_order_status")
CANCELLATIONS = ("payment_cancellation", "standing_order_cancellation", "bulk_cancellation")


class Severity(StrEnum):
    """How grave a finding is. `error`: the client breaks the contract or a security rule. `warning`: the client will
    fail some day. `advice`: the client could do better."""

    ERROR = "error"
    WARNING = "warning"
    ADVICE = "advice"

    def is_at_least(self, level: "Severity") -> bool:
        return GRAVEST_FIRST.index(self) <= GRAVEST_FIRST.index(level)


GRAVEST_FIRST = tuple(Severity)
ERROR, WARNING, ADVICE = Severity


class RuleState(dict[Any, Any]):
    """What a rule remembers of the calls of a world. The referee regularly removes the oldest entries."""

    def trim(self) -> None:
        for key in list(islice(self, max(0, len(self) - KEPT_MAX))):
            del self[key]

    def replace(self, key: Any, value: Any) -> Any:
        """Stores the value and returns the earlier value of the key, or None."""
        before = self.get(key)
        self[key] = value
        return before

    def count(self, key: Any) -> int:
        """Adds 1 to the number stored for the key, and returns the sum."""
        times: int = self.get(key, 0) + 1
        self[key] = times
        return times

    def extend_streak(self, key: Any, event: Observation, within: float) -> int:
        """Counts calls with the same key that follow each other quickly, and returns the count with this call. The
        count starts again at 1 if `within` seconds or more have passed since the last call with this key."""
        last, times = self.get(key), 1
        if last is not None and event.seconds_since(last[0], last[1]) < within:
            times += last[2]
        self[key] = event.at, event.ended, times
        return times


class Proof(NamedTuple):
    """The text of a finding and the evidence for it. `calls` are earlier calls that prove the mistake, and `difference`
    says in which fields the calls differ."""

    what: str
    calls: tuple[Exchange, ...] = ()
    difference: tuple[str, ...] = ()


Check = Callable[[Observation, RuleState], str | Proof | None]
OpenMatter = tuple[Exchange, str]  # the call that a matter began with, and what is wrong with it
FindOpen = Callable[[RuleState, Bank], Iterator[OpenMatter]]
Condition = Callable[[Observation], bool]


def open_entries(memory: RuleState, bank: Bank) -> Iterator[OpenMatter]:
    """Returns all values in the memory that are not None. A report shows each of them as a finding. A rule stores None
    for a mistake that a later call put right."""
    return (entry for entry in memory.values() if entry is not None)


@dataclass(frozen=True, slots=True)
class RefereeRule:
    """A row of the table of rules. Used as a decorator, the row adds a copy of itself to the table, with the decorated
    function as its check. If the conditions of the row alone decide, no function is needed: `says` adds the row."""

    id: str
    severity: Severity
    clause: str
    on: tuple[str, ...] = ()  # operations and acts; empty: every call
    refused: bool | None = None  # True: refused calls only; False: accepted calls only
    errors: tuple[str, ...] = ()  # only calls that were refused with one of these errors
    states: tuple[str, ...] = ()  # only calls about an initiation with one of these statuses
    input: str = ""  # only refusals that name this input
    reason: str = ""  # only refusals whose reason begins so
    find_open: FindOpen | None = None  # finds what is wrong with matters that are still open when a report is made
    only: Condition | None = None
    instead: str = ""
    title: str = ""
    check: Check = lambda event, memory: None

    def __call__(self, check: Check) -> Check:
        """Adds the row to the table, with the decorated function as its check. The first paragraph of the function's
        docstring is the title of the mistake, and the rest is the advice what to do instead."""
        title, _, instead = (check.__doc__ or "").partition("\n\n")
        self._add(title, " ".join(instead.split()), check)
        return check

    def says(self, what: str | Check, title: str, instead: str) -> None:
        """Adds the row to the table with this title and this advice. `what` is either a function that checks a call, or
        the text of the finding for every call that meets the conditions. The text may contain fields of the call, such
        as `{event.input}`."""
        self._add(title, instead, what if callable(what) else lambda event, memory: what.format(event=event))

    def _add(self, title: str, instead: str, check: Check) -> None:
        assert all(row.id != self.id for row in RULES), f"two rules are called {self.id}"
        assert title.endswith(".") and instead, f"{self.id} does not say what to do instead"
        RULES.append(replace(self, title=title[:-1], instead=instead, check=check))

    def is_about(self, operation: str | None, is_refused: bool, error: str | None, state: str | None) -> bool:
        """Whether the rule checks calls with these values. `state` is the status of the initiation. An act of a PSU is
        checked only if `on` names the act, and then `is_refused` does not matter."""
        if (self.errors and error not in self.errors) or (self.states and state not in self.states):
            return False
        if operation in ACTS:
            return operation in self.on
        return (not self.on or operation in self.on) and self.refused in (None, is_refused)

    def applies_to(self, event: Observation) -> bool:
        if self.only is not None and not self.only(event):
            return False
        return (not self.input or event.input == self.input) and (not self.reason or event.why.startswith(self.reason))


RULES: list[RefereeRule] = []
rule = RefereeRule


@dataclass(frozen=True, slots=True)
class Finding:
    """A broken rule, with the call that broke it and the proof."""

    rule: RefereeRule
    exchange: Exchange
    proof: Proof
    reason: str | None = None  # why it is waived

    @property
    def what(self) -> str:
        return self.proof.what
