"""A world's log in a state file."""

import threading
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

from sandbox.bank.state import Bank
from sandbox.bank.twin import twin_of
from sandbox.world.log import checkpoint
from sandbox.world.log.memory_log import Act, MemoryLog
from sandbox.world.log.opening import program
from sandbox.world.log.play import Astray, collector_at_rest, play
from sandbox.world.log.store import StateFileError, Store


class StoredLog:
    """Acts are taken under the world's lock and kept outside of it; the file keeps all of them."""

    folded = None

    def __init__(self, store: Store, world: int) -> None:
        self.store = store
        self.world = world
        self._count = store.count(world)
        self._written = 0  # acts, in the last checkpoint

    def revive(self, bank: Bank) -> None:
        """A fresh bank becomes the one whose log this is."""
        found = self.store.checkpoint(self.world, checkpoint.shape())
        with collector_at_rest():
            if found is not None:
                self._written = found[0]
                checkpoint.read_onto(bank, found[1])
            try:
                play(bank, self.store.acts(self.world, self._written), self._written)
            except Astray as astray:
                raise StateFileError(
                    f"{self.store.path} was kept by version {self.store.program()}, and this program "
                    f"({program()}) cannot go on with it: {astray}. It was left as it is"
                ) from None

    def append(self, act: Act) -> None:
        self._count += 1
        self.store.gather(self.world, self._count, act)

    def is_checkpoint_due(self, kept: int) -> bool:
        """However few acts memory would keep."""
        return checkpoint.is_due(self._count, self._written)

    def keep_checkpoint(self, bank: Bank) -> None:
        """Takes the bank as it is, and writes it beside the calls: no caller waits for that."""
        with collector_at_rest():
            twin = twin_of(bank)
        acts = self._written = self._count

        def write() -> None:
            with suppress(StateFileError):  # a file that breaks or is closed is told to whoever acts
                self.store.keep_checkpoint(self.world, acts, checkpoint.shape(), checkpoint.written(twin))

        self.store.beside(threading.Thread(target=write, name="checkpoint", daemon=True))

    def note_pace(self, pace: object) -> None:
        self.store.note("pace", self.world, pace)

    def first(self, count: int) -> MemoryLog:
        """A log of its own, in memory, with so many acts."""
        earlier = MemoryLog()
        for act in islice(self, count):
            earlier.append(act)
        return earlier

    def __iter__(self) -> Iterator[Act]:
        self.store.flush()
        return self.store.acts(self.world)

    def __len__(self) -> int:
        return self._count
