"""What changed in a database behind the program's back is told, or is as it was: the counterpart of flipped bits."""

from collections import Counter
from contextlib import closing
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner

from sandbox.cli import main
from sandbox.world.log import checkpoint
from sandbox.world.log.format import StateFileError
from sandbox.world.log.postgres_store import PostgresStore
from sandbox.world.log.state_hash import state_hash
from sandbox.world.registry import Worlds
from tests.postgres import Cluster
from tests.world.damage import MACHINE, content_of, fill
from tests.world.killed import BEGINNING, initiate, worlds_of
from tests.world.places import change, end_leases, rows

CHANGES = 36
CHANGED = {  # the columns that hold what a bank was told; who has a world is settled anew at each start
    "about": ("format", "version", "program", "mark"),
    "worlds": ("name", "beginning", "mark"),
    "heads": ("pace", "faults", "noted", "acts", "head", "mark"),
    "acts": ("at", "verb", "given", "made", "mark", "number"),
    "checkpoints": ("acts", "head", "shape", "content", "mark"),
    "pieces": ("content",),
    "clock": ("latest", "mark"),
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
    store = PostgresStore(url)
    with closing(store):
        worlds = Worlds(BEGINNING, lambda: MACHINE, store)
        found = {world.name: content_of(world) for world in worlds.all()}
        if notes := [note for note in store.connection.notes if "synchronous_commit" not in note]:
            raise StateFileError("; ".join(notes))
        return found


def harm(url: str, random: Random) -> tuple[str, str]:
    """One value of one row is another one, or a row is gone."""
    table = random.choice([name for name in CHANGED if rows(url, f"SELECT 1 FROM {name} LIMIT 1")])
    places = [place for (place,) in rows(url, f"SELECT ctid::text FROM {table}")]
    where = f"ctid = '{random.choice(places)}'::tid"
    if table in ("worlds", "acts", "heads", "pieces", "checkpoints") and random.random() < 0.2:
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
        end_leases(full)
        for name in CHANGED:
            change(full, f"DELETE FROM {name}", f"INSERT INTO {name} OVERRIDING SYSTEM VALUE SELECT * FROM copy_{name}")
    assert counts["told"] > CHANGES // 2, counts


def test_a_bank_whose_database_crashed_tells_all_that_it_answered(cluster: Cluster, database: str) -> None:
    """Without a word to its programs, and as one that keeps what it says that it kept."""
    where = f"{database}%20-csynchronous_commit%3Don"
    store = PostgresStore(where)
    world = worlds_of(store).get("default")
    answered = [initiate(world, number) for number in range(5)]
    cluster.control("restart", "-m", "immediate")
    answered += [initiate(world, number) for number in range(5, 8)]
    before = world.ask(state_hash)
    store.close()
    with closing(PostgresStore(where)) as again:
        world = worlds_of(again).get("default")
        assert (list(world.bank.payments), world.ask(state_hash)) == (answered, before)


@pytest.mark.parametrize(("fails", "room"), [("acts", "number < 4"), ("heads", "acts < 4")])
def test_a_database_that_takes_no_more_loses_nothing_that_was_answered(database: str, fails: str, room: str) -> None:
    store = PostgresStore(database)
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
    with closing(PostgresStore(database)) as again:
        assert list(worlds_of(again).get("default").bank.payments) == answered
