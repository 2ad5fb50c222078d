"""The referee of a world: applies its rules to the stream of calls, and keeps the findings.

The problem: most mistakes of a client show only over several calls, such as an OAuth `state` that is used twice, or a
payment status that is never asked for. So a rule has to remember earlier calls. The world's list of calls cannot serve
for this: a setting limits its length, and it has no bodies and headers.

The design: the calls of a world and the acts of its customers form one stream of observations. Each rule is applied
once to each observation, in order, with a memory of its own (`RuleState`), which no other rule reads. Four invariants:

1. A finding depends on the calls and on the bank at the time of each call, not on when the call is judged. Before the
   world changes anything that a judgement depends on, it delivers the calls that wait to be judged.
2. A memory holds no secret and no body. It is made from observations, which have only fingerprints of them.
3. Memory is bounded. Each rule stores its newest `KEPT_MAX` entries and its first `FINDINGS_MAX` findings, and only
   counts further findings. So a client that invents headers, ids or tokens cannot fill the memory.
4. No call waits for the referee, and the failure of a rule affects neither a reply nor another rule.

The memories and findings are stored with the world, and are loaded again after a restart. Servers that share a world do
not share a referee: each server stores its observations in the database, and judges the observations of all servers
when a report is made.
"""

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
from sandbox.extensions.referee.call_reader import find_acts_of_scenario, list_acts, observe_call
from sandbox.extensions.referee.observations import ACTS, Observation
from sandbox.extensions.referee.rule import INITIATIONS, Finding, Proof, RefereeRule, RuleState
from sandbox.extensions.referee.table import TABLE, pack, unpack
from sandbox.web.api.call_records import Calls
from sandbox.worlds.world import World

log = getLogger("sandbox")
TRIMMED_EVERY = 256  # calls
FINDINGS_MAX = 100  # of one rule
NOT_STORED = ("_lock", "_waiting", "_rules")
Event = Observation | Finding


class Referee:
    """The referee of a world. It holds its lock while it applies rules, while it is pickled, and while it lists its
    findings."""

    def __init__(self, bank: Bank) -> None:
        self._begin()
        self.counts: Counter[str] = Counter()  # findings by rule
        self.moves: Counter[tuple[str, str | None, str, str]] = Counter()  # of initiations
        self._findings: dict[str, list[Finding]] = {}
        self._memories: defaultdict[str, RuleState] = defaultdict(RuleState)  # by rule
        self._last_calls = RuleState()  # by client
        self._givers = RuleState()  # the call that gave an id or an address
        self._reported = RuleState()  # pairs of a rule and a call
        self._calls = 0
        self._met: Counter[tuple[Any, ...]] = Counter()  # calls by operation, version, HTTP status, error and state
        self._journal_lines = len(bank.journal)  # read so far, as the next one
        self._callbacks = bank.callbacks[-1].seq if bank.callbacks else 0

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[Event] = deque()
        # The rules with their memories, by what `RefereeRule.is_about` asks.
        self._rules: dict[tuple[str | None, bool, str | None, str | None], list[tuple[RefereeRule, RuleState]]] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in NOT_STORED}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._begin()
        vars(self).update(state)

    def pack(self) -> bytes:
        """Judges the events that wait, and returns the pickled referee: its memories, its findings and its counts."""
        with self._lock:
            self._judge_waiting()
            return pack(self)

    def judge(self, events: Iterable[Event]) -> None:
        """Judges events in order. Does not wait for the lock: if another thread holds it, the events stay in a queue
        for the next thread that takes the lock. Pickling holds the lock for up to a tenth of a second, and no call
        should wait that long."""
        self._waiting.extend(events)
        while self._waiting and self._lock.acquire(blocking=False):
            try:
                self._judge_waiting()
            finally:
                self._lock.release()

    def _judge_waiting(self) -> None:
        while self._waiting:
            event = self._waiting.popleft()
            try:
                if isinstance(event, Finding):  # of the world that this one was imported from
                    self._add(event)
                elif event.operation in ACTS:
                    self._judge_act(event)
                else:
                    self._judge_call(event)
            except Exception:
                log.exception("call %s was answered, and could not be judged", event.exchange.request_id)

    def _judge_call(self, event: Observation) -> None:
        self._judge_acts_by_scenario(event.bank)
        self._calls += 1
        if self._calls % TRIMMED_EVERY == 0:
            self._trim()
        if not event.is_unreadable:
            self._met[event.operation, event.version, event.status, event.error, event.state] += 1
        before = event.before = self._last_calls.replace(event.client, event)
        if before is not None:
            before.before = None  # else each call would keep all calls before it
        if event.operation in INITIATIONS and event.accepted and event.subject is not None:
            self._givers[event.subject] = event.exchange
        for address in event.addresses:
            self._givers[address] = event.exchange
        self._apply_rules(event)

    def _judge_act(self, event: Observation) -> None:
        """Judges an act of a PSU. A finding names the call that gave the client the address at which the PSU acted, if
        the referee remembers this call."""
        giver = self._givers.get(event.subject) or self._givers.get(event.addresses[0])
        if giver is not None:
            event.exchange = giver
        self._apply_rules(event)

    def _judge_acts_by_scenario(self, bank: Bank) -> None:
        newest = bank.callbacks[-1].seq if bank.callbacks else 0
        callbacks = bank.callbacks[self._callbacks - newest :] if newest > self._callbacks else []
        self._callbacks = newest
        for callback in callbacks:
            try:
                for event in find_acts_of_scenario(bank, callback):
                    self._judge_act(event)
            except Exception:
                log.exception("the return of a customer, callback %s, could not be judged", callback.seq)

    def _apply_rules(self, event: Observation) -> None:
        key = event.operation, not event.accepted, event.error, event.state
        if key not in self._rules:
            self._rules[key] = [(row, self._memories[row.id]) for row in TABLE if row.is_about(*key)]
        for rule, memory in self._rules[key]:
            try:
                fault = rule.check(event, memory) if rule.applies_to(event) else None
            except Exception:
                log.exception("the rule %s failed on call %s", rule.id, event.exchange.request_id)
                continue
            if fault is None:
                continue
            # A call has one finding of a rule, also where a customer opens its address twice.
            call = event.exchange.seq or event.addresses[0]
            if not self._reported.replace((rule.id, call), True):
                self._add(Finding(rule, event.exchange, Proof(fault) if isinstance(fault, str) else fault))

    def _add(self, finding: Finding) -> None:
        name = finding.rule.id
        self.counts[name] += 1
        rows = self._findings.setdefault(name, [])
        if len(rows) < FINDINGS_MAX:
            rows.append(finding)

    def _trim(self) -> None:
        for memory in (*self._memories.values(), self._last_calls, self._givers, self._reported):
            memory.trim()

    @property
    def met(self) -> Counter[tuple[Any, ...]]:
        """The number of calls for each combination of operation, version, HTTP status, error, and status of the
        initiation."""
        with self._lock:
            self._judge_waiting()
            return self._met.copy()

    def list_findings(self, bank: Bank) -> list[Finding]:
        """Returns the stored findings, and findings about matters that a later call can still put right, such as a code
        that was not exchanged yet. All are in the order of their calls."""
        with self._lock:
            self._judge_waiting()
            self._judge_acts_by_scenario(bank)
            rows = list(chain.from_iterable(self._findings.values()))
            for rule in TABLE:
                if rule.find_open is None:
                    continue
                try:
                    by_call = dict(rule.find_open(self._memories[rule.id], bank))  # one address in two languages is one
                except Exception:
                    log.exception("the rule %s failed on what is still open", rule.id)
                    continue
                rows += [Finding(rule, exchange, Proof(text)) for exchange, text in by_call.items()]
            return sorted(rows, key=lambda row: (row.exchange.seq, row.rule.id, row.what))

    def count_unlisted(self) -> dict[str, int]:
        """Returns for each rule how many findings were counted but not stored."""
        return {name: count - FINDINGS_MAX for name, count in self.counts.items() if count > FINDINGS_MAX}

    def count_moves(self, bank: Bank) -> Counter[tuple[str, str | None, str, str]]:
        """Counts the changes of status in the bank's journal since the referee was made, by product path, old status,
        trigger and new status. Reads each line of the journal only once."""
        with self._lock:
            for line in bank.journal[self._journal_lines :]:
                subject = bank.find_subject(line.subject)
                if subject is not None:
                    source = line.source and line.source.value
                    self.moves[subject.path, source, line.trigger.value, str(line.target)] += 1
            self._journal_lines = len(bank.journal)
            return self.moves


