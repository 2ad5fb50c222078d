"""A call and its reply as one plain record, and the observers of records: the list of calls, their contents, the
counts, and the listeners (choice 10).

Theory. A reply must not wait for the observers, and must not change with them. So a call leaves one plain record, which
waits in its world. Later calls deliver the records that wait, in order: at once if a record is large or is judged by
the bank's day, else when 16 wait, when somebody looks, or before an act that the records are judged by. So a finding
does not depend on when a record was delivered. The later call has nothing to do with those records: an observer that
fails is logged, and neither the call nor the other observers notice it.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from logging import getLogger
from time import perf_counter
from typing import Any, NamedTuple, TypeVar

import orjson
from flask import Request, Response
from werkzeug.datastructures import Headers
from werkzeug.exceptions import HTTPException

from sandbox.bank.records import Grant, RegisteredClient, Subject
from sandbox.bank.state import Bank
from sandbox.banking.durations import write_instant
from sandbox.banking.money import Money
from sandbox.contract.decisions import EVERYWHERE, SET_BY_SETTINGS
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.operations import Operation
from sandbox.web.api.call import Call
from sandbox.web.api.gate import UUID_4
from sandbox.web.api.headers import client_named
from sandbox.worlds.calls import Exchange, NumberedCall, Observe, Recent, cut, shortened
from sandbox.worlds.faults import Fault
from sandbox.worlds.registry import WorldRegistry
from sandbox.worlds.world import World

BODY_MAX = 16_384  # bytes of a body; what is longer is cut
LARGE = 100_000  # bytes of a file; its fingerprint is made before the world's lock is taken
READ_MAX = 1_000_000  # of an initiation that was refused; what was accepted was read anyway
HEADERS_MAX = 16_384  # bytes of all headers of a request, names and values
QUERY_MAX = 4_000  # characters
TYPE_MAX = 200
FIXED = 2_000  # bytes: about what a call takes beside its texts
A_HEADER = 100  # bytes: about what one takes beside its characters
NOWHERE: dict[str, str] = {}


class CallRecord(NamedTuple):
    """Nothing of it belongs to the server, so the record may wait; the reply is as it was sent."""

    observe: Observe
    world: str  # by the name that the caller used
    request_id: str  # empty where the caller gave none
    waits: bool  # False: it is long, or is judged by the bank's day, so it is delivered at once
    method: str
    path: str
    query: str
    headers: dict[str, str]  # as WSGI names them
    kind: str  # Content-Type of the request
    length: int  # of its body
    body: bytes  # empty where it was refused unread
    prints: dict[str, tuple[bytes, ...]]  # of a large file that was accepted: its fingerprints, by listener
    response: Response
    started: float  # by the machine's stopwatch
    ended: float
    refusal: Refusal | None
    fault: Fault | None
    surprise: str | None
    # of a call that reached an operation
    operation: Operation | None = None
    named: dict[str, str] = NOWHERE  # in its path
    version: int = 0
    challenge: tuple[str, str] | None = None
    client: RegisteredClient | None = None
    grant: Grant | None = None
    subject: str | None = None
    variants: tuple[tuple[str, str], ...] = ()  # in force
    met: frozenset[str] = frozenset()  # axes, where any are in force

    @property
    def status(self) -> int:
        return self.response.status_code


def record_call(
    observe: Observe,
    prints_of: Callable[[bytes], dict[str, tuple[bytes, ...]]],
    world: str,
    environ: dict[str, Any],
    response: Response,
) -> CallRecord:
    call: Call | None = environ.get("sandbox.call")
    length = environ["werkzeug.request"].content_length or 0 if environ.get("CONTENT_LENGTH") else 0
    query: str = environ["QUERY_STRING"]
    initiates = call is not None and call.operation.success == 201
    headers = {name: value for name, value in environ.items() if name[:5] == "HTTP_"}
    size = length + len(query) + sum(map(len, headers.values()))
    is_unread = not length or (response.status_code >= 300 and length > (READ_MAX if initiates else BODY_MAX))
    body = b"" if is_unread else body_of(environ["werkzeug.request"])
    is_large = initiates and length > LARGE and response.status_code < 300
    return CallRecord(
        observe,
        world,
        sent_request_id(environ),
        size <= BODY_MAX and "date_from" not in query,
        environ["REQUEST_METHOD"].upper(),
        environ["PATH_INFO"],
        query,
        headers,
        environ.get("CONTENT_TYPE", ""),
        length,
        body,
        prints_of(body) if is_large else {},
        response,
        environ["sandbox.started"],
        perf_counter(),
        environ.get("sandbox.refusal"),
        environ.get("sandbox.fault"),
        environ.get("sandbox.surprise"),
        *(() if call is None else _facts_of(call)),
    )


def _facts_of(call: Call) -> tuple[Any, ...]:
    """What the checks found, in the order of the record."""
    variants = call.decisions.variants
    met = frozenset(call.world.axes.end_call()) if variants else frozenset()
    client = getattr(call, "client", None)
    return call.operation, call.path, call.version, call.challenge, client, call.grant, call.subject, variants, met


def sent_request_id(environ: dict[str, Any]) -> str:
    """The Request-ID, if it is one."""
    asked: str = environ.get("HTTP_REQUEST_ID", "")
    return asked if UUID_4.match(asked) else ""


def body_of(request: Request) -> bytes:
    """For those who look on: a body that ended before its length is none."""
    with suppress(HTTPException):
        return request.get_data()
    return b""


class Content(NamedTuple):
    """It contains secrets; views remove them."""

    seq: int
    query: str
    kind: str  # Content-Type of the request
    headers: dict[str, str]  # its others, as WSGI names them
    sent: bytes
    length: int
    reply_headers: Headers
    reply: bytes | None  # None where a fault rule cut it
    reply_length: int
    cut: str  # what is missing of query and headers
    weight: int  # bytes, about
    took: float  # seconds, by the machine's stopwatch
    ended: datetime  # by the machine's clock


def content_of(seq: int, call: CallRecord, ended: datetime) -> Content:
    """The contents of a call; it refers to what is there and copies next to nothing."""
    response = call.response
    body = response.response
    reply = body[0] if type(body) is list and len(body) == 1 else response.get_data() if response.is_sequence else None
    query, headers, missing = head_of(call)
    sent = b"" if call.length > BODY_MAX and call.status >= 300 else call.body[:BODY_MAX]
    reply, replied = (None, 0) if reply is None else (reply[:BODY_MAX], len(reply))
    kind = cut(call.kind, TYPE_MAX)
    weight = FIXED + A_HEADER * len(headers) + sum(map(len, (query, kind, sent, reply or b"", *headers.values())))
    return Content(
        seq, query, kind, headers, sent, call.length, response.headers, reply, replied, missing, weight,
        call.ended - call.started, ended,
    )  # fmt: skip


def head_of(call: CallRecord) -> tuple[str, dict[str, str], str]:
    """Query and headers, and what is missing of them."""
    query, headers = call.query, call.headers
    length = sum(map(len, headers)) + sum(map(len, headers.values())) + A_HEADER * len(headers)
    if length <= HEADERS_MAX and len(query) <= QUERY_MAX:
        return query, headers, ""
    kept, left = {}, HEADERS_MAX
    for name, value in headers.items():
        left -= len(name) + A_HEADER
        if left <= 0:
            break
        kept[name] = value[:left]
        left -= len(kept[name])
    missing = []
    if len(query) > QUERY_MAX:
        missing.append(f"the first {QUERY_MAX:,} of {len(query):,} characters of the query")
    if length > HEADERS_MAX:
        missing.append(f"{len(kept):,} of {len(headers):,} headers, the last one cut")
    return query[:QUERY_MAX], kept, "; ".join(missing)


def contents_of_calls(world: World) -> dict[int, Content]:
    """The contents of the last calls, by number."""
    kept: Iterable[Content] = world.calls.attachments.get("contents") or ()
    return {content.seq: content for content in list(kept)}


def content_of_call(world: World, seq: int) -> Content | None:
    """The contents of the call of that number, if they are still kept."""
    return contents_of_calls(world).get(seq)


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
    acted: Callable[[dict[str, Any], Response, WorldRegistry], None] | None = None  # of what lies beside it
    # Fingerprints of a large body. It is called before the world's lock is taken, as it takes long.
    print_of: Callable[[bytes], tuple[bytes, ...]] | None = None


class Observers(NamedTuple):
    """Of one application; a world delivers the calls that wait there.

    The delivery happens in some later call, whose caller has nothing to do with the calls that are delivered. So
    `take` raises nothing: where a step fails for one call, the failure is logged by its Request-ID, the call keeps what
    the other steps give, and all other calls are processed.
    """

    worlds: WorldRegistry
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
            contents: Recent[Content] = held.attachments.setdefault("contents", Recent())
            real, stopped = world.clock.real_time(), perf_counter()
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
