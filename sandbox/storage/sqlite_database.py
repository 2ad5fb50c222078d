"""A state file: an SQLite database that one process at a time uses. The process holds a lock on the file.

One connection serves all threads, one after the other. Each commit is written to the write-ahead log before its call is
answered, so a killed process loses nothing. `sync="full"` also waits for the disk.
"""

import os
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal
from urllib.parse import quote

from sandbox.machine.operating_system import lock_file
from sandbox.storage.database import Database, GoneError, Row, Transaction, demand_format
from sandbox.storage.format import DamageError, StateFileError

Sync = Literal["full", "normal"]
WHOLE = ("", "-wal", "-shm", "-journal")  # a file, and what lies beside it while it is used or after a kill
LOCK_WAITS = 2.0  # seconds for a lock that another program holds
DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
FAILURES = (sqlite3.Error, UnicodeDecodeError)  # SQLite's message about a damaged file may not be UTF-8


class SqliteTransaction(Transaction):
    def __init__(self, database: "SqliteDatabase") -> None:
        super().__init__()
        self._database = database

    def select(self, query: str, *values: Any) -> list[Row]:
        return self._database.select(query, *values)


class SqliteDatabase(Database):
    is_shared = False
    bytes_type = "BLOB"
    rowless = " WITHOUT ROWID"

    def __init__(self, path: Path, sync: Sync = "normal", *, makes: bool = True) -> None:
        self.path = str(path)
        self._file = path
        self._turn = threading.RLock()
        self._is_closed = False
        self._opened: list[tuple[Path, os.stat_result]] = []
        if not makes and not path.exists():
            raise StateFileError(f"{path} cannot be read: there is no such file")
        self._lock = _lock(path)
        try:
            _demand_state(path)
            self._connection = self._connect(sync)
            self.begin(makes)
            self._opened = [(place, place.stat()) for place in (path, _list_paths(path)[1]) if place.exists()]
            self._demand_index_of_names()
        except BaseException:
            self.close()
            raise

    def _demand_index_of_names(self) -> None:
        """Raises DamageError if the index of world names lacks a world. No checksum covers this index, and a world that
        it lacks would be made a second time."""
        index = "sqlite_autoindex_worlds_2"
        query = f"""SELECT count(*) FROM worlds a WHERE NOT EXISTS
  (SELECT 1 FROM worlds b INDEXED BY {index} WHERE b.name = a.name AND b.id = a.id)"""
        ((lost,),) = self.select(query)
        if lost:
            raise DamageError(f"{self.path} is damaged: {lost} of its worlds cannot be found by their names")

    def _connect(self, sync: Sync) -> sqlite3.Connection:
        try:
            connection = sqlite3.connect(self._file, timeout=LOCK_WAITS, check_same_thread=False, isolation_level=None)
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
            connection.execute(f"PRAGMA synchronous = {sync.upper()}")
        except FAILURES as error:
            raise self._make_error("cannot be written", error) from None
        return connection

    def has_tables(self) -> bool:
        return self.select("SELECT count(*) FROM sqlite_master") != [(0,)]

    def select(self, query: str, *values: Any) -> list[Row]:
        with self._turn:
            self._demand_open()
            try:
                return self._connection.execute(query, values).fetchall()
            except FAILURES as error:
                raise self._make_error("cannot be read", error) from None

    @contextmanager
    def transaction(self) -> Iterator[SqliteTransaction]:
        """Yields a transaction. Its queries run at once, and its writes run together in one SQL transaction at the end
        of the block. This is safe, because no other process uses the file."""
        transaction = SqliteTransaction(self)
        yield transaction
        if not transaction.writes:
            return
        with self._turn:
            self._demand_open()
            self.demand_present()
            try:
                self._commit(transaction)
            except FAILURES as error:
                failure = self._make_error("cannot be written", error)
                self.trouble = str(failure)
                raise failure from None
            self.trouble = None

    def _commit(self, transaction: SqliteTransaction) -> None:
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            for query, values, needs_row in transaction.writes:
                if connection.execute(query, values).rowcount == 0 and needs_row:
                    raise GoneError(f"what was to be changed in {self.path} is no more")
            connection.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                if connection.in_transaction:  # SQLite ends it by itself where the disk is full
                    connection.execute("ROLLBACK")
            raise

    def read_time(self) -> float:
        return float(self.select("SELECT (julianday('now') - 2440587.5) * 86400")[0][0])

    def demand_present(self) -> None:
        """Raises StateFileError if the file or its write-ahead log was deleted, moved or replaced while it was in use.
        SQLite would not notice that."""
        for place, opened in self._opened:
            try:
                if os.path.samestat(place.stat(), opened):
                    continue
                missing = "was replaced while it was in use"
            except OSError:
                missing = "was deleted or moved while it was in use"
            self.trouble = f"the state file {place} {missing}"
            raise StateFileError(self.trouble)

    def read_size(self) -> int:
        beside = (self._file.with_name(f"{self._file.name}{end}") for end in WHOLE)
        return sum(place.stat().st_size for place in beside if place.exists())

    def close(self) -> None:
        """Closes the connection, and then the descriptor that holds the lock. The other order would release the locks
        of SQLite too early, because closing any descriptor of a file ends all locks of the process on it."""
        with self._turn:
            if not self._is_closed:
                self._is_closed = True
                if hasattr(self, "_connection"):
                    self._connection.close()
                os.close(self._lock)

    def _demand_open(self) -> None:
        if self._is_closed:
            raise StateFileError(f"the state file {self.path} was closed")

    def _make_error(self, trouble: str, error: Exception) -> StateFileError:
        text = f"the state file {self.path} {trouble}: {error}"
        if getattr(error, "sqlite_errorcode", None) in DAMAGED or isinstance(error, UnicodeDecodeError):
            self.damage = self.damage or text
            return DamageError(text)
        return StateFileError(text)


