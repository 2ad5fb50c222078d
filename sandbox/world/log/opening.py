"""Opening a state file: only one of ours, only by one program at a time; anything else is left as it is."""

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal
from urllib.parse import quote

from sandbox.world.log import format as state_file
from sandbox.world.log import upgrades, wal
from sandbox.world.log.format import FAILURES, VERSION, DamageError, StateFileError
from sandbox.world.log.writer import remove_nameless

WHOLE = ("", "-wal", "-journal")  # a file, and what lies beside it when its program was killed
LOCK_WAITS = 2.0  # seconds for a lock that another program holds
Sync = Literal["full", "normal"]  # whether each write reaches the disk before its answer (choice 12)


class Opened:
    """A connection, and the lock that keeps every other sandbox from the file until it is closed."""

    def __init__(self, path: Path, sync: Sync = "normal") -> None:
        with ExitStack() as opened:
            opened.callback(os.close, _locked(path))
            version, note = _look(path)
            self.notes = [note] if note else []  # what the file has lost without being damaged as a whole
            self.database = opened.enter_context(closing(_connected(path, version, sync)))
            beside = sqlite3.connect(path, timeout=0.0, check_same_thread=False, isolation_level=None)
            self.beside = opened.enter_context(closing(beside))
            try:
                whole = path.resolve()
                places = (path, whole.with_name(f"{whole.name}-wal"))
                self._places = [(place, place.stat()) for place in places]
            except OSError as error:
                raise StateFileError(f"{path} cannot be read: {error.strerror}") from None
            self._closing = opened.pop_all()

    def missing(self) -> str | None:
        """The file, or the WAL beside it, if it is no longer where it was opened; else None."""
        for place, opened in self._places:
            try:
                if not os.path.samestat(place.stat(), opened):
                    return f"{place} was replaced while it was in use"
            except OSError:
                return f"{place} was deleted or moved while it was in use"
        return None

    def close(self) -> None:
        """The lock last, as closing any line to a file drops the database's own locks."""
        self._closing.close()


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


def _look(path: Path) -> tuple[int, str | None]:
    """The version of the format, 0 of an empty file, and what the end of its WAL lost. Reads without a trace, and
    damaged files are found here."""
    _, wal_beside, journal = _places(path)
    try:
        if not wal_beside.exists() and not journal.exists():
            return 0 if path.stat().st_size == 0 else _version_of(path, "?immutable=1", path), None
        with TemporaryDirectory() as folder:  # what was not written out yet is put together on a copy
            copy = copy_into(folder, path)
            note = _describe_loss(path, wal_beside, copy)
            return _version_of(copy, "", path), note
    except OSError as error:
        raise StateFileError(f"{path} cannot be read: {error.strerror}") from None


def _places(path: Path) -> list[Path]:
    return [path.resolve().with_name(path.resolve().name + end) for end in WHOLE]


def copy_into(folder: str, path: Path) -> Path:
    """A file as it lies there, with what lies beside it."""
    for place, end in zip(_places(path), WHOLE, strict=True):
        if place.exists():
            shutil.copyfile(place, Path(folder, f"{path.name}{end}"))
    return Path(folder, path.name)


def _describe_loss(path: Path, beside: Path, copy: Path) -> str | None:
    """What to say of the WAL's end, if there is a WAL."""
    if not beside.exists() or not beside.stat().st_size:
        return None
    with path.open("rb") as file:
        if file.read(20)[18:] != b"\x02\x02":
            raise DamageError(f"{path} is damaged: it does not use the WAL that lies beside it")
    try:
        with closing(sqlite3.connect(copy)) as database:
            database.execute("PRAGMA synchronous = OFF")
            recovered = database.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()[1]
    except FAILURES as error:
        raise DamageError(f"{path} is no state file of the sandbox, or it is damaged: {error}") from None
    return wal.lost_tail(beside, str(path), max(0, recovered))


