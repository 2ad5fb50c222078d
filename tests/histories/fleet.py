"""Servers of one database, each a process that is killed, stopped, cut off and drained."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.deploy.proxies import free_port
from tests.histories.line import DatabaseLine
from tests.postgres import Cluster

ROOT = Path(__file__).parents[2]
KEY = "0123456789abcdef-histories"
ENDS_WITHIN = 40  # seconds


class Member:
    """One server. It keeps its port and its way to the database over each start."""

    def __init__(self, cluster: Cluster, schema: str, lease: float) -> None:
        self.line = DatabaseLine(cluster.folder / ".s.PGSQL.5432")
        self.port = free_port()
        state = f"postgresql://{cluster.user}@127.0.0.1:{self.line.port}/postgres?options=-csearch_path%3D{schema}"
        options = {"port": self.port, "state": state, "lease": f"{lease:g}s", "peers-key": KEY, "log": "off", "seed": 7}
        words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        self._command = [sys.executable, "-m", "sandbox", "serve", "--frozen", *words]
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Answers a while later."""
        self.process = subprocess.Popen(self._command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    @property
    def runs(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def send(self, number: signal.Signals) -> None:
        if self.process is not None and self.runs:
            self.process.send_signal(number)

    def end(self, number: signal.Signals = signal.SIGTERM) -> None:
        if self.process is not None:
            self.send(number)
            self.process.wait(ENDS_WITHIN)


@contextmanager
def fleet(cluster: Cluster, schema: str, count: int, lease: float) -> Iterator[list[Member]]:
    members = [Member(cluster, schema, lease) for _ in range(count)]
    try:
        yield members
    finally:
        for member in members:
            member.send(signal.SIGCONT)
            member.end(signal.SIGKILL)
            member.line.close()
