"""What a world holds in memory, and how it is unloaded to its state file and reloaded (choice 10)."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple

from sandbox.bank import timeline
from sandbox.bank.state import Bank
from sandbox.contract.errors import Error, Refusal
from sandbox.world import files_ahead
from sandbox.world.beginning import Pace, bank_of
from sandbox.world.calls import Exchange, Recent
from sandbox.world.history import History
from sandbox.world.log.format import StateFileError
from sandbox.world.log.stored_log import StoredLog
from sandbox.world.log.writer import Backlog
from sandbox.world.long_work import collector_at_rest
from sandbox.world.ownership import ElsewhereError
from sandbox.world.trailed_world import Kept, Loaded, Log, TrailedWorld, pack_each

MUCH = 1_000  # events


class Standing(NamedTuple):
    """Where a world's clock stands; without reloading it."""

    now: datetime
    due_next: datetime | None  # of an unloaded world: as it was then; unknown if it was unloaded from the start
    away: bool


class Unloadable(TrailedWorld):
    """The part of a world that can be unloaded. Calls keep the world itself, so none meets half of one, or a second
    one under its name.
    """

    history: History | None = None  # of the server
    returned: Callable[[Any], None] | None = None  # whom it tells that it is in memory

    def _hold(
        self, bank: Bank, log: Log, calls: Iterable[Exchange] = (), kept: Mapping[str, bytes] | None = None
    ) -> None:
        self.deliver_calls()
        bank.met = self.axes.note
        earlier, self.in_memory = self.in_memory, Loaded(bank, log, Recent(calls), dict(kept or {}))
        if earlier is not None:
            earlier.release()
        if self.returned is not None:
            self.returned(self)

    def _reload(self) -> Loaded:
        if self.dropped:
            raise Refusal(Error.NOT_FOUND, input="world")
        assert self._store is not None
        began = self._store.connection.stopwatch()
        if self._store.is_shared:
            self._machine_time.rise()  # others may have answered at a later time
            self._go_on(*self._entered())
        bank, log = self._read_back(self._backlog)
        if self._store.ownership is not None:
            self._store.ownership.note_reload(self._store.connection.stopwatch() - began)
        self._hold(bank, log, *self._read_trail())
        assert self.in_memory is not None
        return self.in_memory

    def _read_back(self, backlog: Backlog) -> tuple[Bank, StoredLog]:
        """From its checkpoint and the acts since."""
        assert self._store is not None
        try:
            log, bank = StoredLog(self._store, backlog), bank_of(self.beginning, self.opening)
            log.revive(bank)
            return bank, log
        except (StateFileError, Refusal):  # a Refusal: the world is gone from the file
            raise
        except Exception as fault:  # whatever a damaged file leads to
            raise self._store.damage(f"its world {self.name} cannot be read: {fault!r}") from fault

    def unload(self, used: float) -> bool:
        """Gives the world's memory back, unless a call came since it was `used`."""
        with self.trailing, self._lock:
            if self.used != used or self.is_unloaded or self.dropped:
                return False
            assert self._store is not None
            self._undo_lost()
            self.deliver_calls()
            self._catch_up()
            due_next, packed = self._next_due(), self._packed()
            assert isinstance(self.log, StoredLog)
            self._store.writer.settle(self._backlog, self._backlog.taken)
            leave = self.log.keep_last_checkpoint(self.bank)
            self._store.trails.keep([self._trail(self.loaded()).with_kept(packed)])
            self._due_next = due_next
            self.loaded().release()
            self.in_memory = None
            leave()
            return True

    def _packed(self) -> dict[str, bytes]:
        packed = pack_each(self.kept, lambda each: each.packed())
        self.loaded().kept = dict(packed)  # also if unloading fails: what was packed is notified of nothing any more
        return packed

    def standing(self) -> Standing:
        with self._answered():
            self._demand_readable()
            if self.is_unloaded:
                return Standing(self.pace.at(self._machine_time()), self._due_next, away=True)
            self._catch_up()
            return Standing(self.bank.clock.now, self._next_due(), away=False)

    def _next_due(self) -> datetime | None:
        due = next(timeline.coming(self.bank), None)
        return None if due is None else due.at

    @contextmanager
    def _answered(self) -> Iterator[None]:
        """The lock; what was done under it is kept before it is answered."""
        with self._lock:
            yield
            backlog, taken = self._backlog, self._backlog.taken
        self._settle(backlog, taken)

    def _now(self) -> Bank:
        """The bank as it is now, for a caller who has the lock."""
        if self._store is not None:
            self._demand_readable()
        return self._catch_up()

    def _catch_up(self) -> Bank:
        bank, pace = (self.in_memory or self.loaded()).bank, self.pace
        before = bank.clock.now
        now = max(before, pace.at(self._machine_time()) if pace.rate else pace.base)
        due = bank.next_at
        is_due = due is not None and due <= now
        unread = files_ahead.first_unread(bank, now) if is_due and bank.files_waiting else None
        if unread is not None:  # time waits
            files_ahead.read_beside(unread)
            now = unread.at - files_ahead.JUST
        if is_due and now >= before:
            if self._waiting:
                self.deliver_calls()
            with self._rest(now):
                timeline.advance(bank, now)
        elif now > before:
            bank.clock.set(now)
        return bank

    def _rest(self, until: datetime) -> AbstractContextManager[None]:
        """Where much is due by then: the collector would look at what it leads to again and again, and others wait."""
        agenda = self.bank.agenda
        is_much = len(agenda.promises) > MUCH and next(islice(agenda.due(until), MUCH, None), None) is not None
        return collector_at_rest() if is_much else nullcontext()

    def keep(self, name: str, make: Callable[[bytes | None], Kept]) -> Kept:
        """What another room keeps of this world: made once, or from what was packed when it was unloaded."""
        with self._lock:
            found: Kept | bytes | None = self.kept.get(name)
            if found is None or isinstance(found, bytes):
                found = self.kept[name] = make(found)
            return found

    def _demand_readable(self) -> None:
        """Under the lock, before anything is answered from memory."""
        if self._store is not None:
            if self._store.is_shared:
                self._store.connection.look()
            self._undo_lost()

    def _demand_kept(self) -> None:
        """Under the lock, before anything changes."""
        if self._store is not None:
            self._store.connection.demand()
            self._undo_lost()
            if self._store.is_shared:
                self.loaded()  # another server may have changed what is known of an unloaded world

    def _settle(self, backlog: Backlog, taken: int) -> None:
        """Outside the lock: an answer waits until all that it depends on is kept. Nothing is told of a file that is
        gone."""
        if self._store is None:
            return
        if self.pace.rate:
            self._machine_time.keep()
        if backlog.kept >= taken:
            self._store.connection.look()
            return
        try:
            self._store.writer.settle(backlog, taken)
        except StateFileError:
            with self._lock, suppress(StateFileError, Refusal):  # at the latest before the next answer
                self._undo_lost()
            raise

    def _undo_lost(self) -> None:
        """What could not be kept did not happen: the world is read back from where it is kept. So is one that another
        server may have had meanwhile; of one that it has now, nothing is left here."""
        store, held = self._store, self.in_memory
        if store is None or not (self._backlog.lost or (held is not None and not store.has(self._backlog))):
            return
        try:
            backlog, pace, faults = self._entered()
        except (ElsewhereError, Refusal):  # a Refusal: it was dropped
            self.in_memory = None
            if held is not None:
                held.release()
            raise
        if held is not None:
            bank, log = self._read_back(backlog)
            self._packed()
            bank.met = self.axes.note
            held.bank, held.log = bank, log
            if backlog.epoch > self._backlog.epoch + 1:  # another server had it meanwhile
                calls, kept = self._read_trail()
                held.exchanges, held.kept = Recent(calls), dict(kept)
        self._go_on(backlog, pace, faults)

    def _entered(self) -> tuple[Backlog, Pace, Any]:
        """Makes the world this server's: what is kept of its pace and faults, and a backlog that begins there."""
        assert self._store is not None
        backlog = self._store.enter(self.row)
        _, pace, faults = self._store.beginnings(self._store.kept(self.row))
        return backlog, pace, faults
