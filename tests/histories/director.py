"""Faults by a seed: servers are killed, stopped and ended, their lines cut, slowed, stalled and refused, and PostgreSQL
is restarted, ended at once, slowed, and left without connections or space. Some faults overlap."""

import http.client
import os
import signal
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from random import Random

import psycopg

from tests.histories.fleet import Member
from tests.histories.waiting import wait_until
from tests.postgres import Cluster

LONG = 8.0  # seconds: more than the servers wait for the database, and more than it waits for them
NO_SPACE = "No space left on device"


class Director:
    """One fault after the other, or two at once; what it does is said by the seed alone."""

    def __init__(self, cluster: Cluster, members: list[Member], seed: str, pause: float = 1.0) -> None:
        self.cluster = cluster
        self.members = members
        self.pause = pause
        self.random = Random(f"{seed}/director")
        self.not_run: dict[str, str] = {}  # faults that this machine does not allow, and why
        self.faults = {
            fault.__name__: fault
            for fault in (
                self.kill, self.stop, self.end, self.cut, self.refuse, self.slow, self.stall, self.restart_database,
                self.crash_database, self.take_connections, self.stop_backends, self.stop_backend, self.fill_disk,
            )
        }  # fmt: skip
        if not cluster.has_small_disk:
            del self.faults[self.fill_disk.__name__]
            self.not_run[self.fill_disk.__name__] = "no small disk can be mounted here"
        self._left: list[str] = []

    def fault(self) -> tuple[str, ...]:
        """Returns what happened. Each kind comes once before any comes again. Every third time a second one comes on
        top. Afterwards all is as before."""
        names = [self._next()]
        if self.random.random() < 0.33:
            names.append(self.random.choice([name for name in self.faults if name not in names]))
        with ThreadPoolExecutor() as threads:
            running = []
            for name in names:
                running.append(threads.submit(self.faults[name]))
                time.sleep(self.random.uniform(0, self.pause / 2))
        for one in running:
            one.result()
        self._start_database_again()
        for member in self.members:
            member.line.mend()
            member.send(signal.SIGCONT)
            if not member.runs:
                member.start()
        return tuple(sorted(names))

    def rest(self) -> None:
        """Lets the clients work between two faults."""
        time.sleep(self.pause * self.random.uniform(0.5, 1.5))

    def _next(self) -> str:
        if not self._left:
            self._left = self.random.sample(sorted(self.faults), len(self.faults))
        return self._left.pop()

    def _one(self) -> Member:
        return self.random.choice([member for member in self.members if member.runs] or self.members)

    def kill(self) -> None:
        self._one().end(signal.SIGKILL)

    def end(self) -> None:
        self._one().end()

    def stop(self) -> None:
        """Now and then for longer than any timeout."""
        one = self._one()
        one.send(signal.SIGSTOP)
        time.sleep(self._some_time())
        one.send(signal.SIGCONT)

    def cut(self) -> None:
        self._one().line.cut()

    def refuse(self) -> None:
        line = self._one().line
        line.refuses = True
        line.cut()
        time.sleep(self.pause * self.random.uniform(0.3, 2.0))
        line.mend()

    def slow(self) -> None:
        line = self._one().line
        line.delay = self.random.uniform(0.01, 0.2)
        time.sleep(self.pause)
        line.mend()

    def stall(self) -> None:
        line = self._one().line
        line.stalls = True
        time.sleep(self.pause * self.random.uniform(0.5, 2.0))
        line.mend()

    def restart_database(self) -> None:
        self._control("restart", "-m", "fast")

    def crash_database(self) -> None:
        self._control("stop", "-m", "immediate")
        time.sleep(self.pause * self.random.uniform(0, 1.0))
        self._start_database_again()

    def _control(self, *words: str) -> None:
        with DATABASE, suppress(subprocess.SubprocessError):  # another fault may have ended it
            self.cluster.control(*words)

    def _start_database_again(self) -> None:
        with DATABASE, suppress(subprocess.SubprocessError):
            self.cluster.start_again()

    def take_connections(self) -> None:
        """None is left for the servers' new lines."""
        taken = []
        with suppress(psycopg.Error):
            for _ in range(100):
                taken.append(psycopg.connect(self.cluster.url(), connect_timeout=2))
        for member in self.members:
            member.line.cut()
        time.sleep(self.pause)
        for connection in taken:
            with suppress(psycopg.Error):
                connection.close()

    def stop_backends(self) -> None:
        """The processes of the database that serve the servers are stopped in whatever they do, and go on later."""
        self._stop(self._backends(), self.pause)

    def stop_backend(self) -> None:
        """One of them is slow, now and then for longer than any timeout."""
        self._stop(self._backends()[:1], self._some_time())

    def _some_time(self) -> float:
        return self.random.choice([self.pause, self.pause, LONG])

    def _backends(self) -> list[int]:
        """The one that works comes first."""
        query = "SELECT pid FROM pg_stat_activity WHERE application_name = 'bank-sandbox' ORDER BY state = 'idle'"
        with suppress(psycopg.Error):
            return [int(str(pid)) for (pid,) in self.cluster.run(query)]
        return []

    def _stop(self, backends: list[int], seconds: float) -> None:
        for pid in backends:
            signal_process(pid, signal.SIGSTOP)
        time.sleep(seconds)
        for pid in backends:
            signal_process(pid, signal.SIGCONT)

    def fill_disk(self) -> None:
        """Until somebody noticed, and a while longer."""
        log = self.cluster.folder / "log"
        before, until = log.read_text().count(NO_SPACE), time.monotonic() + LONG
        with self.cluster.full_disk():
            while log.read_text().count(NO_SPACE) == before and time.monotonic() < until:
                time.sleep(0.05)
            time.sleep(self.pause)

    def settle(self) -> None:
        """All is well again: each server answers for each world."""
        for member in self.members:
            self.await_answer(member)

    def await_answer(self, member: Member) -> None:
        wait_until(lambda: is_well(member), f"the server at {member.port} does not answer: {member.errors[-800:]}")


DATABASE = threading.Lock()


def signal_process(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)


def is_well(member: Member) -> bool:
    assert member.runs, f"the server at {member.port} ended: {member.errors[-800:]}"
    return answers(member, "/worlds/a/_sandbox/clock") == answers(member) == 200


def answers(member: Member, path: str = "/_sandbox/health") -> int:
    """The status of a reply, 0 without one."""
    return fetch(member, path)[0]


def fetch(member: Member, path: str) -> tuple[int, bytes]:
    """Status and content of a reply."""
    line = http.client.HTTPConnection("127.0.0.1", member.port, timeout=10)
    with closing(line), suppress(OSError, http.client.HTTPException):
        line.request("GET", path)
        with line.getresponse() as reply:
            return reply.status, reply.read()
    return 0, b""
