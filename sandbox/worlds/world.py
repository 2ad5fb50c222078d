"""A world: a bank with its lock, its clock and its log.

The log is the truth, and the bank in memory is a copy of it up to a position. A call that changes something runs in
`_change`: under the world's lock, in one transaction of the store, it brings the copy up to date, judges, acts, and
notes its acts; they are committed before its outcome is returned. On any doubt (a commit that failed, an error of
ours, a log that does not go on from where the copy stands) the copy is thrown away and read again from the store.
Nothing is ever undone.

Where several servers share a store, two more rules make their copies equal. Time is the database's. And events that
fall due happen only in `_change`, where the log notes them by an act that passes time: so no server shows what follows
from an event while another one adds an act before it. A call that only reads, and finds that something is due, lets
time pass in this way first. Without a store, or with a file, there is one copy, and it may simply go on.
"""

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from logging import getLogger
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

from sandbox.bank import payments, standing_orders, timeline
from sandbox.bank.clock import Clock
from sandbox.bank.state import Bank
from sandbox.bank.verbs import NAMES
from sandbox.contract.decisions import Decisions
from sandbox.contract.errors import Error, Refusal
from sandbox.storage import checkpoint
from sandbox.storage.bank_copy import copy_bank, release_bank
from sandbox.storage.checkpoints import Checkpoints
from sandbox.storage.format import ActsDeletedError, StateFileError, program
from sandbox.storage.long_work import AbandonedError, is_caller_gone
from sandbox.storage.marks import LogHead, MarkError, demand_chain
from sandbox.storage.memory_log import Act, MemoryLog, ReplayMismatch, play
from sandbox.storage.store import Change, News, Position, Store, WorldRow
from sandbox.storage.stored_acts import StoredActs
from sandbox.worlds import files_ahead
from sandbox.worlds.beginning import (
    Beginning,
    ControlState,
    Pace,
    bank_of,
    read_beginning,
    read_controls,
    write_beginning,
)
from sandbox.worlds.call_history import CALLS, CallHistory, PackableState, count_up, pack_each, write_kept
from sandbox.worlds.calls import Exchange, NumberedCall, Recent, Record
from sandbox.worlds.counts import AxesMet, Limits
from sandbox.worlds.faults import Fault, FaultRules, OrderedFaults
from sandbox.worlds.files_ahead import UnreadFile
from sandbox.worlds.holds import EXPIRED, HELD, HELD_SECONDS_MAX, PASSED, CallHold, HeldCall, Holds, Wait
from sandbox.worlds.replay import replayed
from sandbox.worlds.shared_limits import SharedLimits
from sandbox.worlds.steady_clock import SteadyClock

log = getLogger("sandbox")
# What only adds to a bank changes nothing that earlier calls are judged by, unless an axis lets it renew an address.
ADDING: frozenset[Callable[..., object]] = frozenset((payments.initiate, standing_orders.initiate))
ADDING_NAMES = frozenset(NAMES[verb] for verb in ADDING)
SLICE = 200  # events of a move of the clock between which other calls come in
MOVES_KEPT = 200
WATCHED_EVERY = 0.05  # seconds between two looks for the release of a call that is held here
NO_POSITION = Position(0, LogHead(0, 0), 0)
ACTS_AT_ONCE = 500

P = ParamSpec("P")
T = TypeVar("T")
Acts = MemoryLog | StoredActs  # of a world that another one goes on from
ClockChange = Callable[[datetime], tuple[datetime, float]]


class WorldSnapshot(NamedTuple):
    """All that a world goes on from: in a fork, from a file, or at its beginning."""

    beginning: Beginning  # with its opening, where the life was led elsewhere
    pace: Pace
    bank: Bank
    acts: Acts
    faults: OrderedFaults | None  # None: those of the beginning
    exchanges: list[Exchange]
    calls: int  # ever
    findings: tuple[Any, ...] = ()  # of the referee, from a file


class ClockMove(NamedTuple):
    """Bank time before and after a tester moved the clock."""

    begin: datetime
    end: datetime


class Standing(NamedTuple):
    """Where a world's clock stands."""

    now: datetime
    due_next: datetime | None


