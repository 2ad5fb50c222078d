"""Worlds: each a bank with its lock, its clock and its log; and the register of them."""

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar
from uuid import UUID

from sandbox.bank import timeline
from sandbox.bank.copying import twin_of
from sandbox.bank.rules import Rule
from sandbox.bank.state import VERBS, Bank, name_of
from sandbox.errors import Error, Refusal
from sandbox.faults import Fault, Faults
from sandbox.log.memory import Act, MemoryLog
from sandbox.rules.names import is_world_name
from sandbox.seed import Fixtures, open_bank
from sandbox.settings import Settings

P = ParamSpec("P")
T = TypeVar("T")

# People and history come from a seed's low bits, so that worlds with seeds of their own share them.
PEOPLE_SEEDS = 2**20


@dataclass(frozen=True, slots=True)
class Pace:
    """Bank time = base + rate x machine time elapsed; frozen is the rate 0."""

    base: datetime
    since: float
    rate: float

    def at(self, machine: float) -> datetime:
        return self.base + timedelta(seconds=max(0.0, machine - self.since) * self.rate) if self.rate else self.base

    @property
    def frozen(self) -> bool:
        return self.rate == 0


@dataclass(frozen=True, slots=True)
class Beginning:
    """All that a world is made from; with its log it says everything."""

    fixtures: Fixtures
    seed: int
    at: datetime | None = None  # None: the machine's time when it is made
    rate: float = 1.0
    scenario: str = "default"
    settings: Settings = Settings()
    rules: tuple[Rule, ...] = ()
    faults: tuple[Fault, ...] = ()


class Exchange(NamedTuple):
    """A call as it was answered: the log of what was asked."""

    seq: int
    request_id: str
    at: datetime
    operation: str | None
    method: str
    path: str
    status: int
    client_id: str | None
    # Why it was answered so: the rule, its clause, and what it was judged on.
    error: str | None = None
    rule: str = ""
    clause: str = ""
    subject: str | None = None
    state: str | None = None
    scenario_rule: str | None = None


