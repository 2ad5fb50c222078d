"""Opening a state file: only one of ours, only by one program at a time; anything else is left as it is."""

import os
import shutil
import sqlite3
from contextlib import closing
from fcntl import LOCK_EX, LOCK_NB, flock
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

FORMAT = "bank-sandbox state"
VERSION = 2
WORLDS = """CREATE TABLE worlds (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE,
  beginning BLOB NOT NULL, pace BLOB NOT NULL, faults BLOB)"""  # an id is never used again: what comes late finds none
CHECKPOINTS = """CREATE TABLE checkpoints (world INTEGER PRIMARY KEY, acts INTEGER NOT NULL, bank BLOB NOT NULL,
  shape TEXT NOT NULL, mark INTEGER NOT NULL)"""
# The content of a checkpoint; the row above holds it itself in files of earlier programs.
PIECES = """CREATE TABLE IF NOT EXISTS pieces (world INTEGER NOT NULL, acts INTEGER NOT NULL, number INTEGER NOT NULL,
  content BLOB NOT NULL, UNIQUE (world, acts, number))"""
# What worlds that are away take along, of this program's life alone.
ASIDE = "CREATE TABLE IF NOT EXISTS aside (world INTEGER PRIMARY KEY, content BLOB NOT NULL)"
CREATED = (
    "CREATE TABLE about (format TEXT NOT NULL, version INTEGER NOT NULL, program TEXT)",
    WORLDS,
    """CREATE TABLE acts (world INTEGER NOT NULL, number INTEGER NOT NULL, at TEXT NOT NULL, verb TEXT NOT NULL,
      given BLOB NOT NULL, made INTEGER, mark INTEGER, PRIMARY KEY (world, number)) WITHOUT ROWID""",
    CHECKPOINTS,
)
# From the version to the next one. Acts of the first version bear no mark: nothing tells whether they were damaged.
UPGRADES: dict[int, tuple[str, ...]] = {
    1: (
        "ALTER TABLE about ADD COLUMN program TEXT",
        "ALTER TABLE worlds RENAME TO worlds_before",
        WORLDS,
        "INSERT INTO worlds SELECT id, name, beginning, pace, NULL FROM worlds_before",
        "DROP TABLE worlds_before",
        "ALTER TABLE acts ADD COLUMN made INTEGER",
        "ALTER TABLE acts ADD COLUMN mark INTEGER",
        "DROP TABLE checkpoints",
        CHECKPOINTS,
    )
}
COMPANIONS = ("-wal", "-journal")  # beside a file whose program was killed


class StateFileError(Exception):
    """The file cannot be used; it was left as it is."""


class Opened:
    """A connection, and the lock that keeps every other sandbox from the file until it is closed."""

    def __init__(self, path: Path) -> None:
        self._lock = _locked(path)
        self._open = True
        try:
            known = _look(path)
            self.database = _connected(path, known)
        except BaseException:
            os.close(self._lock)
            raise

    def close(self) -> None:
        if self._open:
            self._open = False
            self.database.close()
            os.close(self._lock)  # after the database: closing any line to a file drops the database's own locks


def program() -> str:
    """The version of the program."""
    try:
        return version("bank-sandbox")
    except PackageNotFoundError:
        return "not installed"


def _locked(path: Path) -> int:
    try:
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StateFileError(f"{path} cannot be written: {error.strerror}") from None
    try:
        flock(lock, LOCK_EX | LOCK_NB)
    except OSError:
        os.close(lock)
        raise StateFileError(f"{path} is in use by another sandbox") from None
    return lock


