"""How worlds come into a state file and leave it. Large ones do so in slices, so that no flush waits for all of one.

A world that is not whole yet, or not wholly gone yet, bears a name that no caller can give. Opening removes it.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC
from itertools import islice
from typing import TYPE_CHECKING, Any

from sandbox.contract.errors import Error, Refusal
from sandbox.world.log.codec import encode_text
from sandbox.world.log.format import ACT, NAMELESS, OF_A_WORLD, StateFileError
from sandbox.world.log.marks import ActRow, Head, act_mark, mark_of, root_of
from sandbox.world.log.memory_log import Act
from sandbox.world.log.removal import remove

if TYPE_CHECKING:
    from sandbox.world.log.connection import Connection

SLICE = 500  # acts in one transaction
REMOVE_SLICE = (
    f"DELETE FROM acts WHERE world = ? AND number < (SELECT min(number) FROM acts WHERE world = ?) + {SLICE}",
    "DELETE FROM pieces WHERE world = ? AND rowid IN (SELECT rowid FROM pieces WHERE world = ? LIMIT 1)",
)
SMALL_TABLES = tuple(table for table in OF_A_WORLD if table not in ("acts", "pieces"))

Beside = Callable[[Callable[[], None]], None]  # has work done while calls are answered


class WorldRows:
    """The rows of worlds as they begin and are dropped."""

    def __init__(self, connection: "Connection", beside: Beside) -> None:
        self.connection = connection
        self._beside = beside

    def begin(self, name: str, beginning: Any, pace: Any, acts: Iterable[Act], faults: Any, instead: int) -> int:
        """Begins a world whole or not at all, in place of the world of its name. A world that begins again names itself
        in `instead`, so that no other world of that name is replaced."""
        content, noted = encode_text(beginning), (encode_text(pace), None if faults is None else encode_text(faults))
        rest = iter(acts)
        first = list(islice(rest, SLICE))
        head, world = Head(0, root_of(content)), 0
        if len(first) == SLICE:
            with self.connection.write():
                world = self._insert(content)
        while len(first) == SLICE:
            with self._undone(world):
                rows = _rows(world, head, first)
                with self.connection.write() as database:
                    database.executemany(ACT, rows)
                head = Head(rows[-1].number, rows[-1].mark)
                first = list(islice(rest, SLICE))
        with self._undone(world), self.connection.write() as database:
            if instead:
                self._demand_there(instead)
            gone = self._forget(name)
            world = world or self._insert(content)
            rows = _rows(world, head, first)
            database.executemany(ACT, rows)
            head = Head(rows[-1].number, rows[-1].mark) if rows else head
            row = (world, *noted, mark_of(world, *noted), *head, mark_of(world, *head))
            database.execute("INSERT INTO heads VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            _rename(database, world, name, content)
        self._remove(gone)
        return world

    def drop(self, name: str) -> None:
        with self.connection.write():
            gone = self._forget(name)
        self._remove(gone)

    @contextmanager
    def _undone(self, world: int) -> Iterator[None]:
        """What there is of a world that cannot be kept whole is removed."""
        try:
            yield
        except BaseException:
            self._remove(world)
            raise

    def _insert(self, content: bytes) -> int:
        """Under a name of none."""
        database = self.connection.database
        made = database.execute("INSERT INTO worlds (name, beginning, mark) VALUES (?, ?, 0)", (NAMELESS, content))
        assert made.lastrowid is not None
        _rename(database, made.lastrowid, f"{NAMELESS}{made.lastrowid}", content)
        return made.lastrowid

    def _demand_there(self, world: int) -> None:
        if not self.connection.is_there(world):
            raise Refusal(Error.NOT_FOUND, input="world")

    def _forget(self, name: str) -> int:
        """The world of that name is gone for every reader; the answer is its id, or 0."""
        database = self.connection.database
        row = database.execute("SELECT id, beginning FROM worlds WHERE name = ?", (name,)).fetchone()
        if row is None:
            return 0
        for table in SMALL_TABLES:
            database.execute(f"DELETE FROM {table} WHERE world = ?", row[:1])
        world = int(row[0])
        if database.execute("SELECT 1 FROM acts WHERE world = ? AND number > ?", (world, SLICE)).fetchone():
            _rename(database, world, f"{NAMELESS}{world}", row[1])
            return world
        remove(database, world)
        return 0

    def _remove(self, world: int) -> None:
        """The rows that are left, beside the calls."""
        if world:
            self._beside(lambda: self._remove_slices(world))

    def _remove_slices(self, world: int) -> None:
        with suppress(StateFileError):  # the next opening removes the rest
            for query in REMOVE_SLICE:
                found = 1
                while found:
                    with self.connection.write() as database:
                        found = database.execute(query, (world, world)).rowcount
            with self.connection.write() as database:
                remove(database, world)


def _rows(world: int, head: Head, acts: Iterable[Act]) -> list[ActRow]:
    rows = []
    for act in acts:
        row = row_of(world, head, act)
        rows.append(row)
        head = Head(row.number, row.mark)
    return rows


def _rename(database: sqlite3.Connection, world: int, name: str, content: bytes) -> None:
    row = (name, mark_of(world, name, content), world)
    database.execute("UPDATE worlds SET name = ?, mark = ? WHERE id = ?", row)


def row_of(world: int, head: Head, act: Act) -> ActRow:
    """The next act after a head."""
    at, given, number = act.at.astimezone(UTC).isoformat(), encode_text(act.arguments), head.acts + 1
    mark = act_mark(head.mark, number, at, act.verb, given, act.made)
    return ActRow(world, number, at, act.verb, given, act.made, mark)