def _version_of(path: Path, how: str, named: Path) -> int:
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path.resolve()))}{how}", uri=True)) as database:
            if database.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,):
                return 0
            about = database.execute("SELECT * FROM about").fetchone()
            if about is None or about[0] != state_file.FORMAT or not isinstance(about[1], int):
                raise StateFileError(f"{named} is no state file of the sandbox")
            version = about[1]
            if not 1 <= version <= VERSION:
                raise StateFileError(
                    f"{named} has version {version} of the format; this program reads 1 to {VERSION}. "
                    "The program that wrote it, or a newer one, can read it"
                )
            _demand_tables(database, about, str(named))
            whole = database.execute("PRAGMA integrity_check(1)").fetchone()
            if whole == ("ok",) and version < VERSION:
                upgrades.demand_whole(database, version, str(named))
            elif whole == ("ok",):
                _demand_no_orphans(database, named)
    except FAILURES as error:
        raise DamageError(f"{named} is no state file of the sandbox, or it is damaged: {error}") from None
    if whole != ("ok",):
        raise DamageError(f"{named} is damaged: {str(whole[0])[:200]}")
    return int(version)


def _demand_tables(database: sqlite3.Connection, about: tuple[object, ...], named: str) -> None:
    """Those of the file's version, and of this version to the letter."""
    if about[1] in state_file.ABOUT_COLUMNS:
        whole = len(about) == state_file.ABOUT_COLUMNS[about[1]]
    else:
        whole = state_file.schema_of(database) == state_file.schema() and about == state_file.about_row(str(about[2]))
    if not whole:
        raise DamageError(f"{named} is damaged: its tables are not those of version {about[1]} of the format")


def _connected(path: Path, version: int, sync: Sync) -> sqlite3.Connection:
    try:
        database = sqlite3.connect(path, timeout=LOCK_WAITS, check_same_thread=False, isolation_level=None)
    except FAILURES as error:
        raise StateFileError(f"{path} cannot be opened: {error}") from None
    # A text that is none is told by its mark, as any other change is.
    database.text_factory = lambda content: content.decode("utf-8", "replace")
    try:
        # So that nothing of a write that a kill cut off stays behind later ones, where it would look like a hole.
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        if 0 < version < VERSION:
            _copied(database, path.with_name(f"{path.name}.version-{version}"))
        if version < VERSION:
            _make_file(database, version)
        database.execute("PRAGMA journal_mode = WAL").fetchall()
        database.execute("PRAGMA wal_autocheckpoint = 0")  # a thread does that beside the calls
        database.execute(f"PRAGMA synchronous = {sync.upper()}")  # a killed process loses nothing in either way
        remove_nameless(database)
        database.execute(
            "DELETE FROM pieces WHERE acts >= 0 AND (world, acts) NOT IN (SELECT world, acts FROM checkpoints)"
        )
    except FAILURES as error:
        database.close()
        raise StateFileError(f"{path} cannot be written: {error}") from None
    except StateFileError:
        database.close()
        raise
    return database


def _demand_no_orphans(database: sqlite3.Connection, path: Path) -> None:
    """Nothing of a world that is not there: this program removes a world with all that it has."""
    worlds = {world for (world,) in database.execute("SELECT id FROM worlds")}
    for table in state_file.OF_A_WORLD[:-1]:  # the last one is emptied
        found = database.execute(f"SELECT min(world) FROM {table}").fetchone()[0]
        while found is not None:
            if found not in worlds:
                raise DamageError(f"{path} is damaged: its {table} are of a world {found} that is not there")
            found = database.execute(f"SELECT min(world) FROM {table} WHERE world > ?", (found,)).fetchone()[0]


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
    except (OSError, *FAILURES) as error:
        raise StateFileError(f"{copy}, a copy of the older file, cannot be written: {error}") from None


def _make_file(database: sqlite3.Connection, version: int) -> None:
    """A file of this version, of an empty or an older one; all or nothing."""
    with transaction(database):
        if version:
            upgrades.upgrade(database, version)
        else:
            for table in state_file.TABLES:
                database.execute(table)
            database.execute("INSERT INTO about VALUES (?, ?, ?, ?)", state_file.about_row(state_file.program()))


@contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[None]:
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
        database.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            if database.in_transaction:  # SQLite may have ended it itself, as when the disk is full
                database.execute("ROLLBACK")
        raise
