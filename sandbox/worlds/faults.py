"""Faults that a tester orders: wrong, late or missing replies of the bank, and connections that fail (choice 13)."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from sandbox.storage.format import stored_as

if TYPE_CHECKING:
    from sandbox.bank.state import Bank

T = TypeVar("T")

MALFORMED = "malformed"
CHANGES = ("unknown_fields", "key_order", MALFORMED, "both_languages")
CUTS = ("before", "within", "reset")
EDGES = ("psu_page", "callback")  # where a customer's browser is; not operations of the bank's interface
PAGE_ANSWERS = (500, 502, 503, 504)
CALLBACKS = ("lost", "late", "twice", "altered_state")
CONNECTIONS = ("closed", "silent", "handshake")
CONNECTION_SECONDS = 5.0
ENDED = "ended"
LINE = "SANDBOX_LINE"  # the key of the ConnectionFault in an application's config


@stored_as("FaultAnswer")
@dataclass(frozen=True, slots=True)
class FaultAnswer:
    """A reply that a tester orders: a status, with the bank's usual body or a body that the tester gives."""

    status: int
    retry_after: int | None = None
    body: Any = None
    content_type: str | None = None  # of the tester's body; None: the bank's JSON, or a gateway's HTML


@stored_as("CallCondition")
@dataclass(frozen=True, slots=True)
class CallCondition:
    """A condition for calls. A field that is None permits every call. The only exception is `operation`: None permits
    every operation of the bank's interface, but not the two EDGES, which are the bank's page for customers and the
    callback to the TPP."""

    operation: str | None = None
    client: str | None = None
    nth: int | tuple[int, ...] | None = None  # the number or numbers of the call, among those that fit the other fields
    chance: float | None = None
    since: datetime | None = None
    until: datetime | None = None

    def fits(self, operation: str, client: str | None, now: datetime) -> bool:
        """Whether a call meets the condition, apart from `nth` and `chance`. A condition without an operation is met by
        every operation of the bank's interface, but not by the two EDGES, which are the bank's page for customers and
        the callback to the TPP."""
        if self.operation != operation and (self.operation is not None or operation in EDGES):
            return False
        if self.client not in (None, client):
            return False
        return (self.since is None or now >= self.since) and (self.until is None or now < self.until)

    def has_number(self, count: int) -> bool:
        """Whether `nth` permits a call. `count` is the number of the call among the calls for which `fits` is true."""
        return self.nth is None or count in (self.nth if isinstance(self.nth, tuple) else (self.nth,))


@stored_as("Fault")
@dataclass(frozen=True, slots=True)
class Fault:
    """A fault rule: which calls it concerns, and how their replies or new connections fail."""

    title: str
    when: CallCondition
    answer: FaultAnswer | None = None
    delay: float = 0.0
    cut: str | None = None
    change: str | None = None
    callback: str | None = None  # what happens to the redirection of a customer back to the TPP
    connection: str | None = None  # the fault of new connections of the whole server, for `seconds`
    seconds: float = CONNECTION_SECONDS
    times: int | None = None  # how often the fault happens; None: always


@stored_as("OrderedFaults")
class OrderedFaults(NamedTuple):
    """The fault rules of a world, and counts of calls for each rule. A count is found by the index of its rule in
    `rules`."""

    rules: tuple[Fault, ...]
    met: dict[int, int]  # calls that fitted the rule
    answered: dict[int, int]  # calls that the rule answered


class ChangeRunner(Protocol):
    """A function that runs work under the world's lock and in a transaction of its store, such as `World.change`."""

    def __call__(self, work: "Callable[[Bank], T]") -> T: ...


