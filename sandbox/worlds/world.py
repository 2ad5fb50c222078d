"""A world: a bank with its lock, its clock and its log. The log is the list of acts. An act is one change of the bank:
a verb with its arguments, and its bank time.

Problem. A bank is in the memory of a server that may be killed at any moment, and several servers may answer calls of
the same world. Still, no answer may show anything that is not in the log, and no act may be lost or doubled.

Invariant. The log is the truth, and the bank in memory is a copy of it up to a position. An act is answered after the
store has confirmed its commit.

Design. A call that changes something runs in `change`: under the world's lock, in one transaction of the store, it
brings the copy up to date, makes its checks and its acts, and adds the acts to the log. They are committed before the
call's result is returned. If the copy may be wrong, it is discarded and read again from the store. This happens after a
failed commit, after an error of the program, and if the log does not continue from the position of the copy. Nothing is
ever undone. To undo an act, each verb would need an inverse, and a wrong one would damage a bank unnoticed. Reading the
bank again is the same code as a start.

If several servers share a store, two more rules make their copies equal. First, time is the database's. Second, events
that fall due happen only in `change`, and the log notes them by an act that passes time. So no server shows the effect
of an event while another one adds an act before it. A call that only reads, and finds that something is due, first lets
time pass in this way. Without a store, or with a state file, there is only one copy, and its time simply advances.

The clock, the fault rules, the barriers and the calls of a world are classes of their own. Testers' changes to them are
not acts. The store has them beside the acts and writes them in the same transactions.
"""

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
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
from sandbox.storage.format import ActsDeletedError, StateFileError, find_program_version
from sandbox.storage.marks import LogHead, MarkError, demand_chain
from sandbox.storage.memory_log import Act, MemoryLog, ReplayMismatch, play
from sandbox.storage.store import Change, Position, Store, WorldRow, WorldUpdate
from sandbox.worlds import files_ahead
from sandbox.worlds.beginning import Beginning, ControlState, make_bank, read_beginning, read_controls, write_beginning
from sandbox.worlds.call_history import CALLS, CallHistory
from sandbox.worlds.clock import Pace, WorldClock
from sandbox.worlds.counts import AxesMet, count_up
from sandbox.worlds.faults import FaultRules, OrderedFaults
from sandbox.worlds.files_ahead import UnreadFile
from sandbox.worlds.holds import Holds
from sandbox.worlds.snapshot import StoredActs, WorldSnapshot, replay

# Verbs that only add to a bank. They do not affect how earlier calls are judged, unless an axis of the bank lets them
# renew an address.
ADDING: frozenset[Callable[..., object]] = frozenset((payments.initiate, standing_orders.initiate))
ADDING_NAMES = frozenset(NAMES[verb] for verb in ADDING)
NO_POSITION = Position(0, LogHead(0, 0), 0)
ACTS_AT_ONCE = 500

P = ParamSpec("P")
T = TypeVar("T")


class ClockReading(NamedTuple):
    """Bank time, and the time of the next event or None."""

    now: datetime
    due_next: datetime | None


