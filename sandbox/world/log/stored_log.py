"""A world's log where its bank is kept."""

import marshal
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Any

from sandbox.bank.state import Bank
from sandbox.world.log import apart, checkpoint
from sandbox.world.log.format import StateFileError, program
from sandbox.world.log.marks import ActRow, Head, next_row
from sandbox.world.log.memory_log import Act, Astray, MemoryLog, play
from sandbox.world.log.state_store import StateStore
from sandbox.world.log.writer import Backlog, columns_of
from sandbox.world.long_work import collector_at_rest, pause

PIECE = 200  # acts


class PackedLog:
    """So many acts of a log, in memory while another world or an export is made of them.

    Read once; each pass over it makes the acts anew. They are kept packed, as their columns: 200,000 acts are many
    million objects, and to give those back would stop every thread.
    """

    folded = None

    def __init__(self, rows: Iterable[ActRow], act_of: Callable[[ActRow], Act]) -> None:
        self._act_of = act_of
        self._pieces: list[bytes] = []
        self._length = 0
        rest = iter(rows)
        while piece := [tuple(row) for row in islice(rest, PIECE)]:
            self._pieces.append(zlib.compress(marshal.dumps(piece), 1))
            self._length += len(piece)
            pause()

    def until(self, at: datetime) -> MemoryLog:
        """A log of its own, with the acts up to a time."""
        earlier = MemoryLog()
        for act in self:
            if act.at <= at:
                earlier.append(act)
        return earlier

    def __iter__(self) -> Iterator[Act]:
        for piece in self._pieces:
            for row in marshal.loads(zlib.decompress(piece)):
                yield self._act_of(ActRow(*row))

    def __len__(self) -> int:
        return self._length


class StoredLog:
    """Acts are taken under the world's lock and kept outside of it; the place keeps all of them."""

    folded = None

    def __init__(self, store: StateStore, backlog: Backlog) -> None:
        self.store = store
        self.backlog = backlog
        self.world = backlog.world
        self.head = backlog.head = store.head(backlog.world)  # of what was appended; of what is in the file
        self._checkpoint_acts = 0  # acts, in the last checkpoint

    def revive(self, bank: Bank) -> None:
        """A fresh bank becomes the one whose log this is."""
        found = self.store.checkpoints.read(self.world, checkpoint.shape())
        since = found.head if found else self.store.root(self.world)
        with collector_at_rest():
            if found is not None:
                self._checkpoint_acts = found.head.acts
                checkpoint.read_onto(bank, found.bank)
            try:
                play(bank, self.store.acts(self.world, since, self.head), self._checkpoint_acts)
            except Astray as astray:
                self.store.connection.note(f"its world {self.world} is of another version of the program: {astray}")
                raise StateFileError(
                    f"{self.store.path} was kept by version {self.store.program()}, and this program "
                    f"({program()}) cannot go on with it: {astray}. It was left as it is"
                ) from None

    def note(self, bank: Bank, verb: str, arguments: tuple[Any, ...]) -> None:
        """Appends an act that was done; the file has checkpoints after so many acts, however few memory would keep."""
        act = Act(bank.clock.now, verb, arguments, bank.made)
        row = next_row(self.world, self.head, *columns_of(act))
        self.store.writer.gather(self.backlog, row)
        self.head = row.head
        if self.acts_until_checkpoint() <= 0:
            self.keep_checkpoint(bank)

    def acts_until_checkpoint(self, kept: int = 0) -> int:
        """However few acts memory would keep."""
        last = self._checkpoint_acts
        return last + max(checkpoint.EVERY, last // checkpoint.SHARE) - len(self)

    def keep_checkpoint(self, bank: Bank) -> None:
        """Takes the bank as it is, and writes it beside the calls: no caller waits for that."""
        self._beside(self.head, apart.ask(bank, checkpoint.write))

    def keep_last_checkpoint(self, bank: Bank) -> Callable[[], None]:
        """Before the bank is given back. A small one is written at once, which takes less than another thread. What
        is returned is to be called once all else is written, and leaves the world."""
        answer = apart.ask(bank, checkpoint.write)
        if answer.is_here:
            self.store.checkpoints.keep(self.world, self.head, checkpoint.shape(), answer)
            return partial(self.store.leave, self.backlog)
        return partial(self._beside, self.head, answer, leaves=True)

    def _beside(self, head: Head, answer: apart.Answer, *, leaves: bool = False) -> None:
        self._checkpoint_acts = head.acts

        def write() -> None:
            # A place that breaks or is closed is told to the next act; without this checkpoint a start takes longer.
            with suppress(StateFileError, apart.CutShortError):
                self.store.checkpoints.keep(self.world, head, checkpoint.shape(), answer)
            if leaves:
                self.store.leave(self.backlog)

        self.store.beside("checkpoint", write)

    def first(self, count: int) -> PackedLog:
        """A log of its own, in memory, with so many acts."""
        self.store.writer.settle(self.backlog, self.backlog.taken)
        rows = self.store.rows(self.world, self.store.root(self.world))
        return PackedLog(islice(rows, count), partial(self.store.act_of, self.world))

    def __iter__(self) -> Iterator[Act]:
        self.store.writer.settle(self.backlog, self.backlog.taken)
        return self.store.acts(self.world, self.store.root(self.world))

    def __len__(self) -> int:
        return self.head.acts
