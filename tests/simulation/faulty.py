"""A database that a director makes fail, delay or lose, at the statement that it chooses."""

import resource
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from sandbox.storage.sqlite_database import SqliteDatabase
from sandbox.storage.store import Store

GROWS = "UPDATE worlds SET acts"  # of each transaction that adds to a log
WRITES = ("BEGIN", "INSERT", "UPDATE", "DELETE", "COMMIT")
ROOM = 20_000  # bytes that a full disk still takes


class Faults:
    """What is ordered for the next statements; `error` is what the place says then."""

    error: Exception

    def __init__(self) -> None:
        self._waits = -1
        self._lasts = 0
        self._lies = False
        self._at_commit: Callable[[], None] | None = None

    def fail(self, after: int, times: int) -> None:
        """So many statements that write, from one of them on, are not done."""
        self._waits, self._lasts = after, times

    def lie(self) -> None:
        """The next commit of acts is done, and an error reported all the same."""
        self._lies = True

    def at_commit(self, act: Callable[[], None]) -> None:
        """What happens just before the next commit."""
        self._at_commit = act

    def rest(self) -> None:
        self._waits, self._lasts, self._lies, self._at_commit = -1, 0, False, None

    def _meet(self, text: str) -> None:
        if text == "COMMIT":
            self._commit()
        if self._lasts and text.startswith(WRITES):
            self._waits -= 1
            if self._waits < 0:
                self._lasts -= 1
                raise self.error

    def _commit(self) -> None:
        if self._at_commit is not None:
            act, self._at_commit = self._at_commit, None
            act()


class Faulty(Faults):
    """Stands before a connection of SQLite."""

    error = sqlite3.OperationalError("disk I/O error")

    def __init__(self, store: Store) -> None:
        super().__init__()
        assert isinstance(store.database, SqliteDatabase)
        self._of = store.database._connection
        self._grows = False  # a log
        store.database._connection = self  # type: ignore[assignment]

    def execute(self, text: str, *given: Any) -> Any:
        self._meet(text)
        self._grows = text.startswith(GROWS) or (self._grows and text != "BEGIN IMMEDIATE")
        if self._lies and self._grows and text == "COMMIT":
            self._lies = False
            self._of.execute(text)
            raise sqlite3.OperationalError("disk I/O error, after all was written")
        return self._of.execute(text, *given)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._of, name)


@contextmanager
def full(path: Path) -> Iterator[None]:
    """No file may grow beyond a little more than the largest of a state file's, which SQLite hears as a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    sizes = [beside.stat().st_size for beside in path.parent.glob(f"{path.name}*")]
    resource.setrlimit(resource.RLIMIT_FSIZE, (max(sizes) // 4096 * 4096 + ROOM, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """By another program."""
    with closing(sqlite3.connect(path, isolation_level=None, timeout=5)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


@contextmanager
def moved(path: Path) -> Iterator[None]:
    away = path.with_name("away")
    path.rename(away)
    try:
        yield
    finally:
        away.rename(path)


def until(holds: Callable[[], bool], seconds: float = 10.0) -> None:
    """For what happens in another thread."""
    ends = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < ends, "it never happens"
        time.sleep(0.001)