class World:
    """A bank that is entered only by `act` and `ask`, one caller at a time."""

    def __init__(self, name: str, beginning: Beginning, machine_time: Callable[[], float]) -> None:
        self.name = name
        self._machine_time = machine_time
        self._lock = threading.Lock()
        self._load(beginning)

    def _load(self, beginning: Beginning) -> None:
        self.beginning = beginning
        machine = self._machine_time()
        opening = beginning.at or datetime.fromtimestamp(int(machine), UTC)
        self.pace = Pace(opening, machine, beginning.rate)
        self.opening = opening
        self.bank = bank_of(beginning, opening)
        self.faults = Faults(beginning.seed, beginning.faults)
        self.log = MemoryLog()
        self.exchanges: deque[Exchange] = deque(maxlen=beginning.settings.requests_kept)
        self.exchanges_made = 0
        self.kept: dict[str, Any] = {}  # what other rooms keep of this world; gone when it begins again

    def _catch_up(self) -> None:
        now = self.pace.at(self._machine_time())
        due = self.bank.agenda.next_at
        if now > self.bank.clock.now or (due is not None and due <= now):
            timeline.advance(self.bank, max(now, self.bank.clock.now))

    def act(self, verb: Callable[Concatenate[Bank, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The one door for what changes a bank. A refusal leaves no trace, unless it says that it lasts."""
        assert not kwargs, "an act is noted by place"
        with self._lock:
            self._catch_up()
            act = Act(self.bank.clock.now, name_of(verb), args)
            try:
                outcome = verb(self.bank, *args, **kwargs)
            except Refusal as refusal:
                if refusal.lasting:
                    self.log.append(act)
                raise
            self.log.append(act)
            return outcome

    def ask(self, question: Callable[Concatenate[Bank, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The one door for what reads a bank."""
        with self._lock:
            self._catch_up()
            return question(self.bank, *args, **kwargs)

    def set_pace(self, change: Callable[[datetime], tuple[datetime, float]]) -> None:
        """Moves the clock: from its now to where it stands next, and how fast it goes on."""
        with self._lock:
            self._catch_up()
            base, rate = change(self.bank.clock.now)
            if base < self.bank.clock.now:
                raise Refusal(Error.CONTROL_INVALID, input="set", why="the bank's clock does not go back")
            self.pace = Pace(base, self._machine_time(), rate)
            self._catch_up()

    def load(self, beginning: Beginning) -> None:
        """Begins again, with another scenario."""
        with self._lock:
            self._load(beginning)

    def reset(self) -> None:
        """The world as it was first loaded. One that began at the machine's time and runs, begins anew."""
        with self._lock:
            keep = self.beginning.at or (self.opening if self.beginning.rate == 0 else None)
            self._load(replace(self.beginning, at=keep))

    def note(self, exchange: Exchange) -> Exchange:
        """Adds to the log of what was asked. A call without an id of its own gets one that draws nothing."""
        with self._lock:
            self.exchanges_made += 1
            request_id = exchange.request_id or nth_id(self.beginning.seed, self.exchanges_made)
            noted = exchange._replace(seq=self.exchanges_made, request_id=request_id)
            self.exchanges.append(noted)
            return noted

    def exchange_of(self, request_id: str) -> Exchange | None:
        """The last call under an id, as far back as calls are kept."""
        with self._lock:
            return next((known for known in reversed(self.exchanges) if known.request_id == request_id), None)

    def fork(self, name: str, at: datetime | None) -> "World":
        """A second world: this one as it is, or as it was; its log is this one's up to then."""
        with self._lock:
            self._catch_up()
            now = self.bank.clock.now
            if at is not None and not self.opening <= at <= now:
                raise Refusal(Error.CONTROL_INVALID, input="at", why="it lies outside this world's time")
            beginning = replace(self.beginning, at=self.opening)
            twin = World(name, beginning, self._machine_time)
            twin.log = self.log.until(at or now)
            twin.bank = twin_of(self.bank) if at is None else replayed(beginning, twin.log, at)
            twin.faults = self.faults.copy()
            twin.pace = Pace(at or now, self._machine_time(), self.pace.rate)
            return twin

    def heard(self, since: int) -> list[Exchange]:
        """The calls after a number."""
        with self._lock:
            return [exchange for exchange in self.exchanges if exchange.seq > since]


def bank_of(beginning: Beginning, opening: datetime) -> Bank:
    return open_bank(beginning.fixtures, beginning.seed, opening, beginning.settings, beginning.rules)


def replayed(beginning: Beginning, log: MemoryLog, until: datetime) -> Bank:
    """The bank that a beginning and a log give; the opening must be fixed."""
    assert beginning.at is not None
    bank = bank_of(beginning, beginning.at)
    for act in log:
        timeline.advance(bank, act.at)
        try:
            VERBS[act.verb](bank, *act.arguments)
        except Refusal as refusal:
            assert refusal.lasting, f"{act.verb} was accepted once and is refused now"
    timeline.advance(bank, until)
    return bank


class Worlds:
    """The register of worlds. The bare address is the world `default`."""

    def __init__(self, beginning: Beginning, machine_time: Callable[[], float]) -> None:
        self.beginning = beginning
        self._machine_time = machine_time
        self._lock = threading.Lock()
        self._worlds: dict[str, World] = {}
        self.make("default")

    def get(self, name: str) -> World:
        """A world that is called before it is made is made as the server was started (choice 10)."""
        world = self._worlds.get(name)
        if world is not None:
            return world
        if self.beginning.settings.worlds == "declared" and name != "default":
            raise Refusal(Error.NOT_FOUND, input="world")
        return self.make(name)

    def find(self, name: str) -> World:
        """Only a world that is there."""
        world = self._worlds.get(name)
        if world is None:
            raise Refusal(Error.NOT_FOUND, input="world")
        return world

    def known(self, name: str) -> World:
        """For a call that reached no operation: its world if that is there, else the default one."""
        return self._worlds.get(name) or self.get("default")

    def make(self, name: str, beginning: Beginning | None = None) -> World:
        """Without a beginning: like the server's, unless it was made meanwhile. With one: anew."""
        if not is_world_name(name):
            raise Refusal(Error.NOT_FOUND, input="world")
        world = World(name, beginning or self.beginning_of(name), self._machine_time)
        with self._lock:
            if beginning is None:
                return self._worlds.setdefault(name, world)
            self._worlds[name] = world
            return world

    def beginning_of(self, name: str) -> Beginning:
        """The server's, with a seed of the world's own."""
        return replace(self.beginning, seed=seed_of(self.beginning.seed, name))

    def fork(self, name: str, as_name: str, at: datetime | None) -> World:
        """The new world takes the name, also from one that bore it before."""
        twin = self.find(name).fork(as_name, at)
        with self._lock:
            self._worlds[as_name] = twin
        return twin

    def drop(self, name: str) -> None:
        with self._lock:
            if self._worlds.pop(name, None) is None:
                raise Refusal(Error.NOT_FOUND, input="world")

    def all(self) -> list[World]:
        return [self._worlds[name] for name in sorted(self._worlds)]


def nth_id(seed: int, number: int) -> str:
    """A version 4 UUID for a response whose request had none; it draws nothing from the bank."""
    return str(UUID(bytes=blake2b(f"response/{seed}/{number}".encode(), digest_size=16).digest(), version=4))


def seed_of(seed: int, name: str) -> int:
    """The server's seed for `default`; for another world one that keeps the server's people."""
    if name == "default":
        return seed
    own = int.from_bytes(blake2b(f"{seed}/{name}".encode(), digest_size=4).digest())
    return (own + 1) * PEOPLE_SEEDS + seed % PEOPLE_SEEDS
