"""Clients that write down what they sent and what was answered, and hold each answer against the ones before."""

import http.client
import json
import threading
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from random import Random

from sandbox.contract.moves import MOVES, Status
from tests.histories.fleet import Member
from tests.tpp import SCT, headers, payment

WORLDS = ("default", "a", "b", "c", "d")


def find_reachable() -> dict[str, set[str]]:
    """Each status of the table with itself and all that may come after it."""
    reachable = {status.value: {status.value} for status in Status}
    for _ in Status:
        for row in MOVES[SCT]:
            reachable[row.source.value] |= reachable[row.target.value]
    return reachable


REACHABLE = find_reachable()


@dataclass
class Known:
    """What was answered of one payment."""

    payment_id: str
    status: str = "RCVD"
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass
class History:
    """Of all clients: each payment by its world and reference."""

    answered: dict[str, dict[str, Known]] = field(default_factory=lambda: {name: {} for name in WORLDS})
    unsure: dict[str, set[str]] = field(default_factory=lambda: {name: set() for name in WORLDS})
    wrong: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    last_answer: float = field(default_factory=time.monotonic)
    longest_absence: float = 0.0  # seconds in which no client was answered
    lock: threading.Lock = field(default_factory=threading.Lock)

    def note_answer(self) -> None:
        with self.lock:
            now = time.monotonic()
            self.longest_absence = max(self.longest_absence, now - self.last_answer)
            self.last_answer = now

    def note_count(self, name: str) -> None:
        with self.lock:
            self.counts[name] += 1

    def take_longest_absence(self) -> float:
        """Begins a new measurement."""
        with self.lock:
            longest, self.longest_absence = self.longest_absence, 0.0
            return longest


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
            world = self.random.choice(WORLDS)
            chance = self.random.random()
            if chance < 0.4:
                made += 1
                self._pay(world, f"C{self.number}-{made}")
            elif chance < 0.5:
                self._cancel(world)
            else:
                self._look(world)

    def _call(self, world: str, method: str, path: str, body: str = "", member: Member | None = None) -> "Reply":
        """Status 0 where no answer came."""
        prefix = "" if world == "default" else f"/worlds/{world}"
        member = member or self.random.choice(self.members)
        line = http.client.HTTPConnection("127.0.0.1", member.port, timeout=30)
        with closing(line):
            try:
                given = headers() | {"Content-Type": "application/json"}
                line.request(method, prefix + path, body.encode() or None, given)
                with line.getresponse() as reply:
                    found = reply.status, dict(reply.getheaders()), reply.read()
            except (OSError, http.client.HTTPException) as error:
                kind = "refused" if isinstance(error, ConnectionRefusedError) else "no answer"
                self.history.note_count(kind)
                time.sleep(0.02)
                return 0, {}, b""
        self.history.note_count(f"{method} {found[0]}")
        if found[0] < 500:
            self.history.note_answer()
        return found

    def _pay(self, world: str, reference: str) -> None:
        body = json.dumps(payment(endtoend_identification=reference, instructed_amount__amount="1.00"))
        self.history.unsure[world].add(reference)
        status, told, content = self._call(world, "POST", f"/payments/{SCT}", body)
        if status not in (0, 201, 503):
            self.history.wrong.append(f"{world} {reference}: {status} {content[:200]!r}")
        if status != 201:
            return
        known = Known(str(json.loads(content)["payment_id"]))
        self.history.answered[world][reference] = known
        self._read_everywhere(world, known)
        if self.random.random() < 0.3:
            approval = json.dumps({"address": told["Location"], "customer": "alice"})
            with known.lock:
                status, _, _ = self._call(world, "POST", "/_sandbox/psu/approve", approval)
                if status == 200:
                    self._note_status(world, known, "PDNG")
            self._read_everywhere(world, known)
            self._call(world, "POST", "/_sandbox/clock", '{"advance": "1s"}')

    def _cancel(self, world: str) -> None:
        """An answered cancellation is never undone."""
        known = self._some(world)
        if known is None:
            return
        with known.lock:
            path = f"/_sandbox/payments/{known.payment_id}/move"
            status, _, content = self._call(world, "POST", path, '{"status": "CANC"}')
            if status == 200:
                self._note_status(world, known, "CANC")
            elif status not in (0, 409, 503):
                self.history.wrong.append(f"{world}: {known.payment_id} is {status} {content[:200]!r}")
        self._read_everywhere(world, known)

    def _look(self, world: str) -> None:
        known = self._some(world)
        if known is not None:
            self._read(world, known)

    def _some(self, world: str) -> Known | None:
        known = list(self.history.answered[world].values())
        return self.random.choice(known[-20:]) if known else None

    def _read_everywhere(self, world: str, known: Known) -> None:
        """A read after an answered write shows it, through any server."""
        for member in self.members:
            self._read(world, known, member)

    def _read(self, world: str, known: Known, member: Member | None = None) -> None:
        with known.lock:
            path = f"/payments/{SCT}/{known.payment_id}/status"
            status, _, content = self._call(world, "GET", path, member=member)
            if status == 200:
                self._note_status(world, known, str(json.loads(content)["status"]))
            elif status not in (0, 503):
                self.history.wrong.append(f"{world}: {known.payment_id} is {status} {content[:200]!r}")

    def _note_status(self, world: str, known: Known, status: str) -> None:
        """A status lies on the table's way from each one that was shown or answered earlier."""
        if status not in REACHABLE[known.status]:
            self.history.wrong.append(f"{world}: {known.payment_id} went from {known.status} to {status}")
        known.status = status


Reply = tuple[int, dict[str, str], bytes]
