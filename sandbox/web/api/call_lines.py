"""What observes the calls once they are answered: the list of calls, their contents, the counts, and the listeners.

The list says why a call was answered so: the rule and its clause, and what it was judged on (choice 10)."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from logging import getLogger
from time import perf_counter
from typing import Any, NamedTuple, TypeVar

import orjson
from flask import Response

from sandbox.bank.state import Bank
from sandbox.bank.subjects import Subject
from sandbox.banking.durations import write_instant
from sandbox.banking.money import Money
from sandbox.contract.decisions import EVERYWHERE, SET_BY_SETTINGS
from sandbox.contract.errors import Error
from sandbox.web.api.call_record import CallRecord, Content, content_of
from sandbox.web.api.headers import client_named
from sandbox.worlds.calls import Exchange, NumberedCall, Recent, shortened
from sandbox.worlds.registry import Worlds
from sandbox.worlds.world import World

log = getLogger("sandbox")
T = TypeVar("T")
Announce = Callable[[Exchange, str, float], None]
Calls = Sequence[tuple[CallRecord, Exchange]]
UNEXPLAINED = "The explanation could not be made; the server's log has the cause under this Request-ID"
TEXT_MAX = 200  # characters of what a caller gave


class CallListener(NamedTuple):
    """Takes every call, in order, once its answer is complete."""

    name: str
    on_calls: Callable[[World, Bank, Calls], None]  # of the bank's interface
    acted: Callable[[dict[str, Any], Response, Worlds], None] | None = None  # of what lies beside it
    # Fingerprints of a large body. It is called before the world's lock is taken, as it takes long.
    print_of: Callable[[bytes], tuple[bytes, ...]] | None = None


class Observers(NamedTuple):
    """Of one application; a world delivers the calls that wait there.

    The delivery happens in some later call, whose caller has nothing to do with the calls that are delivered. So
    `take` raises nothing: where a step fails for one call, the failure is logged by its Request-ID, the call keeps what
    the other steps give, and all other calls are processed.
    """

    worlds: Worlds
    announce: Announce | None
    listeners: tuple[CallListener, ...] = ()

    def prints_of(self, body: bytes) -> dict[str, tuple[bytes, ...]]:
        """Fingerprints of a large body, by the listener that asks for them."""
        return {one.name: one.print_of(body) for one in self.listeners if one.print_of is not None}

    def take(self, world: World, bank: Bank, calls: Sequence[NumberedCall[CallRecord]]) -> None:
        decisions, held = bank.decisions, world.calls
        exchanges = [exchange_or_rest(bank, call) for call in calls]
        weight = held.take(exchanges, decisions.requests_kept, decisions.calls_bytes_max)
        if decisions.contents_kept:
            contents: Recent[Content] = held.kept.setdefault("contents", Recent())
            real, stopped = world.real_time(), perf_counter()
            shown: list[Content | None] = []
            for call in calls:
                ended = real - timedelta(seconds=stopped - call.record.ended)
                shown.append(attempt("its contents", call, content_of, call.seq, call.record, ended))
            given = [content for content in shown if content is not None]
            weight += contents.take(given, decisions.contents_kept, decisions.calls_bytes_max)
        attempt("the bound of what all worlds keep", calls[-1], self.worlds.history.grew, weight)
        tally, announce = self.worlds.tally, self.announce
        pairs = [(call.record, exchange) for call, exchange in zip(calls, exchanges, strict=True)]
        for record, exchange in pairs:
            seconds = record.ended - record.started
            if tally is not None:
                attempt("its count", exchange, tally.count, exchange.operation, exchange.status, seconds)
            if announce is not None:
                attempt("its line", exchange, announce, exchange, record.world, seconds)
        for listener in self.listeners:
            attempt(f"the listener {listener.name}", calls[-1], listener.on_calls, world, bank, pairs)


def attempt(step: str, call: NumberedCall[CallRecord] | Exchange, do: Callable[..., T], *given: Any) -> T | None:
    """Does a step of keeping a call; a failure is ours, and is logged."""
    try:
        return do(*given)
    except Exception:
        log.exception("call %s was answered, and %s failed", call.request_id, step)
        return None


def exchange_or_rest(bank: Bank, call: NumberedCall[CallRecord]) -> Exchange:
    """The line of a call in the list of calls, without its explanation where that cannot be made."""
    try:
        return exchange_of(bank, call)
    except Exception:
        log.exception("call %s was answered, and its explanation failed", call.request_id)
    record = call.record
    operation = record.operation.name if record.operation else None
    client = record.headers.get("HTTP_CLIENT_ID")
    line = Exchange(call.seq, call.request_id, call.at, operation, record.method, record.path, record.status, client)
    return shortened(line._replace(rule=UNEXPLAINED, clause="choice 10"))


def exchange_of(bank: Bank, call: NumberedCall[CallRecord]) -> Exchange:
    """The line of a call in the list of calls."""
    record = call.record
    operation = record.operation
    exchange = Exchange(
        call.seq,
        call.request_id,
        call.at,
        operation.name if operation else None,
        record.method,
        record.path,
        record.status,
        client_named(bank, record.headers, operation),
        *why(bank, record),
        variants_met(record),
        decided(record),
    )
    return shortened(exchange)


def error_of(exchange: Exchange) -> dict[str, str | None]:
    """What the reply of a refused call says in `error` and `error_code`."""
    row = Error[exchange.error].value if exchange.error else None
    return {"error": row and row.error, "error_code": row and row.code}


def why(bank: Bank, call: CallRecord) -> tuple[str | None, str, str, str | None, str | None, str | None]:
    """The explanation that is kept with a call: error, rule, clause, subject, state and rule of the scenario."""
    subject, refusal = call.subject, call.refusal
    found = None if subject is None else bank.find_subject(subject)
    state = rule = None
    if found is not None:
        state, rule = state_of(call, found), bank.title_of(found)
    if call.fault is not None:
        return None, f"a fault rule: {call.fault.title}", "choice 13", subject, state, rule or call.fault.title
    if call.surprise is not None:
        return None, call.surprise, "choice 13", subject, state, rule
    if refusal is not None:
        by_rule = refusal.facts.get("rule")
        return refusal.error.name, refusal.text, refusal.clause, subject, state, str(by_rule) if by_rule else rule
    if call.operation is None:
        return None, "the path is none of the bank's", "choice 1", None, None, None
    return None, "Accepted: all checks passed", call.operation.clause, subject, state, rule


def decided(call: CallRecord) -> str:
    """The numbers and dates that decided a refusal, as JSON; empty where none did."""
    refusal = call.refusal
    if refusal is None or not refusal.decided or call.fault is not None:
        return ""
    numbers = {name: plain(value) for name, value in refusal.decided.items()}
    return orjson.dumps(numbers).decode()


def plain(value: object) -> object:
    """As JSON has it; instants in Brussels time, amounts as text."""
    match value:
        case bool() | int() | None:
            return value
        case datetime():
            return write_instant(value)
        case Money():
            return f"{value.number:.2f} {value.currency}"
        case list() | tuple():
            return [plain(one) for one in value]
        case _:
            return str(value)[:TEXT_MAX]


def variants_met(call: CallRecord) -> str:
    """The axes that a call met and that are not at their default. Those of settings are among them at each call: what a
    time or a limit does is seen later than it is read."""
    if not call.variants:
        return ""
    met = call.met | EVERYWHERE
    return " ".join(f"{axis}={value}" for axis, value in call.variants if axis in met or axis in SET_BY_SETTINGS)


def state_of(call: CallRecord, found: Subject) -> str:
    """What it was judged at: of a cancellation that was done, the status before it."""
    before = found.history[-1].source if call.method == "DELETE" and call.refusal is None else None
    return (before or found.status).value