def find_referee(world: World) -> Referee:
    """Returns the referee of a world after it has judged all calls so far. If several servers share the world, it has
    judged the calls of all of them."""
    unjudged = world.calls.take_unjudged()
    world.calls.deliver()
    referee = world.calls.attach("referee", lambda content: world.look(partial(begin_or_unpack, content)))
    assert isinstance(referee, Referee)
    for portion in unjudged:
        referee.judge(world.look(partial(unpack, portion)))
    return referee


def begin_or_unpack(content: bytes | None, bank: Bank) -> Referee:
    """Returns the referee that is stored in `content`. Returns a new referee if `content` is None, or if an earlier
    version of the sandbox stored the referee in another form."""
    with suppress(AttributeError, KeyError, TypeError, ValueError, IndexError, EOFError, UnpicklingError):
        referee = None if content is None else unpack(content, bank)
        if isinstance(referee, Referee):
            return referee
    return Referee(bank)


def judge_in(world: World, events: list[Event]) -> None:
    """Gives events to the world's referee, which judges them now. If servers share the world, stores the events in the
    database instead. They are judged when a report is made."""
    if world.is_shared:
        world.calls.observe(events, pack)
    elif events:
        find_referee(world).judge(events)
        world.calls.touch()


def judge_calls(world: World, bank: Bank, calls: Calls) -> None:
    """Makes an observation of each call of the bank's interface, and judges it. A call of which no observation can be
    made is logged and skipped."""
    events: list[Event] = []
    for record, exchange in calls:
        try:
            events.append(observe_call(bank, record, exchange))
        except Exception:
            log.exception("call %s was answered, and could not be read by the referee", exchange.request_id)
    judge_in(world, events)


def judge_act(environ: dict[str, Any], response: Response, world: World) -> None:
    """Judges the acts of a customer that a request to a page or a control performed. Most requests perform none."""
    world.look(lambda bank: judge_in(world, list(list_acts(bank, environ, response))))