class FaultRules:
    """The fault rules of a world, with two counts for each rule: the calls that fitted its condition (`met`), and the
    calls that it answered (`answered`).

    A rule applies to a call that fits its condition if `nth`, `chance` and `times` permit this too. The first rule that
    applies answers the call. A `chance` is decided by a number that is computed from the world's seed, so the same
    calls in the same order get the same faults. The counts are stored before the call is answered: `change` runs work
    under the world's lock and in a transaction of its store, and `note` marks the counts as changed.
    """

    def __init__(self, change: ChangeRunner, note: Callable[[], None]) -> None:
        self.seed = 0
        self.rules: tuple[Fault, ...] = ()
        self.met: dict[int, int] = {}
        self.answered: dict[int, int] = {}
        self._change = change
        self._note = note

    def find_for_call(self, operation: str, client: str | None) -> Fault | None:
        """Counts the call and returns the first rule that applies to it, or None. If the world has no rules, takes no
        lock."""
        return self._change(lambda bank: self._find_for_call(operation, client, bank.clock.now)) if self.rules else None

    def _find_for_call(self, operation: str, client: str | None, now: datetime) -> Fault | None:
        fitting = [number for number, rule in enumerate(self.rules) if rule.when.fits(operation, client, now)]
        if not fitting:
            return None
        for number in fitting:
            self.met[number] = self.met.get(number, 0) + 1
        first = next((number for number in fitting if self._applies(number)), None)
        if first is not None:
            self.answered[first] = self.answered.get(first, 0) + 1
        self._note()
        return None if first is None else self.rules[first]

    def _applies(self, number: int) -> bool:
        rule = self.rules[number]
        if rule.times is not None and self.answered.get(number, 0) >= rule.times:
            return False
        when = rule.when
        return when.has_number(self.met[number]) and (when.chance is None or self._draw(number) < when.chance)

    def _draw(self, number: int) -> float:
        content = f"fault/{self.seed}/{number}/{self.met[number]}".encode()
        return int.from_bytes(blake2b(content, digest_size=7).digest()) / 2**56

    def add(self, fault: Fault) -> None:
        self._change(lambda bank: self._set(OrderedFaults((*self.rules, fault), self.met, self.answered)))

    def clear(self) -> None:
        self._change(lambda bank: self._set(OrderedFaults((), {}, {})))

    def _set(self, ordered: OrderedFaults) -> None:
        self.restore(ordered)
        self._note()

    def copy_ordered(self) -> OrderedFaults:
        return OrderedFaults(self.rules, dict(self.met), dict(self.answered))

    def restore(self, ordered: OrderedFaults) -> None:
        self.rules, self.met, self.answered = ordered.rules, dict(ordered.met), dict(ordered.answered)


class LineFault(NamedTuple):
    """A fault that affects new connections for some seconds.

    `closed`: nobody listens. `silent`: the server accepts connections and does not answer. `handshake`: TLS fails.
    `ended`: the server ends, and `seconds` has no meaning.
    """

    kind: str
    seconds: float


class ConnectionFault:
    """Passes faults of new connections, which testers order, on to the running servers. Each server adds a listener: a
    function that is called with each ordered fault and applies it to the server's new connections."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listeners: list[Callable[[LineFault], None]] = []
        self.speaks_tls = False

    @property
    def is_served(self) -> bool:
        return bool(self._listeners)

    def add_listener(self, listener: Callable[[LineFault], None], *, tls: bool = False) -> None:
        """Adds a function that is called with each new fault of connections. `tls` says whether the server that adds it
        uses TLS."""
        with self._lock:
            self._listeners.append(listener)
            self.speaks_tls = self.speaks_tls or tls

    def remove_listener(self, listener: Callable[[LineFault], None]) -> None:
        with self._lock:
            self._listeners = [other for other in self._listeners if other != listener]

    def end(self) -> None:
        """Makes all servers refuse new connections from now on. Open connections continue."""
        self.order(ENDED, 0.0)

    def order(self, kind: str, seconds: float) -> None:
        with self._lock:
            listeners = tuple(self._listeners)
        for listener in listeners:
            listener(LineFault(kind, seconds))