class World:
    """A bank with its lock, clock, fault rules, barriers, calls and log.

    `act`, `enter`, `change`, `ask` and `look` run a function on the bank. They hold the lock meanwhile, so only one
    caller at a time uses the bank.
    """

    def __init__(self, name: str, machine_time: Callable[[], float], store: Store | None = None) -> None:
        self.name = name
        self.store = store
        self.is_shared = store is not None and store.is_shared  # other servers may answer calls of this world
        self.dropped = False
        self.lock = threading.RLock()
        self.clock = WorldClock(machine_time, store)
        self.faults = FaultRules(self.change, self.note_controls)
        self.holds = Holds(self.change, self.note_controls, self.follow, is_shared=self.is_shared)
        self.calls = CallHistory(self)
        self.axes = AxesMet()
        self.used = machine_time()  # when it was called last, by the machine's clock
        self.on_growth: Callable[[int], None] = lambda weight: None  # called with the bytes that were added to memory
        self.demand_files: Callable[[int], None] = lambda size: None  # refuses a file if memory is full
        self._bank: Bank | None = None
        self._memory_log: MemoryLog | None = None
        self._position = NO_POSITION
        self._root = LogHead(0, 0)  # where the chain of its acts begins
        self._checkpoint_acts = 0  # acts in the last checkpoint
        self._current_change: Change | None = None
        self._has_new_controls = False  # the current change must write them
        self._has_new_events = False  # events happened in the current change after its last act

    # How a world comes to be

    @classmethod
    def make_begun(
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
    def from_snapshot(
        cls,
        name: str,
        snapshot: WorldSnapshot,
        machine_time: Callable[[], float],
        store: Store | None = None,
        *,
        replaces: bool = False,
    ) -> "World":
        """Makes a world that continues from a snapshot of another world, and stores it if there is a store. If the
        store has a world of this name already, the new world replaces it if `replaces`, else WORLD_TAKEN is raised."""
        world = cls(name, machine_time, store)
        world._begin_with(snapshot, snapshot.beginning, replaces=replaces)
        return world

    @classmethod
    def make_stored(cls, row: WorldRow, machine_time: Callable[[], float], store: Store) -> "World":
        """Makes a world from its row in a store. Its bank is loaded when it is first used."""
        world = cls(row.name, machine_time, store)
        world._read_row(store, row)
        return world

    def load(self, beginning: Beginning) -> None:
        """Replaces the bank by a new one that is made from `beginning`. It may be the beginning of another scenario.
        Drops the old acts and calls. Calls that wait at a barrier continue. With a store, raises NOT_FOUND if the world
        was dropped."""
        with self.clock.moving, self.lock:
            self.follow()
            self.calls.deliver()
            self.holds.end()
            self._begin_anew(beginning, replaces=True, only=self.row)

    def reset(self) -> None:
        """Replaces the bank by a new one that is made from the world's own beginning. If the beginning gives no time, a
        world that began with a frozen clock opens at the same time as before, and a world that began with a running
        clock opens at the current time."""
        with self.clock.moving, self.lock:
            self.follow()
            keep = self.beginning.at or (self.opening if self.beginning.rate == 0 else None)
            self.load(replace(self.beginning, at=keep))

    def snapshot(self, at: datetime | None = None) -> WorldSnapshot:
        """Returns a snapshot of the world, from which another world can continue. Without `at`, it has a copy of the
        present bank. With `at`, a replay computes the bank as it was at that bank time. Calls go on during the replay.

        Raises a Refusal if `at` is later than now, if it is earlier than the world's opening, or if acts that the
        replay needs were deleted. Raises AbandonedError if the caller hangs up during the replay.
        """
        with self.lock:
            now, acts = self.ask(lambda bank: bank.clock.now), self.log
            if isinstance(acts, MemoryLog):
                acts = acts.copy_first(len(acts))  # because the world's log may drop acts meanwhile
            if at is not None:
                self._demand_past(at, now, acts)
            beginning = replace(self.beginning, at=self.opening)
            pace = Pace(at or now, self.clock.read_time(), self.clock.pace.rate)
            calls = [call for call in self.calls.list_all() if at is None or call.at <= at]
            bank = copy_bank(self.bank) if at is None else None
            faults, made = self.faults.copy_ordered(), self.calls.made
        if at is not None:
            acts = acts.copy_until(at)
        bank = bank or replay(beginning, acts, pace.base)
        return WorldSnapshot(beginning, pace, bank, acts, faults, calls, made)

    def _demand_past(self, at: datetime, now: datetime, acts: MemoryLog | StoredActs) -> None:
        if not self.opening <= at <= now:
            raise Refusal(Error.CONTROL_INVALID, input="at", why="it lies outside this world's time")
        start = acts.start
        if start is not None and at < start.at:
            reason = f"acts before {start.at.isoformat(timespec='seconds')} are kept no longer (acts_kept)"
            raise Refusal(Error.CONTROL_INVALID, input="at", why=reason)

    def _begin_anew(self, beginning: Beginning, *, replaces: bool, only: int | None = None) -> None:
        # A bank has only times in UTC.
        opening = (beginning.at or self.clock.read_real_time().replace(microsecond=0)).astimezone(UTC)
        pace = Pace(opening, self.clock.read_time(), beginning.rate)
        faults = OrderedFaults(beginning.faults, {}, {})
        bank = make_bank(beginning, opening)
        snapshot = WorldSnapshot(replace(beginning, at=opening), pace, bank, MemoryLog(), faults, [], 0)
        self._begin_with(snapshot, beginning, replaces=replaces, only=only)

    def _begin_with(
        self, snapshot: WorldSnapshot, beginning: Beginning, *, replaces: bool, only: int | None = None
    ) -> None:
        opening, acts = snapshot.beginning.at, snapshot.acts
        assert opening is not None
        controls = ControlState(snapshot.pace, snapshot.faults)
        position = NO_POSITION
        if self.store is None:
            assert isinstance(acts, MemoryLog)
        else:
            until = self.clock.read_time() if self.is_shared else 0.0
            if self.is_shared:
                controls = controls._replace(pace=replace(snapshot.pace, since=until))
            row = self.store.begin(
                self.name,
                write_beginning(beginning, opening),
                controls,
                acts,
                acts.start,
                replaces=replaces,
                only=only,
                until=until,
            )
            position, self._root = row.position, row.root
            if self.is_shared and snapshot.calls:
                count_up(self.store, row.id, CALLS, snapshot.calls)
        self._set_beginning(beginning, opening)
        self._set_controls(controls)
        self.calls.begin(snapshot.exchanges, snapshot.calls)
        self._set_bank(snapshot.bank, position)
        self._memory_log = acts if self.store is None and isinstance(acts, MemoryLog) else None
        self._checkpoint_acts = 0

    def _set_beginning(self, beginning: Beginning, opening: datetime) -> None:
        self.beginning = beginning
        self.opening = opening
        self.faults.seed = beginning.seed
        self.axes = AxesMet()

    def _set_controls(self, controls: ControlState) -> None:
        self.clock.pace = controls.pace
        self.faults.restore(controls.faults)
        self.holds.restore(controls.holds)

    def _set_bank(self, bank: Bank, position: Position) -> None:
        bank.note_decisions(self.axes.note)
        earlier, self._bank, self._position = self._bank, bank, position
        if earlier is not None and earlier is not bank:
            release_bank(earlier)

    # Changing

    def act(self, verb: Callable[Concatenate[Bank, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs one verb on the bank, adds the act to the log, and returns the verb's result. If the verb raises a
        Refusal, the act is added only if the refusal is `lasting`, which means that the verb has changed the bank.
        Otherwise the bank is as it was before."""
        assert not kwargs, "the arguments of an act are given by place"
        return self.enter(lambda bank: self.do(verb, *args))

    def enter(self, work: Callable[Concatenate[Bank, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs `work` on the bank and returns its result. `work` changes the bank only by `do`. Bank time does not move
        while it runs.

        If the validation of a large bulk file is due now and the file was not read yet, the file is read without the
        lock, before `work` runs or before its result is returned.
        """

        def judge(bank: Bank) -> tuple[list[T], UnreadFile | None]:
            unread = files_ahead.find_unread_now(bank) if bank.files_waiting else None
            if unread is not None:  # a replay validates the file first too, and then does the act
                return [], unread
            outcome = work(bank, *args, **kwargs)
            return [outcome], files_ahead.find_unread_now(bank) if bank.files_waiting else None

        while True:
            outcome, unread = self.change(judge)
            if unread is not None:
                files_ahead.read(unread)
            if outcome:
                return outcome[0]

    def do(self, verb: Callable[..., T], *args: Any) -> T:
        """Runs a verb on the bank, adds the act to the log, and returns the verb's result. If the verb raises a
        Refusal, adds the act only if the refusal is `lasting`. Some answered calls may still wait for their observers.
        If the verb may change how these judge the calls, the calls are delivered first. May be called only by work that
        `enter` or `change` runs."""
        bank = self._bank
        assert bank is not None, "the world was not entered"
        if self.calls.has_waiting and (verb not in ADDING or bank.decisions.variants):
            self.calls.deliver()
        try:
            outcome = verb(bank, *args)
        except Refusal as refusal:
            if refusal.lasting:
                self._note_act(bank, Act(bank.clock.now, NAMES[verb], args, bank.made))
            raise
        self._note_act(bank, Act(bank.clock.now, NAMES[verb], args, bank.made))
        return outcome

    def _note_act(self, bank: Bank, act: Act) -> None:
        if self._memory_log is not None:
            self._memory_log.note(bank, act)
            return
        change = self._current_change
        assert change is not None, "an act of a stored world belongs to a change"
        change.add(act._replace(id=change.act_id))
        self._has_new_events = False

    def note_controls(self) -> None:
        """Marks the clock's pace, the fault rules or the barriers as changed. The present call of `change` then stores
        them."""
        self._has_new_controls = True

    def note_events(self) -> None:
        """Marks that scheduled events ran in the present call of `change`. If servers share the world, `change` then
        adds an act that passes time, even if nothing else is added, so that the other servers run the same events."""
        self._has_new_events = True

    def set_pace(self, begin: datetime, base: datetime, rate: float) -> None:
        """Sets the clock as WorldClock.set_pace does, and marks it as changed. May be called only by work that `change`
        runs."""
        self.clock.set_pace(begin, base, rate)
        self.note_controls()

    def change(self, work: Callable[[Bank], T]) -> T:
        """Runs `work` on the bank, brought up to the current time, and returns its result. With a store, first stores
        the acts of `work`, and the clock's pace, the fault rules and the barriers if `work` changed them. If `work`
        raises a Refusal, all this is stored too, and then the Refusal is raised. After any other error, the copy of a
        stored bank is dropped and is loaded again at its next use.

        Within another call of `change`, `work` only runs: the outer call has brought the bank up to the current time,
        and stores everything at its end.
        """
        with self.lock:
            if self.store is None:
                return work(self._catch_up(self.bank))
            if self._current_change is not None:  # within another call of `change`
                return work(self.bank)
            store = self.store
            outcome, refusal = store.database.repeat(lambda: self._change_stored(store, work))
            if refusal is not None:
                raise refusal
        if self.clock.pace.rate:
            self.clock.keep()
        return outcome[0]

    def _change_stored(self, store: Store, work: Callable[[Bank], T]) -> tuple[list[T], Refusal | None]:
        if not store.is_shared:
            assert self.bank  # loads the bank, before anything is changed
        outcome: list[T] = []
        refusal = None
        has_begun = False
        try:
            with store.change(self.name, self._position) as change:
                if change.update is not None:
                    self._follow(store, change.update)
                self._current_change, self._has_new_controls, self._has_new_events = change, False, False
                has_begun = True
                bank = self.bank
                bank.mint.salt = change.act_id
                try:
                    outcome.append(work(self._catch_up(bank)))
                except Refusal as raised:
                    refusal = raised
                if self._has_new_events and store.is_shared:
                    self._note_act(bank, Act(bank.clock.now, NAMES[timeline.pass_time], (), bank.made))
                if self._has_new_controls:
                    holds = self.holds.list_stored() if self.is_shared else ()
                    change.note(ControlState(self.clock.pace, self.faults.copy_ordered(), holds))
            self._position = change.position
        except BaseException:
            if has_begun:
                self._forget_copy()
            raise
        finally:
            self._current_change = None
        self._write_checkpoint_if_due()
        return outcome, refusal

    # Reading

    def ask(self, question: Callable[Concatenate[Bank, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs a read-only function on the bank, brought up to the current time, and returns its result. Within a call
        of `change`, which has already brought the bank up to the current time, only runs the function."""
        with self.lock:
            if self.store is not None and self._current_change is None:
                self.store.database.demand_present()
                if self.is_shared and self._is_due(self.bank):
                    self.change(lambda bank: None)
            bank = self.bank
            if self._current_change is None:
                bank = self._catch_up(bank)
            answer = question(bank, *args, **kwargs)
        if self.clock.pace.rate:
            self.clock.keep()
        return answer

    def look(self, question: Callable[Concatenate[Bank, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs a read-only function on the bank and returns its result. Unlike `ask`, does not bring the bank up to the
        current time, so no event runs."""
        with self.lock:
            return question(self.bank, *args, **kwargs)

    @property
    def bank(self) -> Bank:
        """The bank in memory. Loads it from the store if it is not in memory."""
        bank = self._bank
        if bank is None:
            with self.lock:
                bank = self._bank or self._load()
        return bank

    @property
    def in_memory(self) -> Bank | None:
        """The bank, or None if it is not loaded."""
        return self._bank

    @property
    def is_unloaded(self) -> bool:
        return self._bank is None

    @property
    def log(self) -> MemoryLog | StoredActs:
        """The acts so far."""
        with self.lock:
            assert self.bank
            if self._memory_log is not None:
                return self._memory_log
            assert self.store is not None
            return StoredActs(self.store, self.row, self._root, self._position.head)

    @property
    def row(self) -> int:
        """The number of the world in the store."""
        return self._position.world

    @property
    def position(self) -> Position:
        """The position in the log up to which the copy in memory has the acts."""
        return self._position

    @property
    def acts(self) -> int:
        """The number of acts since the world began, including those that were deleted since."""
        return self._position.head.acts if self._memory_log is None else len(self._memory_log)

    @property
    def settings(self) -> Decisions:
        """The settings in force. They are replaced as a whole, so reading them needs no lock."""
        return self.bank.settings

    @property
    def decisions(self) -> Decisions:
        """The settings in force. Unlike `settings`, this object notes each decision that is read, so that the world can
        list the axes that affected its calls."""
        return self.bank.decisions

    def is_judged_by_settings(self) -> bool:
        """Whether the world's settings alone are enough to check a call before it enters the bank. False if the bank is
        not loaded, if there are fault rules or barriers, if an axis is not at its default, or if clients need
        certificates."""
        bank = self._bank
        return (
            bank is not None
            and not (self.faults.rules or self.holds.by_name or bank.decisions.variants)
            and bank.decisions.client_certificates == "off"
        )

    def begin_call(self) -> Decisions:
        """Returns the decisions by which a call is judged. If an axis is not at its default, begins to collect the
        decisions that this call reads."""
        decisions = self.bank.decisions
        if decisions.variants:
            self.axes.begin_call()
        return decisions

    def read_certificate_time(self) -> datetime:
        """Returns the time at which a certificate must be valid. A setting says whether that is bank time or real time
        (choice 9)."""
        return self.bank.clock.now if self.decisions.certificate_clock == "bank" else self.clock.read_real_time()

    def read_clock(self) -> ClockReading:
        """Returns bank time and the time of the next event. The time of the next event is None if nothing is scheduled,
        or if the world is unloaded. An unloaded world is not loaded for this."""

        def look(bank: Bank) -> ClockReading:
            due = next(timeline.list_coming(bank), None)
            return ClockReading(bank.clock.now, None if due is None else due.at)

        with self.lock:
            return ClockReading(self.clock.read_now(), None) if self._bank is None else self.ask(look)

    # Following the store

    def follow(self) -> None:
        """Applies the acts of other servers to the copy in memory. Does nothing if servers do not share the world, or
        within `change`, which has done it. Raises NOT_FOUND if the world was dropped."""
        if self.store is None or not self.is_shared:
            return
        with self.lock:
            if self._current_change is not None:
                return
            update = self.store.look(self.name, self._position)
            if update is None:
                self.dropped = True
                raise Refusal(Error.NOT_FOUND, input="world")
            self._follow(self.store, update)

    def _follow(self, store: Store, update: WorldUpdate) -> None:
        """Applies `update` to the copy in memory. The update has the acts of other servers. It also has the clock's
        pace, the fault rules and the barriers, if these were changed. If there is no copy, or if the acts cannot be
        applied to it, loads the world from the store instead."""
        self.clock.note_time(update.time)
        if update.position == self._position and self._bank is not None:
            return
        try:
            if self._bank is None or update.position.world != self._position.world:
                raise MarkError(0)
            self._apply_acts(store, self._bank, update)
        except (MarkError, ReplayMismatch, StateFileError, AssertionError, Refusal):
            self._forget_copy()
            self._load()
            if self._current_change is None and self._position != update.position:
                return  # another server made a change meanwhile, which was loaded too
        if update.noted is not None:
            self._set_controls(read_controls(update.noted))
        self._position = update.position

    def _apply_acts(self, store: Store, bank: Bank, update: WorldUpdate) -> None:
        head, until = self._position.head, update.position.head
        rows = update.rows
        while head != until:
            if not rows or head.acts >= until.acts:
                raise MarkError(head.acts)
            for row in demand_chain(rows, head):
                act = store.read_act(row)
                if self.calls.has_waiting and self._may_alter_judgement(bank, act):
                    self.calls.deliver()
                if bank.clock.now > act.at:
                    bank.clock = Clock(act.at)  # a call read the bank later than the act; nothing fell due in between
                play(bank, [act], head.acts)
                head = row.head
                if head == until:
                    break
            rows = list(islice(store.read_rows(self.row, head), ACTS_AT_ONCE)) if head != until else []

    def _may_alter_judgement(self, bank: Bank, act: Act) -> bool:
        """Whether an act of another server, or an event due before it, may change how waiting calls are judged."""
        due = bank.next_at
        return act.verb not in ADDING_NAMES or bool(bank.settings.variants) or (due is not None and due <= act.at)

    def _load(self) -> Bank:
        """Reads the world from the store: its last checkpoint and the acts after it, and its calls if they are not in
        memory. Returns the bank. Raises NOT_FOUND if the world was dropped, and StateFileError if it cannot be read."""
        store = self.store
        if self.dropped or store is None:
            raise Refusal(Error.NOT_FOUND, input="world")
        row = store.find(self.name)
        if row is None:
            self.dropped = True
            raise Refusal(Error.NOT_FOUND, input="world")
        if row.id != self.row:
            self.holds.end()
        self._read_row(store, row)
        try:
            try:
                bank = self._load_bank(store, row.position)
            except ActsDeletedError:  # another server deleted its first acts, so now it has a later start
                bank = self._load_bank(store, row.position)
        except (StateFileError, Refusal):
            raise
        except Exception as fault:  # whatever damaged content leads to
            raise store.note_damage(f"its world {self.name} cannot be read: {fault!r}") from fault
        if not self.calls.is_loaded:  # else only the copy of the bank was dropped
            self.calls.read_back(store, row.id)
        self._set_bank(bank, row.position)
        return bank

    def _load_bank(self, store: Store, position: Position) -> Bank:
        """Returns the bank of the last usable checkpoint with the later acts replayed. Without a usable checkpoint,
        replays all acts that the store has. Raises StateFileError if an act has another outcome than it had when it was
        logged."""
        bank, checkpoints = make_bank(self.beginning, self.opening), Checkpoints(store)
        latest = checkpoints.read(position.world, checkpoint.compute_program_digest())
        if latest is None or latest.head.acts > position.head.acts:
            latest = checkpoints.read_start(position.world)
        since = latest.head if latest else self._root
        if latest is not None:
            checkpoint.read_onto(bank, latest.bank)
        self._checkpoint_acts = since.acts
        try:
            play(bank, store.read_acts(position.world, since, position.head), since.acts)
        except ReplayMismatch as mismatch:
            raise StateFileError(
                f"{store.path}: this program ({find_program_version()}) cannot go on with its world {self.name}: "
                f"{mismatch}. It was left as it is"
            ) from None
        return bank

    def _read_row(self, store: Store, row: WorldRow) -> None:
        try:
            self._set_beginning(*read_beginning(row.beginning))
            self._set_controls(read_controls(row.noted))
        except (ValueError, TypeError) as error:
            raise store.make_read_error(f"its world {row.name}", error) from None
        self._root = row.root
        self.clock.note_change(row.until)
        if row.id != self.row:
            self.calls.begin(is_loaded=False)
        self._position = row.position

    def _forget_copy(self) -> None:
        """Drops the copy in memory, which may be wrong. The next use loads it again."""
        bank, self._bank = self._bank, None
        self._position = self._position._replace(head=LogHead(0, 0), version=0)
        if bank is not None:
            release_bank(bank)

    # Time

    def compute_now(self, bank: Bank) -> datetime:
        """Returns the current bank time. `bank.clock.now` is the time up to which the bank's events have run."""
        pace = self.clock.pace
        return max(bank.clock.now, self.clock.read_now() if pace.rate else pace.base)

    def _is_due(self, bank: Bank) -> bool:
        due = bank.next_at
        return due is not None and due <= self.compute_now(bank)

    def _catch_up(self, bank: Bank) -> Bank:
        """Brings the bank's time up to now, and runs all events that are due. Returns the bank.

        If the validation of a large bulk file is due and the file was not read yet, time stops just before the
        validation, and the file is read in the background.
        """
        before, now = bank.clock.now, self.compute_now(bank)
        due = bank.next_at
        is_due = due is not None and due <= now
        unread = files_ahead.find_first_unread(bank, now) if is_due and bank.files_waiting else None
        if unread is not None:  # bank time stops before the validation
            files_ahead.read_in_background(unread)
            now = unread.at - files_ahead.JUST
            is_due = due is not None and due <= now
        if is_due and now >= before:
            if self.calls.has_waiting:
                self.calls.deliver()
            timeline.advance(bank, now)
            self.note_events()
        elif now > before:
            bank.clock.set(now)
        return bank

    def note_used(self) -> None:
        self.used = self.clock.machine_time()

    # Checkpoints and leaving memory

    def _write_checkpoint_if_due(self) -> None:
        acts, last = self._position.head.acts, self._checkpoint_acts
        if self._bank is not None and acts >= last + max(checkpoint.EVERY, last // checkpoint.SHARE):
            self._write_checkpoint(copy_bank(self._bank))

    def _write_checkpoint(self, bank: Bank) -> None:
        """Writes a checkpoint of `bank` in the background, and then frees this bank. No caller may change it any
        more."""
        store, position = self.store, self._position
        assert store is not None
        self._checkpoint_acts = position.head.acts

        def write() -> None:
            with suppress(StateFileError):  # without this checkpoint a start takes longer
                digest, content = checkpoint.compute_program_digest(), checkpoint.write(bank)
                Checkpoints(store).write(position.world, position.head, bank.clock.now, digest, content)
            release_bank(bank)

        store.run_in_background("checkpoint", write)

    def leave_memory(self, used: float) -> bool:
        """Writes a checkpoint of the bank if it has new acts, and frees the bank's memory. Returns whether it was
        freed.

        The bank is not freed if a call came after `used`, if a change is running, or if there are calls that are not
        stored yet.
        """
        if not self.calls.write():
            return False
        with self.lock, self.calls.writing:  # so that calls are not loaded while another thread still writes them
            bank = self._bank
            if self.used != used or bank is None or self._current_change is not None:
                return False
            if self.calls.has_waiting or self.calls.has_unwritten:
                return False
            if self._position.head.acts > self._checkpoint_acts:
                self._write_checkpoint(bank)
                self._bank = None  # `_write_checkpoint` releases it
            self._forget_copy()
            self.calls.begin(is_loaded=False)
            return True

    def end(self) -> None:
        """Marks the world as dropped or replaced, and lets its held calls continue. Calls may still use the bank, so
        `release_bank` frees it only when nobody refers to it any more. A world without a store keeps its bank, because
        it could not load the bank again."""
        with self.lock:
            self.dropped = True
            self.holds.end()
            bank, self._bank = self._bank, self._bank if self.store is None else None
        if bank is not None:
            release_bank(bank)

    @property
    def weight(self) -> int:
        """The approximate bytes in memory of the world's calls, acts and waiting files, without its bank. 0 if it is
        unloaded."""
        if self._bank is None:
            return 0
        acts = 0 if self._memory_log is None else self._memory_log.weight
        return self.calls.weight + acts + self.files_weight

    @property
    def files_weight(self) -> int:
        """The bytes of the files that wait for their validation."""
        bank = self._bank
        return 0 if bank is None else sum(list(bank.files_waiting.values()))

    def forget_calls(self, share: int) -> int:
        """Drops the oldest calls. With `share` 10, drops the oldest tenth of them. Returns the number of freed bytes.
        Does nothing and returns 0 if another thread holds the world's lock."""
        if not self.lock.acquire(blocking=False):
            return 0
        try:
            before = self.weight
            self.calls.forget(share)
            return before - self.weight
        finally:
            self.lock.release()

    def compact(self) -> None:
        """Begins a checkpoint of a world without a store. Once it is complete, the memory log drops old acts. Does
        nothing if another thread holds the world's lock."""
        if self.lock.acquire(blocking=False):
            try:
                if self._bank is not None and self._memory_log is not None:
                    self._memory_log.keep_checkpoint(self._bank)
            finally:
                self.lock.release()
