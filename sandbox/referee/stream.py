"""The referee of a world: hears every exchange once, as it is answered, and keeps what its rules found."""

import threading
from collections import Counter, defaultdict, deque
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from flask import Flask, Response, request

from sandbox.bank.state import Bank
from sandbox.contract.errors import Refusal
from sandbox.referee.call_reader import observe_call
from sandbox.referee.kinds import ACTS, Key, Kind
from sandbox.referee.observations import Observation
from sandbox.referee.packing import pack, unpack
from sandbox.referee.psu_acts import acts_of, scenario_acts
from sandbox.referee.rule import INITIATIONS, Own, Rule, See
from sandbox.referee.table import TABLE
from sandbox.web.api.app import Listener
from sandbox.world.calls import Exchange
from sandbox.world.log.store import StateFileError
from sandbox.world.registry import Worlds
from sandbox.world.world import World

KINDS_MAX = 4096
PACKED = ("_own", "_found", "_callbacks", "_met", "counts", "moves", "_facts", "_calls")
TRIMMED_EVERY = 256  # calls
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


class KindRules:
    """Calls of one kind: which rules look at them, and how many there were."""

    __slots__ = ("calls", "gives", "kind", "rules")

    def __init__(self, kind: Kind, rules: list[tuple[See, Own, bool, Rule]]) -> None:
        self.kind = kind
        self.rules = rules  # each with whether it sleeps while it remembers nothing
        self.gives = kind.operation in INITIATIONS and not kind.is_refused
        self.calls = 0


