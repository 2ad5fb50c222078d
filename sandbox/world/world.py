"""A world: a bank with its lock, its clock and its log."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

from sandbox.bank import payments, standing_orders
from sandbox.bank.state import Bank
from sandbox.bank.verbs import NAMES
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.settings import Settings
from sandbox.world import files_ahead
from sandbox.world.beginning import Beginning, Pace, bank_of
from sandbox.world.calls import Exchange
from sandbox.world.faults import Fault, OrderedFaults
from sandbox.world.files_ahead import Unread
from sandbox.world.log import apart
from sandbox.world.log.memory_log import MemoryLog
from sandbox.world.log.state_store import Listed, StateStore
from sandbox.world.log.stored_log import StoredLog
from sandbox.world.paced import Paced
from sandbox.world.replay import replayed, second
from sandbox.world.trailed_world import Acts, Log

# What only adds to a bank changes nothing that earlier calls are judged by, unless an axis lets it renew an address.
ADDING = frozenset((payments.initiate, standing_orders.initiate))

P = ParamSpec("P")
T = TypeVar("T")
Time = Callable[[], float]


class Life(NamedTuple):
    """All that a world goes on from: in a fork, from a file, or at its beginning."""

    beginning: Beginning  # with its opening, where the life was led elsewhere
    pace: Pace
    bank: Bank
    acts: Acts
    faults: OrderedFaults | None  # None: those of the beginning
    exchanges: list[Exchange]
    calls: int  # ever
    findings: tuple[Any, ...] = ()  # of the referee, from a file


class Terms(NamedTuple):
    """What a call is judged by: the settings that are in force, and what notes which axes it meets."""

    settings: Settings
    met: Callable[[str], None]


class World(Paced):
    """A bank that is entered only by `enter`, `act` and `ask`, one caller at a time."""

    def __init__(
        self, name: str, beginning: Beginning, machine_time: Time, store: StateStore | None = None, new: bool = False
    ) -> None:
        self._name(name, machine_time, store, new=new)
        self._load(beginning)

    def _load(self, beginning: Beginning) -> None:
        machine = self._machine_time()
        opening = (beginning.at or self.real_time().replace(microsecond=0)).astimezone(UTC)  # a bank knows no other
        pace = Pace(opening, machine, beginning.rate)
        self._start(Life(beginning, pace, bank_of(beginning, opening), MemoryLog(), None, [], 0), opening)

    def _start(self, life: Life, opening: datetime) -> None:
        """Begins anew, or with what came before; kept whole, or not at all."""
        log: Log
        if self._store is None:
            assert isinstance(life.acts, MemoryLog)
            log = life.acts
        else:
            if self.row:
                self._demand_kept()
            new = self._new and not self.row
            begins = (life.beginning, opening)
            self._stand_at(self._store.begin(self.name, begins, life.pace, life.acts, life.faults, self.row, new))
            log = StoredLog(self._store, self._backlog)
        self._begin(life.beginning, opening, life.pace, life.faults)
        self._hold(life.bank, log, life.exchanges)
        self.exchanges_made = life.calls

    @classmethod
    def unloaded(cls, store: StateStore, row: Listed, machine_time: Time) -> "World":
        """A world as a state file has it: read back when it is called. Its clock goes on where it would be."""
        (beginning, opening), pace, faults = store.beginnings(row)
        world = cls.__new__(cls)
        world._name(row.name, machine_time, store, row.id)
        world._begin(beginning, opening, pace, faults)
        return world

    @classmethod
    def from_life(
        cls, name: str, life: Life, machine_time: Time, store: StateStore | None = None, new: bool = False
    ) -> "World":
        """A world that goes on from a life that was led elsewhere."""
        world, opening = cls.__new__(cls), life.beginning.at
        assert opening is not None
        world._name(name, machine_time, store, new=new)
        world._start(life, opening)
        return world

    def act(self, verb: Callable[Concatenate[Bank, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The door for one change of a bank. A refusal leaves no trace, unless it says that it lasts."""
        assert not kwargs, "an act is noted by place"
        return self.enter(lambda bank: self.do(verb, *args))

    def enter(self, work: Callable[Concatenate[Bank, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The door for a call that may change a bank: it is judged, and changes the bank by `do`, at one moment."""
        while True:
            outcome, unread = self._enter(work, *args, **kwargs)
            if unread is not None:
                files_ahead.read(unread)
            if outcome:
                return outcome[0]

    def _enter(self, work: Callable[..., T], *args: Any, **kwargs: Any) -> tuple[list[T], Unread | None]:
        """The outcome, unless a large file is to be read first; and a file that the work made due at once."""
        backlog, taken = self._backlog, 0
        try:
            with self._lock:
                bank = self._now()
                backlog = self._backlog
                unread = files_ahead.unread_now(bank) if bank.files_waiting else None
                if unread is not None:  # its validation comes first, as when the acts are replayed
                    return [], unread
                try:
                    outcome = work(bank, *args, **kwargs)
                    return [outcome], files_ahead.unread_now(bank) if bank.files_waiting else None
                finally:
                    taken = backlog.taken
        finally:
            if self._store is not None:
                self._settle(backlog, taken)

    def do(self, verb: Callable[..., T], *args: Any) -> T:
        """One act of a call that has entered: it is done, and noted in the log."""
        held = self.in_memory
        assert held is not None, "the world was not entered"
        if self._store is not None:
            self._store.connection.demand()
        bank, log = held.bank, held.log
        if self._waiting and (verb not in ADDING or bank.settings.variants):
            self.deliver_calls()
        try:
            outcome = verb(bank, *args)
        except Refusal as refusal:
            if refusal.lasting:
                log.note(bank, NAMES[verb], args)
            raise
        log.note(bank, NAMES[verb], args)
        return outcome

    def ask(self, question: Callable[Concatenate[Bank, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The door for what reads a bank. The answer waits for the acts that it may tell of."""
        backlog, taken = self._backlog, 0
        try:
            with self._lock:
                bank = self._now()
                backlog = self._backlog
                taken = backlog.taken
                return question(bank, *args, **kwargs)
        finally:
            if self._store is not None:
                self._settle(backlog, taken)

    def look(self, question: Callable[Concatenate[Bank, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Reads the bank as it stands, for what the server notes of a call: no time passes, and no answer waits."""
        with self._lock:
            return question(self.bank, *args, **kwargs)

    @property
    def settings(self) -> Settings:
        """The settings in force. They are replaced as a whole, so this needs no lock."""
        return (self.in_memory or self.loaded()).bank.settings

    def variant(self, axis: str) -> str:
        """How this bank decides on a point that the service leaves open: one of its settings."""
        return self.bank.variant(axis)

    def terms(self) -> Terms:
        bank = (self.in_memory or self.loaded()).bank
        if bank.settings.variants:
            bank.met = self.axes.begin_call()
        return Terms(bank.settings, bank.met)

    def real_time(self) -> datetime:
        """The machine's, for what is true outside the bank: certificates and the Date of a signature (choice 9)."""
        return datetime.fromtimestamp(self._machine_time.real(), UTC)

    def fault_for(self, operation: str, client: str | None) -> Fault | None:
        """The fault that a call meets; what it counted is kept before it is answered."""
        if not self.faults.rules:
            return None
        backlog = self._backlog
        fault = self.faults.for_call(operation, client, self.bank.clock.now)
        self._settle(backlog, backlog.taken)
        return fault

    def order_fault(self, fault: Fault) -> None:
        with self._answered():
            self._demand_kept()
            self.faults.add(fault)

    def drop_faults(self) -> None:
        with self._answered():
            self._demand_kept()
            self.faults.clear()

    def load(self, beginning: Beginning) -> None:
        """Begins again, with another scenario."""
        with self._moving, self._lock:
            self._load(beginning)

    def reset(self) -> None:
        """Begins again as first loaded; a running world that began at the machine's time begins at the time of now."""
        with self._moving, self._lock:
            keep = self.beginning.at or (self.opening if self.beginning.rate == 0 else None)
            self._load(replace(self.beginning, at=keep))

    def certificate_time(self) -> datetime:
        """The time that a certificate must cover: real, or the bank's (choice 9)."""
        self.bank.met("certificate_clock")
        return self.bank.clock.now if self.bank.settings.certificate_clock == "bank" else self.real_time()

    def life(self, at: datetime | None = None) -> Life:
        """This world as it is, or as it was, for another one to go on from. Others may go on meanwhile."""
        with self._lock:
            live, log, count = self._begin_life(at)
            beginning = replace(self.beginning, at=self.opening)
            twin = second(self.bank, beginning) if at is None else None
        acts = first_of(log, count)
        if twin is not None:
            return live(acts=acts, bank=twin())
        assert at is not None
        acts = acts.until(at)
        return live(acts=acts, bank=replayed(beginning, acts, at))

    def life_and(self, question: apart.Question) -> tuple[Life, apart.Answer]:
        """This world as it is, but with a bank at its opening, and what a question to the bank as it is now gives."""
        with self._lock:
            live, log, count = self._begin_life(None)
            beginning, opening, answer = self.beginning, self.opening, apart.ask(self.bank, question)
        return live(acts=first_of(log, count), bank=bank_of(beginning, opening)), answer

    def _begin_life(self, at: datetime | None) -> tuple[Callable[..., Life], Log, int]:
        """All but the bank and so many acts of the log, which are read without the lock."""
        self._demand_readable()
        self._catch_up()
        now = self.bank.clock.now
        if at is not None and not self.opening <= at <= now:
            raise Refusal(Error.CONTROL_INVALID, input="at", why="it lies outside this world's time")
        folded = self.log.folded
        if at is not None and folded is not None and at < folded.at:
            since = folded.at.isoformat(timespec="seconds")
            why = f"acts before {since} are kept no longer (the setting acts_kept); a state file keeps all"
            raise Refusal(Error.CONTROL_INVALID, input="at", why=why)
        beginning, log, count = replace(self.beginning, at=self.opening), self.log, len(self.log)
        if isinstance(log, MemoryLog):
            log = log.first(count)  # now, as it may be compacted meanwhile
        pace = Pace(at or now, self._machine_time(), self.pace.rate)
        calls = list(self.exchanges) if at is None else [call for call in self.exchanges if call.at <= at]
        faults, made = self.faults.content(), self.exchanges_made
        life = partial(Life, beginning=beginning, pace=pace, faults=faults, exchanges=calls, calls=made)
        return life, log, count

    def fork(self, name: str, at: datetime | None, new: bool = False) -> "World":
        """A second world: this one as it is, or as it was; its log is this one's up to then."""
        return World.from_life(name, self.life(at), self._machine_time, self._store, new)


def first_of(log: Log, count: int) -> Acts:
    """So many acts of a log, for a world that goes on from them."""
    acts: Acts = log if isinstance(log, MemoryLog) else log.first(count)
    if len(acts) < count:
        raise Refusal(Error.CONTROL_INVALID, input="world", why="it began again meanwhile")
    return acts
