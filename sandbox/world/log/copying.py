"""Copies whole banks from one place to another, row by row as they were written, with marks of their new ids."""

from collections.abc import Callable, Iterator
from itertools import islice

from sandbox.world.log.format import ACT, StateFileError
from sandbox.world.log.marks import Head
from sandbox.world.log.place import Database
from sandbox.world.log.state_store import Listed, StateStore
from sandbox.world.log.world_rows import insert_head, insert_marked, insert_world

PAGE = 500  # worlds, and acts, that are read at once

Step = Callable[[int], None]


def ignore(count: int) -> None:
    """The default for `step`: nobody looks on."""


class Copied:
    """What a copy came to."""

    def __init__(self) -> None:
        self.worlds = 0
        self.acts = 0


def each_world(store: StateStore) -> Iterator[Listed]:
    after = ""
    while rows := store.page(after, PAGE):
        yield from rows
        after = rows[-1].name


def copy_banks(origin: StateStore, target: StateStore, step: Step = ignore) -> Copied:
    """All worlds with their logs, checkpoints, calls and findings, into a place that has none.

    `step` is called with the number of acts that were copied."""
    if target.count():
        raise StateFileError(f"{target.path} has worlds already: name a new file, or an empty database")
    copied = Copied()
    for row in each_world(origin):
        origin.beginnings(row)  # which holds its marks
        copied.acts += _copy_world(origin, target, row, step)
        copied.worlds += 1
    target.keep_latest_time(origin.latest_time())
    return copied


def _copy_world(origin: StateStore, target: StateStore, row: Listed, step: Step) -> int:
    head = origin.head(row.id)
    with target.connection.write() as database:
        world = insert_world(database, row.name, row.beginning)
        acts = _copy_acts(origin, database, row, world, step)
        if acts != head:
            raise StateFileError(
                f"{origin.path} is damaged: acts of its world {row.name} are missing after {acts.acts}"
            )
        owned = (None, 1) if target.is_shared else ()  # no server has it
        insert_head(database, world, (row.pace, row.faults), head, *owned)
        _copy_rest(origin, database, row.id, world)
    return head.acts


def _copy_acts(origin: StateStore, database: Database, row: Listed, world: int, step: Step) -> Head:
    head = origin.root(row.id)
    acts = origin.rows(row.id, head)
    while piece := list(islice(acts, PAGE)):
        database.executemany(ACT, [act._replace(world=world) for act in piece])
        head = piece[-1].head
        step(len(piece))
    return head


def _copy_rest(origin: StateStore, database: Database, number: int, world: int) -> None:
    """The checkpoint, with the portions of calls that lie beside its pieces, and what other rooms keep."""
    pieces = "SELECT acts, number FROM pieces WHERE world = ? ORDER BY acts, number"
    piece = "SELECT content FROM pieces WHERE world = ? AND acts = ? AND number = ?"
    with origin.connection.read() as source:
        for table in ("checkpoints", "aside"):
            row = source.execute(f"SELECT * FROM {table} WHERE world = ?", (number,)).fetchone()
            if row is not None:
                insert_marked(database, table, (world, *row[1:-1]))
        for place in source.execute(pieces, (number,)).fetchall():
            content = source.execute(piece, (number, *place)).fetchone()
            database.execute("INSERT INTO pieces VALUES (?, ?, ?, ?)", (world, *place, content[0]))
