"""A history of servers under faults, and what must hold in the end."""

import json
from collections import Counter
from typing import Any

from sandbox.app import first_beginning
from sandbox.bank.state import Bank
from sandbox.machine import machine_time, seconds_since_boot
from sandbox.world.log.postgres_store import PostgresStore
from sandbox.world.registry import Worlds
from tests.histories.clients import WORLDS, Client, History
from tests.histories.director import Director
from tests.histories.fleet import ENDS_WITHIN, fleet, wait_until
from tests.postgres import Cluster

CLIENTS = 4
ANSWERS_MIN = 20


def play(cluster: Cluster, faults: int, seed: str, lease: float = 1.0) -> dict[str, Any]:
    """Counts of what happened; an AssertionError tells what does not hold."""
    url, history = cluster.schema(), History()
    with fleet(cluster, url.rpartition("%3D")[2], 4, lease) as members:
        director = Director(cluster, members, lease, seed)
        for member in members[:3]:  # one by one, as a start takes most of a small machine
            member.start()
            director.await_answer(member)
        clients = [Client(number, members[:3], history, seed) for number in range(CLIENTS)]
        for client in clients:
            client.thread.start()
        for _ in range(faults):
            director.fault()
            assert not history.wrong, history.wrong[:5]
        director.settle()
        wait_until(members, lambda: is_long_enough(history), "the clients are hardly answered")
        for client in clients:
            client.ends.set()
        for client in clients:
            client.thread.join(ENDS_WITHIN)
            assert not client.thread.is_alive(), "a client waits for an answer without end"
        for member in members:
            member.end()
    assert not history.wrong, history.wrong[:5]
    demand(url, history)
    away = {"longest_away": round(max(director.away, default=0), 2)}
    payments = {"answered": sum(map(len, history.answered.values()))}
    return {**director.counts, **history.counts, **away, **payments}


def is_long_enough(history: History) -> bool:
    """There is something to look for in the end."""
    return sum(map(len, history.answered.values())) > ANSWERS_MIN and history.counts["GET 200"] > ANSWERS_MIN


def demand(url: str, history: History) -> None:
    """What was answered is there once; what was not is there once at the most; the books and the chains are whole."""
    store = PostgresStore(url, seconds_since_boot, lease=60.0)
    try:
        worlds = Worlds(first_beginning(seed=7), machine_time, store)
        for name in WORLDS:
            world = worlds.find(name)
            there: dict[str, str] = world.ask(references)
            answered = history.answered[name]
            missing = {reference: made for reference, made in answered.items() if there.get(reference) != made}
            assert not missing, f"world {name}: answered, and not there: {missing}"
            unknown = there.keys() - history.unsure[name]
            assert not unknown, f"world {name}: never sent: {unknown}"
            assert not any(world.ask(lambda bank: bank.ledger.totals()).values()), f"world {name}: its books"
            row = world.row
            acts = list(store.acts(row, store.root(row), store.head(row)))  # each act follows the one before it
            assert len(acts) == store.head(row).acts
    finally:
        store.close()


def references(bank: Bank) -> dict[str, str]:
    found = [(one.order.endtoend_identification, one.id) for one in bank.payments.values()]
    twice = [name for name, count in Counter(name for name, _ in found).items() if count > 1]
    assert not twice, f"there twice: {twice}"
    return {name: made for name, made in found if name.startswith("C") and "-" in name}


def shown(counts: dict[str, Any]) -> str:
    return json.dumps(counts, indent=1, sort_keys=True)
