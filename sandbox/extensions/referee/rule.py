"""A rule of the referee: a row with its clause, and a function that checks each call and remembers earlier calls."""

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
        """Adds this call to a row of calls with the same key, and returns the length of the row. A row ends if there
        are `within` seconds or more between two calls."""
        last, times = self.get(key), 1
        if last is not None and event.seconds_since(last[0], last[1]) < within:
            times += last[2]
        self[key] = event.at, event.ended, times
        return times


class Proof(NamedTuple):
    """The sentence of a finding. `calls` are the earlier calls that prove it, and `difference` says how the calls
    differ."""

    what: str
    calls: tuple[Exchange, ...] = ()
    difference: tuple[str, ...] = ()


Check = Callable[[Observation, RuleState], str | Proof | None]
OpenMatter = tuple[Exchange, str]  # the call that a matter began with, and what is wrong with it
FindOpen = Callable[[RuleState, Bank], Iterator[OpenMatter]]
Condition = Callable[[Observation], bool]


def open_entries(memory: RuleState, bank: Bank) -> Iterator[OpenMatter]:
    """Returns the remembered entries that a report should show as findings. Leaves out an entry that is None, because a
    later call settled it."""
    return (entry for entry in memory.values() if entry is not None)


@dataclass(frozen=True, slots=True)
class RefereeRule:
    """A row of the table of rules. Used as a decorator, it adds itself and the decorated function, which checks a call.
    If its conditions alone decide, `says` adds the row without such a function."""

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
        """Adds the row to the table. The first line of the function's docstring becomes the title of the mistake. The
        rest becomes the advice what to do instead."""
        title, _, instead = (check.__doc__ or "").partition("\n\n")
        self._add(title, " ".join(instead.split()), check)
        return check

    def says(self, what: str | Check, title: str, instead: str) -> None:
        """Adds the row to the table with these texts. `what` is a function that checks a call. It may also be the
        sentence of the finding, with fields of the `event`, if the conditions alone decide."""
        self._add(title, instead, what if callable(what) else lambda event, memory: what.format(event=event))

    def _add(self, title: str, instead: str, check: Check) -> None:
        assert all(row.id != self.id for row in RULES), f"two rules are called {self.id}"
        assert title.endswith(".") and instead, f"{self.id} does not say what to do instead"
        RULES.append(replace(self, title=title[:-1], instead=instead, check=check))

    def is_about(self, operation: str | None, is_refused: bool, error: str | None, state: str | None) -> bool:
        """Whether the rule is about calls of this operation, refused or accepted, with this error, whose initiation has
        this status. Acts of a PSU are never refused."""
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
