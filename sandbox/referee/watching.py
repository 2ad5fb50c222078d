"""The referee of a world: hears every exchange once, as it is answered, and keeps what its rules found."""

import io
import pickle
import threading
from collections import Counter, defaultdict, deque
from dataclasses import dataclass
from typing import Any

from flask import Flask, Response, request

from sandbox.bank.state import Bank
from sandbox.exchanges import Exchange
from sandbox.log.checkpoint import ROOMS, Reader
from sandbox.referee.acts import acts_of, by_itself
from sandbox.referee.reading import seen_of
from sandbox.referee.rows import Own, Rule, See
from sandbox.referee.seen import Seen
from sandbox.referee.table import ACTS, TABLE, rules_for
from sandbox.register import Worlds
from sandbox.worlds import World

FOUND_MAX = 100  # findings kept of one rule; of more only their number
PSU_PATHS = ("/psu/", "/_sandbox/psu/")


@dataclass(frozen=True, slots=True)
class Found:
    """A rule, the call in which it was broken, and what was seen."""

    rule: Rule
    exchange: Exchange
    what: str


# Operation, version, HTTP status, error, the subject's status: a cell of what a run has met.
Met = tuple[str | None, int, int, str | None, str | None]


# What is kept as it is when the world is put away; the rest is made anew, or its one lock.
PACKED = ("_own", "_found", "_given", "_callbacks", "counts", "met", "moves", "_facts")


class _Packer(pickle.Pickler):
    """Leaves the bank and the rules out: they are there again when it is unpacked."""

    def persistent_id(self, value: Any) -> str | None:
        return "bank" if isinstance(value, Bank) else value.id if isinstance(value, Rule) else None


class _Unpacker(Reader):
    rooms = (*ROOMS, "sandbox.referee.", "sandbox.exchanges")

    def __init__(self, content: bytes, bank: Bank) -> None:
        super().__init__(io.BytesIO(content))
        self._outside: dict[str, Any] = {"bank": bank} | {row.id: row for row in TABLE}

    def persistent_load(self, name: str) -> Any:
        return self._outside[name]


