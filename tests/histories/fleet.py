"""Servers of one database, each a process that is killed, stopped, cut off and ended."""

import os
import signal
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from random import Random

from tests.forked import STARTS, run
from tests.histories.line import DatabaseLine
from tests.histories.pooler import PORT, pooled
from tests.histories.waiting import ENDS_WITHIN
from tests.postgres import Cluster

PORTS = range(12_000, 32_000)  # below those that a system gives to outgoing connections


@dataclass(frozen=True)
class Conditions:
    """What holds through a whole history."""

    isolation: str = "read committed"  # the default of the database's transactions
    has_conflicts: bool = False  # a quarter of all that is sent fails with 40001
    has_pooler: bool = False  # PgBouncer in transaction mode stands before the database


class Member:
    """One server. It keeps its port and its way to the database over each start."""

    def __init__(self, socket_path: Path, cluster: Cluster, settings: dict[str, str], *, has_conflicts: bool) -> None:
        self.line = DatabaseLine(socket_path)
        self.port = lasting_port()
        given = "%20".join(f"-c{name}%3D{value.replace(' ', '%5C%20')}" for name, value in settings.items())
        state = f"postgresql://{cluster.user}@127.0.0.1:{self.line.port}/postgres?options={given}"
        options = {"port": self.port, "state": state, "log": "off", "seed": 7, "wait-for-state": "60s"}
        words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        self._module = "tests.histories.conflicting" if has_conflicts else "sandbox"
        self._words = ["serve", "--frozen", *words]
        self._errors = cluster.folder / f"server-{self.port}"
        self.process: ForkServerProcess | None = None

    def start(self) -> None:
        """Answers a while later."""
        self.process = STARTS.Process(target=run, args=(self._module, self._words, None, self._errors), daemon=True)
        self.process.start()

    @property
    def errors(self) -> str:
        return self._errors.read_text() if self._errors.exists() else ""

    @property
    def runs(self) -> bool:
        process = self.process  # two faults may end it at once
        return process is not None and process.is_alive()

    def send(self, number: signal.Signals) -> None:
        process = self.process
        if process is not None and process.pid is not None and process.is_alive():
            os.kill(process.pid, number)

    def end(self, number: signal.Signals = signal.SIGTERM) -> None:
        process = self.process
        if process is not None:
            self.send(number)
            process.join(ENDS_WITHIN)
            assert not process.is_alive(), "a server does not end"
            self.process = None


def lasting_port() -> int:
    """A port that stays free while its server is away: no outgoing connection is given it."""
    for port in Random().sample(PORTS, 100):
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        return port
    raise AssertionError(f"no port among {PORTS} is free")


@contextmanager
def fleet(cluster: Cluster, schema: str, count: int, conditions: Conditions | None = None) -> Iterator[list[Member]]:
    os.chmod(cluster.folder, 0o777)
    conditions = conditions or Conditions()
    # The clusters of the tests wait for no disk; what is answered here must outlive an end without a shutdown.
    settings = {"search_path": schema, "synchronous_commit": "on"}
    settings["default_transaction_isolation"] = conditions.isolation
    with ExitStack() as stack:
        path = cluster.folder / ".s.PGSQL.5432"
        if conditions.has_pooler:
            first = "; ".join(f"SET {name} = ''{value}''" for name, value in settings.items())
            path = stack.enter_context(pooled(cluster, first)) / f".s.PGSQL.{PORT}"
        members = [Member(path, cluster, settings, has_conflicts=conditions.has_conflicts) for _ in range(count)]
        for member in members:
            stack.callback(member.line.close)
            stack.callback(member.end, signal.SIGKILL)
            stack.callback(member.send, signal.SIGCONT)
        yield members
