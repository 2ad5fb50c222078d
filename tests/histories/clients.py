"""Clients that write down what they sent and what was answered."""

import http.client
import json
import threading
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from random import Random

from tests.histories.fleet import Member
from tests.tpp import SCT, headers, payment

WORLDS = ("default", "a", "b", "c", "d")


@dataclass
class History:
    """Of all clients: each payment by its world and reference."""

    answered: dict[str, dict[str, str]] = field(default_factory=lambda: {name: {} for name in WORLDS})  # its id
    unsure: dict[str, set[str]] = field(default_factory=lambda: {name: set() for name in WORLDS})
    wrong: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


class Client:
    """Calls any server for any world, one call after the other."""

    def __init__(self, number: int, members: list[Member], history: History, seed: str) -> None:
        self.number = number
        self.members = members
        self.history = history
        self.random = Random(f"{seed}/client {number}")
        self.ends = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        made = 0
        while not self.ends.is_set():
            world, member = self.random.choice(WORLDS), self.random.choice(self.members)
            if self.random.random() < 0.5:
                made += 1
                self._pay(member, world, f"C{self.number}-{made}")
            else:
                self._look(member, world)

    def _call(
        self, member: Member, world: str, method: str, path: str, body: str = ""
    ) -> tuple[int, dict[str, str], bytes]:
        """Status 0 where no answer came."""
        prefix = "" if world == "default" else f"/worlds/{world}"
        line = http.client.HTTPConnection("127.0.0.1", member.port, timeout=15)
        with closing(line):
            try:
                given = headers() | {"Content-Type": "application/json"}
                line.request(method, prefix + path, body.encode() or None, given)
                with line.getresponse() as reply:
                    found = reply.status, dict(reply.getheaders()), reply.read()
            except (OSError, http.client.HTTPException) as error:
                kind = "refused" if isinstance(error, ConnectionRefusedError) else "no answer"
                self.history.counts[kind] += 1
                time.sleep(0.02)
                return 0, {}, b""
        self.history.counts[f"{method} {found[0]}"] += 1
        return found

    def _pay(self, member: Member, world: str, reference: str) -> None:
        body = json.dumps(payment(endtoend_identification=reference, instructed_amount__amount="1.00"))
        self.history.unsure[world].add(reference)
        status, told, content = self._call(member, world, "POST", f"/payments/{SCT}", body)
        if status == 201:
            self.history.answered[world][reference] = str(json.loads(content)["payment_id"])
            if self.random.random() < 0.2:
                approval = json.dumps({"address": told["Location"], "customer": "alice"})
                self._call(member, world, "POST", "/_sandbox/psu/approve", approval)
                self._call(member, world, "POST", "/_sandbox/clock", '{"advance": "1s"}')
        elif status not in (0, 503):
            self.history.wrong.append(f"{world} {reference}: {status} {content[:200]!r}")

    def _look(self, member: Member, world: str) -> None:
        """What was answered last must be there, whoever is asked: a server without a lease would not know it."""
        known = list(self.history.answered[world].values())
        if known:
            status, _, content = self._call(member, world, "GET", f"/payments/{SCT}/{known[-1]}/status")
            if status not in (0, 200, 503):
                self.history.wrong.append(f"{world}: {known[-1]} is {status} {content[:200]!r}")