def copy_into(folder: str, path: Path) -> Path:
    """Copies a state file, with the files that SQLite wrote beside it, into a folder. Returns the path of the copy."""
    for place, end in zip(_list_paths(path), WHOLE, strict=True):
        if place.exists():
            shutil.copyfile(place, Path(folder, f"{path.name}{end}"))
    return Path(folder, path.name)


def _list_paths(path: Path) -> list[Path]:
    """Returns the paths of a state file, and of the files that SQLite writes beside it."""
    return [path.resolve().with_name(f"{path.resolve().name}{end}") for end in WHOLE]


def _lock(path: Path) -> int:
    """Opens and locks the state file, and makes it if it does not exist. Returns the descriptor. No other sandbox can
    use the file until the descriptor is closed. Raises StateFileError if another sandbox uses the file, or if it cannot
    be opened."""
    try:
        lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise StateFileError(f"{path} cannot be written: {error.strerror}") from None
    try:
        lock_file(lock)
    except OSError:
        os.close(lock)
        raise StateFileError(f"{path} is in use by another sandbox") from None
    return lock


def _demand_state(path: Path) -> None:
    """Raises StateFileError for a file of another kind or version, before anything is written to it or beside it.
    Accepts an empty file.

    If a killed program left a journal beside the file, SQLite would write to both when it opens them. So copies of them
    are checked instead.
    """
    try:
        if path.stat().st_size == 0:
            return
        if not any(place.exists() for place in _list_paths(path)[1:]):
            _demand_state_in(path, "?mode=ro&immutable=1", path)
            return
        with TemporaryDirectory() as folder:
            _demand_state_in(copy_into(folder, path), "", path)
    except OSError as error:
        raise StateFileError(f"{path} cannot be read: {error.strerror}") from None


def _demand_state_in(place: Path, query: str, shown_path: Path) -> None:
    try:
        with closing(sqlite3.connect(f"file:{quote(str(place.resolve()))}{query}", uri=True)) as database:
            tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            about = database.execute("SELECT format, version FROM about").fetchall() if "about" in tables else []
    except FAILURES as error:
        raise DamageError(f"{shown_path} is no state file of the sandbox, or it is damaged: {error}") from None
    if tables:
        demand_format(str(shown_path), about)
