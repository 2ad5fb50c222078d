"""A state file: every world's beginning and log, as they are written; what was answered is not lost."""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from sandbox.bank.state import Bank
from sandbox.log import checkpoint
from sandbox.log.codec import decode, encode
from sandbox.log.memory import Act, MemoryLog

FORMAT = "bank-sandbox state"
VERSION = 1
TABLES = """
CREATE TABLE about (format TEXT NOT NULL, version INTEGER NOT NULL);
CREATE TABLE worlds (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, beginning BLOB NOT NULL,
  pace BLOB NOT NULL);
CREATE TABLE acts (world INTEGER NOT NULL, number INTEGER NOT NULL, at TEXT NOT NULL, verb TEXT NOT NULL,
  given BLOB NOT NULL, PRIMARY KEY (world, number)) WITHOUT ROWID;
CREATE TABLE checkpoints (world INTEGER PRIMARY KEY, acts INTEGER NOT NULL, bank BLOB NOT NULL);
"""
# What worlds that are away take along, of this program's life alone; and rows of worlds that were dropped meanwhile.
FRESH = """
CREATE TABLE IF NOT EXISTS aside (world INTEGER PRIMARY KEY, content BLOB NOT NULL);
DELETE FROM aside;
DELETE FROM acts WHERE world NOT IN (SELECT id FROM worlds);
DELETE FROM checkpoints WHERE world NOT IN (SELECT id FROM worlds);
"""


class StateFileError(Exception):
    """The file cannot be used; it was left as it is."""


class Store:
    """One file, one connection. Rows are gathered under the worlds' locks and written outside of them, together."""

    def __init__(self, path: Path, stopwatch: Callable[[], float] = lambda: 0.0) -> None:
        self.path = path
        self.stopwatch = stopwatch
        self.flushes = 0
        self.flush_seconds = 0.0
        self.broken: str | None = None
        self._gathered: list[tuple[int, int, str, str, bytes]] = []
        self._gather = threading.Lock()
        self._writing = threading.Lock()
        self._database = _opened(path)

    def worlds(self) -> Iterator[tuple[str, int, Any]]:
        """Every world by its name and row, with its beginning and pace; a StateFileError for one that is damaged."""
        with self._use() as database:
            rows = database.execute("SELECT name, id FROM worlds ORDER BY id").fetchall()
        for name, world in rows:
            try:
                self._demand_whole(world)
                yield name, world, self.kept(world)
            except (ValueError, TypeError) as fault:
                raise StateFileError(f"{self.path} is damaged at the world {name}: {fault}") from None

    def _demand_whole(self, world: int) -> None:
        """A ValueError where what a world is read back from is damaged. Reading it back itself waits for a call."""
        written = self.checkpoint(world)
        after = written[0] if written else 0
        if written is not None:
            checkpoint.demand_whole(written[1])
        with self._use() as database:
            query = "SELECT number, given FROM acts WHERE world = ? AND number > ? ORDER BY number"
            for expected, (number, given) in enumerate(database.execute(query, (world, after)), after + 1):
                if number != expected:
                    raise ValueError(f"act {expected} is missing")
                orjson.loads(given)

    def begin(self, name: str, beginning: Any, pace: Any) -> int:
        """A world begins, or begins again: what was kept under the name is gone."""
        with self._use() as database:
            self._forget(database, name)
            row = (name, orjson.dumps(encode(beginning)), orjson.dumps(encode(pace)))
            made = database.execute("INSERT INTO worlds (name, beginning, pace) VALUES (?, ?, ?)", row)
            assert made.lastrowid is not None
            return made.lastrowid

    def drop(self, name: str) -> None:
        with self._use() as database:
            self._forget(database, name)

    def kept(self, world: int) -> tuple[Any, Any]:
        """A world's beginning and pace."""
        with self._use() as database:
            row = database.execute("SELECT beginning, pace FROM worlds WHERE id = ?", (world,)).fetchone()
        return decode(orjson.loads(row[0])), decode(orjson.loads(row[1]))

    def keep_pace(self, world: int, pace: Any) -> None:
        with self._use() as database:
            database.execute("UPDATE worlds SET pace = ? WHERE id = ?", (orjson.dumps(encode(pace)), world))

    def gather(self, world: int, number: int, act: Act) -> None:
        """Takes an act; it is kept once `flush` returns."""
        row = (world, number, act.at.astimezone(UTC).isoformat(), act.verb, orjson.dumps(encode(act.arguments)))
        with self._gather:
            self._gathered.append(row)

    def flush(self) -> None:
        """Writes all that was gathered. Whoever waits here meanwhile finds it done."""
        began = self.stopwatch()
        self._flush()
        self.flushes += 1
        self.flush_seconds += self.stopwatch() - began

    def size(self) -> int:
        """Bytes on disk."""
        beside = (self.path.with_name(self.path.name + end) for end in ("", "-wal"))
        return sum(path.stat().st_size for path in beside if path.exists())

    def _flush(self) -> None:
        with self._use() as database:
            with self._gather:
                rows, self._gathered = self._gathered, []
            if rows:
                database.executemany("INSERT INTO acts VALUES (?, ?, ?, ?, ?)", rows)

    def acts(self, world: int, after: int = 0) -> Iterator[Act]:
        """In pieces, so that a long log is not held at once."""
        while True:
            with self._use() as database:
                query = (
                    "SELECT number, at, verb, given FROM acts WHERE world = ? AND number > ? ORDER BY number LIMIT 1000"
                )
                rows = database.execute(query, (world, after)).fetchall()
            for number, at, verb, given in rows:
                yield Act(datetime.fromisoformat(at), verb, decode(orjson.loads(given)))
                after = number
            if not rows:
                return

    def count(self, world: int) -> int:
        with self._use() as database:
            row = database.execute("SELECT MAX(number) FROM acts WHERE world = ?", (world,)).fetchone()
        return int(row[0] or 0)

    def checkpoint(self, world: int) -> tuple[int, bytes] | None:
        """After how many acts a bank was written down, and the bank."""
        with self._use() as database:
            found = database.execute("SELECT acts, bank FROM checkpoints WHERE world = ?", (world,)).fetchone()
        return found if found is None else (int(found[0]), bytes(found[1]))

    def keep_checkpoint(self, world: int, acts: int, bank: bytes) -> None:
        self.flush()
        with self._use() as database:
            database.execute("INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?)", (world, acts, bank))

    def aside(self, world: int) -> bytes | None:
        with self._use() as database:
            found = database.execute("SELECT content FROM aside WHERE world = ?", (world,)).fetchone()
        return None if found is None else bytes(found[0])

    def keep_aside(self, world: int, content: bytes) -> None:
        with self._use() as database:
            database.execute("INSERT OR REPLACE INTO aside VALUES (?, ?)", (world, content))

    def close(self) -> None:
        """Writes what was gathered, if it still can; once is enough."""
        if self.broken is None:
            self.flush()
            self.broken = f"the state file {self.path.name} was closed"
        self._database.close()

    def _forget(self, database: sqlite3.Connection, name: str) -> None:
        row = database.execute("SELECT id FROM worlds WHERE name = ?", (name,)).fetchone()
        if row is not None:
            for table in ("acts", "checkpoints", "aside"):
                database.execute(f"DELETE FROM {table} WHERE world = ?", row)
            database.execute("DELETE FROM worlds WHERE id = ?", row)

    @contextmanager
    def _use(self) -> Iterator[sqlite3.Connection]:
        """One at a time, all or nothing. After a write that failed nothing more is taken: memory is ahead of it."""
        with self._writing:
            if self.broken is not None:
                raise StateFileError(self.broken)
            try:
                with self._database:
                    yield self._database
            except sqlite3.Error as error:
                self.broken = f"the state file {self.path.name} cannot be written: {error}"
                raise StateFileError(self.broken) from None


