"""One line to a state file: one caller at a time, and a write is all or nothing. A write that fails is tried again."""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sandbox.world.log.format import FAILURES, NAMELESS, DamageError, StateFileError
from sandbox.world.log.opening import LOCK_WAITS, Opened, Sync, transaction
from sandbox.world.log.place import Place
from sandbox.world.log.wal import WalWriter

LOOKS_EVERY = 0.5  # seconds; a file that is gone is noticed within one
TRIED = 65_536  # bytes
DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


class Connection(Place):
    """Whatever cannot be written now is refused, and taken again once it can: a passing lock, a disk that was full."""

    def __init__(self, path: Path, stopwatch: Callable[[], float], sync: Sync) -> None:
        super().__init__(stopwatch)
        self.path: Path = path
        self.trouble: str | None = None  # why the last write failed
        self.gone: str | None = None  # the file is no longer where it was
        self._looked = stopwatch()
        self.turn = threading.RLock()
        self._waits = -1.0  # not yet told to SQLite
        self._opened = Opened(path, sync)
        self.notes = self._opened.notes
        self.database = self._opened.database
        self._wal_writer = WalWriter(self._opened.beside, path.resolve(), self.turn)

    @property
    def unwritable(self) -> str | None:
        return self.broken or self.gone or self.trouble

    def look(self, *, at_once: bool = False) -> None:
        """Refuses once the file is gone; looks now and then."""
        if self.broken is None and (at_once or self.stopwatch() - self._looked >= LOOKS_EVERY):
            missing = self._opened.missing()
            self.gone = None if missing is None else f"the state file {missing}"
            self._looked = self.stopwatch()
        if self.gone is not None:
            raise StateFileError(self.gone)

    def demand(self) -> None:
        """Refuses while the file cannot be written; the file is tried again each time, without waiting."""
        self.look()
        self.demand_open()
        if self.trouble is not None:
            self._try()

    def _try(self) -> None:
        """Writes about as much as an act needs, so that a disk with room for less is not taken for one with room."""
        with self.write() as database:
            row = (0, bytes(TRIED), 0)
            database.execute("INSERT OR REPLACE INTO aside VALUES (?, ?, ?)", row)
        with self.write() as database:
            database.execute("DELETE FROM aside WHERE world = 0")

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        with self.turn:
            self.demand_open()
            try:
                yield self.database
            except FAILURES as error:
                failure = self._error(f"the state file {self.path} cannot be read: {error}", error)
                if not isinstance(failure, DamageError):
                    self.note(f"it could not be read: {error}")
                raise failure from None

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        with self.turn:
            self.demand_open()
            self.look(at_once=True)
            try:
                self._set_patience()
                with transaction(self.database):
                    yield self.database
            except FAILURES as error:
                self.trouble = f"the state file {self.path} cannot be written: {error}"
                raise self._error(self.trouble, error) from None
            if self.trouble is not None:
                self.trouble = None
                with suppress(*FAILURES):  # the rest of a failed write would look like a hole in the WAL
                    self.database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            self._wal_writer.note_commit()

    def _set_patience(self) -> None:
        """Waits for another program's lock, unless the last write failed: then it was waited for."""
        waits = 0.0 if self.trouble else LOCK_WAITS
        if self._waits != waits:
            self.database.execute(f"PRAGMA busy_timeout = {int(waits * 1000)}")
            self._waits = waits

    def _error(self, text: str, error: Exception) -> StateFileError:
        if getattr(error, "sqlite_errorcode", None) in DAMAGED:
            self.damage = self.damage or text
            self.tell(text)
            return DamageError(text)
        return StateFileError(text)

    def is_there(self, world: int) -> bool:
        """For one who has its turn."""
        row = self.database.execute("SELECT name FROM worlds WHERE id = ?", (world,)).fetchone()
        return row is not None and not str(row[0]).startswith(NAMELESS)

    def close(self) -> None:
        self.broken = self.broken or f"the state file {self.path.name} was closed"
        self._wal_writer.end()
        with self.turn:
            self._opened.close()
