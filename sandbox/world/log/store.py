"""A state file: every world's beginning and log, as they are written; what was answered is not lost."""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from sandbox.contract.errors import Error, Refusal
from sandbox.world.log.checkpoints import Checkpoints
from sandbox.world.log.codec import read
from sandbox.world.log.connection import Connection
from sandbox.world.log.format import StateFileError, program
from sandbox.world.log.marks import ActRow, Head, mark_of
from sandbox.world.log.memory_log import Act
from sandbox.world.log.opening import Sync
from sandbox.world.log.reader import Part, Progress, Reader
from sandbox.world.log.world_rows import WorldRows
from sandbox.world.log.writer import Writer

__all__ = ["StateFileError", "Store"]

ENDS_WITHIN = 1.0  # seconds for a checkpoint that is under way (choice 12: the server ends within 2)


class Store:
    """One file. Rows are gathered under the worlds' locks and written outside of them, together."""

    def __init__(self, path: Path, stopwatch: Callable[[], float] = lambda: 0.0, sync: Sync = "normal") -> None:
        self.path = path
        self._lock = threading.Lock()
        self._beside: list[threading.Thread] = []
        self.before_close: Callable[[], None] = lambda: None
        self.connection = Connection(path, stopwatch, sync)
        self._reader = Reader(self.connection)
        self.writer = Writer(self.connection, stopwatch)
        self.checkpoints = Checkpoints(self.connection, self.writer)
        self._rows = WorldRows(self.connection, self._do_beside)

    @property
    def progress(self) -> Progress | None:
        """How far the earlier acts are checked, while they are."""
        return self._reader.progress

    def worlds(self, shape: str) -> Iterator[tuple[str, int, Any]]:
        """Every world by its name and row, with what is kept of it. Damage is told now, though reading a world back
        may wait until it is called, and checking the acts before its checkpoint until the server listens."""
        with self.connection.read() as database:
            rows = database.execute("SELECT name, id FROM worlds ORDER BY id").fetchall()
        earlier = []
        for name, world in rows:
            written, root, until = self.checkpoints.read(world, shape), self.root(world), self._reader.head(world)
            if until is None:
                raise self._reader.damage(f"the number of acts of its world {name} is missing")
            since = written.head if written else root
            self._reader.demand(Part(world, name, since, until))
            self._demand_no_more(world, until)
            if since.acts:
                earlier.append(Part(world, name, root, since))
            yield name, world, self.kept(world)
        thread = self._reader.demand_earlier(earlier)
        if thread is not None:
            self.beside(thread)

    def _demand_no_more(self, world: int, until: Head) -> None:
        with self.connection.read() as database:
            last = database.execute("SELECT max(number) FROM acts WHERE world = ?", (world,)).fetchone()[0]
        if (last or 0) != until.acts:
            raise self._reader.damage(f"its world {world} has more acts than it should")

    def begin(
        self, name: str, beginning: Any, pace: Any, acts: Iterable[Act] = (), faults: Any = None, instead: int = 0
    ) -> int:
        """A world begins, also with acts from elsewhere; the answer is its row."""
        return self._rows.begin(name, beginning, pace, acts, faults, instead)

    def drop(self, name: str) -> None:
        self._rows.drop(name)

    def kept(self, world: int) -> tuple[Any, Any, Any]:
        """A world's beginning, its pace, and the faults that were ordered since."""
        found = self._reader.beginning(world)
        if found is None:
            raise Refusal(Error.NOT_FOUND, input="world")
        pace, faults = self._reader.noted(world)
        try:
            return read(found[1]), read(pace), None if faults is None else read(faults)
        except (ValueError, TypeError) as fault:
            raise self._reader.damage(f"its world {found[0]} cannot be read: {fault}") from None

    def program(self) -> str:
        """The version of the program that made the file."""
        with self.connection.read() as database:
            return str(database.execute("SELECT program FROM about").fetchone()[0])

    @property
    def is_of_another_program(self) -> bool:
        return self.program() != program()

    def size(self) -> int:
        """Bytes on disk."""
        beside = (self.path.with_name(self.path.name + end) for end in ("", "-wal"))
        return sum(path.stat().st_size for path in beside if path.exists())

    def root(self, world: int) -> Head:
        """Where the chain of a world's acts begins."""
        return self._reader.root(world)

    def head(self, world: int) -> Head:
        """How many acts a world has; one that is gone is told as that, and not as an empty one."""
        head = self._reader.head(world)
        if head is None:
            raise Refusal(Error.NOT_FOUND, input="world")
        return head

    def acts(self, world: int, since: Head, until: Head | None = None) -> Iterator[Act]:
        """Those after a head, and where it is said, that they lead to another."""
        head = since
        for row, made in self._reader.acts(world, since):
            head = made
            yield self.act_of(world, row)
        if until is not None and head != until:
            raise self._reader.damage(f"acts of its world {world} are missing after act {head.acts}")

    def rows(self, world: int, since: Head) -> Iterator[tuple[ActRow, Head]]:
        """The same as they are kept, each with the head that it makes."""
        return self._reader.acts(world, since)

    def act_of(self, world: int, row: ActRow) -> Act:
        try:
            return Act(datetime.fromisoformat(row.at), row.verb, read(row.given), row.made)
        except (ValueError, TypeError):
            raise self._reader.damage(f"act {row.number} of its world {world} cannot be read") from None

    def latest_time(self) -> float:
        """The machine's time up to which running worlds may have answered; 0 where none did."""
        with self.connection.read() as database:
            row = database.execute("SELECT latest, mark FROM clock").fetchone()
        if row is not None and mark_of(row[0]) != row[1]:
            raise self._reader.damage("the time up to which it was used is not as it was written")
        return 0.0 if row is None else float(row[0])

    def keep_latest_time(self, latest: float) -> None:
        with self.connection.write() as database:
            database.execute(
                "INSERT OR REPLACE INTO clock (rowid, latest, mark) VALUES (1, ?, ?)", (latest, mark_of(latest))
            )

    def aside(self, world: int) -> bytes | None:
        """What a world that is away took along."""
        with self.connection.read() as database:
            row = database.execute("SELECT * FROM aside WHERE world = ?", (world,)).fetchone()
        if row is not None and mark_of(*row[:-1]) != row[-1]:
            raise self._reader.damage(f"what its world {world} took along is not as it was written")
        return None if row is None else row[1]

    def keep_aside(self, world: int, content: bytes) -> None:
        with self.connection.write() as database:
            if self.connection.is_there(world):
                row = (world, content, mark_of(world, content))
                database.execute("INSERT OR REPLACE INTO aside VALUES (?, ?, ?)", row)

    def beside(self, thread: threading.Thread) -> None:
        """Work that goes on while calls are answered, and ends before the file is closed."""
        with self._lock:
            self._beside = [known for known in self._beside if known.is_alive()]
            self._beside.append(thread)
            thread.start()  # here, as who closes waits for every one that it finds

    def _do_beside(self, work: Callable[[], None]) -> None:
        self.beside(threading.Thread(target=work, name="rows", daemon=True))

    def close(self) -> None:
        """Writes what was gathered, if it still can; once is enough."""
        self._reader.end()
        self.before_close()
        with self._lock:
            beside = self._beside
        for thread in beside:
            thread.join(ENDS_WITHIN / len(beside))
        with suppress(StateFileError):  # nothing of it was answered
            self.writer.flush()
        self.connection.close()
