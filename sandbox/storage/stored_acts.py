"""The acts of a stored world up to a position, read when they are needed: a log only grows, so they stay the same."""

import zlib
from collections.abc import Iterator
from datetime import datetime
from functools import cached_property

from sandbox.storage.checkpoints import Checkpoint, Checkpoints
from sandbox.storage.marks import LogHead
from sandbox.storage.memory_log import Act, MemoryLog, PackedCheckpoint
from sandbox.storage.store import Store


class StoredActs:
    """The acts of a stored world. Each iteration reads them again. `root` is the head before the first act."""

    def __init__(self, store: Store, world: int, root: LogHead, until: LogHead) -> None:
        self._store = store
        self._world = world
        self._root = root
        self._until = until

    @cached_property
    def _start(self) -> Checkpoint | None:
        return Checkpoints(self._store).read_start(self._world)

    @cached_property
    def folded(self) -> PackedCheckpoint | None:
        """The bank before the first act that is stored, where earlier acts were deleted."""
        start = self._start
        return start and PackedCheckpoint(start.head.acts, start.at, zlib.compress(start.bank, 1))

    def until(self, at: datetime) -> MemoryLog:
        """A log of its own, with the acts up to a time."""
        earlier = MemoryLog(self.folded)
        for act in self:
            if act.at > at:
                break
            earlier.append(act)
        return earlier

    def __iter__(self) -> Iterator[Act]:
        return self._store.acts(self._world, self._start.head if self._start else self._root, self._until)

    def __len__(self) -> int:
        return self._until.acts
