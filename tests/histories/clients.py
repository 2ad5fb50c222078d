"""Clients that write down what they sent and what was answered, and hold each answer against the ones before."""

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
# How far a payment is: it never goes back.
RANKS = {"RCVD": 0, "PATC": 1, "PDNG": 2, "ACSP": 3, "ACSC": 4, "CANC": 4, "RJCT": 4}


@dataclass
class Known:
    """What was answered of one payment."""

    payment_id: str
    rank: int = 0
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
    longest_absence: float = 0.0

    def note_answer(self) -> None:
        now = time.monotonic()
        self.longest_absence = max(self.longest_absence, now - self.last_answer)
        self.last_answer = now


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
                self.history.counts[kind] += 1
                time.sleep(0.02)
                return 0, {}, b""
        self.history.counts[f"{method} {found[0]}"] += 1
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
        for member in self.members:  # a read after an answered write shows it, through any server
            self._read(world, known, member)
        if self.random.random() < 0.3:
            approval = json.dumps({"address": told["Location"], "customer": "alice"})
            with known.lock:
                status, _, _ = self._call(world, "POST", "/_sandbox/psu/approve", approval)
                if status == 200:
                    known.rank, known.status = max(known.rank, RANKS["PDNG"]), "PDNG"
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
                known.rank, known.status = RANKS["CANC"], "CANC"
            elif status not in (0, 409, 503):
                self.history.wrong.append(f"{world}: {known.payment_id} is {status} {content[:200]!r}")

    def _look(self, world: str) -> None:
        known = self._some(world)
        if known is not None:
            self._read(world, known)

    def _some(self, world: str) -> Known | None:
        known = list(self.history.answered[world].values())
        return self.random.choice(known[-20:]) if known else None

    def _read(self, world: str, known: Known, member: Member | None = None) -> None:
        """The status that is shown never lies before one that was shown or answered earlier."""
        with known.lock:
            path = f"/payments/{SCT}/{known.payment_id}/status"
            status, _, content = self._call(world, "GET", path, member=member)
            if status == 200:
                shown = str(json.loads(content)["status"])
                back = RANKS[shown] < known.rank or (RANKS[shown] == known.rank == 4 and shown != known.status)
                if back:
                    self.history.wrong.append(f"{world}: {known.payment_id} went from {known.status} to {shown}")
                known.rank, known.status = RANKS[shown], shown
            elif status not in (0, 503):
                self.history.wrong.append(f"{world}: {known.payment_id} is {status} {content[:200]!r}")


Reply = tuple[int, dict[str, str], bytes]
