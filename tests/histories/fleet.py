"""Servers of one database, each a process that is killed, stopped, cut off and ended."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.deploy.proxies import free_port
from tests.histories.line import DatabaseLine
from tests.postgres import Cluster

ROOT = Path(__file__).parents[2]
ENDS_WITHIN = 120  # seconds
ANSWERS_WITHIN = 120.0  # seconds, on a machine that others use too


class Member:
    """One server. It keeps its port and its way to the database over each start."""

    def __init__(self, cluster: Cluster, schema: str, isolation: str) -> None:
        self.line = DatabaseLine(cluster.folder / ".s.PGSQL.5432")
        self.port = free_port()
        # The clusters of the tests wait for no disk; what is answered here must outlive an end without a shutdown.
        level = isolation.replace(" ", "%5C%20")
        settings = f"-csearch_path%3D{schema}%20-csynchronous_commit%3Don%20-cdefault_transaction_isolation%3D{level}"
        state = f"postgresql://{cluster.user}@127.0.0.1:{self.line.port}/postgres?options={settings}"
        options = {"port": self.port, "state": state, "log": "off", "seed": 7, "wait-for-state": "60s"}
        words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        self._command = [sys.executable, "-m", "sandbox", "serve", "--frozen", *words]
        self._errors = cluster.folder / f"server-{self.port}"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Answers a while later."""
        with self._errors.open("ab") as errors:
            self.process = subprocess.Popen(self._command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=errors)

    @property
    def errors(self) -> str:
        return self._errors.read_text() if self._errors.exists() else ""

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
            self.process = None


def wait_until(holds: Callable[[], bool], told: str) -> None:
    until = time.monotonic() + ANSWERS_WITHIN
    while not holds():
        assert time.monotonic() < until, told
        time.sleep(0.05)


@contextmanager
def fleet(cluster: Cluster, schema: str, count: int, isolation: str = "read committed") -> Iterator[list[Member]]:
    os.chmod(cluster.folder, 0o777)
    members = [Member(cluster, schema, isolation) for _ in range(count)]
    try:
        yield members
    finally:
        for member in members:
            member.send(signal.SIGCONT)
            member.end(signal.SIGKILL)
            member.line.close()