def _opened(path: Path) -> sqlite3.Connection:
    """A new file, or one of ours; anything else is left as it is."""
    new = not path.exists() or path.stat().st_size == 0
    try:
        database = sqlite3.connect(path, check_same_thread=False)
    except sqlite3.Error as error:
        raise StateFileError(f"{path} cannot be opened: {error}") from None
    try:
        _demand_ours(database, path, new)
    except BaseException:
        database.close()
        raise
    database.execute("PRAGMA journal_mode = WAL")
    database.executescript(FRESH)
    database.execute("PRAGMA synchronous = NORMAL")  # a killed process loses nothing; a power cut may lose the last
    return database


def _demand_ours(database: sqlite3.Connection, path: Path, new: bool) -> None:
    try:
        if new:
            database.executescript(TABLES)
            with database:
                database.execute("INSERT INTO about VALUES (?, ?)", (FORMAT, VERSION))
        row = database.execute("SELECT format, version FROM about").fetchone()
        sound = database.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.Error as error:
        raise StateFileError(f"{path} is no state file of the sandbox, or cannot be written: {error}") from None
    if row is None or row[0] != FORMAT:
        raise StateFileError(f"{path} is no state file of the sandbox")
    if sound != "ok":
        raise StateFileError(f"{path} is damaged: {sound}")
    if row[1] != VERSION:
        raise StateFileError(f"{path} has version {row[1]} of the format; this program knows version {VERSION}")


CHECKPOINT_EVERY = 5_000  # acts; doing as many again takes well under a second


class StoredLog:
    """A world's log in a state file, which keeps all acts."""

    folded = None

    def __init__(self, store: Store, world: int) -> None:
        self.store = store
        self.world = world
        self._count = store.count(world)

    def append(self, act: Act) -> None:
        self._count += 1
        self.store.gather(self.world, self._count, act)

    def is_checkpoint_due(self, kept: int) -> bool:
        """The file keeps all acts; a checkpoint makes reading back short."""
        return self._count % CHECKPOINT_EVERY == 0

    def keep_checkpoint(self, bank: Bank) -> None:
        self.store.keep_checkpoint(self.world, self._count, checkpoint.written(bank))

    def demand(self) -> None:
        """Nothing happens in a bank whose log can't keep it."""
        if self.store.broken is not None:
            raise StateFileError(self.store.broken)

    def flush(self) -> None:
        self.store.flush()

    def keep_pace(self, pace: object) -> None:
        self.store.keep_pace(self.world, pace)

    def until(self, at: datetime) -> MemoryLog:
        """A log of its own, in memory, with the acts up to a time."""
        earlier = MemoryLog()
        for act in self:
            if act.at > at:
                break
            earlier.append(act)
        return earlier

    def __iter__(self) -> Iterator[Act]:
        self.store.flush()
        return self.store.acts(self.world)

    def __len__(self) -> int:
        return self._count