class Referee:
    """One world's. One caller at a time judges."""

    def __init__(self, bank: Bank) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[Seen] = deque()
        self._own: defaultdict[str, Own] = defaultdict(Own)
        self._watching: dict[tuple[str | None, bool], list[tuple[Rule, See, Own]]] = {}
        self._found: dict[str, list[Found]] = {}
        self._given = Own()  # which call gave an address
        self._callbacks = bank.callbacks[-1].seq if bank.callbacks else 0  # a forked world's: before is not its own
        self.counts: Counter[str] = Counter()
        self.met: Counter[Met] = Counter()
        self.moves: Counter[tuple[str, str | None, str, str]] = Counter()
        self._facts = len(bank.journal)  # read so far
        self._over = False  # packed: what comes now is another's

    @classmethod
    def unpacked(cls, content: bytes, bank: Bank) -> "Referee":
        referee = cls(bank)
        for name, value in zip(PACKED, _Unpacker(content, bank).load(), strict=True):
            setattr(referee, name, value)
        return referee

    def packed(self) -> bytes:
        """All that was heard so far; nothing is judged here any more."""
        with self._lock:
            self._take_all()
            self._over = True
            kept = io.BytesIO()
            _Packer(kept, protocol=5).dump(tuple(getattr(self, name) for name in PACKED))
            return kept.getvalue()

    def hear(self, *stream: Seen) -> list[Seen]:
        """Nobody waits here: what comes while another caller is at it, that caller takes too.

        The answer is what came too late to be judged here.
        """
        self._waiting.extend(stream)
        while self._waiting and not self._over and self._lock.acquire(blocking=False):
            try:
                self._take_all()
            finally:
                self._lock.release()
        return self._left() if self._over else []

    def _left(self) -> list[Seen]:
        with self._lock:
            left = list(self._waiting)
            self._waiting.clear()
            return left

    def _take_all(self) -> None:
        """What waits, in its order; the lock is held."""
        while self._waiting and not self._over:
            seen = self._waiting.popleft()
            if seen.operation in ACTS:
                self._hear(seen)
            else:
                self._hear_call(seen)

    def _hear_call(self, seen: Seen) -> None:
        """One exchange of a client; what customers did by themselves before it comes first."""
        if seen.bank.callbacks and seen.bank.callbacks[-1].seq > self._callbacks:
            self._catch_up(seen.bank)
        self.met[seen.operation, seen.version, seen.status, seen.error, seen.state] += 1
        if seen.subject is not None and seen.status < 300 and seen.exchange.method == "POST":
            self._given[seen.subject] = seen.exchange
        for address in seen.addresses:
            self._given[address] = seen.exchange
        self._judge(seen)

    def _hear(self, seen: Seen) -> None:
        """An act: it stands in the stream beside the call that gave its address."""
        given = self._given.get(seen.subject) or self._given.get(seen.addresses[0])
        if given is not None:
            seen.exchange = given
        self._judge(seen)

    def _judge(self, seen: Seen) -> None:
        key = (seen.operation, seen.status >= 300)
        watching = self._watching.get(key)
        if watching is None:
            watching = self._watching[key] = [(row, row.see, self._own[row.id]) for row in rules_for(*key)]
        for rule, see, own in watching:
            what = see(seen, own)
            if what is not None:
                self._tell(rule, seen.exchange, what)

    def _tell(self, rule: Rule, exchange: Exchange, what: str) -> None:
        self.counts[rule.id] += 1
        kept = self._found.setdefault(rule.id, [])
        if len(kept) < FOUND_MAX:
            kept.append(Found(rule, exchange, what))

    def _catch_up(self, bank: Bank) -> None:
        newest = bank.callbacks[-1].seq if bank.callbacks else 0
        callbacks = bank.callbacks[self._callbacks - newest :] if newest > self._callbacks else []
        self._callbacks = newest
        for callback in callbacks:
            for seen in by_itself(bank, callback):
                self._hear(seen)

    def found(self, bank: Bank) -> list[Found]:
        """What was found so far, with what is wrong about matters that are still open; by call."""
        with self._lock:
            self._take_all()
            self._catch_up(bank)
            rows = [found for kept in self._found.values() for found in kept]
            for rule in TABLE:
                if rule.close is not None:
                    rows += [Found(rule, exchange, what) for exchange, what in rule.close(self._own[rule.id], bank)]
            return sorted(rows, key=lambda row: row.exchange.seq)

    def untold(self) -> dict[str, int]:
        """How many more findings of a rule there were than are kept."""
        return {name: count - FOUND_MAX for name, count in self.counts.items() if count > FOUND_MAX}

    def moved(self, bank: Bank) -> Counter[tuple[str, str | None, str, str]]:
        """The moves of the tables that the journal shows, each line of it read once."""
        with self._lock:
            self._take_all()
            for fact in bank.journal[self._facts :]:
                subject = bank.known(fact.subject)
                if subject is not None:
                    source = fact.source and fact.source.value
                    self.moves[subject.path, source, fact.trigger.value, fact.target.value] += 1
            self._facts = len(bank.journal)
            return self.moves


def referee_of(world: World) -> Referee:
    """The referee of a world as it began last."""
    found = world.keep(
        "referee", lambda packed: Referee.unpacked(packed, world.bank) if packed else Referee(world.bank)
    )
    assert isinstance(found, Referee)
    return found


def hear_in(world: World, *stream: Seen) -> None:
    """By the referee of that world, also when the world was put away meanwhile."""
    left: list[Seen] | tuple[Seen, ...] = stream
    while left:
        left = referee_of(world).hear(*left)


def watch(app: Flask, worlds: Worlds) -> None:
    """Every answer of an app is heard after it was stamped: what is registered first is called last."""

    def heard(response: Response) -> Response:
        environ = request.environ
        noted = environ.get("sandbox.noted")
        if noted is not None:
            world, exchange, ended = noted
            if world.bank.settings.referee == "on":
                hear_in(world, seen_of(environ, response, world, exchange, ended))
        elif environ["PATH_INFO"].startswith(PSU_PATHS):
            world = worlds.known(environ["sandbox.world"])
            if world.bank.settings.referee == "on":
                hear_in(world, *acts_of(environ, response, world))
        return response

    app.after_request(heard)
