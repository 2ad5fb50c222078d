"""The acts of a stored world up to a position, read when they are needed: a log only grows, so they stay the same."""

from collections.abc import Iterator
from datetime import datetime

from sandbox.storage.marks import LogHead
from sandbox.storage.memory_log import Act, MemoryLog
from sandbox.storage.store import Store


class StoredActs:
    """Each pass over it reads the acts anew."""

    folded = None  # the database has every act

    def __init__(self, store: Store, world: int, root: LogHead, until: LogHead) -> None:
        self._store = store
        self._world = world
        self._root = root
        self._until = until

    def until(self, at: datetime) -> MemoryLog:
        """A log of its own, with the acts up to a time."""
        earlier = MemoryLog()
        for act in self:
            if act.at > at:
                break
            earlier.append(act)
        return earlier

    def __iter__(self) -> Iterator[Act]:
        return self._store.acts(self._world, self._root, self._until)

    def __len__(self) -> int:
        return self._until.acts
