"""Checks all worlds of a store by the checksums of their rows and by a replay, and copies all worlds to another
store."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from sandbox.bank import timeline
from sandbox.bank.state import Bank
from sandbox.contract.errors import Refusal
from sandbox.storage import checkpoint
from sandbox.storage.checkpoints import Checkpoints
from sandbox.storage.codec import UnknownNameError
from sandbox.storage.format import OF_A_WORLD, StateFileError
from sandbox.storage.memory_log import Act, ReplayMismatch, play
from sandbox.storage.state_hash import hash_state
from sandbox.storage.store import ROWS_AT_ONCE, Store, WorldRow
from sandbox.worlds.beginning import make_bank, read_beginning, read_controls
from sandbox.worlds.call_history import CALLS, read_attachments, read_portions
from sandbox.worlds.counts import count_up

BESIDE_ACTS = tuple(table for table in OF_A_WORLD if table != "acts")
NO_WORLD = """SELECT DISTINCT world FROM acts
  WHERE world NOT IN (SELECT id FROM worlds) AND world NOT IN (SELECT world FROM garbage)"""
STRIDE = 1_000
Step = Callable[[int], None]


def copy_banks(origin: Store, target: Store, step: Step = lambda count: None) -> tuple[int, int]:
    """Copies all worlds with their logs, checkpoints, calls and findings into an empty store. Returns the number of
    worlds and of acts. Raises StateFileError if the target has worlds already.

    After each portion of acts, calls `step` with the number of acts in the portion.
    """
    if target.count():
        raise StateFileError(f"{target.path} has worlds already: name a new file, or an empty database")
    worlds = acts = 0
    for row in origin.read_all():
        _copy_world(origin, target, row, step)
        worlds, acts = worlds + 1, acts + row.acts
    target.keep_latest_time(origin.read_latest_time())
    return worlds, acts


def _copy_world(origin: Store, target: Store, row: WorldRow, step: Step) -> None:
    start = Checkpoints(origin).read_start(row.id)
    head = start.head if start else row.root
    remaining_rows = islice(origin.read_rows(row.id, head), row.acts - head.acts)
    while portion := list(islice(remaining_rows, ROWS_AT_ONCE)):
        with target.database.transaction() as transaction:
            transaction.write_rows("acts", list(portion))
        head = portion[-1].head
        step(len(portion))
    if head != row.position.head:
        raise StateFileError(f"{origin.path} is damaged: acts of its world {row.name} are missing after {head.acts}")
    with target.database.transaction() as transaction:
        for table in BESIDE_ACTS:
            for content in origin.database.select(f"SELECT * FROM {table} WHERE world = ?", row.id):
                transaction.write_rows(table, [content])
        transaction.write_rows("worlds", [row])
    _copy_number_of_calls(origin, target, row)


def _copy_number_of_calls(origin: Store, target: Store, row: WorldRow) -> None:
    """Copies the number of answered calls, which a state file and a shared database store in different tables."""
    query = """SELECT coalesce(max(last), 0) FROM (SELECT last FROM calls WHERE world = ?
  UNION ALL SELECT last FROM aside WHERE world = ? UNION ALL SELECT count FROM counts WHERE world = ? AND name = ?) n"""
    ((made,),) = origin.database.select(query, row.id, row.id, row.id, CALLS)
    if made:
        target.database.write("DELETE FROM counts WHERE world = ? AND name = ?", row.id, CALLS)
        count_up(target, row.id, CALLS, made)


class WorldCheck(NamedTuple):
    """The result of the check of one world: its number of acts, and a sentence about its fault or None."""

    name: str
    acts: int
    fault: str | None


def check_worlds(store: Store, step: Step = lambda count: None) -> Iterator[WorldCheck]:
    """Checks each world and yields the result. A damaged world does not end the check. Acts that belong to no world
    give a result with a fault too. During a replay, calls `step(1000)` after each 1,000 acts."""
    store.read_latest_time()  # notes damage of the stored time
    for (world,) in store.database.select(NO_WORLD):
        yield WorldCheck(f"number {world}", 0, "it has acts, and its name and beginning are missing")
    for (name,) in store.database.select("SELECT name FROM worlds ORDER BY name"):
        acts, fault = 0, None
        try:
            row = store.find(name)
            if row is not None:
                acts, fault = row.acts, _check_world(store, row, step)
        except (StateFileError, Refusal, UnknownNameError) as error:
            fault = str(error)
        except Exception as error:  # damaged content can raise any error
            fault = f"it cannot be played again: {error!r}"
        yield WorldCheck(name, acts, fault)


def count_acts(acts: Iterable[Act], step: Step) -> Iterator[Act]:
    """Yields the acts, and calls `step(1000)` after each 1,000 of them."""
    for number, act in enumerate(acts, 1):
        yield act
        if number % STRIDE == 0:
            step(STRIDE)


def _check_world(store: Store, row: WorldRow, step: Step) -> str | None:
    ((last,),) = store.database.select("SELECT coalesce(max(number), 0) FROM acts WHERE world = ?", row.id)
    if last > row.acts and not store.is_shared:  # another server may have added to a shared one meanwhile
        return f"it has acts up to number {last}, and should have {row.acts}"
    beginning, opening = read_beginning(row.beginning)
    read_controls(row.noted)
    list(read_portions(store, row.id))
    read_attachments(store, row.id)
    bank, root = make_bank(beginning, opening), row.root
    start = Checkpoints(store).read_start(row.id)
    if start is not None:
        checkpoint.read_onto(bank, start.bank)
        root = start.head
    try:
        play(bank, count_acts(store.read_acts(row.id, root, row.position.head), step), root.acts)
    except ReplayMismatch as astray:
        return f"it does not come to what it came to: {astray}"
    return _find_fault_of_checkpoint(store, row, bank, make_bank(beginning, opening))


def _find_fault_of_checkpoint(store: Store, row: WorldRow, bank: Bank, of_checkpoint: Bank) -> str | None:
    """Checks that the last checkpoint and the acts after it give the same bank as all acts. `bank` is the bank after
    all acts. `of_checkpoint` is a new bank of the same world, and the checkpoint is read onto it. Returns a sentence if
    the two banks differ, else None. Also returns None if there is no checkpoint that this program can read, or if it
    has more acts than the row of the world."""
    latest = Checkpoints(store).read(row.id, checkpoint.compute_program_digest())
    if latest is None or latest.head.acts > row.acts:
        return None
    checkpoint.read_onto(of_checkpoint, latest.bank)
    play(of_checkpoint, store.read_acts(row.id, latest.head, row.position.head), latest.head.acts)
    for compared in (of_checkpoint, bank):  # the checkpoint may be of a later time than the last act
        timeline.advance(compared, max(of_checkpoint.clock.now, bank.clock.now))
    if hash_state(of_checkpoint) == hash_state(bank):
        return None
    return f"its checkpoint after act {latest.head.acts} is of another bank than its acts"
