"""Faults by a seed: servers are killed, stopped and drained, their lines cut and slowed, PostgreSQL is restarted."""

import http.client
import signal
import time
from collections import Counter
from contextlib import closing, suppress
from random import Random

from tests.histories.fleet import Member, wait_until
from tests.postgres import Cluster


class Director:
    """One fault after the other; what it does is said by the seed alone."""

    def __init__(self, cluster: Cluster, members: list[Member], lease: float, seed: str) -> None:
        self.cluster = cluster
        self.members = members
        self.lease = lease
        self.random = Random(f"{seed}/director")
        self.counts: Counter[str] = Counter()
        self.away: list[float] = []  # seconds from a kill to the next answer
        self.faults = (self.kill, self.stop, self.cut, self.slow, self.restart_database, self.add, self.drain)
        self._left: list[str] = []

    def fault(self) -> None:
        """Each kind comes once before any comes again. The last of those that run is left alone."""
        if not self._left:
            self._left = self.random.sample([fault.__name__ for fault in self.faults], len(self.faults))
        name = self._left.pop()
        self.counts[name] += 1
        getattr(self, name)()
        for member in self.members[:3]:
            if not member.runs:
                member.start()
        time.sleep(self.lease * self.random.uniform(0.2, 1.0))

    def _one(self) -> Member:
        return self.random.choice([member for member in self.members if member.runs] or self.members[:1])

    def kill(self) -> None:
        one = self._one()
        one.end(signal.SIGKILL)
        others = [member for member in self.members if member is not one and member.runs]
        if others and all(answers(member) for member in others):
            began = time.monotonic()
            wait_until(others, lambda: answers(others[0], "/worlds/a/_sandbox/clock") == 200, "no server answers")
            self.away.append(time.monotonic() - began)

    def stop(self) -> None:
        """For longer than its lease: it wakes as one that has lost its worlds."""
        one = self._one()
        one.send(signal.SIGSTOP)
        time.sleep(self.lease * self.random.uniform(1.2, 2.0))
        one.send(signal.SIGCONT)

    def cut(self) -> None:
        one = self._one()
        one.line.cut()
        time.sleep(self.lease * self.random.uniform(0.3, 2.0))
        one.line.mend()

    def slow(self) -> None:
        one = self._one()
        one.line.delay = self.random.uniform(0.01, self.lease / 4)
        time.sleep(self.lease)
        one.line.mend()

    def restart_database(self) -> None:
        self.cluster.control("restart", "-m", "fast")

    def add(self) -> None:
        """A server more, or the one that was added ends."""
        extra = self.members[-1]
        if extra.runs:
            extra.end()
        else:
            extra.start()

    def drain(self) -> None:
        self._one().end()

    def settle(self) -> None:
        """All is well again: each server answers for each world."""
        for member in self.members[:3]:
            self.await_answer(member)

    def await_answer(self, member: Member) -> None:
        wait_until(self.members, lambda: is_well(member), f"the server at {member.port} does not answer")


def is_well(member: Member) -> bool:
    assert member.runs, f"the server at {member.port} ended"
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
