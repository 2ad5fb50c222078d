"""A bank that is killed again and again while it works, and what its state file or its database holds each time.

Run as a program of its own, which starts no thread: each child is a copy of it that has everything loaded.
"""

import json
import os
import select
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

from sandbox.app import assemble, make_first_beginning
from sandbox.bank import payments, psu_actions
from sandbox.bank.initiations import RequestKey
from sandbox.bank.records import Creditor, Origin, PaymentRequest
from sandbox.bank.state import Bank
from sandbox.banking.durations import read_instant
from sandbox.banking.money import Money
from sandbox.machine import machine_time
from sandbox.storage import checkpoint
from sandbox.storage.checkpoints import Checkpoints
from sandbox.storage.sqlite_database import SqliteDatabase
from sandbox.storage.state_hash import hash_state
from sandbox.storage.store import Store, open_store
from sandbox.worlds.registry import WorldRegistry
from sandbox.worlds.snapshot import StoredActs, replay
from sandbox.worlds.world import World
from tests.tpp import BELGIAN, CALLBACK, SCT, Tpp

BEGINNING = make_first_beginning(seed=7, at=read_instant("2027-03-01T09:00:00+01:00"), rate=0)
ROUNDS_OF_A_FILE = 4
LONGEST = 20  # seconds; a child that says nothing for so long is a fault
BY_CALL = 0.15  # how often a child also answers real calls, which takes it longer to begin with
WAYS = ("answers", "answers", "commit", "checkpoint", "begin")  # after so many answers, or in the midst of this


def worlds_of(store: Store) -> WorldRegistry:
    return WorldRegistry(BEGINNING, machine_time, store)


# The child: it works until it is killed, and tells each answer after it has it.


def initiate(world: World, number: int) -> str:
    order = PaymentRequest(SCT, Money.read("1.00", "EUR"), Creditor(BELGIAN), "Jan Peeters", f"R-{number}")
    origin = Origin("demo-tpp", CALLBACK, "fr", ("S256", "c" * 43))
    ask = RequestKey("demo-tpp", str(UUID(int=number, version=4)), b"")
    return world.act(payments.initiate, order, origin, ask).payment_id


def work(path: Path | str, line: int, random: Random, way: str) -> None:
    checkpoint.EVERY = 10
    store = open_store(path)
    worlds = worlds_of(store)
    world = worlds.get("default")

    def tell(text: str) -> None:
        os.write(line, f"{text}\n".encode())

    def load(part: int) -> None:
        try:
            for number in range(1_000_000):
                made = initiate(world, random.getrandbits(100) * 4 + part)
                tell(f"paid {made}")
                if number % 5 == 4:
                    sca_token = world.ask(sca_token_of, made)
                    world.act(psu_actions.refuse, sca_token or "", "alice", None)
        finally:
            os._exit(4)  # seen by who waits

    def calls() -> None:
        tpp = Tpp(assemble(worlds))
        while True:
            tell(f"paid {tpp.initiated()}")

    if way in ("commit", "checkpoint"):
        doomed(store, random, way)
    if way == "begin":
        for _ in range(random.randrange(10)):
            tell(f"paid {initiate(world, random.getrandbits(100))}")
        doomed(store, random, "begin", at_once=True)
        tell("resets")
        world.reset()
        tell("reset")
        way = "answers"
    threads = [threading.Thread(target=load, args=(part,), daemon=True) for part in (1, 2)]
    for thread in threads:
        thread.start()
    if random.random() < BY_CALL:
        calls()
    load(0)


def doomed(store: Store, random: Random, what: str, *, at_once: bool = False) -> None:
    """Some time later, in the midst of what the database does for one of the store's acts, the process is gone."""
    database = store.database
    waits = 0 if at_once else random.randrange(1, 4 if what == "checkpoint" else 30)
    steps = random.randrange(1, 400) if isinstance(database, SqliteDatabase) else random.randrange(6)
    places: dict[str, tuple[Any, str]] = {"checkpoint": (Checkpoints, "write"), "begin": (store, "begin")}
    of, name = places.get(what) or committing(database)
    original = getattr(of, name)

    def counted(*given: object, **more: object) -> object:
        nonlocal waits
        waits -= 1
        if waits < 0 and isinstance(database, SqliteDatabase):
            with database._turn:
                database._connection.set_progress_handler(step, 3)
        elif waits < 0:
            meet_statements(random, step)
        return original(*given, **more)

    def step() -> int:
        nonlocal steps
        steps -= 1
        if steps < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return 0

    setattr(of, name, counted)


