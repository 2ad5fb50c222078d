"""A history of servers under faults, and what must hold in the end.

Every answered payment is in the log exactly once, with the id that was answered. No id is given twice. A status moves
along the table alone, through whichever server it is read. The books balance. All servers show the same."""

import time
from collections import Counter
from dataclasses import dataclass

from sandbox.app import make_first_beginning
from sandbox.bank.state import Bank
from sandbox.machine import machine_time
from sandbox.storage.state_hash import hash_state
from sandbox.storage.store import open_store
from sandbox.worlds.registry import WorldRegistry
from tests.histories.clients import REACHABLE, WORLDS, Client, History
from tests.histories.conflicting import MESSAGE
from tests.histories.director import NO_SPACE, Director, fetch
from tests.histories.fleet import Conditions, Member, fleet
from tests.histories.waiting import ENDS_WITHIN, wait_until
from tests.postgres import Cluster

CLIENTS = 4
SERVERS = 3
ANSWERS_MIN = 20


@dataclass
class Outcome:
    """What happened in a history in which everything held."""

    counts: Counter[str]
    answered: int  # payments
    rounds: list[tuple[tuple[str, ...], float]]  # the faults of each, and the longest time without any answer
    not_run: dict[str, str]  # faults that this machine does not allow
    conflicts: int  # that the tests ordered
    full_disks: int  # how often the database had no space

    def kinds(self) -> set[str]:
        return {kind for kinds, _ in self.rounds for kind in kinds}

    def describe(self) -> str:
        """Lines with the figures of each kind of fault, then those of the calls."""
        lines = [f"{'fault':18}{'alone':>7}{'longest absence':>18}{'overlapping':>14}{'longest absence':>18}"]
        for kind in sorted(self.kinds()):
            alone = [absence for kinds, absence in self.rounds if kinds == (kind,)]
            others = [absence for kinds, absence in self.rounds if kind in kinds and len(kinds) > 1]
            cells = [f"{max(absences, default=0.0):.2f} s" for absences in (alone, others)]
            lines.append(f"{kind:18}{len(alone):7}{cells[0]:>18}{len(others):14}{cells[1]:>18}")
        lines += [f"not run: {kind}: {reason}" for kind, reason in self.not_run.items()]
        calls = ", ".join(f"{name}: {count}" for name, count in sorted(self.counts.items()))
        lines.append(f"{len(self.rounds)} rounds, {self.answered} payments answered, nothing lost; {calls}")
        lines.append(f"conflicts ordered: {self.conflicts}; statements that found no space: {self.full_disks}")
        return "\n".join(lines)


def play(cluster: Cluster, faults: int, seed: str, pause: float = 1.0, conditions: Conditions | None = None) -> Outcome:
    """Raises AssertionError where something does not hold."""
    url, history = cluster.schema(), History()
    schema = url.rpartition("%3D")[2]
    rounds: list[tuple[tuple[str, ...], float]] = []
    with fleet(cluster, schema, SERVERS, conditions) as members:
        director = Director(cluster, members, seed, pause)
        for member in members:  # all at once, on an empty database
            member.start()
        director.settle()
        history.note_answer()
        history.take_longest_absence()
        clients = [Client(number, members, history, seed) for number in range(CLIENTS)]
        for client in clients:
            client.thread.start()
        for _ in range(faults):
            names = director.fault()
            mended = time.monotonic()
            wait_until(lambda: history.last_answer > mended, "nobody is answered")  # noqa: B023
            rounds.append((names, history.take_longest_absence()))
            assert not history.wrong, history.wrong[:5]
            director.rest()
        director.settle()
        wait_until(lambda: is_long_enough(history), "the clients are hardly answered")
        for client in clients:
            client.ends.set()
        for client in clients:
            client.thread.join(ENDS_WITHIN)
            assert not client.thread.is_alive(), "a client waits for an answer without end"
        for world in WORLDS:
            demand_same(members, world)
        for member in members:
            member.end()
            assert "Traceback" not in member.errors, member.errors[-3_000:]
    assert not history.wrong, history.wrong[:5]
    demand(url, history)
    log = (cluster.folder / "log").read_text()
    answered = sum(map(len, history.answered.values()))
    ordered, spaceless = log.count(f"ERROR:  {MESSAGE}"), log.count(NO_SPACE)
    return Outcome(history.counts, answered, rounds, director.not_run, ordered, spaceless)


def demand_same(members: list[Member], world: str) -> None:
    """Every server shows the same payments and the same balances."""
    for path in ("payments", "accounts"):
        shown = []
        for member in members:
            prefix = "" if world == "default" else f"/worlds/{world}"
            replies: list[bytes] = []
            wait_until(lambda: is_read(member, f"{prefix}/_sandbox/{path}", replies), "a server does not answer")  # noqa: B023
            shown += replies
        assert shown.count(shown[0]) == len(members), f"world {world}: the servers show different {path}"


def is_read(member: Member, path: str, replies: list[bytes]) -> bool:
    status, content = fetch(member, path)
    if status == 200:
        replies.append(content)
    return status == 200


def is_long_enough(history: History) -> bool:
    """There is something to look for in the end."""
    return sum(map(len, history.answered.values())) > ANSWERS_MIN and history.counts["GET 200"] > ANSWERS_MIN


def demand(url: str, history: History) -> None:
    """What was answered is there once; what was not is there once at the most; the books and the chains are whole."""
    store = open_store(url)
    try:
        worlds = WorldRegistry(make_first_beginning(seed=7), machine_time, store)
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
            assert not any(world.ask(lambda bank: bank.ledger.sum_by_currency()).values()), f"world {name}: its books"
            for known in answered.values():
                shown = world.bank.payments[known.payment_id].status.value
                way = f"from {known.status} to {shown}"
                assert shown in REACHABLE[known.status], f"world {name}: {known.payment_id} went {way}"
            row = store.find(name)
            assert row is not None
            acts = list(store.read_acts(row.id, row.root, row.position.head))  # each act follows the one before it
            assert len(acts) == row.acts
            played = world.snapshot(world.bank.clock.now).bank
            assert hash_state(played) == hash_state(world.bank), f"world {name} comes to another state"
        twice = [payment_id for payment_id, count in ids.items() if count > 1]
        assert not twice, f"given twice: {twice}"
    finally:
        store.close()


def references(bank: Bank) -> dict[str, str]:
    found = [(one.order.endtoend_identification, one.id) for one in bank.payments.values()]
    twice = [name for name, count in Counter(name for name, _ in found).items() if count > 1]
    assert not twice, f"there twice: {twice}"
    return {name: made for name, made in found if name.startswith("C") and "-" in name}