class Referee:
    """One world's. One caller at a time judges."""

    def __init__(self, bank: Bank) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[Observation] = deque()
        self._own: defaultdict[str, Own] = defaultdict(Own)
        self._kinds: dict[Key, KindRules] = {}
        self._before = self._own[""]  # the last call of each client
        self._given = self._own["given"]  # which call gave an address
        self._calls = 0
        self._found: dict[str, list[Found]] = {}
        self._callbacks = bank.callbacks[-1].seq if bank.callbacks else 0  # a forked world's: before is not its own
        self._met: Counter[Met] = Counter()
        self.counts: Counter[str] = Counter()
        self.moves: Counter[tuple[str, str | None, str, str]] = Counter()
        self._facts = len(bank.journal)  # read so far
        self._over = False  # packed: what comes now is another's

    @classmethod
    def unpack(cls, content: bytes, bank: Bank) -> "Referee":
        referee = cls(bank)
        for name, value in zip(PACKED, unpack(content, bank), strict=True):
            setattr(referee, name, value)
        referee._before, referee._given = referee._own[""], referee._own["given"]
        return referee

    def packed(self) -> bytes:
        """All that was heard so far, for when the world is put away; nothing is judged here any more."""
        with self._lock:
            self._take_all()
            self._count_kinds()
            self._over = True
            return pack(tuple(getattr(self, name) for name in PACKED))

    def judge(self, seen: Observation) -> list[Observation]:
        """Nobody waits here: what comes while another caller is at it, that caller takes too.

        The answer is what came too late to be judged here.
        """
        self._waiting.append(seen)
        while self._waiting and not self._over and self._lock.acquire(False):
            try:
                self._take_all()
            finally:
                self._lock.release()
        return self._take_unjudged() if self._over else []

    def _take_unjudged(self) -> list[Observation]:
        with self._lock:
            left = list(self._waiting)
            self._waiting.clear()
            return left

    def _take_all(self) -> None:
        """What waits, in its order; the lock is held."""
        while self._waiting and not self._over:
            seen = self._waiting.popleft()
            if seen.operation in ACTS:
                self._judge_act(seen)
            else:
                self._judge_call(seen)

    def _judge_call(self, seen: Observation) -> None:
        """One exchange of a client; what customers did by themselves before it comes first."""
        if seen.bank.callbacks and seen.bank.callbacks[-1].seq > self._callbacks:
            self._catch_up(seen.bank)
        self._calls += 1
        if self._calls % TRIMMED_EVERY == 0:
            self._trim()
        ours = self._kinds.get(seen.key) or self._sort(seen.key)
        ours.calls += 1
        before = seen.before = self._before.get(seen.client)
        if before is not None:
            before.before = None  # a chain would never end
        self._before[seen.client] = seen
        if ours.gives and seen.subject is not None:
            self._given[seen.subject] = seen.exchange
        for address in seen.addresses:
            self._given[address] = seen.exchange
        self._apply_rules(seen, ours)

    def _judge_act(self, seen: Observation) -> None:
        """An act: it stands in the stream beside the call that gave its address."""
        given = self._given.get(seen.subject) or self._given.get(seen.addresses[0])
        if given is not None:
            seen.exchange = given
        self._apply_rules(seen, self._kinds.get(seen.key) or self._sort(seen.key))

    def _sort(self, key: Key) -> KindRules:
        kind = Kind(*key)
        rules = [
            (row.see, self._own[row.id], not (row.begins is None or row.begins(kind)), row)
            for row in TABLE
            if row.applies_to(kind)
        ]
        self._kinds[key] = KindRules(kind, rules)
        return self._kinds[key]

    def _apply_rules(self, seen: Observation, ours: KindRules) -> None:
        seen.kind = ours.kind
        for see, own, sleeps, rule in ours.rules:
            if sleeps and not own:
                continue
            what = see(seen, own)
            if what is not None:
                self._record(rule, seen.exchange, what)

    def _trim(self) -> None:
        """What callers may make up without end is cut back; what was counted stays counted."""
        for own in self._own.values():
            own.trim()
        if len(self._kinds) > KINDS_MAX:
            self._count_kinds()
            self._kinds.clear()

    def _count_kinds(self) -> None:
        for key, ours in self._kinds.items():
            if ours.calls:
                self._met[key[:5]] += ours.calls
                ours.calls = 0

    @property
    def met(self) -> Counter[Met]:
        """What the stream has shown so far."""
        with self._lock:
            self._take_all()
            self._count_kinds()
            return self._met.copy()

    def _record(self, rule: Rule, exchange: Exchange, what: str) -> None:
        self.counts[rule.id] += 1
        kept = self._found.setdefault(rule.id, [])
        if len(kept) < FOUND_MAX:
            kept.append(Found(rule, exchange, what))

    def _catch_up(self, bank: Bank) -> None:
        newest = bank.callbacks[-1].seq if bank.callbacks else 0
        callbacks = bank.callbacks[self._callbacks - newest :] if newest > self._callbacks else []
        self._callbacks = newest
        for callback in callbacks:
            for seen in scenario_acts(bank, callback):
                self._judge_act(seen)

    def findings(self, bank: Bank) -> list[Found]:
        """What was found so far, with what is wrong about matters that are still open; by call."""
        with self._lock:
            self._take_all()
            self._catch_up(bank)
            rows = [found for kept in self._found.values() for found in kept]
            for rule in TABLE:
                if rule.close is not None:
                    rows += [Found(rule, exchange, what) for exchange, what in rule.close(self._own[rule.id], bank)]
            return sorted(rows, key=lambda row: row.exchange.seq)

    def unlisted_counts(self) -> dict[str, int]:
        """How many more findings of a rule there were than are kept."""
        return {name: count - FOUND_MAX for name, count in self.counts.items() if count > FOUND_MAX}

    def count_moves(self, bank: Bank) -> Counter[tuple[str, str | None, str, str]]:
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
    found = world.kept.get("referee")
    if isinstance(found, Referee):
        return found

    def made(content: bytes | None) -> Referee:
        return Referee(world.bank) if content is None else Referee.unpack(content, world.bank)

    found = world.keep("referee", made)
    assert isinstance(found, Referee)
    return found


def judge_in(world: World, *stream: Observation) -> None:
    """By the referee of that world, also when the world was put away meanwhile."""
    for seen in stream:
        judge_in(world, *referee_of(world).judge(seen))


def judge_call(environ: dict[str, Any], response: Response, world: World, exchange: Exchange, ended: float) -> None:
    """A call of the bank's interface was answered."""
    if world.bank.settings.referee == "on":
        judge_in(world, observe_call(environ, response, world, exchange, ended))


def judge_act(environ: dict[str, Any], response: Response, worlds: Worlds) -> None:
    """Something beside the bank's interface was answered: perhaps a customer's act, on a page or by a control."""
    if not environ["PATH_INFO"].startswith(PSU_PATHS):
        return
    with suppress(StateFileError, Refusal):  # of a world that cannot be read back, or was dropped meanwhile
        world = worlds.known(environ["sandbox.world"])
        if world.bank.settings.referee == "on":
            judge_in(world, *acts_of(environ, response, world))


REFEREE = Listener(judge_call, judge_act)


def watch_acts(app: Flask, worlds: Worlds) -> None:
    """For an app of the controls alone."""

    def after(response: Response) -> Response:
        judge_act(request.environ, response, worlds)
        return response

    app.after_request(after)
