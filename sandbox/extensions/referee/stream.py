"""The referee of a world: applies its rules to every exchange and keeps the findings."""

import threading
from collections import Counter, defaultdict, deque
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from itertools import chain
from logging import getLogger
from pickle import UnpicklingError
from typing import Any

from flask import Response

from sandbox.bank.state import Bank
from sandbox.extensions.referee.call_reader import observe_call
from sandbox.extensions.referee.observations import ACTS, CallKind, Key, Observation
from sandbox.extensions.referee.psu_acts import acts_of, scenario_acts
from sandbox.extensions.referee.rule import INITIATIONS, Found, KindRules, Met, Proof, RuleState
from sandbox.extensions.referee.table import TABLE, pack, unpack
from sandbox.web.api.call_records import Calls
from sandbox.worlds.world import World

log = getLogger("sandbox")
KINDS_MAX = 4096
PACKED = ("_own", "_found", "_callbacks", "_met", "counts", "moves", "_facts", "_calls")
TRIMMED_EVERY = 256  # calls
FOUND_MAX = 100  # findings kept of one rule; of more only their number


class Referee:
    """The referee of one world. Only one thread at a time applies rules."""

    def __init__(self, bank: Bank) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[Observation | Found] = deque()
        self._own: defaultdict[str, RuleState] = defaultdict(RuleState)
        self._kinds: dict[Key, KindRules] = {}
        self._before = self._own[""]  # the last call of each client
        self._given = self._own["given"]  # which call gave an address
        self._told = self._own["told"]  # which rule has a finding about which call
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
        referee._told = referee._own["told"]
        return referee

    def packed(self) -> bytes:
        """The state as bytes, for a world that is unloaded; this referee then judges nothing more."""
        return self._packed(over=True)

    def copied(self) -> bytes:
        """The same, and it goes on."""
        return self._packed(over=False)

    def _packed(self, *, over: bool) -> bytes:
        with self._lock:
            self._take_all()
            self._count_kinds()
            self._over = self._over or over
            return pack(tuple(getattr(self, name) for name in PACKED))

    def judge(self, stream: Iterable[Observation | Found]) -> list[Observation | Found]:
        """Never waits: while another thread applies rules, it takes these observations too.

        Returns the observations that came after the world was unloaded.
        """
        self._waiting.extend(stream)
        while self._waiting and not self._over and self._lock.acquire(False):
            try:
                self._take_all()
            finally:
                self._lock.release()
        if not self._over:
            return []
        with self._lock:
            left = list(self._waiting)
            self._waiting.clear()
            return left

    def _take_all(self) -> None:
        """Judges the waiting observations in order; the caller holds the lock."""
        while self._waiting and not self._over:
            event = self._waiting.popleft()
            try:
                if isinstance(event, Found):  # of the world that this one was imported from
                    self._add(event)
                elif event.operation in ACTS:
                    self._judge_act(event)
                else:
                    self._judge_call(event)
            except Exception:
                log.exception("call %s was answered, and could not be judged", event.exchange.request_id)

    def _judge_call(self, event: Observation) -> None:
        """Judges one exchange, after the acts of scenario customers before it."""
        if event.bank.callbacks and event.bank.callbacks[-1].seq > self._callbacks:
            self._catch_up(event.bank)
        self._calls += 1
        if self._calls % TRIMMED_EVERY == 0:
            self._trim()
        ours = self._kinds.get(event.key) or self._sort(event.key)
        if not event.unread:
            ours.calls += 1
        before = event.before = self._before.get(event.client)
        if before is not None:
            before.before = None  # a chain would never end
        self._before[event.client] = event
        if ours.gives and event.subject is not None:
            self._given[event.subject] = event.exchange
        for address in event.addresses:
            self._given[address] = event.exchange
        self._apply_rules(event, ours)

    def _judge_act(self, event: Observation) -> None:
        """Judges an act, with the call that gave its address."""
        given = self._given.get(event.subject) or self._given.get(event.addresses[0])
        if given is not None:
            event.exchange = given
        self._apply_rules(event, self._kinds.get(event.key) or self._sort(event.key))

    def _sort(self, key: Key) -> KindRules:
        kind = CallKind(*key)
        rules = [
            (row.see, self._own[row.id], not (row.begins is None or row.begins(kind)), row)
            for row in TABLE
            if row.applies_to(kind)
        ]
        self._kinds[key] = KindRules(kind, rules, kind.operation in INITIATIONS and not kind.is_refused)
        return self._kinds[key]

    def _apply_rules(self, event: Observation, ours: KindRules) -> None:
        event.kind = ours.kind
        for see, own, sleeps, rule in ours.rules:
            if sleeps and not own:
                continue
            try:
                what = see(event, own)
            except Exception:
                log.exception("the rule %s failed on call %s", rule.id, event.exchange.request_id)
                continue
            if what is None or self._told.replace((rule.id, call_of(event)), True):
                continue  # a customer who opens an address twice makes no second finding about the call that gave it
            self._add(Found(rule, event.exchange, Proof(what) if isinstance(what, str) else what))

    def _trim(self) -> None:
        """Bounds the state that grows with callers' texts; counts are kept."""
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
        """The number of calls by kind so far."""
        with self._lock:
            self._take_all()
            self._count_kinds()
            return self._met.copy()

    def _add(self, found: Found) -> None:
        self.counts[found.rule.id] += 1
        rows = self._found.setdefault(found.rule.id, [])
        if len(rows) < FOUND_MAX:
            rows.append(found)

    def _catch_up(self, bank: Bank) -> None:
        newest = bank.callbacks[-1].seq if bank.callbacks else 0
        callbacks = bank.callbacks[self._callbacks - newest :] if newest > self._callbacks else []
        self._callbacks = newest
        for callback in callbacks:
            try:
                for event in scenario_acts(bank, callback):
                    self._judge_act(event)
            except Exception:
                log.exception("the return of a customer, callback %s, could not be judged", callback.seq)

    def findings(self, bank: Bank) -> list[Found]:
        """All findings, with those about initiations that are still open, in the order of their calls."""
        with self._lock:
            self._take_all()
            self._catch_up(bank)
            rows = list(chain.from_iterable(self._found.values()))
            for rule in TABLE:
                if rule.close is None:
                    continue
                try:
                    one_a_call = dict(rule.close(self._own[rule.id], bank))  # an address in two languages is one call
                except Exception:
                    log.exception("the rule %s failed on what is still open", rule.id)
                    continue
                rows += [Found(rule, exchange, Proof(what)) for exchange, what in one_a_call.items()]
            return sorted(rows, key=lambda row: (row.exchange.seq, row.rule.id, row.what))

    def take_in(self, found: Found) -> None:
        """A finding of the world that this one was imported from."""
        with self._lock:
            self._add(found)

    def unlisted_counts(self) -> dict[str, int]:
        """The number of findings beyond the kept ones, by rule."""
        return {name: count - FOUND_MAX for name, count in self.counts.items() if count > FOUND_MAX}

    def count_moves(self, bank: Bank) -> Counter[tuple[str, str | None, str, str]]:
        """The moves in the journal by count; each line is read once."""
        with self._lock:
            self._take_all()
            for fact in bank.journal[self._facts :]:
                subject = bank.find_subject(fact.subject)
                if subject is not None:
                    source = fact.source and fact.source.value
                    self.moves[subject.path, source, fact.trigger.value, str(fact.target)] += 1
            self._facts = len(bank.journal)
            return self.moves


