"""Servers of one database, each a process that is killed, stopped, cut off and drained."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.deploy.proxies import free_port
from tests.histories.line import DatabaseLine
from tests.postgres import Cluster

ROOT = Path(__file__).parents[2]
KEY = "0123456789abcdef-histories"
ENDS_WITHIN = 120  # seconds
# Seconds, of the clock and of CPU: where others use the machine too, servers get little of a second.
ANSWERS_WITHIN = 60.0
ANSWERS_AT_LAST_WITHIN = 300.0  # seconds of the clock


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
        self._worked = 0.0  # by the processes that ended

    def start(self) -> None:
        """Answers a while later."""
        self.process = subprocess.Popen(self._command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    @property
    def runs(self) -> bool:
        return self.process is not None and self.process.poll() is None

    @property
    def worked(self) -> float:
        """Seconds of CPU, as the system says."""
        found = 0.0
        if self.process is not None:
            with suppress(OSError):  # it ended, or this is another system
                words = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
                found = (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
        return self._worked + found

    def send(self, number: signal.Signals) -> None:
        if self.process is not None and self.runs:
            self.process.send_signal(number)

    def end(self, number: signal.Signals = signal.SIGTERM) -> None:
        if self.process is not None:
            worked = self.worked
            self.send(number)
            self.process.wait(ENDS_WITHIN)
            self.process, self._worked = None, worked


def wait_until(members: list[Member], holds: Callable[[], bool], told: str) -> None:
    """Fails once the servers had the time and the work in which it would hold."""
    began, worked = time.monotonic(), sum(member.worked for member in members)
    while not holds():
        waited = time.monotonic() - began
        has_time = waited < ANSWERS_WITHIN or sum(member.worked for member in members) - worked < ANSWERS_WITHIN
        assert has_time and waited < ANSWERS_AT_LAST_WITHIN, told
        time.sleep(0.1)


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
