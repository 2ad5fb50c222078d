"""A bank in PostgreSQL beside one in a file: CPU of a call, a long log, and a start among 100,000 worlds."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any
from uuid import uuid4

from bench.lasting import MORNING, fill
from bench.scale import add_worlds
from bench.servers import CALLBACK, SCT, VENDOR
from bench.shared import shared
from bench.table import Figure

CALLS = 100  # of one round
ACTS = 100_000
WORLDS = 100_000
HEADERS = {
    "Accept": f"{VENDOR}3",
    "Accept-Language": "fr",
    "Client-ID": "demo-tpp",
    "Redirect-URI": CALLBACK,
    "Code-Challenge-Method": "S256",
    "Code-Challenge": "c" * 43,
}
BODY = {
    "creditor_account": {"iban": "BE68539007547034"},
    "creditor_name": "Jan Peeters",
    "endtoend_identification": "INVOICE-1",
    "instructed_amount": {"amount": "12.50", "currency": "EUR"},
}


def bank(state: Path | str) -> tuple[Any, Any]:
    """Its worlds, and a client in this process."""
    from sandbox.app import assemble, make_first_beginning
    from sandbox.banking.durations import read_instant
    from sandbox.machine import machine_time
    from sandbox.storage.store import open_store
    from sandbox.worlds.registry import WorldRegistry

    store = open_store(state)
    worlds = WorldRegistry(make_first_beginning(1, read_instant(MORNING), 0.0), machine_time, store)
    return worlds, assemble(worlds).test_client()


def initiations(client: Any, calls: int) -> float:
    """Milliseconds of this process's CPU for a call."""
    began = process_time()
    for _ in range(calls):
        reply = client.post(f"/payments/{SCT}", json=BODY, headers={**HEADERS, "Request-ID": str(uuid4())})
        assert reply.status_code == 201, reply.text
    return (process_time() - began) / calls * 1000


def beside(file: Path, url: str, rounds: int) -> Figure:
    banks = [bank(file), bank(url)]
    for _, client in banks:
        initiations(client, CALLS)
    took: list[list[float]] = [[], []]
    for number in range(rounds):
        for which in (0, 1) if number % 2 else (1, 0):
            took[which].append(initiations(banks[which][1], CALLS))
    for worlds, _ in banks:
        worlds.store.close()
    one, other = map(min, took)  # other programs make a call dearer, never cheaper
    return Figure("CPU of an initiation stored in PostgreSQL, one caller", other, "ms", one, other / one, most=2)


def loaded(url: str, acts: int) -> Iterator[Figure]:
    worlds, _ = bank(url)
    took = fill(worlds.get("default"), acts)
    yield Figure(f"acts into PostgreSQL, {acts:,}", acts / sum(took) * 1000, "acts/s")
    began = perf_counter()
    other, client = bank(url)
    assert client.get("/_sandbox/payments?limit=1").status_code == 200
    took_to_load = perf_counter() - began
    yield Figure(f"start of another server and its first answer, a world with {acts:,} acts", took_to_load, "s", most=3)
    other.store.close()
    worlds.store.close()


def among_many(url: str, run: Callable[[str], Any]) -> Iterator[Figure]:
    worlds, _ = bank(url)
    add_worlds(worlds.store, WORLDS)
    worlds.store.close()
    run("ANALYZE")
    size = run("SELECT pg_database_size(current_database())")[0][0]
    began = perf_counter()
    worlds, client = bank(url)
    initiations(client, 1)
    yield Figure(f"start to first answer, {WORLDS:,} worlds in PostgreSQL", perf_counter() - began, "s", most=1)
    worlds.store.close()
    yield Figure("a new world in PostgreSQL", size / WORLDS / 1024, "KiB")


def database(rounds: int = 9, acts: int = ACTS) -> Iterator[Figure]:
    """Nothing where PostgreSQL is not installed."""
    from tests.postgres import program, started

    if program("initdb") is None:
        sys.stderr.write("PostgreSQL is not installed: its figures are left out\n")
        return
    with started() as cluster, TemporaryDirectory() as folder:

        def run_in(url: str) -> Callable[[str], Any]:
            return lambda statement: cluster.run(statement, url.removeprefix("postgresql:///").partition("?")[0])

        yield beside(Path(folder, "bank.state"), cluster.database(), rounds)
        yield from shared(cluster, rounds)
        url = cluster.database()
        yield from among_many(url, run_in(url))
        yield from loaded(cluster.database(), acts)


if __name__ == "__main__":
    for figure in database():
        sys.stdout.write(f"{figure}\n")