def _look(path: Path) -> int:
    """The version of the format; 0 of an empty file. Reads without a trace, and damaged files are found here."""
    try:
        if not any(path.with_name(path.name + end).exists() for end in COMPANIONS):
            return 0 if path.stat().st_size == 0 else _version_of(path, "?immutable=1", path)
        with TemporaryDirectory() as folder:  # what was not written out yet is put together on a copy
            for end in ("", *COMPANIONS):
                beside = path.with_name(path.name + end)
                if beside.exists():
                    shutil.copyfile(beside, Path(folder, f"copy{end}"))
            return _version_of(Path(folder, "copy"), "", path)
    except OSError as error:
        raise StateFileError(f"{path} cannot be read: {error.strerror}") from None


def _version_of(path: Path, how: str, named: Path) -> int:
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path.resolve()))}{how}", uri=True)) as database:
            if database.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,):
                return 0
            row = database.execute("SELECT format, version FROM about").fetchone()
            if row is None or row[0] != FORMAT or not isinstance(row[1], int):
                raise StateFileError(f"{named} is no state file of the sandbox")
            if not 1 <= row[1] <= VERSION:
                raise StateFileError(
                    f"{named} has version {row[1]} of the format; this program reads 1 to {VERSION}. "
                    "The program that wrote it, or a newer one, can read it"
                )
            whole = database.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        raise StateFileError(f"{named} is no state file of the sandbox, or it is damaged: {error}") from None
    if whole != ("ok",):
        raise StateFileError(f"{named} is damaged: {str(whole[0])[:200]}")
    return int(row[1])


def _connected(path: Path, known: int) -> sqlite3.Connection:
    try:
        database = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
    except sqlite3.Error as error:
        raise StateFileError(f"{path} cannot be opened: {error}") from None
    try:
        if 0 < known < VERSION:
            _copied(database, path.with_name(f"{path.name}.version-{known}"))
        if known < VERSION:
            _all_or_nothing(database, _statements(known))
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")  # a killed process loses nothing; a power cut may lose the last
        gone = "DELETE FROM {} WHERE world NOT IN (SELECT id FROM worlds)"
        cut = "DELETE FROM pieces WHERE (world, acts) NOT IN (SELECT world, acts FROM checkpoints)"
        made = (ASIDE, "DELETE FROM aside", PIECES)
        cleared = (*made, *(gone.format(table) for table in ("acts", "checkpoints", "pieces")), cut)
        _all_or_nothing(database, [(text, ()) for text in cleared])
        database.isolation_level = "DEFERRED"
    except sqlite3.Error as error:
        database.close()
        raise StateFileError(f"{path} cannot be written: {error}") from None
    except StateFileError:
        database.close()
        raise
    return database


def _copied(database: sqlite3.Connection, copy: Path) -> None:
    """An older file as it was, for the program that wrote it, if this one should not be able to go on with it."""
    if copy.exists():  # of an earlier try
        return
    part = copy.with_name(f"{copy.name}.part")
    try:
        part.unlink(missing_ok=True)
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        try:
            database.execute("VACUUM INTO ?", (str(part),))
            part.rename(copy)
        except BaseException:
            part.unlink()
            raise
    except (OSError, sqlite3.Error) as error:
        raise StateFileError(f"{copy}, a copy of the older file, cannot be written: {error}") from None


def _statements(known: int) -> list[tuple[str, tuple[Any, ...]]]:
    """What makes a file of this version of an empty or an older one."""
    if known == 0:
        made = "INSERT INTO about VALUES (?, ?, ?)", (FORMAT, VERSION, program())
        return [*((text, ()) for text in CREATED), made]
    steps = [(text, ()) for number in range(known, VERSION) for text in UPGRADES[number]]
    return [*steps, ("UPDATE about SET version = ?, program = coalesce(program, ?)", (VERSION, f"before {program()}"))]


def _all_or_nothing(database: sqlite3.Connection, statements: list[tuple[str, tuple[Any, ...]]]) -> None:
    database.execute("BEGIN IMMEDIATE")
    try:
        for text, row in statements:
            database.execute(text, row)
    except BaseException:
        if database.in_transaction:  # SQLite may have done so itself, as when the disk is full
            database.execute("ROLLBACK")
        raise
    database.execute("COMMIT")
