"""What changed in a database behind the program's back is told, or is as it was: the counterpart of flipped bits."""

from collections import Counter
from contextlib import closing
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner

from sandbox.bank import timeline
from sandbox.bank.verbs import NAMES
from sandbox.cli import main
from sandbox.storage import checkpoint
from sandbox.storage.format import StateFileError
from sandbox.storage.memory_log import Act
from sandbox.storage.state_hash import hash_state
from sandbox.storage.store import open_store
from sandbox.worlds.registry import WorldRegistry
from tests.postgres import Cluster
from tests.simulation import images
from tests.worlds.damage import MACHINE, fill
from tests.worlds.killed import BEGINNING, initiate, worlds_of
from tests.worlds.places import change, rows

CHANGES = 36
CHANGED = {  # the columns that hold what a bank was told
    "about": ("format", "version"),
    "worlds": ("id", "name", "beginning", "mark", "acts", "head", "noted", "version", "until", "seal"),
    "acts": ("world", "number", "id", "at", "verb", "given", "made", "mark"),
    "checkpoints": ("world", "acts", "head", "shape", "attempt", "digest", "mark"),
    "pieces": ("content",),
}


@pytest.fixture(scope="module")
def full(cluster: Cluster) -> str:
    """Worlds of all kinds, with a copy of each table."""
    url = cluster.schema()
    before = checkpoint.EVERY
    fill(url, killed=False)
    checkpoint.EVERY = before
    for table in CHANGED:
        change(url, f"CREATE TABLE copy_{table} AS SELECT * FROM {table}")
    return url


def content(url: str) -> dict[str, Any]:
    with closing(open_store(url)) as store:
        worlds = WorldRegistry(BEGINNING, lambda: MACHINE, store)
        found = {name: (*of[:1], without_time(of[1]), *of[2:]) for name, of in images.content(worlds).items()}
        if store.notes:
            raise StateFileError("; ".join(store.notes))
        return found


def without_time(acts: list[Act]) -> list[Act]:
    """A world that runs goes on by the database's clock, and notes that it does."""
    return [act for act in acts if act.verb != NAMES[timeline.pass_time]]


def harm(url: str, random: Random) -> tuple[str, str]:
    """One value of one row is another one, or a row is gone."""
    table = random.choice(sorted(CHANGED))
    with_acts = " WHERE acts > 0" if table == "worlds" else ""  # a world without any leaves no trace
    places = [place for (place,) in rows(url, f"SELECT ctid::text FROM {table}{with_acts}")]
    where = f"ctid = '{random.choice(places)}'::tid"
    if table in ("worlds", "acts", "pieces", "checkpoints") and random.random() < 0.2:
        change(url, f"DELETE FROM {table} WHERE {where}")
        return table, "a row is gone"
    column = random.choice(CHANGED[table])
    ((value,),) = rows(url, f"SELECT {column} FROM {table} WHERE {where}")
    change(url, f"UPDATE {table} SET {column} = {other(value, random)} WHERE {where}")
    return table, f"{column} is another"


def other(value: Any, random: Random) -> str:
    if isinstance(value, bytes) and value:
        raw = bytearray(value)
        raw[random.randrange(len(raw))] ^= 1 << random.randrange(8)
        return f"'\\x{raw.hex()}'::bytea"
    if value is None or isinstance(value, bytes):
        return "'null'::bytea"
    if isinstance(value, str):
        at = random.randrange(len(value))
        quoted = f"{value[:at]}{'y' if value[at] == 'x' else 'x'}{value[at + 1 :]}".replace("'", "''")
        return f"'{quoted}'"
    return str(value + 2**20)


def test_no_value_that_changed_and_no_row_that_is_gone_is_silent(full: str) -> None:
    before, counts = content(full), Counter[str]()
    for number in range(CHANGES):
        table, what = harm(full, Random(f"1/{number}"))
        try:
            after = content(full)
        except StateFileError:
            counts["told"] += 1
        else:
            is_told = CliRunner().invoke(main, ["state", "check", full]).exit_code != 0
            assert is_told or after == before, f"number {number}, {table}: {what}"
            counts["told by a check" if is_told else "the same"] += 1
        for name in CHANGED:
            change(full, f"DELETE FROM {name}", f"INSERT INTO {name} SELECT * FROM copy_{name}")
    assert counts["told"] > CHANGES // 2, counts


def test_a_bank_whose_database_crashed_tells_all_that_it_answered(cluster: Cluster, database: str) -> None:
    """Without a word to its programs, and as one that keeps what it says that it kept."""
    where = f"{database}%20-csynchronous_commit%3Don"
    store = open_store(where)
    world = worlds_of(store).get("default")
    answered = [initiate(world, number) for number in range(5)]
    cluster.control("restart", "-m", "immediate")
    answered += [initiate(world, number) for number in range(5, 8)]
    before = world.ask(hash_state)
    store.close()
    with closing(open_store(where)) as again:
        world = worlds_of(again).get("default")
        assert (list(world.bank.payments), world.ask(hash_state)) == (answered, before)


@pytest.mark.parametrize(("fails", "room"), [("acts", "number < 4"), ("worlds", "acts < 4")])
def test_a_database_that_takes_no_more_loses_nothing_that_was_answered(database: str, fails: str, room: str) -> None:
    store = open_store(database)
    world = worlds_of(store).get("default")
    answered = [initiate(world, number) for number in range(3)]
    change(database, f"ALTER TABLE {fails} ADD CONSTRAINT room CHECK ({room}) NOT VALID")
    for number in range(3, 6):
        with pytest.raises(StateFileError, match='violates check constraint "room"'):
            initiate(world, number)
    assert world.ask(lambda bank: list(bank.payments)) == answered
    change(database, f"ALTER TABLE {fails} DROP CONSTRAINT room")
    answered.append(initiate(world, 6))
    store.close()
    with closing(open_store(database)) as again:
        assert list(worlds_of(again).get("default").bank.payments) == answered
