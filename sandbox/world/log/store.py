"""A state file: every world's beginning and log, as they are written; what was answered is not lost. Or a database, by
its address.

Large worlds come into it and leave it in slices, so that no flush waits for all of one. A world that is not whole yet,
or not wholly gone yet, bears a name that no caller can give. Opening removes it.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

from sandbox.contract.errors import Error, Refusal
from sandbox.world.log.connection import Connection
from sandbox.world.log.format import ACT, NAMELESS, OF_A_WORLD, StateFileError
from sandbox.world.log.marks import Head, chained, root_of
from sandbox.world.log.memory_log import Act
from sandbox.world.log.opening import Sync
from sandbox.world.log.place import Part
from sandbox.world.log.state_store import Listed, StateStore
from sandbox.world.log.writer import (
    Backlog,
    Noted,
    Writer,
    columns_of,
    insert_head,
    insert_world,
    remove_world,
    rename_world,
)

__all__ = ["StateFileError", "Store"]

ADDRESSES = ("postgresql://", "postgres://")
HERE = "http://127.0.0.1"
SLICE = 500  # acts in one transaction
REMOVE_SLICE = (
    f"DELETE FROM acts WHERE world = ? AND number < (SELECT min(number) FROM acts WHERE world = ?) + {SLICE}",
    "DELETE FROM pieces WHERE world = ? AND rowid IN (SELECT rowid FROM pieces WHERE world = ? LIMIT 1)",
)
SMALL_TABLES = tuple(table for table in OF_A_WORLD if table not in ("acts", "pieces"))


class Store(StateStore):
    """One file."""

    connection: Connection
    path: Path

    def __init__(self, path: Path, stopwatch: Callable[[], float] = lambda: 0.0, sync: Sync = "normal") -> None:
        connection = Connection(path, stopwatch, sync)
        super().__init__(connection, Writer(connection))

    def worlds(self, shape: str) -> Iterator[Listed]:
        """Every world. Damage is told now, though reading a world back
        may wait until it is called, and checking the acts before its checkpoint until the server listens."""
        earlier = []
        for name, world in self.connection.select("SELECT name, id FROM worlds ORDER BY id"):
            checkpoint, root, until = self.checkpoints.read(world, shape), self.root(world), self.head_if_any(world)
            if until is None:
                raise self.damage(f"the number of acts of its world {name} is missing")
            since = checkpoint.head if checkpoint else root
            self.demand_part(Part(world, name, since, until))
            if (self.value("SELECT max(number) FROM acts WHERE world = ?", world) or 0) != until.acts:
                raise self.damage(f"its world {world} has more acts than it should")
            if since.acts:
                earlier.append(Part(world, name, root, since))
            yield self.kept(world)
        check = self.demand_earlier(earlier)
        if check is not None:
            self.beside("checking", check)

    def _begin(
        self, name: str, beginning: bytes, noted: Noted, acts: Iterable[Act], instead: int, new: bool
    ) -> Backlog:
        """The registry of this one server knows whether the name is new."""
        head, there, rest = Head(0, root_of(beginning)), 0, iter(acts)  # there: its row, once some of it is kept
        try:
            while len(slice_ := list(islice(rest, SLICE))) == SLICE:
                with self.connection.write() as database:
                    world = there or _insert_nameless(database, beginning)
                    head = _insert_acts(database, world, head, slice_)
                there = world
            with self.connection.write() as database:
                if instead and not self.connection.is_there(instead):
                    raise Refusal(Error.NOT_FOUND, input="world")
                gone = _forget(database, name)
                world = there or _insert_nameless(database, beginning)
                head = _insert_acts(database, world, head, slice_)
                insert_head(database, world, noted, head)
                rename_world(database, world, name, beginning)
        except BaseException:
            self._remove(there)
            raise
        self._remove(gone)
        return Backlog(world)

    def drop(self, name: str) -> None:
        with self.connection.write() as database:
            gone = _forget(database, name)
        self._remove(gone)

    def _remove(self, world: int) -> None:
        """The rows that are left, beside the calls."""
        if world:
            self.beside("rows", lambda: self._remove_slices(world))

    def _remove_slices(self, world: int) -> None:
        with suppress(StateFileError):  # the next opening removes the rest
            for query in REMOVE_SLICE:
                found = 1
                while found:
                    with self.connection.write() as database:
                        found = database.execute(query, (world, world)).rowcount
            with self.connection.write() as database:
                remove_world(database, world)

    def size(self) -> int:
        """Bytes on disk."""
        beside = (self.path.with_name(self.path.name + end) for end in ("", "-wal"))
        return sum(path.stat().st_size for path in beside if path.exists())


def _insert_nameless(database: sqlite3.Connection, beginning: bytes) -> int:
    world = insert_world(database, NAMELESS, beginning)
    rename_world(database, world, f"{NAMELESS}{world}", beginning)
    return world


def _insert_acts(database: sqlite3.Connection, world: int, head: Head, acts: list[Act]) -> Head:
    """The answer is the head after them."""
    rows = list(chained(world, head, map(columns_of, acts)))
    database.executemany(ACT, rows)
    return rows[-1].head if rows else head


def _forget(database: sqlite3.Connection, name: str) -> int:
    """The world of that name is gone for every reader; the answer is its id while acts of it are left, or 0."""
    row = database.execute("SELECT id, beginning FROM worlds WHERE name = ?", (name,)).fetchone()
    if row is None:
        return 0
    for table in SMALL_TABLES:
        database.execute(f"DELETE FROM {table} WHERE world = ?", row[:1])
    world = int(row[0])
    if database.execute("SELECT 1 FROM acts WHERE world = ? AND number > ?", (world, SLICE)).fetchone():
        rename_world(database, world, f"{NAMELESS}{world}", row[1])
        return world
    remove_world(database, world)
    return 0


def is_address(state: Path | str) -> bool:
    """Whether it names a database, and no file."""
    return str(state).startswith(ADDRESSES)


def open_store(
    state: Path | str,
    stopwatch: Callable[[], float] = lambda: 0.0,
    sync: Sync = "normal",
    advertised: str = HERE,
    lease: float | None = None,
    *,
    serves: bool = True,
    makes: bool = True,
) -> StateStore:
    """A StateFileError where it cannot be used; what is not ours is left as it is. How far an answer waits for the
    disk of a database is its own setting. Where other servers reach this one is said to the database alone, and only if
    it serves; a database that is only read is not made."""
    if not is_address(state):
        return Store(Path(state), stopwatch, sync)
    try:
        from sandbox.world.log.postgres_store import PostgresStore
    except ImportError as error:
        raise StateFileError(
            f"a database needs the extra postgres ({error}). Install it: pip install 'bank-sandbox[postgres]'"
        ) from None
    return PostgresStore(str(state), stopwatch, advertised, lease, serves, makes)
