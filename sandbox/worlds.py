"""A world: a bank with its lock, its clock and its log."""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Concatenate, NamedTuple, ParamSpec, Protocol, TypeVar

from sandbox.bank import timeline
from sandbox.bank.copying import twin_of
from sandbox.bank.state import Bank, name_of
from sandbox.beginning import Beginning, Pace, bank_of, nth_id
from sandbox.errors import Error, Refusal
from sandbox.exchanges import Exchange
from sandbox.faults import Faults
from sandbox.limits import Limits
from sandbox.log import aside
from sandbox.log.memory import Act, MemoryLog
from sandbox.log.store import Store, StoredLog
from sandbox.replaying import read_back, replayed

P = ParamSpec("P")
T = TypeVar("T")

Log = MemoryLog | StoredLog


class Kept(Protocol):
    """What another room keeps of a world; bytes are what became of it when the world was put away."""

    def packed(self) -> bytes: ...


class Standing(NamedTuple):
    """Where a world's clock stands; of one that is away, without waking it."""

    now: datetime
    due_next: datetime | None  # of one that is away: as it was then; unknown if it was so from the start
    away: bool


HELD = frozenset({"bank", "log", "exchanges", "kept"})  # what a world gives back when it is put away


class World:
    """A bank that is entered only by `act` and `ask`, one caller at a time.

    With a state file it may be put away. Whoever then misses what it held finds it read back, whole: calls keep the
    world itself, so none can meet half of one, or a second one under its name.
    """

    bank: Bank
    log: Log
    exchanges: deque[Exchange]
    kept: dict[str, Kept | bytes]  # gone when the world begins again

    def __init__(
        self, name: str, beginning: Beginning, machine_time: Callable[[], float], store: Store | None = None
    ) -> None:
        self._name(name, machine_time, store)
        self._load(beginning)

    def _name(self, name: str, machine_time: Callable[[], float], store: Store | None) -> None:
        self.name = name
        self._machine_time = machine_time
        self._store = store
        self._lock = threading.RLock()  # again and again by the same caller: reading back begins wherever it is missed
        self._due_next: datetime | None = None
        self.dropped = False
        self.used = machine_time()
        self.returned: Callable[[World], None] | None = None  # whom it tells that it is in memory

    def _load(self, beginning: Beginning) -> None:
        machine = self._machine_time()
        opening = beginning.at or datetime.fromtimestamp(int(machine), UTC)
        pace = Pace(opening, machine, beginning.rate)
        bank = bank_of(beginning, opening)
        log = self._new_log(beginning, opening, pace)
        self._begin(beginning, opening, pace)
        self._hold(bank, log)

    def _new_log(self, beginning: Beginning, opening: datetime, pace: Pace) -> Log:
        if self._store is None:
            return MemoryLog()
        self._row = self._store.begin(self.name, (beginning, opening), pace)
        return StoredLog(self._store, self._row)

    def _begin(self, beginning: Beginning, opening: datetime, pace: Pace) -> None:
        """What is known of a world also while it is away."""
        self.beginning = beginning
        self.opening = opening
        self.pace = pace
        self.faults = Faults(beginning.seed, beginning.faults)
        self.limits = Limits()
        self.exchanges_made = 0

    def _hold(
        self, bank: Bank, log: Log, calls: Iterable[Exchange] = (), kept: Mapping[str, bytes] | None = None
    ) -> None:
        self.bank = bank
        self.log = log
        self.exchanges = deque(calls, bank.settings.requests_kept)
        self.kept = dict(kept or {})
        if self.returned is not None:
            self.returned(self)

    @classmethod
    def away(cls, name: str, store: Store, row: int, beginnings: Any, machine_time: Callable[[], float]) -> "World":
        """A world as a state file has it: read back when it is called. Its clock goes on where it would be."""
        (beginning, opening), pace = beginnings
        world = cls.__new__(cls)
        world._name(name, machine_time, store)
        world._row = row
        world._begin(beginning, opening, pace)
        return world

    @property
    def is_away(self) -> bool:
        return "bank" not in self.__dict__

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Only asked for what is not there: the world is away."""
            if name not in HELD:
                raise AttributeError(name)
            with self._lock:
                if name not in self.__dict__:
                    self._come_back()
                return self.__dict__[name]

    def _come_back(self) -> None:
        """Its checkpoint, and the acts since."""
        if self.dropped:
            raise Refusal(Error.NOT_FOUND, input="world")
        assert self._store is not None
        bank, calls, kept = read_back(self._store, self._row, self.name, self.beginning, self.opening)
        log = StoredLog(self._store, self._row)
        self._hold(bank, log, (Exchange(*call) for call in calls), kept)

    def put_away(self, used: float) -> bool:
        """Gives its memory back, unless a call came since it was `used`."""
        with self._lock:
            if self.used != used or self.is_away or self.dropped:
                return False
            assert self._store is not None
            self._catch_up()
            due = next(timeline.coming(self.bank), None)
            packed = {name: kept if isinstance(kept, bytes) else kept.packed() for name, kept in self.kept.items()}
            self.kept = dict(packed)  # also if it has to stay: what was packed hears nothing any more
            self.log.keep_checkpoint(self.bank)
            self._store.keep_aside(self._row, aside.written([tuple(call) for call in self.exchanges], packed))
            self._due_next = None if due is None else due.at
            for name in HELD:
                del self.__dict__[name]
            return True

    def standing(self) -> Standing:
        with self._lock:
            if self.is_away:
                return Standing(self.pace.at(self._machine_time()), self._due_next, away=True)
            self._catch_up()
            due = next(timeline.coming(self.bank), None)
            return Standing(self.bank.clock.now, None if due is None else due.at, away=False)

    def _catch_up(self) -> None:
        now = self.pace.at(self._machine_time())
        due = self.bank.agenda.next_at
        if now > self.bank.clock.now or (due is not None and due <= now):
            timeline.advance(self.bank, max(now, self.bank.clock.now))

    def act(self, verb: Callable[Concatenate[Bank, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The one door for what changes a bank. A refusal leaves no trace, unless it says that it lasts."""
        assert not kwargs, "an act is noted by place"
        try:
            return self._act(verb, *args, **kwargs)
        finally:
            if self._store is not None:
                self._store.flush()  # outside the lock; the answer waits for it

    def _act(self, verb: Callable[Concatenate[Bank, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        with self._lock:
            self.log.demand()
            self._catch_up()
            act = Act(self.bank.clock.now, name_of(verb), args)
            try:
                outcome = verb(self.bank, *args, **kwargs)
            except Refusal as refusal:
                if refusal.lasting:
                    self.log.append(act)
                raise
            self.log.append(act)
            if self.log.is_checkpoint_due(self.bank.settings.acts_kept):
                self.log.keep_checkpoint(self.bank)
            return outcome

    def ask(self, question: Callable[Concatenate[Bank, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The one door for what reads a bank."""
        with self._lock:
            self._catch_up()
            return question(self.bank, *args, **kwargs)

    def real_time(self) -> datetime:
        """The machine's, for what is true outside the bank: certificates and the Date of a signature (choice 9)."""
        return datetime.fromtimestamp(self._machine_time(), UTC)

    def set_pace(self, change: Callable[[datetime], tuple[datetime, float]]) -> None:
        """Moves the clock: from its now to where it stands next, and how fast it goes on."""
        with self._lock:
            self._catch_up()
            base, rate = change(self.bank.clock.now)
            if base < self.bank.clock.now:
                raise Refusal(Error.CONTROL_INVALID, input="set", why="the bank's clock does not go back")
            self.pace = Pace(base, self._machine_time(), rate)
            self._catch_up()
            self.log.keep_pace(self.pace)

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
            kept = self.bank.settings.requests_kept
            if kept != self.exchanges.maxlen:
                self.exchanges = deque(self.exchanges, kept)
            self.exchanges_made += 1
            request_id = exchange.request_id or nth_id(self.beginning.seed, self.exchanges_made)
            noted = exchange._replace(seq=self.exchanges_made, request_id=request_id)
            self.exchanges.append(noted)
            return noted

    def keep(self, name: str, make: Callable[[bytes | None], Kept]) -> Kept:
        """What another room keeps of this world: made once, or from what was packed when it was put away."""
        found = self.kept.get(name)
        if found is None or isinstance(found, bytes):
            with self._lock:
                found = self.kept.get(name)
                if found is None or isinstance(found, bytes):
                    found = self.kept[name] = make(found)
        return found

    def certificate_time(self) -> datetime:
        """The time that a certificate must cover: real, or the bank's (choice 9)."""
        return self.bank.clock.now if self.bank.settings.certificate_clock == "bank" else self.real_time()

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
            self._demand_kept(at)
            beginning = replace(self.beginning, at=self.opening)
            twin = World(name, beginning, self._machine_time, self._store)
            acts = self.log.until(at or now)
            twin.bank = twin_of(self.bank) if at is None else replayed(beginning, acts, at)
            twin.faults = self.faults.copy()
            twin.exchanges.extend(exchange for exchange in self.exchanges if at is None or exchange.at <= at)
            twin.exchanges_made = self.exchanges_made
            twin.pace = Pace(at or now, self._machine_time(), self.pace.rate)
        if self._store is None:
            twin.log = acts
            return twin
        for act in acts:
            twin.log.append(act)
        twin.log.flush()
        twin.log.keep_pace(twin.pace)
        return twin

    def _demand_kept(self, at: datetime | None) -> None:
        folded = self.log.folded
        if at is not None and folded is not None and at < folded.at:
            since = folded.at.isoformat(timespec="seconds")
            why = f"acts before {since} are kept no longer (the setting acts_kept); a state file keeps all"
            raise Refusal(Error.CONTROL_INVALID, input="at", why=why)

    def heard(self, since: int) -> list[Exchange]:
        """The calls after a number."""
        with self._lock:
            return [exchange for exchange in self.exchanges if exchange.seq > since]
