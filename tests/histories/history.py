"""A history of servers under faults, and what must hold in the end.

Every answered payment is in the log exactly once, with the id that was answered. No id is given twice. A status moves
along the table alone, through whichever server it is read. The books balance. All servers show the same."""

import json
import time
from collections import Counter
from typing import Any

from sandbox.app import first_beginning
from sandbox.bank.state import Bank
from sandbox.machine import machine_time
from sandbox.world.log.state_hash import state_hash
from sandbox.world.log.store import open_store
from sandbox.world.registry import Worlds
from tests.histories.clients import WORLDS, Client, History
from tests.histories.director import Director
from tests.histories.fleet import ENDS_WITHIN, fleet, wait_until
from tests.postgres import Cluster

CLIENTS = 4
SERVERS = 3
ANSWERS_MIN = 20


def play(
    cluster: Cluster, faults: int, seed: str, pause: float = 1.0, isolation: str = "read committed"
) -> dict[str, Any]:
    """Counts of what happened; an AssertionError tells what does not hold."""
    url, history = cluster.schema(), History()
    with fleet(cluster, url.rpartition("%3D")[2], SERVERS, isolation) as members:
        director = Director(cluster, members, seed, pause)
        for member in members:  # all at once, on an empty database
            member.start()
        director.settle()
        history.note_answer()
        history.longest_absence = 0.0
        clients = [Client(number, members, history, seed) for number in range(CLIENTS)]
        for client in clients:
            client.thread.start()
        absences: dict[str, float] = {}
        for _ in range(faults):
            before = director.counts.copy()
            director.fault()
            wait_until(lambda: time.monotonic() - history.last_answer < 1.0, "nobody is answered")
            names = "+".join(sorted((director.counts - before).elements()))
            absences[names] = max(absences.get(names, 0.0), history.longest_absence)
            history.longest_absence = 0.0
            assert not history.wrong, history.wrong[:5]
        director.settle()
        wait_until(lambda: is_long_enough(history), "the clients are hardly answered")
        for client in clients:
            client.ends.set()
        for client in clients:
            client.thread.join(ENDS_WITHIN)
            assert not client.thread.is_alive(), "a client waits for an answer without end"
        for member in members:
            member.end()
            assert "Traceback" not in member.errors, member.errors[-3_000:]
    assert not history.wrong, history.wrong[:5]
    demand(url, history)
    longest = max(absences.items(), key=lambda item: item[1], default=("", 0.0))
    away = {"longest_absence": f"{longest[1]:.2f} s after {longest[0]}"}
    payments = {"answered": sum(map(len, history.answered.values()))}
    return {**director.counts, **history.counts, **away, **payments}


def is_long_enough(history: History) -> bool:
    """There is something to look for in the end."""
    return sum(map(len, history.answered.values())) > ANSWERS_MIN and history.counts["GET 200"] > ANSWERS_MIN


def demand(url: str, history: History) -> None:
    """What was answered is there once; what was not is there once at the most; the books and the chains are whole."""
    store = open_store(url)
    try:
        worlds = Worlds(first_beginning(seed=7), machine_time, store)
        ids: Counter[str] = Counter()
        for name in WORLDS:
            world = worlds.get(name)
            there: dict[str, str] = world.ask(references)
            answered = history.answered[name]
            missing = [name for name, known in answered.items() if there.get(name) != known.payment_id]
            assert not missing, f"world {name}: answered, and not there: {missing}"
            unknown = there.keys() - history.unsure[name]
            assert not unknown, f"world {name}: never sent: {unknown}"
            ids.update(there.values())
            assert not any(world.ask(lambda bank: bank.ledger.totals()).values()), f"world {name}: its books"
            for known in answered.values():
                shown = world.bank.payments[known.payment_id].status.value
                assert known.status != "CANC" or shown == "CANC", f"world {name}: {known.payment_id} is {shown}"
            row = store.find(name)
            assert row is not None
            acts = list(store.acts(row.id, row.root, row.position.head))  # each act follows the one before it
            assert len(acts) == row.acts
            played = world.life(world.bank.clock.now).bank
            assert state_hash(played) == state_hash(world.bank), f"world {name} comes to another state"
        twice = [payment_id for payment_id, count in ids.items() if count > 1]
        assert not twice, f"given twice: {twice}"
    finally:
        store.close()


def references(bank: Bank) -> dict[str, str]:
    found = [(one.order.endtoend_identification, one.id) for one in bank.payments.values()]
    twice = [name for name, count in Counter(name for name, _ in found).items() if count > 1]
    assert not twice, f"there twice: {twice}"
    return {name: made for name, made in found if name.startswith("C") and "-" in name}


def shown(counts: dict[str, Any]) -> str:
    return json.dumps(counts, indent=1, sort_keys=True)
