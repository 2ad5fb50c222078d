"""The rows of a world, in the words that a state file and a database share: how they are made, marked and removed. And
writing what was gathered: many calls' acts in one transaction, and each call answered once its own are in it."""

import threading
from collections import defaultdict
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC
from typing import Any

from sandbox.world.log.codec import encode_text
from sandbox.world.log.format import ACT, NAMELESS, OF_A_WORLD, DamageError, StateFileError
from sandbox.world.log.marks import ActRow, Head, mark_of
from sandbox.world.log.memory_log import Act
from sandbox.world.log.place import Database, Place

NOTED = "SELECT pace, faults FROM heads WHERE world = ?"
NOTE = "UPDATE heads SET pace = ?, faults = ?, noted = ? WHERE world = ?"
GROW = "UPDATE heads SET acts = ?, head = ?, mark = ? WHERE world = ? AND head = ?"

Noted = tuple[bytes, bytes | None]  # how a world's clock goes, and which faults were ordered


def insert_world(database: Database, name: str, beginning: bytes) -> int:
    """The answer is its id."""
    query = "INSERT INTO worlds (name, beginning, mark) VALUES (?, ?, 0) RETURNING id"
    world = int(database.execute(query, (name, beginning)).fetchone()[0])
    rename_world(database, world, name, beginning)
    return world


def rename_world(database: Database, world: int, name: str, beginning: bytes) -> None:
    row = (name, mark_of(world, name, beginning), world)
    database.execute("UPDATE worlds SET name = ?, mark = ? WHERE id = ?", row)


def insert_head(database: Database, world: int, noted: Noted, head: Head, *owned: int | None) -> None:
    """In a database, with its owner and the epoch."""
    row = (world, *noted, mark_of(world, *noted), *head, mark_of(world, *head), *owned)
    _insert(database, "heads", row)


def insert_marked(database: Database, table: str, row: tuple[Any, ...]) -> None:
    """Into a table whose mark is of all its columns."""
    _insert(database, table, (*row, mark_of(*row)))


def _insert(database: Database, table: str, row: tuple[Any, ...]) -> None:
    places = ", ".join("?" * len(row))
    database.execute(f"INSERT INTO {table} VALUES ({places})", row)


def columns_of(act: Act) -> tuple[str, str, bytes, int]:
    """An act as a row keeps it."""
    return act.at.astimezone(UTC).isoformat(), act.verb, encode_text(act.arguments), act.made


def remove_world(database: Database, world: int) -> None:
    """All that is left of a world. Its own row goes last, so that no other is ever without it."""
    for table in OF_A_WORLD:
        database.execute(f"DELETE FROM {table} WHERE world = ?", (world,))
    database.execute("DELETE FROM worlds WHERE id = ?", (world,))


def remove_nameless(database: Database) -> None:
    """Worlds that were not whole yet, or not wholly gone, when the program ended. A row that is not as it was written
    stays, and is reported as damage.
    """
    query = "SELECT id, name, beginning, mark FROM worlds WHERE name GLOB ?"
    for world, name, content, mark in database.execute(query, (f"{NAMELESS}*",)).fetchall():
        if mark_of(world, name, content) == mark:
            remove_world(database, world)


@dataclass(eq=False, slots=True)
class Backlog:
    """Of one world. Once something of it could not be written, all later than that is built on sand: it is lost, and
    the world is read back with a backlog of its own."""

    world: int
    head: Head = Head(0, 0)  # as it is in the file
    taken: int = 0  # acts and notes so far
    kept: int = 0  # how many of them are written
    lost: bool = False
    epoch: int = 0  # under which this server has it, where several share a place
    noted: Noted | None = None  # its pace and its faults, as they are kept


@dataclass(slots=True)
class Gathered:
    """Of one world: acts in order, and of what changes without an act only the last state."""

    acts: list[ActRow] = field(default_factory=list)
    noted: dict[str, bytes] = field(default_factory=dict)
    taken: int = 0

    def noted_over(self, noted: Noted) -> Noted:
        """Pace and faults as they stand now."""
        return self.noted.get("pace", noted[0]), self.noted.get("faults", noted[1])


Batch = defaultdict[Backlog, Gathered]


class Writer:
    """Rows are gathered under the worlds' locks and written outside of them."""

    def __init__(self, connection: Place) -> None:
        self.connection = connection
        self.flushes = 0
        self.flush_seconds = 0.0
        self._gathered: Batch = defaultdict(Gathered)
        self._gather = threading.Lock()

    def note(self, what: str, backlog: Backlog, value: Any) -> None:
        """Takes a world's pace or faults as they are now; kept once `settle` returns."""
        assert what in ("pace", "faults")
        with self._gather:
            self._take(backlog).noted[what] = encode_text(value)

    def gather(self, backlog: Backlog, row: ActRow) -> None:
        """Takes an act; it is kept once `settle` returns."""
        with self._gather:
            self._take(backlog).acts.append(row)

    def _take(self, backlog: Backlog) -> Gathered:
        self._demand_founded(backlog)
        gathered = self._gathered[backlog]
        backlog.taken = gathered.taken = backlog.taken + 1
        return gathered

    def settle(self, backlog: Backlog, taken: int) -> None:
        """Returns once that much of a world is kept; several callers share one write."""
        if backlog.kept >= taken:
            return
        with self.connection.turn:
            if backlog.kept < taken and not backlog.lost:
                self.flush()
        if backlog.kept < taken:
            self._demand_founded(backlog)

    def _demand_founded(self, backlog: Backlog) -> None:
        if backlog.lost:
            raise StateFileError(self.connection.unready or f"{self.connection.path} could not be written")

    def flush(self) -> None:
        """Writes all that was gathered, or loses it: then memory is undone by those whom it belongs to."""
        began = self.connection.stopwatch()
        with self.connection.turn:
            if not self._gathered:
                return
            batch: Batch = defaultdict(Gathered)
            try:
                with self._writing() as database:
                    with self._gather:
                        batch, self._gathered = self._gathered, defaultdict(Gathered)
                    self._write(database, batch)
            except BaseException:
                with self._gather:  # also what was gathered meanwhile, as some of it may follow from what is lost
                    for backlog in (*batch, *self._gathered):
                        backlog.lost = True
                    self._gathered = defaultdict(Gathered)
                raise
            for backlog, gathered in batch.items():
                backlog.head = gathered.acts[-1].head if gathered.acts else backlog.head
                backlog.kept = backlog.kept if backlog.lost else gathered.taken
        with self._gather:  # with the commit, which is most of it
            self.flushes += 1
            self.flush_seconds += self.connection.stopwatch() - began

    def _writing(self) -> AbstractContextManager[Database]:
        return self.connection.write()

    def _write(self, database: Database, batch: Batch) -> None:
        for backlog, gathered in batch.items():
            world = backlog.world
            if gathered.acts:
                head = gathered.acts[-1].head
                row = (*head, mark_of(world, *head), world, backlog.head.mark)
                if database.execute(GROW, row).rowcount:
                    database.executemany(ACT, gathered.acts)
                elif self.connection.is_there(world):
                    raise DamageError(
                        f"{self.connection.path} was changed by another program: the acts of world {world}"
                    )
            found = database.execute(NOTED, (world,)).fetchone() if gathered.noted else None
            if found is not None:
                noted = gathered.noted_over(found)
                database.execute(NOTE, (*noted, mark_of(world, *noted), world))
