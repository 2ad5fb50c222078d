"""Moves what the WAL holds into the file beside the calls: SQLite itself would do so inside a caller's commit."""

import sqlite3
import threading
from contextlib import suppress
from pathlib import Path

from sandbox.world.log.format import FAILURES

COMMITS = 250  # between two moves; about 1,000 pages
GROWTH = 4_000_000  # bytes: large commits are moved earlier
PAGES_MAX = 8_000  # beyond that the rest is moved while no caller writes, so that the WAL begins again from its start


class WalWriter:
    """Has a connection of its own, as one connection does one thing at a time."""

    def __init__(self, database: sqlite3.Connection, path: Path, turn: threading.RLock) -> None:
        self._database = database
        self._wal = path.with_name(f"{path.name}-wal")
        self._turn = turn  # of those who write
        self._commits = 0
        self._size = 0
        self._thread: threading.Thread | None = None

    def note_commit(self) -> None:
        """For a caller that has its turn."""
        self._commits += 1
        if self._commits < COMMITS and self._wal_size() - self._size < GROWTH:
            return
        if self._thread is None or not self._thread.is_alive():
            self._commits, self._size = 0, self._wal_size()
            self._thread = threading.Thread(target=self._move, name="wal", daemon=True)
            self._thread.start()

    def _wal_size(self) -> int:
        try:
            return self._wal.stat().st_size
        except OSError:
            return 0

    def _move(self) -> None:
        with suppress(*FAILURES):  # a full disk: tried again later, and commits refuse by themselves
            if self._move_all() > PAGES_MAX:
                with self._turn:
                    self._move_all()

    def _move_all(self) -> int:
        """The answer is how many pages the WAL has."""
        return int(self._database.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()[1])

    def end(self) -> None:
        if self._thread is not None:
            self._thread.join()
