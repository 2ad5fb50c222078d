"""Holds all that a place keeps against its marks, and plays every world again."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sandbox.bank import timeline
from sandbox.bank.state import Bank
from sandbox.contract.errors import Refusal
from sandbox.world.beginning import bank_of
from sandbox.world.log import checkpoint
from sandbox.world.log.copying import Step, each_world, ignore
from sandbox.world.log.format import NAMELESS, StateFileError
from sandbox.world.log.marks import Head
from sandbox.world.log.memory_log import Act, Astray, play
from sandbox.world.log.state_hash import state_hash
from sandbox.world.log.state_store import Listed, StateStore
from sandbox.world.long_work import collector_at_rest

HEADLESS = f"SELECT name FROM worlds WHERE name < '{NAMELESS}' AND id NOT IN (SELECT world FROM heads)"
NO_WORLD = """SELECT world FROM heads WHERE world NOT IN (SELECT id FROM worlds)
  UNION SELECT world FROM acts WHERE world NOT IN (SELECT id FROM worlds)"""
STRIDE = 1_000
LAST = "SELECT count(*), max(number) FROM acts WHERE world = ?"


class Checked(NamedTuple):
    """One world: how many acts it has, and what is wrong with it."""

    name: str
    acts: int
    fault: str | None


def check_worlds(store: StateStore, step: Step = ignore) -> Iterator[Checked]:
    """Each world by itself: a fault of one hides none of another. `step` is called with the acts that were played."""
    for (name,) in store.connection.select(HEADLESS):
        yield Checked(name, 0, "the number of its acts and its clock are missing")
    for (world,) in store.connection.select(NO_WORLD):
        yield Checked(f"number {world}", 0, "it has acts or a clock, and its name and beginning are missing")
    for row in each_world(store):
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