def committing(database: Any) -> tuple[Any, str]:
    """What commits a transaction, and its name."""
    if isinstance(database, SqliteDatabase):
        return database, "_commit"
    from sandbox.storage.postgres_database import PostgresTransaction

    return PostgresTransaction, "commit"


def meet_statements(random: Random, step: Callable[[], object]) -> None:
    """Before a statement goes to PostgreSQL, or once it was done and its answer is here."""
    from sandbox.storage import postgres_database

    original, is_after = postgres_database._fetch_rows, random.random() < 0.5

    def met(*given: Any) -> Any:
        rows = original(*given) if is_after else None
        step()
        return rows if is_after else original(*given)

    vars(postgres_database)["_fetch_rows"] = met


# The parent: it kills, and looks.


def life(path: Path | str, random: Random, way: str, counts: Counter[str]) -> list[str]:
    """What one child told before its end."""
    here, there = os.pipe()
    seed = random.getrandbits(64)
    child = os.fork()
    if child == 0:
        os.close(here)
        try:
            work(path, there, Random(seed), way)
        finally:
            os._exit(3)
    os.close(there)
    enough = random.randrange(30) if way == "answers" else 100
    told = b""
    while told.count(b"\n") < enough:
        if not select.select([here], [], [], LONGEST)[0]:
            os.kill(child, signal.SIGKILL)
            raise AssertionError(f"a child hangs: {way}")
        piece = os.read(here, 65_536)
        told += piece
        if not piece:
            counts[f"in the midst of {way}"] += 1
            break
    os.kill(child, signal.SIGKILL)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL, way
    while piece := os.read(here, 65_536):
        told += piece
    os.close(here)
    return told.decode().splitlines()


def sca_token_of(bank: Bank, payment_id: str) -> str | None:
    return bank.payments[payment_id].sca_token


def looked_at(path: Path | str, expected: list[str], told: list[str], counts: Counter[str]) -> list[str]:
    """Nothing that was answered is lost, nothing is doubled, and the log gives this very bank."""
    store = open_store(path)
    try:
        world = worlds_of(store).get("default")
        assert isinstance(world.log, StoredActs)
        acts = list(world.log)
        found = list(world.bank.payments)
        again = replay(world.beginning, acts, world.bank.clock.now)
        assert hash_state(again) == hash_state(world.bank)
        assert [act.verb for act in acts].count("payments.initiate") == len(found)
        counts["acts"] += len(acts)
        counts["from a checkpoint"] += world._checkpoint_acts > 0
    finally:
        store.close()
    before, answered = expected, set(expected)
    for line in told:
        what, _, made = line.partition(" ")
        if what == "paid":
            answered.add(made)
        if what == "reset":
            before, answered = [], set()
    if told and told[-1] == "resets":
        counts["reset undone" if found else "reset done, unanswered"] += 1
        assert not found or answered <= set(found)
    else:
        assert answered <= set(found), f"{len(answered - set(found))} were lost"
    assert found[: len(before)] == before or not found
    return found


def main(folder: Path, rounds: int, seed: int, places: Iterator[str] | None = None) -> Counter[str]:
    """On files in a folder, or on databases."""
    random, counts = Random(seed), Counter[str]()
    BEGINNING.fixtures  # noqa: B018
    WorldRegistry(BEGINNING, machine_time).get("default").bank.ledger.past  # noqa: B018 - made once, for every child
    expected: list[str] = []
    path: Path | str = ""
    ways: list[str] = []
    for number in range(rounds):
        if number % ROUNDS_OF_A_FILE == 0:
            path, expected = next(places) if places else folder / f"{number}.state", []
        ways = ways or random.sample(WAYS, len(WAYS))  # each comes before any comes again
        way = ways.pop()
        told = life(path, random, way, counts)
        counts[way] += 1
        expected = looked_at(path, expected, told, counts)
    return counts


def among_databases(rounds: int, seed: int) -> Counter[str]:
    from tests.postgres import started

    with started() as cluster:
        return main(Path(), rounds, seed, (cluster.schema() for _ in count()))


if __name__ == "__main__":
    where, rounds, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    counts = among_databases(rounds, seed) if where == "database" else main(Path(where), rounds, seed)
    sys.stdout.write(json.dumps(counts))
