"""A world's records beside its bank: its calls, the counts of limits, and what other rooms keep of it."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from sandbox.world.beginning import Beginning, nth_id
from sandbox.world.calls import Exchange, NumberedCall, Recent, Record
from sandbox.world.limits import Limits
from sandbox.world.loaded import Loaded
from sandbox.world.log.trails import Trail, write_rest
from sandbox.world.steady_clock import SteadyClock

if TYPE_CHECKING:
    from sandbox.world.log.state_store import StateStore


@runtime_checkable
class Kept(Protocol):
    """What another room keeps of a world, also while it is unloaded: as bytes. What cannot be packed is not kept."""

    def packed(self) -> bytes:
        """Before the world is unloaded: it takes nothing more."""

    def copied(self) -> bytes:
        """The same while it goes on."""


def bytes_of(kept: Kept | bytes) -> bytes:
    return kept if isinstance(kept, bytes) else kept.packed()


def each_kept(held: dict[str, Any]) -> Iterator[tuple[str, Kept | bytes]]:
    return ((name, kept) for name, kept in held.items() if isinstance(kept, bytes | Kept))


def with_rest(trail: Trail, packed: dict[str, bytes]) -> Trail:
    return trail._replace(rest=write_rest(trail.made, trail.limits, packed))


class TrailedWorld(ABC):
    """The part of a world that may be a second behind after a kill, and is never behind after an orderly end."""

    in_memory: Loaded | None = None  # None: unloaded; look here where a world must not be reloaded
    touched: Callable[[Any], None] | None = None  # whom it tells that something is to be kept
    beginning: Beginning
    dropped: bool
    trailing: threading.RLock  # taken before the world's own
    limits: Limits
    exchanges_made: int
    used: float
    _machine_time: SteadyClock
    _waiting: list[NumberedCall[Any]]
    _calls_kept: int
    _lock: threading.RLock
    _row: int
    _store: "StateStore | None"

    @property
    @abstractmethod
    def is_here(self) -> bool:
        """Whether memory holds it, and no other server may have it."""

    @abstractmethod
    def loaded(self) -> Loaded:
        """What the world holds in memory."""

    def add_call(self, record: Record) -> NumberedCall[Any]:
        """Takes a call that was answered. It waits until anything that it is judged by changes, somebody looks, or
        enough wait: then those that observe calls take all that wait at once, which costs less than one by one."""
        with self._lock:
            bank = (self.in_memory or self.loaded()).bank
            self.exchanges_made = seq = self.exchanges_made + 1
            call = NumberedCall(seq, record.request_id or nth_id(self.beginning, seq), bank.clock.now, record)
            self._waiting.append(call)
            if self.touched is not None:
                self.touched(self)
            return call

    def deliver_calls(self) -> None:
        """Hands the waiting calls to the observers, in order."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
            if waiting:
                self.used = self._machine_time()
                bank = self.loaded().bank
                for observe, calls in groupby(waiting, key=lambda call: call.record.observe):
                    observe(self, bank, list(calls))

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
        # Packing takes long, so it comes after the lock.
        copies = {name: each if isinstance(each, bytes) else each.copied() for name, each in each_kept(kept)}
        return with_rest(trail, copies)

    def _trail(self, held: Loaded) -> Trail:
        calls_kept: Recent[Exchange] = held.exchanges
        calls: list[tuple[Any, ...]] = []
        for call in reversed(calls_kept):
            if call.seq <= self._calls_kept:
                break
            calls.append(tuple(call))
        oldest, made = (calls_kept[0].seq if calls_kept else self.exchanges_made + 1), self.exchanges_made
        return Trail(self._row, calls[::-1], oldest, made, self.limits.kept(), b"")

    def note_trail(self, trail: Trail) -> None:
        if trail.calls and trail.world == self._row:
            self._calls_kept = trail.calls[-1][0]

    def _read_trail(self) -> tuple[list[Exchange], dict[str, bytes]]:
        """The calls and what other rooms keep, as they were kept last; the counts go on from there."""
        assert self._store is not None
        calls, rest = self._store.trails.read(self._row)
        if rest.limits is not None:
            self.limits.restore(rest.limits)
        self._calls_kept = calls[-1][0] if calls else 0
        self.exchanges_made = max(self.exchanges_made, rest.made, self._calls_kept)
        return [Exchange(*call[: len(Exchange._fields)]) for call in calls], rest.kept
