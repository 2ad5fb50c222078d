"""The snapshot of a world at one moment, from which another world continues: in a fork, in an export or import, and
when a world is set back to an earlier time.

A snapshot of the present has a copy of the bank. A snapshot of an earlier time has a bank that was replayed up to that
time. In both cases the world goes on answering calls meanwhile.
"""

import zlib
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

from sandbox.bank import timeline
from sandbox.bank.state import Bank
from sandbox.storage import checkpoint
from sandbox.storage.checkpoints import Checkpoint, Checkpoints
from sandbox.storage.long_work import demand_caller, pause, stop_when_abandoned
from sandbox.storage.marks import LogHead
from sandbox.storage.memory_log import Act, MemoryLog, PackedCheckpoint, play
from sandbox.storage.store import Store
from sandbox.worlds.beginning import Beginning, make_bank
from sandbox.worlds.calls import Exchange
from sandbox.worlds.clock import Pace
from sandbox.worlds.faults import OrderedFaults

ACTS_AT_ONCE = 50  # between two pauses
EVENTS_AT_ONCE = 200  # between two pauses; they take some milliseconds


class StoredActs:
    """The acts of a stored world up to the position `until`. Each iteration reads them from the store again. `root` is
    the position before the first act. If the first acts were deleted, an iteration yields only the acts after
    `start`."""

    def __init__(self, store: Store, world: int, root: LogHead, until: LogHead) -> None:
        self._store = store
        self._world = world
        self._root = root
        self._until = until

    @cached_property
    def _start(self) -> Checkpoint | None:
        return Checkpoints(self._store).read_start(self._world)

    @cached_property
    def start(self) -> PackedCheckpoint | None:
        """The checkpoint from which the world starts if its first acts were deleted, else None."""
        start = self._start
        return start and PackedCheckpoint(start.head.acts, start.at, zlib.compress(start.bank, 1))

    def copy_until(self, at: datetime) -> MemoryLog:
        """Returns a log in memory with the acts up to a time."""
        earlier = MemoryLog(self.start)
        for act in self:
            if act.at > at:
                break
            earlier.append(act)
        return earlier

    def __iter__(self) -> Iterator[Act]:
        return self._store.read_acts(self._world, self._start.head if self._start else self._root, self._until)

    def __len__(self) -> int:
        return self._until.acts


class WorldSnapshot(NamedTuple):
    """The values with which a new world continues from another world."""

    beginning: Beginning  # with its opening
    pace: Pace
    bank: Bank
    acts: MemoryLog | StoredActs
    faults: OrderedFaults
    exchanges: list[Exchange]
    calls: int  # the number of calls since the world began
    findings: tuple[Any, ...] = ()  # of the referee, from a file


def replay(beginning: Beginning, log: Iterable[Act], until: datetime) -> Bank:
    """Replays a log on a new bank and returns the bank at the time `until`. Raises AbandonedError once the caller is
    gone."""
    assert beginning.at is not None
    bank = make_bank(beginning, beginning.at)
    if isinstance(log, MemoryLog | StoredActs) and log.start is not None:
        checkpoint.read_onto(bank, zlib.decompress(log.start.bank))
    play(bank, stop_when_abandoned(log, ACTS_AT_ONCE), advance=advance_while_waited_for)
    advance_while_waited_for(bank, until)
    return bank


def advance_while_waited_for(bank: Bank, until: datetime) -> None:
    """Moves the bank's time forward as `timeline.advance` does, but with pauses, so that other threads run. Raises
    AbandonedError once the caller is gone."""
    for _ in range(bank.decisions.due_events_max // EVENTS_AT_ONCE + 1):
        demand_caller()
        if timeline.advance_some(bank, until, EVENTS_AT_ONCE):
            return
        pause()
    raise AssertionError("the agenda never empties")
