"""Faults by a seed: servers are killed, stopped and ended, their lines cut, slowed, stalled and refused, and PostgreSQL
is restarted, ended at once, slowed, and left without connections. Some faults overlap."""

import http.client
import signal
import threading
import time
from collections import Counter
from contextlib import closing, suppress
from random import Random

from tests.histories.fleet import Member, wait_until
from tests.postgres import Cluster

SILENCE = 5.0  # seconds: the database ends a transaction that is silent for longer


class Director:
    """One fault after the other, or two at once; what it does is said by the seed alone."""

    def __init__(self, cluster: Cluster, members: list[Member], seed: str, pause: float = 1.0) -> None:
        self.cluster = cluster
        self.members = members
        self.pause = pause
        self.random = Random(f"{seed}/director")
        self.counts: Counter[str] = Counter()
        self.faults = {
            fault.__name__: fault
            for fault in (
                self.kill, self.stop, self.end, self.cut, self.refuse, self.slow, self.stall, self.restart_database,
                self.crash_database, self.take_connections, self.stop_backends,
            )
        }  # fmt: skip
        self._left: list[str] = []

    def fault(self) -> None:
        """Each kind comes once before any comes again. Every third time a second one comes on top."""
        names = [self._next()]
        if self.random.random() < 0.33:
            names.append(self.random.choice([name for name in self.faults if name not in names]))
        threads = [threading.Thread(target=self.faults[name]) for name in names]
        for name, thread in zip(names, threads, strict=True):
            self.counts[name] += 1
            thread.start()
            time.sleep(self.random.uniform(0, self.pause / 2))
        for thread in threads:
            thread.join()
        for member in self.members:
            member.line.mend()
            member.send(signal.SIGCONT)
            if not member.runs:
                member.start()
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
        """Now and then for longer than a silent transaction may last."""
        one = self._one()
        one.send(signal.SIGSTOP)
        time.sleep(self.random.choice([self.pause, self.pause, SILENCE + 1]))
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
        self._control("start")

    def _control(self, *words: str) -> None:
        with DATABASE:
            with suppress(Exception):  # another fault did the same meanwhile
                self.cluster.control(*words)
            with suppress(Exception):
                if words[0] != "stop":
                    self.cluster.control("start")

    def take_connections(self) -> None:
        """None is left for the servers' new lines."""
        import psycopg

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
        import psycopg

        with suppress(psycopg.Error, OSError):
            query = "SELECT pid FROM pg_stat_activity WHERE application_name = 'bank-sandbox'"
            found = [int(str(pid)) for (pid,) in self.cluster.run(query)]
            for pid in found:
                signal_process(pid, signal.SIGSTOP)
            time.sleep(self.pause)
            for pid in found:
                signal_process(pid, signal.SIGCONT)

    def settle(self) -> None:
        """All is well again: each server answers for each world."""
        for member in self.members:
            self.await_answer(member)

    def await_answer(self, member: Member) -> None:
        wait_until(lambda: is_well(member), f"the server at {member.port} does not answer: {member.errors[-800:]}")


DATABASE = threading.Lock()


def signal_process(pid: int, number: signal.Signals) -> None:
    import os

    with suppress(ProcessLookupError):
        os.kill(pid, number)


def is_well(member: Member) -> bool:
    assert member.runs, f"the server at {member.port} ended: {member.errors[-800:]}"
    return answers(member, "/worlds/a/_sandbox/clock") == answers(member) == 200


def answers(member: Member, path: str = "/_sandbox/health") -> int:
    """The status of a reply, 0 without one."""
    line = http.client.HTTPConnection("127.0.0.1", member.port, timeout=10)
    with closing(line), suppress(OSError, http.client.HTTPException):
        line.request("GET", path)
        with line.getresponse() as reply:
            reply.read()
            return reply.status
    return 0
