"""A state file: every world's beginning and log, as they are written; what was answered is not lost."""

import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from sandbox.world.log.backlog import Backlog
from sandbox.world.log.connection import Connection
from sandbox.world.log.format import StateFileError
from sandbox.world.log.marks import Head
from sandbox.world.log.memory_log import Act
from sandbox.world.log.opening import Sync
from sandbox.world.log.reader import Part
from sandbox.world.log.state_store import StateStore
from sandbox.world.log.world_rows import WorldRows
from sandbox.world.log.writer import Writer

__all__ = ["StateFileError", "Store"]


class Store(StateStore):
    """One file."""

    connection: Connection

    def __init__(self, path: Path, stopwatch: Callable[[], float] = lambda: 0.0, sync: Sync = "normal") -> None:
        connection = Connection(path, stopwatch, sync)
        super().__init__(connection, Writer(connection, stopwatch))
        self._rows = WorldRows(connection, self._do_beside)

    @property
    def path(self) -> Path:
        return self.connection.path

    def worlds(self, shape: str) -> Iterator[tuple[str, int, Any]]:
        """Every world by its name and row, with what is kept of it. Damage is told now, though reading a world back
        may wait until it is called, and checking the acts before its checkpoint until the server listens."""
        with self.connection.read() as database:
            rows = database.execute("SELECT name, id FROM worlds ORDER BY id").fetchall()
        earlier = []
        for name, world in rows:
            checkpoint, root, until = self.checkpoints.read(world, shape), self.root(world), self._reader.head(world)
            if until is None:
                raise self._reader.damage(f"the number of acts of its world {name} is missing")
            since = checkpoint.head if checkpoint else root
            self._reader.demand(Part(world, name, since, until))
            self._demand_no_more(world, until)
            if since.acts:
                earlier.append(Part(world, name, root, since))
            yield name, world, self.kept(world)
        thread = self._reader.demand_earlier(earlier)
        if thread is not None:
            self.beside(thread)

    def begin(
        self,
        name: str,
        beginning: Any,
        pace: Any,
        acts: Iterable[Act] = (),
        faults: Any = None,
        instead: int = 0,
        new: bool = False,
    ) -> Backlog:
        """The registry of this one server knows whether the name is new."""
        return Backlog(self._rows.begin(name, beginning, pace, acts, faults, instead))

    def drop(self, name: str) -> None:
        self._rows.drop(name)

    def _do_beside(self, work: Callable[[], None]) -> None:
        self.beside(threading.Thread(target=work, name="rows", daemon=True))

    def _demand_no_more(self, world: int, until: Head) -> None:
        with self.connection.read() as database:
            last = database.execute("SELECT max(number) FROM acts WHERE world = ?", (world,)).fetchone()[0]
        if (last or 0) != until.acts:
            raise self._reader.damage(f"its world {world} has more acts than it should")

    def size(self) -> int:
        """Bytes on disk."""
        beside = (self.path.with_name(self.path.name + end) for end in ("", "-wal"))
        return sum(path.stat().st_size for path in beside if path.exists())
