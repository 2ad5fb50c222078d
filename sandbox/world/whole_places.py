"""What is done with all worlds of a place: they are held against their marks and played again, or copied, row by row as
they were written, with marks of their new ids."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from sandbox.bank import timeline
from sandbox.bank.state import Bank
from sandbox.contract.errors import Refusal
from sandbox.world.beginning import bank_of
from sandbox.world.log import checkpoint
from sandbox.world.log.format import ACT, NAMELESS, StateFileError
from sandbox.world.log.marks import Head
from sandbox.world.log.memory_log import Act, Astray, play
from sandbox.world.log.place import Database
from sandbox.world.log.state_hash import state_hash
from sandbox.world.log.state_store import Listed, StateStore
from sandbox.world.log.writer import insert_head, insert_marked, insert_world
from sandbox.world.long_work import collector_at_rest

PIECE = 500  # acts that are read at once
HEADLESS = f"SELECT name FROM worlds WHERE name < '{NAMELESS}' AND id NOT IN (SELECT world FROM heads)"
NO_WORLD = """SELECT world FROM heads WHERE world NOT IN (SELECT id FROM worlds)
  UNION SELECT world FROM acts WHERE world NOT IN (SELECT id FROM worlds)"""
STRIDE = 1_000
LAST = "SELECT count(*), max(number) FROM acts WHERE world = ?"
Step = Callable[[int], None]


def copy_banks(origin: StateStore, target: StateStore, step: Step = lambda count: None) -> tuple[int, int]:
    """All worlds with their logs, checkpoints, calls and findings, into a place that has none: how many.

    `step` is called with the number of acts that were copied."""
    if target.count():
        raise StateFileError(f"{target.path} has worlds already: name a new file, or an empty database")
    acts = []
    for row in origin.each():
        origin.beginnings(row)  # which holds its marks
        acts.append(_copy_world(origin, target, row, step))
    target.keep_latest_time(origin.latest_time())
    return len(acts), sum(acts)


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
    while piece := list(islice(acts, PIECE)):
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


class Checked(NamedTuple):
    """One world: how many acts it has, and what is wrong with it."""

    name: str
    acts: int
    fault: str | None


def check_worlds(store: StateStore, step: Step = lambda count: None) -> Iterator[Checked]:
    """Each world by itself: a fault of one hides none of another. `step` is called with the acts that were played."""
    for (name,) in store.connection.select(HEADLESS):
        yield Checked(name, 0, "the number of its acts and its clock are missing")
    for (world,) in store.connection.select(NO_WORLD):
        yield Checked(f"number {world}", 0, "it has acts or a clock, and its name and beginning are missing")
    for row in store.each():
        try:
            acts, fault = _check_world(store, row, step)
        except (StateFileError, Refusal) as error:
            acts, fault = 0, str(error)
        except Exception as error:  # whatever damaged content leads to
            acts, fault = 0, f"it cannot be played again: {error!r}"
        yield Checked(row.name, acts, fault)


def counted(acts: Iterable[Act], step: Step) -> Iterator[Act]:
    """The acts; tells how many were taken, a thousand at a time."""
    for number, act in enumerate(acts, 1):
        yield act
        if number % STRIDE == 0:
            step(STRIDE)


def _check_world(store: StateStore, row: Listed, step: Step) -> tuple[int, str | None]:
    (beginning, opening), _, _ = store.beginnings(row)
    ((count, last),) = store.connection.select(LAST, row.id)
    head = store.head(row.id)  # after it: a server that goes on writes both at once
    if count != (last or 0) or count > head.acts:
        return head.acts, f"it has {count} acts up to number {last or 0}, and should have {head.acts}"
    store.trails.read(row.id)
    root = store.root(row.id)
    with collector_at_rest():
        bank = bank_of(beginning, opening)
        try:
            play(bank, counted(store.acts(row.id, root, head, stops=True), step))
        except Astray as astray:
            return head.acts, f"it does not come to what it came to: {astray}"
        return head.acts, _fault_of_checkpoint(store, row.id, head, bank, bank_of(beginning, opening))


def _fault_of_checkpoint(store: StateStore, world: int, head: Head, bank: Bank, fresh: Bank) -> str | None:
    """A bank from its checkpoint and the acts since must be the one of all acts."""
    found = store.checkpoints.read(world, checkpoint.shape())
    if found is None:
        return None
    checkpoint.read_onto(fresh, found.bank)
    play(fresh, store.acts(world, found.head, head, stops=True), found.head.acts)
    for one in (fresh, bank):  # the checkpoint may have been written at a later time than that of the last act
        timeline.advance(one, max(fresh.clock.now, bank.clock.now))
    if state_hash(fresh) == state_hash(bank):
        return None
    return f"its checkpoint after act {found.head.acts} is of another bank than its acts"
