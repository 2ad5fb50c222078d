"""Servers that share PostgreSQL: CPU of an answered call, in each process that has a part in it.

A machine whose cores the load and the database use as well cannot show what two servers answer in a second. So seconds
of CPU are counted: a server that has a core of its own answers at most as many calls in a second as its CPU for a call
goes into one. Where two servers are called for the same world, each also applies the acts of the other. Of many rounds
the one with the least CPU counts: other programs on the machine make a call dearer, and never cheaper.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

from bench.load import Load
from bench.servers import INITIATION, Server
from bench.table import Figure, printed
from tests.postgres import Cluster, started

TICK = os.sysconf("SC_CLK_TCK")
CALLS = 1_200  # of one round
WORLDS = [f"shared-{number}" for number in range(16)]
CALL = INITIATION.replace("POST ", "POST /worlds/@TARGET@", 1)


def serving(state: Path | str, *more: str) -> Server:
    return Server(
        "bank", "-m", "sandbox", "serve", "--port", "0", "--frozen", "--log", "off", "--state", str(state), *more
    )


def cpu(process: int) -> float:
    """Seconds of a process so far, with all its threads."""
    words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / TICK


def cpu_of(cluster: Cluster) -> float:
    """Seconds of PostgreSQL: of its first process, and of all that this one started."""
    first = int((cluster.folder / "cluster" / "postmaster.pid").read_text().splitlines()[0])
    tree = [first, *map(int, Path(f"/proc/{first}/task/{first}/children").read_text().split())]
    return sum(map(cpu, tree))


class Side:
    """One or more servers, each with a load of its own, and what a call takes of them."""

    def __init__(self, cluster: Cluster, servers: list[Server], loads: list[Load], aims: list[list[str]]) -> None:
        self.cluster, self.servers, self.loads = cluster, servers, loads
        self.aims = aims  # the worlds that each load calls
        self.took: list[tuple[float, float]] = []  # ms of the servers, and of PostgreSQL, for a call

    def round(self, *, counts: bool = True) -> None:
        before = self._now()
        threads = [
            Thread(target=self._run, args=part) for part in zip(self.servers, self.loads, self.aims, strict=True)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if counts:
            calls = CALLS * len(self.servers)
            ours, theirs = ((now - then) / calls * 1000 for now, then in zip(self._now(), before, strict=True))
            self.took.append((ours, theirs))

    def _run(self, server: Server, load: Load, aims: list[str]) -> None:
        load.run(server.port, CALL, 201, calls=CALLS, targets=aims)

    def _now(self) -> tuple[float, float]:
        return sum(cpu(server.child.pid) for server in self.servers), cpu_of(self.cluster)

    def of_servers(self) -> float:
        return min(ours for ours, _ in self.took)

    def of_database(self) -> float:
        return min(theirs for _, theirs in self.took)


def shared(cluster: Cluster, rounds: int) -> Iterator[Figure]:
    """A file beside a database, and one server beside two."""
    with ExitStack() as held:
        file = Path(held.enter_context(TemporaryDirectory()), "bank.state")
        url = cluster.database()
        states = (file, cluster.database(), url, url)
        servers = [held.enter_context(serving(state)) for state in states]
        loads = [held.enter_context(Load()) for _ in range(2)]
        on_file, alone = (Side(cluster, [server], loads[:1], [WORLDS]) for server in servers[:2])
        either = Side(cluster, servers[2:], loads, [WORLDS, WORLDS])
        own = Side(cluster, servers[2:], loads, [WORLDS[::2], WORLDS[1::2]])
        sides = (on_file, alone, either, own)
        for side in sides:
            side.round(counts=False)
        for number in range(rounds):
            for side in sides[:: -1 if number % 2 else 1]:
                side.round()
        one = alone.of_servers()
        yield Figure(
            "CPU of an initiation stored in PostgreSQL, 8 callers",
            one,
            "ms",
            on_file.of_servers(),
            one / on_file.of_servers(),
            most=2,
        )
        yield Figure("CPU of PostgreSQL for it", alone.of_database(), "ms")
        yield of_two("two servers, each called for its own worlds", own, alone, least=1.6)
        yield of_two("two servers, each called for any world", either, alone, least=1.5)


def of_two(name: str, two: Side, one: Side, least: float | None = None) -> Figure:
    """Answers in a second, each server on a core of its own."""
    took, alone = two.of_servers(), one.of_servers()
    return Figure(name, 2000 / took, "calls/s", 1000 / alone, 2 * alone / took, least=least)


if __name__ == "__main__":
    with started() as own_cluster:
        sys.stdout.write(f"{printed(list(shared(own_cluster, 7)))}\n")
