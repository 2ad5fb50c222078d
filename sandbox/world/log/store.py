"""A state file: every world's beginning and log, as they are written; what was answered is not lost."""

import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zlib import crc32

import orjson

from sandbox.contract.errors import Error, Refusal
from sandbox.world.log.codec import decode, encode
from sandbox.world.log.memory_log import Act
from sandbox.world.log.opening import Opened, StateFileError, program

__all__ = ["StateFileError", "Store"]

Row = tuple[int, int, str, str, bytes, int, int]
# Only of a world that is still there: an act that comes late finds nothing to be added to.
INSERT = "INSERT INTO acts SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE EXISTS (SELECT 1 FROM worlds WHERE id = ?1)"
ENDS_WITHIN = 1.0  # seconds for a checkpoint that is under way (choice 12: the server ends within 2)


class Store:
    """One file, one connection. Rows are gathered under the worlds' locks and written outside of them, together."""

    def __init__(self, path: Path, stopwatch: Callable[[], float] = lambda: 0.0) -> None:
        self.path = path
        self.stopwatch = stopwatch
        self.flushes = 0
        self.flush_seconds = 0.0
        self.broken: str | None = None
        self._gathered: list[Row] = []
        self._noted: dict[tuple[str, int], bytes] = {}
        self._gather = threading.Lock()
        self._writing = threading.Lock()
        self._beside: list[threading.Thread] = []
        self._checkpoints: set[int] = set()  # worlds whose checkpoint is being written
        self._opened = Opened(path)
        self._database = self._opened.database

    def worlds(self, shape: str) -> Iterator[tuple[str, int, Any]]:
        """Every world by its name and row, with what is kept of it. One that is damaged is told now, though reading
        it back may wait until it is called."""
        with self._use() as database:
            rows = database.execute("SELECT name, id FROM worlds ORDER BY id").fetchall()
        for name, world in rows:
            written = self.checkpoint(world, shape)
            self._demand_whole(world, written[0] if written else 0)
            try:
                yield name, world, self.kept(world)
            except (ValueError, TypeError) as fault:
                raise StateFileError(f"{self.path} is damaged: its world {name} cannot be read: {fault}") from None

    def _demand_whole(self, world: int, after: int) -> None:
        """All acts after so many, held against their marks."""
        with self._use() as database:
            rows = database.execute("SELECT * FROM acts WHERE world = ? AND number > ? ORDER BY number", (world, after))
            for expected, row in enumerate(rows, after + 1):
                self._demand_mark(row, expected)

    def begin(
        self, name: str, beginning: Any, pace: Any, acts: Iterable[Act] = (), faults: Any = None, instead: int = 0
    ) -> int:
        """A world begins, also with acts from elsewhere: all at once. What was there is gone. One that begins again
        does so instead of itself: whatever bears its name by now is left alone."""
        row = (name, written(beginning), written(pace), None if faults is None else written(faults))
        with self._use() as database:
            if instead:
                self._demand_there(database, instead)
            self._forget(database, name)
            made = database.execute("INSERT INTO worlds (name, beginning, pace, faults) VALUES (?, ?, ?, ?)", row)
            world = made.lastrowid
            assert world is not None
            database.executemany(INSERT, (row_of(world, number, act) for number, act in enumerate(acts, 1)))
            return world

    def drop(self, name: str) -> None:
        with self._use() as database:
            self._forget(database, name)

    def kept(self, world: int) -> tuple[Any, Any, Any]:
        """A world's beginning, its pace, and the faults that were ordered since."""
        with self._use() as database:
            row = database.execute("SELECT beginning, pace, faults FROM worlds WHERE id = ?", (world,)).fetchone()
        return read(row[0]), read(row[1]), None if row[2] is None else read(row[2])

    def program(self) -> str:
        """The version of the program that made the file."""
        with self._use() as database:
            return str(database.execute("SELECT program FROM about").fetchone()[0])

    @property
    def is_of_another_program(self) -> bool:
        return self.program() != program()

    def note(self, what: str, world: int, value: Any) -> None:
        """Takes a world's pace or faults as they are now; kept once `flush` returns."""
        assert what in ("pace", "faults")
        with self._gather:
            self._noted[what, world] = written(value)

    def demand(self) -> None:
        """Nothing happens in a bank whose file can't keep it."""
        if self.broken is not None:
            raise StateFileError(self.broken)

    def gather(self, world: int, number: int, act: Act) -> None:
        """Takes an act; it is kept once `flush` returns."""
        row = row_of(world, number, act)
        with self._gather:
            self._gathered.append(row)

    def flush(self) -> None:
        """Writes all that was gathered. Whoever waits here meanwhile finds it done."""
        began = self.stopwatch()
        with self._use() as database:
            wrote = self._write_gathered(database)
        if wrote:  # and committed, which is most of it
            with self._gather:
                self.flushes += 1
                self.flush_seconds += self.stopwatch() - began

    def size(self) -> int:
        """Bytes on disk."""
        beside = (self.path.with_name(self.path.name + end) for end in ("", "-wal"))
        return sum(path.stat().st_size for path in beside if path.exists())

    def _write_gathered(self, database: sqlite3.Connection) -> bool:
        """Whether there was anything."""
        with self._gather:
            rows, self._gathered = self._gathered, []
            noted, self._noted = self._noted, {}
        if rows:
            database.executemany(INSERT, rows)
        for (what, world), value in noted.items():
            database.execute(f"UPDATE worlds SET {what} = ? WHERE id = ?", (value, world))
        return bool(rows or noted)

    def acts(self, world: int, after: int = 0) -> Iterator[Act]:
        """In pieces, so that a long log is not held at once."""
        query = "SELECT * FROM acts WHERE world = ? AND number > ? ORDER BY number LIMIT 1000"
        while True:
            with self._use() as database:
                rows = database.execute(query, (world, after)).fetchall()
            for row in rows:
                after += 1
                yield self._act(row, after)
            if not rows:
                return

    def _act(self, row: tuple[Any, ...], expected: int) -> Act:
        """What is kept, if it is as it was written."""
        self._demand_mark(row, expected)
        _, _, at, verb, given, made, _ = row
        try:
            return Act(datetime.fromisoformat(at), verb, read(given), made or 0)
        except (ValueError, TypeError):
            raise self._damaged(row[0], expected) from None

    def _demand_mark(self, row: tuple[Any, ...], expected: int) -> None:
        world, number, at, verb, given, made, mark = row
        if number != expected or mark not in (None, mark_of(world, number, at, verb, given, made)):
            raise self._damaged(world, expected)

    def _damaged(self, world: int, number: int) -> StateFileError:
        return StateFileError(f"{self.path} is damaged: act {number} of its world {world} cannot be read")

    def count(self, world: int) -> int:
        """How many acts a world has; one that is gone is told as that, and not as an empty one."""
        with self._use() as database:
            self._demand_there(database, world)
            row = database.execute("SELECT MAX(number) FROM acts WHERE world = ?", (world,)).fetchone()
        return int(row[0] or 0)

    def checkpoint(self, world: int, shape: str) -> tuple[int, bytes] | None:
        """A bank as it was written down, and after how many acts; one that is damaged or of another shape is none."""
        query = "SELECT acts, bank, mark FROM checkpoints WHERE world = ? AND shape = ?"
        pieces = "SELECT content FROM pieces WHERE world = ? AND acts = ? ORDER BY number"
        with self._use() as database:
            found = database.execute(query, (world, shape)).fetchone()
            if found is None:
                return None
            acts, whole, mark = found  # whole in files of before
            content = whole or b"".join(piece for (piece,) in database.execute(pieces, (world, acts)))
        return None if crc32(content) != mark else (int(acts), bytes(content))

    def keep_checkpoint(self, world: int, acts: int, shape: str, bank: Iterable[bytes]) -> None:
        """Only of a world that is still there, and never before the acts that it stands for. No flush waits for more
        than one of its pieces. One at a time of each world: another that comes meanwhile is not kept."""
        with self._gather:
            if world in self._checkpoints:
                return
            self._checkpoints.add(world)
        try:
            self._keep_checkpoint(world, acts, shape, bank)
        finally:
            with self._gather:
                self._checkpoints.remove(world)

    def _keep_checkpoint(self, world: int, acts: int, shape: str, bank: Iterable[bytes]) -> None:
        with self._use() as database:
            known = database.execute("SELECT acts, shape FROM checkpoints WHERE world = ?", (world,)).fetchone()
        if known == (acts, shape):
            return
        self._clear_pieces(world, known[0] if known else -1)  # of one that was cut short
        mark = 0
        piece = "INSERT OR REPLACE INTO pieces SELECT id, ?, ?, ? FROM worlds WHERE id = ?"
        for number, content in enumerate(bank):
            mark = crc32(content, mark)
            with self._use() as database:
                database.execute(piece, (acts, number, content, world))
        query = "INSERT OR REPLACE INTO checkpoints SELECT id, ?, x'', ?, ? FROM worlds WHERE id = ?"
        with self._use() as database:
            self._write_gathered(database)
            database.execute(query, (acts, shape, mark, world))
        self._clear_pieces(world, acts)

    def _clear_pieces(self, world: int, acts: int) -> None:
        """Deletes those of other checkpoints, each by itself."""
        query = "DELETE FROM pieces WHERE rowid IN (SELECT rowid FROM pieces WHERE world = ? AND acts != ? LIMIT 1)"
        gone = 1
        while gone:
            with self._use() as database:
                gone = database.execute(query, (world, acts)).rowcount

    def aside(self, world: int) -> bytes | None:
        """What a world that is away took along."""
        with self._use() as database:
            found = database.execute("SELECT content FROM aside WHERE world = ?", (world,)).fetchone()
        return None if found is None else bytes(found[0])

    def keep_aside(self, world: int, content: bytes) -> None:
        with self._use() as database:
            database.execute("INSERT OR REPLACE INTO aside SELECT id, ? FROM worlds WHERE id = ?", (content, world))

    def beside(self, thread: threading.Thread) -> None:
        """Work that goes on while calls are answered, and ends before the file is closed."""
        with self._gather:
            self._beside = [known for known in self._beside if known.is_alive()]
            self._beside.append(thread)
            thread.start()  # here, as who closes waits for every one that it finds

    def close(self) -> None:
        """Writes what was gathered, if it still can; once is enough."""
        with self._gather:
            beside = self._beside
        for thread in beside:
            thread.join(ENDS_WITHIN / len(beside))
        with suppress(StateFileError):  # nothing of it was answered
            self.flush()
        self.broken = self.broken or f"the state file {self.path.name} was closed"
        with self._writing:
            self._opened.close()

    def _demand_there(self, database: sqlite3.Connection, world: int) -> None:
        if database.execute("SELECT 1 FROM worlds WHERE id = ?", (world,)).fetchone() is None:
            raise Refusal(Error.NOT_FOUND, input="world")

    def _forget(self, database: sqlite3.Connection, name: str) -> None:
        row = database.execute("SELECT id FROM worlds WHERE name = ?", (name,)).fetchone()
        if row is not None:
            for table in ("acts", "checkpoints", "pieces", "aside"):
                database.execute(f"DELETE FROM {table} WHERE world = ?", row)
            database.execute("DELETE FROM worlds WHERE id = ?", row)

    @contextmanager
    def _use(self) -> Iterator[sqlite3.Connection]:
        """One at a time, all or nothing. After a write that failed nothing more is taken: memory is ahead of it."""
        with self._writing:
            self.demand()
            try:
                with self._database:
                    yield self._database
            except sqlite3.Error as error:
                self.broken = f"the state file {self.path} cannot be written: {error}"
                raise StateFileError(self.broken) from None


def written(value: Any) -> bytes:
    return orjson.dumps(encode(value))


def read(content: bytes) -> Any:
    return decode(orjson.loads(content))


def row_of(world: int, number: int, act: Act) -> Row:
    at, given = act.at.astimezone(UTC).isoformat(), written(act.arguments)
    return world, number, at, act.verb, given, act.made, mark_of(world, number, at, act.verb, given, act.made)


def mark_of(world: int, number: int, at: str, verb: str, given: bytes, made: int | None) -> int:
    """What tells later whether a row is as it was written."""
    return crc32(given, crc32(f"{world}/{number}/{at}/{verb}/{made}".encode()))