class World:
    """A bank that is entered only by `enter`, `act` and `ask`, one caller at a time."""

    def __init__(self, name: str, machine_time: Callable[[], float], store: Store | None = None) -> None:
        self.name = name
        self.dropped = False
        self.used = machine_time()  # when it was called last, by the machine's clock
        self.holds = Holds(self._is_to_be_noted)
        self.axes = AxesMet()
        self.clock_moves: tuple[ClockMove, ...] = ()  # the last ones on this server, for the console's picture
        self.touched: Callable[[World], None] = lambda world: None  # told that there is something to write
        self.grew: Callable[[int], None] = lambda weight: None  # told of bytes that memory keeps
        self.demand_files: Callable[[int], None] = lambda size: None  # refuses a file that finds no room
        self._machine_time = machine_time if isinstance(machine_time, SteadyClock) else SteadyClock(machine_time)
        self._store = store
        self._lock = threading.RLock()
        self._moving = threading.RLock()  # of a move of the clock, taken before the world's own
        self._writing_calls = threading.Lock()
        self._bank: Bank | None = None
        self._memory_log: MemoryLog | None = None
        self._position = NO_POSITION
        self._checkpoint_acts = 0  # acts in the last checkpoint
        self._time = 0.0  # of a shared store, as it was told last; never before the last change
        self._has_time = False  # somebody asked for it since the world was found
        self._change_at_hand: Change | None = None
        self._is_noted = False  # the change at hand changes what is noted beside the acts
        self._has_passed_time = False  # events happened in the change at hand, which no act follows yet
        self._watches = False

    # How a world comes to be

    @classmethod
    def begun(
        cls,
        name: str,
        beginning: Beginning,
        machine_time: Callable[[], float],
        store: Store | None = None,
        *,
        replaces: bool = False,
    ) -> "World":
        world = cls(name, machine_time, store)
        world._begin_anew(beginning, replaces=replaces)
        return world

    @classmethod
    def from_life(
        cls,
        name: str,
        life: WorldSnapshot,
        machine_time: Callable[[], float],
        store: Store | None = None,
        *,
        replaces: bool = False,
    ) -> "World":
        """A world that goes on from a life that was led elsewhere."""
        world = cls(name, machine_time, store)
        world._begin_with(life, replaces=replaces)
        return world

    @classmethod
    def stored(cls, row: WorldRow, machine_time: Callable[[], float], store: Store) -> "World":
        """A world of a store, which is loaded when it is used."""
        world = cls(row.name, machine_time, store)
        world._read_row(row)
        return world

    def _begin_anew(self, beginning: Beginning, *, replaces: bool, only: int | None = None) -> None:
        opening = (beginning.at or self.real_time().replace(microsecond=0)).astimezone(UTC)  # a bank knows no other
        pace = Pace(opening, self._store_time(), beginning.rate)
        bank = bank_of(beginning, opening)
        life = WorldSnapshot(replace(beginning, at=opening), pace, bank, MemoryLog(), None, [], 0)
        self._begin_with(life, beginning, replaces, only)

    def _begin_with(
        self, life: WorldSnapshot, beginning: Beginning | None = None, replaces: bool = False, only: int | None = None
    ) -> None:
        opening = life.beginning.at
        assert opening is not None
        beginning = beginning or life.beginning
        controls = ControlState(life.pace, life.faults or OrderedFaults(beginning.faults, {}, {}))
        position, store = NO_POSITION, self._store
        if store is not None:
            until = self._store_time() if store.is_shared else 0.0
            if store.is_shared:
                controls = controls._replace(pace=replace(life.pace, since=until))
            started = write_beginning(beginning, opening)
            row = store.begin(
                self.name,
                started,
                controls,
                life.acts,
                life.acts.folded,
                replaces=replaces,
                only=only,
                until=until,
            )
            position, self._root = row.position, row.root
            if store.is_shared and life.calls:
                count_up(store, row.id, CALLS, life.calls)
        self._know(beginning, opening)
        self._restore_controls(controls)
        self.calls = CallHistory(beginning, life.exchanges, life.calls, is_stored=store is not None)
        self.calls.is_read = True
        self._hold(life.bank, position)
        if self._store is None:
            assert isinstance(life.acts, MemoryLog)
            self._memory_log = life.acts
        self._checkpoint_acts = 0

    def _know(self, beginning: Beginning, opening: datetime) -> None:
        self.beginning = beginning
        self.opening = opening
        self.faults = FaultRules(beginning.seed, self._is_to_be_noted)
        self.axes = AxesMet()

    def _hold(self, bank: Bank, position: Position) -> None:
        bank.note_decisions(self.axes.note)
        earlier, self._bank, self._position = self._bank, bank, position
        if earlier is not None and earlier is not bank:
            self._release(earlier)

    def _release(self, bank: Bank) -> None:
        release_bank(bank)
        if self._memory_log is not None:
            self._memory_log.release()

    # What is noted beside the acts

    def _is_to_be_noted(self) -> None:
        self._is_noted = True

    def _controls(self) -> ControlState:
        return ControlState(self.pace, self.faults.ordered(), self.holds.stored() if self.is_shared else ())

    def _restore_controls(self, controls: ControlState) -> None:
        self.pace = controls.pace
        self.faults.restore(controls.faults)
        self.holds.restore(controls.holds)

    # Changing

    def act(self, verb: Callable[Concatenate[Bank, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """One change of the bank. A refusal leaves no trace, unless it says that it lasts."""
        assert not kwargs, "an act is noted by place"
        return self.enter(lambda bank: self.do(verb, *args))

    def enter(self, work: Callable[Concatenate[Bank, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """For a call that may change the bank: it is judged, and changes the bank by `do`, at one moment."""

        def judge(bank: Bank) -> tuple[list[T], UnreadFile | None]:
            unread = files_ahead.unread_now(bank) if bank.files_waiting else None
            if unread is not None:  # its validation comes first, as when the acts are replayed
                return [], unread
            outcome = work(bank, *args, **kwargs)
            return [outcome], files_ahead.unread_now(bank) if bank.files_waiting else None

        while True:
            outcome, unread = self._change(judge)
            if unread is not None:
                files_ahead.read(unread)
            if outcome:
                return outcome[0]

    def do(self, verb: Callable[..., T], *args: Any) -> T:
        """One act of a call that has entered: it is done, and noted in the log."""
        bank = self._bank
        assert bank is not None, "the world was not entered"
        if self.calls.has_waiting and (verb not in ADDING or bank.decisions.variants):
            self.deliver_calls()
        try:
            outcome = verb(bank, *args)
        except Refusal as refusal:
            if refusal.lasting:
                self._note_act(bank, Act(bank.clock.now, NAMES[verb], args, bank.made))
            raise
        self._note_act(bank, Act(bank.clock.now, NAMES[verb], args, bank.made))
        return outcome

    def _note_act(self, bank: Bank, act: Act) -> None:
        if self._store is None:
            assert self._memory_log is not None
            self._memory_log.note(bank, act)
            return
        change = self._change_at_hand
        assert change is not None, "an act of a stored world belongs to a change"
        change.add(act._replace(id=change.act_id))
        self._has_passed_time = False

    def _change(self, work: Callable[[Bank], T]) -> T:
        """Runs work on the bank as it is now. What it adds to the log is stored before its outcome is returned."""
        with self._lock:
            if self._store is None:
                return work(self._catch_up(self.bank))
            if self._change_at_hand is not None:  # work within work
                assert self._bank is not None
                return work(self._bank)
            store = self._store
            outcome, refusal = store.database.repeat(lambda: self._change_stored(store, work))
            if refusal is not None:
                raise refusal
        self._keep_time()
        return outcome[0]

    def _change_stored(self, store: Store, work: Callable[[Bank], T]) -> tuple[list[T], Refusal | None]:
        if not store.is_shared:
            assert self.bank  # loads it, before anything is changed
        outcome: list[T] = []
        refusal = None
        has_begun = False
        try:
            with store.change(self.name, self._position) as change:
                if change.news is not None:
                    self._follow(change.news)
                self._change_at_hand, self._is_noted, self._has_passed_time, has_begun = change, False, False, True
                bank = self.bank
                bank.mint.salt = change.act_id
                try:
                    outcome.append(work(self._catch_up(bank)))
                except Refusal as raised:
                    refusal = raised
                if self._has_passed_time and store.is_shared:
                    self._note_act(bank, Act(bank.clock.now, NAMES[timeline.pass_time], (), bank.made))
                if self._is_noted:
                    change.note(self._controls())
            self._position = change.position
        except BaseException:
            if has_begun:
                self._forget_copy()
            raise
        finally:
            self._change_at_hand = None
        self._write_checkpoint_if_due()
        return outcome, refusal

    # Reading

    def ask(self, question: Callable[Concatenate[Bank, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """For what reads the bank as it is now."""
        with self._lock:
            if self._store is not None and self._change_at_hand is None:
                self._store.database.demand_present()
                if self._store.is_shared and self._is_due():
                    self._change(lambda bank: None)
            bank = self.bank
            if self._change_at_hand is None:
                bank = self._catch_up(bank)
            answer = question(bank, *args, **kwargs)
        if self._store is not None:
            self._keep_time()
        return answer

    def look(self, question: Callable[Concatenate[Bank, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Reads the bank as it stands, for what the server notes of a call: no time passes."""
        with self._lock:
            return question(self.bank, *args, **kwargs)

    @property
    def bank(self) -> Bank:
        """The copy in memory; it is loaded here where there is none."""
        bank = self._bank
        if bank is None:
            with self._lock:
                if self._bank is None:
                    self._load()
                bank = self._bank
                assert bank is not None
        return bank

    @property
    def in_memory(self) -> Bank | None:
        """The bank, if it is loaded."""
        return self._bank

    @property
    def is_unloaded(self) -> bool:
        return self._bank is None

    @property
    def log(self) -> Acts:
        """The acts so far."""
        with self._lock:
            assert self.bank
            if self._memory_log is not None:
                return self._memory_log
            assert self._store is not None
            return StoredActs(self._store, self._position.world, self._root, self._position.head)

    @property
    def row(self) -> int:
        """Its number in the store."""
        return self._position.world

    @property
    def position(self) -> Position:
        """What memory has of it."""
        return self._position

    @property
    def acts(self) -> int:
        """How many acts there are."""
        return self._position.head.acts if self._memory_log is None else len(self._memory_log)

    @property
    def settings(self) -> Decisions:
        """The settings in force. They are replaced as a whole, so this needs no lock."""
        return self.bank.settings

    @property
    def decisions(self) -> Decisions:
        """The same; reading one of an axis is noted."""
        return self.bank.decisions

    def is_judged_by_settings(self) -> bool:
        """Whether the settings alone decide on a call before it enters: neither faults, barriers, axes nor
        certificates do. Asks nobody."""
        bank = self._bank
        return (
            bank is not None
            and not (self.faults.rules or self.holds.by_name or bank.decisions.variants)
            and bank.decisions.client_certificates == "off"
        )

    def begin_call(self) -> Decisions:
        """The decisions that a call is judged by. Where the bank differs, those that it reads are noted as its own."""
        decisions = self.bank.decisions
        if decisions.variants:
            self.axes.begin_call()
        return decisions

    def real_time(self) -> datetime:
        """The machine's, for what is true outside the bank: certificates and the Date of a signature (choice 9)."""
        return datetime.fromtimestamp(self._machine_time.real(), UTC)

    def certificate_time(self) -> datetime:
        """The time that a certificate must cover: real, or the bank's (choice 9)."""
        return self.bank.clock.now if self.decisions.certificate_clock == "bank" else self.real_time()

    def standing(self) -> Standing:
        """Where the clock stands, without loading a world that is not in memory."""
        with self._lock:
            if self._bank is None:
                return Standing(self.pace.at(self._store_time()), None)
            if self._change_at_hand is not None:
                return Standing(self._bank.clock.now, next_due(self._bank))
            return self.ask(lambda bank: Standing(bank.clock.now, next_due(bank)))

    # Following the store

    def follow(self) -> None:
        """Brings the copy of a shared world up to date. Raises NOT_FOUND where the world is no more."""
        if self._store is None or not self._store.is_shared:
            return
        with self._lock:
            if self._change_at_hand is not None:
                return
            news = self._store.look(self.name, self._position)
            if news is None:
                self.dropped = True
                raise Refusal(Error.NOT_FOUND, input="world")
            self._follow(news)

    def _follow(self, news: News) -> None:
        """Applies what is new. Where that does not go on from the copy, the copy is read again."""
        self.note_time(news.time)
        if news.position == self._position and self._bank is not None:
            return
        try:
            if self._bank is None or news.position.world != self._position.world:
                raise MarkError(0)
            self._apply_acts(self._bank, news)
        except (MarkError, ReplayMismatch, StateFileError, AssertionError, Refusal):
            self._forget_copy()
            self._load()
            if self._change_at_hand is None and self._position != news.position:
                return  # another change came meanwhile, and was read too
        if news.noted is not None:
            self._restore_controls(read_controls(news.noted))
        self._position = news.position

    def _apply_acts(self, bank: Bank, news: News) -> None:
        assert self._store is not None
        head, until = self._position.head, news.position.head
        rows = news.rows
        while head != until:
            if not rows or head.acts >= until.acts:
                raise MarkError(head.acts)
            for row in demand_chain(rows, head):
                act = self._store.act_of(row)
                if self.calls.has_waiting and self._may_alter_judgement(bank, act):
                    self.deliver_calls()
                if bank.clock.now > act.at:
                    bank.clock = Clock(act.at)  # it was read at a later moment; nothing fell due in between
                play(bank, [act], head.acts)
                head = row.head
                if head == until:
                    break
            rows = list(islice(self._store.rows(self._position.world, head), ACTS_AT_ONCE)) if head != until else []

    def _may_alter_judgement(self, bank: Bank, act: Act) -> bool:
        """Whether an act of another server, or an event before it, may change what the waiting calls are judged by."""
        due = bank.next_at
        return act.verb not in ADDING_NAMES or bool(bank.settings.variants) or (due is not None and due <= act.at)

    def _load(self) -> None:
        """Reads the world from the store: its last checkpoint, and the acts behind it."""
        store = self._store
        if self.dropped or store is None:
            raise Refusal(Error.NOT_FOUND, input="world")
        row = store.find(self.name)
        if row is None:
            self.dropped = True
            raise Refusal(Error.NOT_FOUND, input="world")
        if row.id != self._position.world:
            self.holds.release_all()
        self._read_row(row)
        try:
            try:
                bank = self._loaded_bank(store, row.position)
            except ActsDeletedError:  # it starts later now
                bank = self._loaded_bank(store, row.position)
        except (StateFileError, Refusal):
            raise
        except Exception as fault:  # whatever damaged content leads to
            raise store.damage(f"its world {self.name} cannot be read: {fault!r}") from fault
        if not self.calls.is_read:  # else only the bank was thrown away
            self.calls.read_back(store, row.id)
        self._hold(bank, row.position)

    def _loaded_bank(self, store: Store, position: Position) -> Bank:
        """Reads the bank from the last checkpoint, else from the start of the world, and does the acts behind it."""
        bank, checkpoints = bank_of(self.beginning, self.opening), Checkpoints(store)
        latest = checkpoints.read(position.world, checkpoint.program_digest())
        if latest is None or latest.head.acts > position.head.acts:
            latest = checkpoints.read_start(position.world)
        since = latest.head if latest else self._root
        if latest is not None:
            checkpoint.read_onto(bank, latest.bank)
        self._checkpoint_acts = since.acts
        try:
            play(bank, store.acts(position.world, since, position.head), since.acts)
        except ReplayMismatch as astray:
            raise StateFileError(
                f"{store.path}: this program ({program()}) cannot go on with its world {self.name}: {astray}. "
                "It was left as it is"
            ) from None
        return bank

    def _read_row(self, row: WorldRow) -> None:
        assert self._store is not None
        try:
            self._know(*read_beginning(row.beginning))
            self._restore_controls(read_controls(row.noted))
        except (ValueError, TypeError) as error:
            raise self._store.unreadable(f"its world {row.name}", error) from None
        self._root = row.root
        self._time = max(self._time, row.until)
        if row.id != self._position.world:
            self.calls = CallHistory(self.beginning, is_stored=True)
        self._position = row.position

    def _forget_copy(self) -> None:
        """The copy in memory may be wrong: the next use reads it again."""
        bank, self._bank = self._bank, None
        self._position = self._position._replace(head=LogHead(0, 0), version=0)
        if bank is not None:
            release_bank(bank)

    # Time

    def _store_time(self) -> float:
        """The time that a world runs by: the database's where servers share it, else the machine's."""
        if self._store is not None and self._store.is_shared:
            if not self._has_time:
                self.note_time(self._store.time())
            return self._time
        return self._machine_time()

    def note_time(self, time: float) -> None:
        """Of a shared store, as somebody else just asked for it."""
        self._time, self._has_time = max(self._time, time), True

    def _keep_time(self) -> None:
        if self._store is not None and self.pace.rate and not self._store.is_shared:
            self._machine_time.keep()

    def _now_of(self, bank: Bank) -> datetime:
        return max(bank.clock.now, self.pace.at(self._store_time()) if self.pace.rate else self.pace.base)

    def _is_due(self) -> bool:
        bank = self.bank
        due = bank.next_at
        return due is not None and due <= self._now_of(bank)

    def _catch_up(self, bank: Bank) -> Bank:
        """Brings the bank's time up to now, with all that falls due on the way."""
        before, now = bank.clock.now, self._now_of(bank)
        due = bank.next_at
        is_due = due is not None and due <= now
        unread = files_ahead.first_unread(bank, now) if is_due and bank.files_waiting else None
        if unread is not None:  # time waits
            files_ahead.read_beside(unread)
            now = unread.at - files_ahead.JUST
            is_due = due is not None and due <= now
        if is_due and now >= before:
            if self.calls.has_waiting:
                self.deliver_calls()
            timeline.advance(bank, now)
            self._has_passed_time = True
        elif now > before:
            bank.clock.set(now)
        return bank

    def set_pace(self, change: ClockChange) -> None:
        """Moves the clock from its now to where it stands next, and sets how fast it goes on. Large files on the way
        are read first; others go on meanwhile at the time before. One move at a time: the next one counts from its
        end. A long move lets other calls in between two instants."""
        with self._moving:
            for _ in range(files_ahead.MOST):
                base, rate, unread = self._change(partial(self._begin_move, change))
                if unread is None:
                    break
                files_ahead.read(unread)
            begin, moved, is_there = self.bank.clock.now, 0, False
            while not is_there:
                assert moved <= self.decisions.due_events_max, "the agenda never empties"
                moved += SLICE
                is_there = self._change(partial(self._move, begin, base, rate))
                if not is_there and is_caller_gone():
                    self._change(partial(self._leave_move, begin))
                    raise AbandonedError

    def _begin_move(self, change: ClockChange, bank: Bank) -> tuple[datetime, float, UnreadFile | None]:
        """Where the clock goes, and a file that should be read first."""
        self.deliver_calls()
        base, rate = change(bank.clock.now)
        if base < bank.clock.now:
            raise Refusal(Error.CONTROL_INVALID, input="set", why="the bank's clock does not go back")
        return base, rate, files_ahead.first_unread(bank, base)

    def _move(self, begin: datetime, base: datetime, rate: float, bank: Bank) -> bool:
        """One slice of a move. A file that has not been read by now is read when its validation is due."""
        self.deliver_calls()
        until = max(base, bank.clock.now)
        due = bank.next_at
        if due is not None and due <= until:
            self._has_passed_time = True
        is_there = timeline.advance_some(bank, until, SLICE)
        if is_there:
            self._note_pace(begin, max(base, bank.clock.now), rate)
        return is_there

    def _leave_move(self, begin: datetime, bank: Bank) -> None:
        """The caller of a move is gone: the clock stays where it came to, and goes on as before."""
        self._note_pace(begin, bank.clock.now, self.pace.rate)

    def _note_pace(self, begin: datetime, base: datetime, rate: float) -> None:
        self.pace = Pace(base, self._store_time(), rate)
        self._is_to_be_noted()
        if base > begin:
            self.clock_moves = (*self.clock_moves, ClockMove(begin, base))[-MOVES_KEPT:]

    # Faults, barriers and limits

    def fault_for(self, operation: str, client: str | None) -> Fault | None:
        """The fault that a call meets; what it counted is stored before it is answered."""
        if not self.faults.rules:
            return None
        return self._change(lambda bank: self.faults.for_call(operation, client, bank.clock.now))

    def order_fault(self, fault: Fault) -> None:
        self._change(lambda bank: self.faults.add(fault))

    def drop_faults(self) -> None:
        self._change(lambda bank: self.faults.clear())

    def add_hold(self, name: str | None, at: str, when: Any) -> CallHold:
        return self._change(lambda bank: self.holds.add(name, at, when))

    def release_hold(self, name: str) -> None:
        self._change(lambda bank: self.holds.release(name))

    def release_holds(self) -> None:
        self._change(lambda bank: self.holds.release_all())

    def take_hold(self, at: str, call: HeldCall) -> CallHold | None:
        """The barrier that waits for this call at this place, if any."""
        return self._change(lambda bank: self.holds.take(at, call, bank.clock.now))

    def hold(self, hold: CallHold, wait: Wait) -> None:
        """Holds the call of this barrier. No lock is held meanwhile."""
        self._change(lambda bank: self.holds.set_state(hold, HELD))
        hold.arrived.set()  # once every server shows it
        if self.is_shared:
            self._watch_holds()
        wait(hold.released, HELD_SECONDS_MAX)
        if not hold.released.is_set():
            self._change(lambda bank: self.holds.set_state(hold, EXPIRED))

    def let_pass(self, hold: CallHold) -> None:
        """The call of this barrier is refused: too many wait already."""
        self._change(lambda bank: self.holds.set_state(hold, PASSED))
        hold.arrived.set()

    def _watch_holds(self) -> None:
        """Another server may release a call that is held here: looks for that while any call is."""

        def work() -> None:
            try:
                while any(hold.is_held_here for hold in self.holds.all()):
                    threading.Event().wait(WATCHED_EVERY)
                    self.follow()
            except (StateFileError, Refusal):
                self.holds.release_all()
            finally:
                self._watches = False

        with self._lock:
            if not self._watches:
                self._watches = True
                threading.Thread(target=work, name="holds", daemon=True).start()

    @property
    def limits(self) -> "Limits | SharedLimits":
        """How much clients may still call; counted by the database where servers share the world."""
        if self._store is not None and self._store.is_shared:
            return SharedLimits(self._store, self._position.world)
        return self.calls.limits

    def is_first(self, axis: str, operation: str) -> bool:
        """Whether this is the first call of an operation of which the axis asks that."""
        if self._store is not None and self._store.is_shared:
            return count_up(self._store, self._position.world, f"first {axis} {operation}", 1) == 1
        return self.axes.is_first(axis, operation)

    # Calls

    def add_call(self, record: Record) -> NumberedCall[Any]:
        """Takes a call that was answered. It waits until anything that it is judged by changes, somebody looks, or
        enough wait: then those that observe calls take all that wait at once, which costs less than one by one."""
        with self._lock:
            bank = self.bank  # which may be loaded, with its calls
            call = self.calls.add(record, bank, is_shared=self.is_shared)
            self.touched(self)
            return call

    def deliver_calls(self) -> None:
        """Hands the waiting calls to the observers, in order."""
        with self._lock:
            if self.calls.has_waiting:
                bank = self.bank
                if self._store is None:  # else the registry notes each call
                    self.used = self._machine_time()
                self.calls.deliver(self, bank, self._store, self._position.world)

    def _read_calls(self) -> CallHistory:
        """The calls with those that other servers answered."""
        with self._lock:
            assert self.bank
            self.deliver_calls()
            if self._store is not None and self._store.is_shared:
                self.calls.read_others(self._store, self._position.world)
                self.calls.exchanges.take((), self.decisions.requests_kept, self.decisions.calls_bytes_max)
            return self.calls

    @property
    def is_shared(self) -> bool:
        """Whether other servers may answer calls of this world."""
        return self._store is not None and self._store.is_shared

    def observe(self, observed: list[Any], pack: Callable[[list[Any]], bytes]) -> None:
        """Notes what the referee will judge, of a shared world."""
        with self._lock:
            self.calls.observe(observed, pack)
            self.touched(self)

    def take_unjudged(self) -> list[bytes]:
        """Returns, in portions, the observations of all servers since this was called last. A file has such portions
        where it is a copy of a database."""
        if self.is_shared:
            self.write_calls()
        with self._lock:
            assert self.bank
            return (self._read_calls() if self.is_shared else self.calls).take_unjudged()

    @property
    def exchanges(self) -> list[Exchange]:
        return list(self._read_calls().exchanges)

    @property
    def exchanges_made(self) -> int:
        return self.calls.made

    @property
    def kept(self) -> dict[str, Any]:
        with self._lock:
            assert self.bank
            self.deliver_calls()
            return self.calls.kept

    def keep(self, name: str, make: Callable[[bytes | None], PackableState]) -> PackableState:
        """What another room keeps of this world: made once, or from what was packed when it was stored."""
        with self._lock:
            assert self.bank
            return self.calls.keep(name, make)

    def touch(self) -> None:
        self.touched(self)

    def exchange_of(self, request_id: str) -> Exchange | None:
        """The last call under an id, as far back as calls are kept."""
        return next((call for call in reversed(self.exchanges) if call.request_id == request_id), None)

    def calls_after(self, since: int) -> list[Exchange]:
        """The calls after a number."""
        return [exchange for exchange in self.exchanges if exchange.seq > since]

    def write_calls(self) -> bool:
        """Stores the calls that came since the last time, with what others keep; False where that failed."""
        store = self._store
        assert store is not None
        with self._lock:
            if self.dropped or not self.calls.is_read:
                return True
            try:
                self.deliver_calls()
                calls_kept = self.decisions.requests_kept
            except StateFileError:
                return False
            except Refusal:  # the world is no more
                return True
            self._writing_calls.acquire()  # after the other lock, which a caller may have already
            row, made, history = self._position.world, self.calls.made, self.calls
            portion, items, limits = history.take_unwritten(), history.kept_items(), history.limits.kept()
            judged = history.judged
        try:
            if portion.calls or portion.observed:
                history.write(store, row, portion, made - calls_kept)
            if not store.is_shared:
                write_kept(store, row, made, limits, pack_each(items), judged)
        except StateFileError:
            history.put_back(portion)
            return False
        except Exception:  # our mistake; no call depends on it
            log.exception("the calls of the world %s could not be stored", self.name)
        finally:
            self._writing_calls.release()
        return True

    # Checkpoints and leaving memory

    def _write_checkpoint_if_due(self) -> None:
        acts, last = self._position.head.acts, self._checkpoint_acts
        if self._bank is not None and acts >= last + max(checkpoint.EVERY, last // checkpoint.SHARE):
            self._write_checkpoint(copy_bank(self._bank))

    def _write_checkpoint(self, bank: Bank) -> None:
        """Writes and releases a bank that no longer changes, beside the calls: no caller waits for that."""
        store, position = self._store, self._position
        assert store is not None
        self._checkpoint_acts = position.head.acts

        def write() -> None:
            with suppress(StateFileError):  # without this checkpoint a start takes longer
                digest, content = checkpoint.program_digest(), checkpoint.write(bank)
                Checkpoints(store).write(position.world, position.head, bank.clock.now, digest, content)
            release_bank(bank)

        store.beside("checkpoint", write)

    def leave_memory(self, used: float) -> bool:
        """Gives the copy back, unless a call came since the world was `used`: the store has the rest."""
        assert self._store is not None
        if not self.write_calls():
            return False
        with self._lock, self._writing_calls:  # what another thread writes is read back only once it is whole
            bank = self._bank
            if self.used != used or bank is None or self._change_at_hand is not None:
                return False
            if self.calls.has_waiting or self.calls.has_unwritten:
                return False
            if self._position.head.acts > self._checkpoint_acts:
                self._write_checkpoint(bank)
                self._bank = None  # it is released once it is written
            self._forget_copy()
            self.calls = CallHistory(self.beginning, is_stored=True)
            return True

    def end(self) -> None:
        """The world was dropped or replaced, also where a caller still holds it."""
        with self._lock:
            self.dropped = True
            self.holds.release_all()
            bank, self._bank = self._bank, self._bank if self._store is None else None
        if bank is not None:
            self._release(bank)

    @property
    def weight(self) -> int:
        """Bytes that memory keeps of it beside money, about."""
        if self._bank is None:
            return 0
        kept = self.calls.exchanges, self.calls.kept.get("contents"), self._memory_log
        return sum(getattr(one, "weight", 0) for one in kept) + self.files_weight

    @property
    def files_weight(self) -> int:
        """Bytes of its files that wait for their validation."""
        bank = self._bank
        return 0 if bank is None else sum(list(bank.files_waiting.values()))

    def forget_calls(self, share: int) -> int:
        """The oldest of them, a half or all; returns how many bytes went. Nobody waits for a busy world."""
        if not self._lock.acquire(blocking=False):
            return 0
        try:
            before = self.weight
            for calls in (self.calls.exchanges, self.calls.kept.get("contents")):
                if isinstance(calls, Recent) and calls:
                    calls.forget(max(1, len(calls) // share))
            return before - self.weight
        finally:
            self._lock.release()

    def compact(self) -> None:
        """The acts in memory before the checkpoint before this one go. Nobody waits for a busy world."""
        if self._lock.acquire(blocking=False):
            try:
                if self._bank is not None and self._memory_log is not None:
                    self._memory_log.keep_checkpoint(self._bank)
            finally:
                self._lock.release()

    # Beginning again, and going on elsewhere

    def load(self, beginning: Beginning) -> None:
        """Begins again, with another scenario."""
        with self._moving, self._lock:
            self.follow()
            self.deliver_calls()
            self.holds.release_all()
            self._begin_anew(beginning, replaces=True, only=self.row)

    def reset(self) -> None:
        """Begins again as first loaded; a running world that began at the machine's time begins at the time of now."""
        with self._moving, self._lock:
            self.follow()
            keep = self.beginning.at or (self.opening if self.beginning.rate == 0 else None)
            self.load(replace(self.beginning, at=keep))

    def life(self, at: datetime | None = None) -> WorldSnapshot:
        """This world as it is, or as it was, for another one to go on from. Others may go on meanwhile."""
        with self._lock:
            live, acts = self._begin_life(at)
            if at is None:
                return live(acts=acts, bank=copy_bank(self.bank))
            beginning = replace(self.beginning, at=self.opening)
        acts = acts.until(at)
        return live(acts=acts, bank=replayed(beginning, acts, at))

    def _begin_life(self, at: datetime | None) -> tuple[Callable[..., WorldSnapshot], Acts]:
        """All but the bank, and the acts so far."""
        now = self.ask(lambda bank: bank.clock.now)
        if at is not None and not self.opening <= at <= now:
            raise Refusal(Error.CONTROL_INVALID, input="at", why="it lies outside this world's time")
        acts = self.log
        if isinstance(acts, MemoryLog):
            acts = acts.first(len(acts))  # now, as it may be compacted meanwhile
        folded = acts.folded
        if at is not None and folded is not None and at < folded.at:
            since = folded.at.isoformat(timespec="seconds")
            why = f"acts before {since} are kept no longer (acts_kept)"
            raise Refusal(Error.CONTROL_INVALID, input="at", why=why)
        pace = Pace(at or now, self._store_time(), self.pace.rate)
        exchanges = [call for call in self.exchanges if at is None or call.at <= at]
        faults = self.faults.ordered()
        beginning = replace(self.beginning, at=self.opening)
        return partial(
            WorldSnapshot, beginning=beginning, pace=pace, faults=faults, exchanges=exchanges, calls=self.exchanges_made
        ), acts


def next_due(bank: Bank) -> datetime | None:
    due = next(timeline.coming(bank), None)
    return None if due is None else due.at