def call_of(event: Observation) -> int | bytes:
    """What the finding is about: a call by its number, or an address whose call the referee has not heard."""
    return event.exchange.seq or event.addresses[0]


def referee_of(world: World) -> Referee:
    """The referee of a world since its last reset, with all calls judged; of a shared world, those of all servers."""
    unjudged = world.take_unjudged()
    found = world.kept.get("referee")
    if not isinstance(found, Referee):
        found = world.keep("referee", lambda content: world.look(lambda bank: _begin(content, bank)))
        assert isinstance(found, Referee)
    for portion in unjudged:
        found.judge(world.look(partial(_unpack_portion, portion)))
    return found


def pack_observed(observed: list[Observation | Found]) -> bytes:
    """Packs observations for the servers that share a world: each judges them when somebody asks."""
    return pack(tuple(observed))


def _unpack_portion(portion: bytes, bank: Bank) -> Any:
    return unpack(portion, bank)


def _begin(content: bytes | None, bank: Bank) -> Referee:
    """From what was packed; an earlier program may have packed it in another form, and then it begins anew."""
    if content is not None:
        with suppress(AttributeError, KeyError, TypeError, ValueError, IndexError, EOFError, UnpicklingError):
            return Referee.unpack(content, bank)
    return Referee(bank)


def judge_in(world: World, *stream: Observation | Found) -> None:
    """Passes observations to the world's referee, also when the world was unloaded meanwhile."""
    if world.is_shared:
        world.observe(list(stream), pack_observed)
        return
    while stream:
        stream = tuple(referee_of(world).judge(stream))
        world.touch()


def judge_calls(world: World, bank: Bank, calls: Calls) -> None:
    """Judges calls of the bank's interface."""
    stream: list[Observation] = []
    for record, exchange in calls:
        try:
            stream.append(observe_call(bank, record, exchange))
        except Exception:
            log.exception("call %s was answered, and could not be read by the referee", exchange.request_id)
    judge_in(world, *stream)


def judge_act(environ: dict[str, Any], response: Response, world: World) -> None:
    """Judges a request of a page or a control, if it was an act of a customer."""
    world.look(lambda bank: judge_in(world, *acts_of(bank, environ, response)))
