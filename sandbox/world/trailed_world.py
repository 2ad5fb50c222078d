"""What is known of a world and what memory holds of it; and its records beside its bank: its calls, the counts of
limits, and what other rooms keep of it."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import groupby
from logging import getLogger
from typing import Any, Protocol, runtime_checkable

from sandbox.bank.state import Bank
from sandbox.world.beginning import Beginning, Pace, nth_id
from sandbox.world.calls import Exchange, NumberedCall, Recent, Record
from sandbox.world.counts import AxesMet, Limits
from sandbox.world.faults import Faults
from sandbox.world.holds import Holds
from sandbox.world.log.memory_log import MemoryLog
from sandbox.world.log.pieces import Trail
from sandbox.world.log.state_store import StateStore
from sandbox.world.log.stored_log import PackedLog, StoredLog
from sandbox.world.log.writer import Backlog
from sandbox.world.replay import release_bank
from sandbox.world.steady_clock import SteadyClock

log = getLogger("sandbox")
Log = MemoryLog | StoredLog
Acts = MemoryLog | PackedLog  # of a world that another one goes on from


@runtime_checkable
class Kept(Protocol):
    """What another room keeps of a world, also while it is unloaded: as bytes. What cannot be packed is not kept."""

    def packed(self) -> bytes:
        """Before the world is unloaded: it takes nothing more."""

    def copied(self) -> bytes:
        """The same while it goes on."""


def pack_each(held: dict[str, Any], pack: Callable[[Kept], bytes]) -> dict[str, bytes]:
    """What cannot be packed is logged and begins anew: it must keep no world in memory."""
    packed: dict[str, bytes] = {}
    for name, kept in held.items():
        try:
            if isinstance(kept, bytes | Kept):
                packed[name] = kept if isinstance(kept, bytes) else pack(kept)
        except Exception:
            log.exception("what is kept as %s of a world cannot be packed, and begins anew", name)
    return packed


@dataclass(slots=True)
class Loaded:
    """What a world holds in memory: the bank with its log, the last calls, and what other rooms keep of the world."""

    bank: Bank
    log: Log
    exchanges: Recent[Exchange]
    kept: dict[str, Any]  # gone when the world begins again

    def release(self) -> None:
        """Before it is dropped."""
        release_bank(self.bank, self.log)


class TrailedWorld(ABC):
    """The part of a world that may be a second behind after a kill, and is never behind after an orderly end."""

    in_memory: Loaded | None = None  # None: unloaded; look here where a world must not be reloaded
    touched: Callable[[Any], None] | None = None  # whom it tells that something is to be kept

    def _name(
        self, name: str, machine_time: Callable[[], float], store: StateStore | None, row: int = 0, new: bool = False
    ) -> None:
        self.name = name
        self._machine_time = machine_time if isinstance(machine_time, SteadyClock) else SteadyClock(machine_time)
        self._store = store
        self._lock = threading.RLock()  # reentrant: a caller that has it may reload
        self._moving = threading.RLock()  # of a move of the clock, taken before the world's own
        self.trailing = threading.RLock()  # held while its trail is read and written; taken before the world's own
        self._due_next: datetime | None = None
        self._stand_at(Backlog(row))
        self._waiting: list[NumberedCall[Any]] = []
        self._new = new  # whether it may take no other's place
        self.dropped = False
        self.holds = Holds()
        self.used = machine_time()  # when it was called last

    def _stand_at(self, backlog: Backlog) -> None:
        self.row = backlog.world  # in the state file or the database; 0 in neither
        self._backlog = backlog

    def _begin(self, beginning: Beginning, opening: datetime, pace: Pace, faults: Any = None) -> None:
        """The facts of a world that stay known while it is unloaded; faults are those ordered since it began."""
        self.beginning = beginning
        self.opening = opening
        self.faults = Faults(beginning.seed)
        self._go_on(self._backlog, pace, faults)
        self.holds.release_all()
        self.limits = Limits()
        self.axes = AxesMet()
        self.exchanges_made = self._calls_kept = 0

    def _go_on(self, backlog: Backlog, pace: Pace, faults: Any) -> None:
        keep = self.faults.keep if self._store is None else partial(self._store.writer.note, "faults", backlog)
        self.faults.restore(faults or (self.beginning.faults, {}), keep)
        self.pace, self._backlog = pace, backlog

    @property
    def is_unloaded(self) -> bool:
        return self.in_memory is None

    @property
    def is_here(self) -> bool:
        """Whether memory holds it, and no other server may have it."""
        return self.in_memory is not None and (self._store is None or self._store.has(self._backlog))

    def loaded(self) -> Loaded:
        """What the world holds in memory. An unloaded world is reloaded here, and nowhere else."""
        found = self.in_memory
        if found is None:
            with self._lock:
                found = self.in_memory or self._reload()
        return found

    @abstractmethod
    def _reload(self) -> Loaded: ...

    @property
    def bank(self) -> Bank:
        return (self.in_memory or self.loaded()).bank

    @property
    def log(self) -> Log:
        return self.loaded().log

    def add_call(self, record: Record) -> NumberedCall[Any]:
        """Takes a call that was answered. It waits until anything that it is judged by changes, somebody looks, or
        enough wait: then those that observe calls take all that wait at once, which costs less than one by one."""
        with self._lock:
            bank = (self.in_memory or self.loaded()).bank
            self.exchanges_made = seq = self.exchanges_made + 1
            call = NumberedCall(seq, record.request_id or nth_id(self.beginning, seq), bank.clock.now, record)
            self._waiting.append(call)
            self.touch()
            return call

    def deliver_calls(self) -> None:
        """Hands the waiting calls to the observers, in order. A failure of an observer is logged: the caller who causes
        the delivery is seldom one of those whose calls are delivered."""
        with self._lock:
            if not self._waiting:
                return
            bank = self.loaded().bank  # before the queue is emptied: where that fails, the calls wait on
            self.used = self._machine_time()
            waiting, self._waiting = self._waiting, []
            for observe, group in groupby(waiting, key=lambda call: call.record.observe):
                calls = list(group)
                try:
                    observe(self, bank, calls)
                except Exception:
                    ids = ", ".join(call.request_id for call in calls)
                    log.exception("the calls %s were answered, and cannot be observed", ids)

    @property
    def exchanges(self) -> Recent[Exchange]:
        self.deliver_calls()
        return self.loaded().exchanges

    @property
    def kept(self) -> dict[str, Any]:
        self.deliver_calls()
        return self.loaded().kept

    def exchange_of(self, request_id: str) -> Exchange | None:
        """The last call under an id, as far back as calls are kept."""
        with self._lock:
            return next((one for one in reversed(self.exchanges) if one.request_id == request_id), None)

    def calls_after(self, since: int) -> list[Exchange]:
        """The calls after a number."""
        with self._lock:
            return [exchange for exchange in self.exchanges if exchange.seq > since]

    def touch(self) -> None:
        if self.touched is not None:
            self.touched(self)

    def trail(self) -> Trail | None:
        """What came since the last time, while the world goes on; None of one that is not here."""
        with self._lock:
            if self.dropped or not self.is_here:
                return None
            self.deliver_calls()
            held = self.in_memory
            assert held is not None
            kept, trail = dict(held.kept), self._trail(held)
        return trail.with_kept(pack_each(kept, lambda each: each.copied()))  # which takes long, so after the lock

    def _trail(self, held: Loaded) -> Trail:
        calls_kept: Recent[Exchange] = held.exchanges
        calls: list[tuple[Any, ...]] = []
        for call in reversed(calls_kept):
            if call.seq <= self._calls_kept:
                break
            calls.append(tuple(call))
        oldest, made = (calls_kept[0].seq if calls_kept else self.exchanges_made + 1), self.exchanges_made
        return Trail(self.row, calls[::-1], oldest, made, self.limits.kept())

    def note_trail(self, trail: Trail) -> None:
        """It was kept."""
        if trail.calls and trail.world == self.row:
            self._calls_kept = trail.calls[-1][0]

    def _read_trail(self) -> tuple[list[Exchange], dict[str, bytes]]:
        """The calls and what other rooms keep, as they were kept last; the counts go on from there."""
        assert self._store is not None
        calls, rest = self._store.trails.read(self.row)
        if rest.limits is not None:
            self.limits.restore(rest.limits)
        self._calls_kept = calls[-1][0] if calls else 0
        self.exchanges_made = max(self.exchanges_made, rest.made, self._calls_kept)
        return [Exchange(*call[: len(Exchange._fields)]) for call in calls], rest.kept
