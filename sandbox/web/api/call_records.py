"""Makes a record of each call with its reply, and delivers the records to observers. Observers are the list of calls,
the store of their contents, the counts, and the listeners of extensions (choice 10).

Theory. A reply must not wait for the observers, and must not depend on them. So a call leaves one plain record, which
waits in its world. A record is delivered at once if it is large, if the observers need the bank's day to judge it, or
if the server writes an access log. Other records are delivered when 16 wait, when somebody reads the list of calls, or
before an act that could change what the observers find. So the findings do not depend on when a record was delivered.

Often a later call delivers the record. That call must not fail because an observer fails. So the failure of an observer
is logged under the Request-ID of the record. The other observers still get this record, and the later records are still
delivered.
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
from sandbox.web.api.headers import find_client_id
from sandbox.worlds.calls import Exchange, NumberedCall, Observe, Recent, cut, shorten
from sandbox.worlds.faults import Fault
from sandbox.worlds.registry import WorldRegistry
from sandbox.worlds.world import World

BODY_MAX = 16_384  # bytes of a body; a longer one is cut
LARGE = 100_000  # bytes of a file; its fingerprint is made before the world's lock is taken
READ_MAX = 1_000_000  # bytes of an initiation that was refused; an accepted one was read anyway
HEADERS_MAX = 16_384  # bytes of all headers of a request, names and values
QUERY_MAX = 4_000  # characters
TYPE_MAX = 200
FIXED_WEIGHT = 2_000  # bytes that a call takes without its texts, about
HEADER_WEIGHT = 100  # bytes that a header takes without its characters, about
TEXT_MAX = 200  # characters of a caller's text in an explanation
UNEXPLAINED = "The explanation could not be made; the server's log has the cause under this Request-ID"
NO_NAMES: dict[str, str] = {}

log = getLogger("sandbox")
T = TypeVar("T")


# The record


class CallRecord(NamedTuple):
    """A call and the reply that was sent. It has all that the observers read of the call. So it can be delivered after
    the request has ended."""

    observe: Observe
    world: str  # by the name that the caller used
    request_id: str  # empty if the caller gave none
    waits: bool  # False if it is delivered at once: it is long, or is judged by the bank's day
    method: str
    path: str
    query: str
    headers: dict[str, str]  # as WSGI names them
    kind: str  # Content-Type of the request
    length: int  # of its body
    body: bytes  # empty if it was refused unread
    prints: dict[str, tuple[bytes, ...]]  # fingerprints of a large file that was accepted, by listener
    response: Response
    started: float  # by the machine's stopwatch
    ended: float
    refusal: Refusal | None
    fault: Fault | None
    surprise: str | None
    # The rest is there if the call reached an operation.
    operation: Operation | None = None
    named: dict[str, str] = NO_NAMES  # in its path
    version: int = 0
    challenge: tuple[str, str] | None = None
    client: RegisteredClient | None = None
    grant: Grant | None = None
    subject: str | None = None
    variants: tuple[tuple[str, str], ...] = ()  # in force
    met: frozenset[str] = frozenset()  # the axes whose value it read, if variants are in force
    has_entered: bool = False  # whether the bank's checks of the client ran

    @property
    def status(self) -> int:
        return self.response.status_code


def record_call(observers: "Observers", world: str, environ: dict[str, Any], response: Response) -> CallRecord:
    call: Call | None = environ.get("sandbox.call")
    length = environ["werkzeug.request"].content_length or 0 if environ.get("CONTENT_LENGTH") else 0
    query: str = environ["QUERY_STRING"]
    initiates = call is not None and call.operation.success == 201
    headers = {name: value for name, value in environ.items() if name[:5] == "HTTP_"}
    size = length + len(query) + sum(map(len, headers.values()))
    is_unread = not length or (response.status_code >= 300 and length > (READ_MAX if initiates else BODY_MAX))
    body = b"" if is_unread else read_body(environ["werkzeug.request"])
    is_large = initiates and length > LARGE and response.status_code < 300
    return CallRecord(
        observers.deliver,
        world,
        read_request_id(environ),
        size <= BODY_MAX and "date_from" not in query,
        environ["REQUEST_METHOD"].upper(),
        environ["PATH_INFO"],
        query,
        headers,
        environ.get("CONTENT_TYPE", ""),
        length,
        body,
        observers.compute_fingerprints(body) if is_large else {},
        response,
        environ["sandbox.started"],
        perf_counter(),
        environ.get("sandbox.refusal"),
        environ.get("sandbox.fault"),
        environ.get("sandbox.surprise"),
        *(() if call is None else _list_facts(call)),
    )


def _list_facts(call: Call) -> tuple[Any, ...]:
    """Returns the last fields of the CallRecord, in their order: what the checks found out about the call, its
    variants, and the axes whose value the call read. Ends the collection of these axes."""
    variants = call.decisions.variants
    axes_met = frozenset(call.world.axes.end_call()) if variants else frozenset()
    client = getattr(call, "client", None)
    facts = call.operation, call.path, call.version, call.challenge, client, call.grant, call.subject
    return *facts, variants, axes_met, call.has_entered


def read_request_id(environ: dict[str, Any]) -> str:
    """Returns the Request-ID that the caller sent, or an empty text if it is not a UUID of version 4."""
    request_id: str = environ.get("HTTP_REQUEST_ID", "")
    return request_id if UUID_4.match(request_id) else ""


def read_body(request: Request) -> bytes:
    """Returns the body for observers. Returns an empty body if the caller sent less than the announced length."""
    with suppress(HTTPException):
        return request.get_data()
    return b""


# The observers

Calls = Sequence[tuple[CallRecord, Exchange]]
Announce = Callable[[Exchange, str, float], None]


class CallListener(NamedTuple):
    """The functions by which an extension observes answered calls."""

    name: str
    on_calls: Callable[[World, Bank, Calls], None]  # calls of the bank's interface
    acted: Callable[[dict[str, Any], Response, WorldRegistry], None] | None = None  # calls of pages and controls
    # Makes fingerprints of a large body. It is called before the world's lock is taken, as it takes long.
    print_of: Callable[[bytes], tuple[bytes, ...]] | None = None


class Observers(NamedTuple):
    """The observers of one application. A world calls `deliver` with the calls that wait in that world."""

    worlds: WorldRegistry
    announce: Announce | None
    listeners: tuple[CallListener, ...] = ()

    def compute_fingerprints(self, body: bytes) -> dict[str, tuple[bytes, ...]]:
        """Returns the fingerprints of a large body, by the name of the listener that computes them."""
        return {listener.name: listener.print_of(body) for listener in self.listeners if listener.print_of is not None}

    def deliver(self, world: World, bank: Bank, calls: Sequence[NumberedCall[CallRecord]]) -> None:
        decisions, history = bank.decisions, world.calls
        exchanges = [make_exchange(bank, call) for call in calls]
        weight = history.add_observed(exchanges, decisions.requests_kept, decisions.calls_bytes_max)
        if decisions.contents_kept:
            recent: Recent[Content] = history.attachments.setdefault("contents", Recent())
            now, stopped = world.clock.read_real_time(), perf_counter()
            made = [
                attempt("its contents", call, make_content, call.seq, call.record, now, stopped - call.record.ended)
                for call in calls
            ]
            contents = [content for content in made if content is not None]
            weight += recent.add(contents, decisions.contents_kept, decisions.calls_bytes_max)
        attempt("the bound of what all worlds keep", calls[-1], self.worlds.history.count_growth, weight)
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


def attempt(
    step: str, call: NumberedCall[CallRecord] | Exchange, function: Callable[..., T], *arguments: Any
) -> T | None:
    """Calls the function and returns its result. If the function fails, logs that `step` failed for this call and
    returns None."""
    try:
        return function(*arguments)
    except Exception:
        log.exception("call %s was answered, and %s failed", call.request_id, step)
        return None


# The list of calls


def make_exchange(bank: Bank, call: NumberedCall[CallRecord]) -> Exchange:
    """Returns the entry of a call for the list of calls. If the explanation of the call fails, the entry says so
    instead."""
    record = call.record
    explanation = attempt("its explanation", call, explain_call, bank, record)
    if explanation is None:
        explanation = record.headers.get("HTTP_CLIENT_ID"), None, UNEXPLAINED, "choice 10"
    operation = record.operation.name if record.operation else None
    facts = (call.seq, call.request_id, call.at, operation, record.method, record.path, record.status)
    return shorten(Exchange(*facts, *explanation))


def find_error(exchange: Exchange) -> dict[str, str | None]:
    """Returns the values of `error` and `error_code` that the bank sends by default for the refusal of this call. Both
    are None if the call was not refused."""
    row = Error[exchange.error].value if exchange.error else None
    return {"error": row and row.error, "error_code": row and row.code}


def explain_call(bank: Bank, call: CallRecord) -> tuple[Any, ...]:
    """Returns the explanation of a call, in the order of the last fields of `Exchange`: the client, the six values of
    `find_deciding_rule`, the axes that are not at their default and that the call read, and the values that decided a
    refusal."""
    client_id = find_client_id(bank, call.headers, call.operation)
    return client_id, *find_deciding_rule(bank, call), list_variants_met(call), write_deciding_values(call)


def find_deciding_rule(bank: Bank, call: CallRecord) -> tuple[str | None, str, str, str | None, str | None, str | None]:
    """Returns six values: the name of the error, a sentence that says what decided the reply, the clause of this
    decision, the id of the subject (such as a payment), the status that the subject had when the call was judged, and
    the title of a rule. This is the scenario's rule that refused the call, else the one that matched the subject, else
    the fault rule that applied to the call. All values except the sentence and the clause may be None."""
    refusal, subject_id = call.refusal, call.subject
    subject = None if subject_id is None else bank.find_subject(subject_id)
    status = rule = None
    if subject is not None:
        status, rule = find_judged_status(call, subject), bank.find_title(subject)
    if call.fault is not None:
        title = call.fault.title
        return None, f"a fault rule: {title}", "choice 13", subject_id, status, rule or title
    if call.surprise is not None:
        return None, call.surprise, "choice 13", subject_id, status, rule
    if refusal is not None:
        by_rule = refusal.facts.get("rule")
        rule = str(by_rule) if by_rule else rule
        return refusal.error.name, refusal.text, refusal.clause, subject_id, status, rule
    if call.operation is None:
        return None, "the path is none of the bank's", "choice 1", None, None, None
    return None, "Accepted: all checks passed", call.operation.clause, subject_id, status, rule


def find_judged_status(call: CallRecord, subject: Subject) -> str:
    """Returns the status of the subject (such as a payment) when the bank accepted or refused the call. If the call
    cancelled the subject, returns the status before the cancellation."""
    before = subject.history[-1].source if call.method == "DELETE" and call.refusal is None else None
    return (before or subject.status).value


def write_deciding_values(call: CallRecord) -> str:
    """Returns the numbers and dates that decided a refusal, as JSON. Returns an empty text if there are none, if the
    call was not refused, or if a fault rule applied to the call."""
    refusal = call.refusal
    if refusal is None or not refusal.decided_by or call.fault is not None:
        return ""
    return orjson.dumps({name: make_json_value(value) for name, value in refusal.decided_by.items()}).decode()


def make_json_value(value: object) -> object:
    """Returns a value in a form that JSON has: an instant as text in Brussels time, an amount as text with its
    currency, and any other value that JSON lacks as text of at most TEXT_MAX characters."""
    match value:
        case bool() | int() | None:
            return value
        case datetime():
            return write_instant(value)
        case Money():
            return f"{value.number:.2f} {value.currency}"
        case list() | tuple():
            return [make_json_value(item) for item in value]
        case _:
            return str(value)[:TEXT_MAX]


def list_variants_met(call: CallRecord) -> str:
    """Returns the axes that are not at their default and whose value the call read, as `axis=value` with blanks
    between. Returns an empty text if there are none. The axes in EVERYWHERE always count, because every call reads
    them. Axes that change a setting always count too. For example, a time limit is read in one call and takes effect in
    a later one."""
    if not call.variants:
        return ""
    axes_met = call.met | EVERYWHERE
    return " ".join(f"{axis}={value}" for axis, value in call.variants if axis in axes_met or axis in SET_BY_SETTINGS)


# The contents of the last calls, word for word


class Content(NamedTuple):
    """The headers and bodies of a call, including secrets. Views show them only through `call_texts`, which masks the
    secrets."""

    seq: int
    query: str
    kind: str  # Content-Type of the request
    headers: dict[str, str]  # all other headers, as WSGI names them
    sent: bytes
    length: int
    reply_headers: Headers
    reply: bytes | None  # None if a fault rule cut it
    reply_length: int
    cut: str  # what is missing of query and headers
    weight: int  # bytes, about
    took: float  # seconds, by the machine's stopwatch
    ended: datetime  # by the machine's clock


def make_content(seq: int, call: CallRecord, now: datetime, age: float) -> Content:
    """Returns the contents of a call that ended `age` seconds before `now`. Cuts long texts, and copies no other text.
    Leaves out the body of a request that is longer than BODY_MAX and was refused."""
    response = call.response
    body = response.response
    reply = body[0] if type(body) is list and len(body) == 1 else response.get_data() if response.is_sequence else None
    query, headers, missing = bound_head(call)
    shown_body = b"" if call.length > BODY_MAX and call.status >= 300 else call.body[:BODY_MAX]
    reply, reply_length = (None, 0) if reply is None else (reply[:BODY_MAX], len(reply))
    kind = cut(call.kind, TYPE_MAX)
    texts = (query, kind, shown_body, reply or b"", *headers.values())
    return Content(
        seq,
        query,
        kind,
        headers,
        shown_body,
        call.length,
        response.headers,
        reply,
        reply_length,
        missing,
        FIXED_WEIGHT + HEADER_WEIGHT * len(headers) + sum(map(len, texts)),
        call.ended - call.started,
        now - timedelta(seconds=age),
    )


def bound_head(call: CallRecord) -> tuple[str, dict[str, str], str]:
    """Returns the query and the headers, cut if they are too long, and a text that says what was cut."""
    query, headers = call.query, call.headers
    length = sum(map(len, headers)) + sum(map(len, headers.values())) + HEADER_WEIGHT * len(headers)
    if length <= HEADERS_MAX and len(query) <= QUERY_MAX:
        return query, headers, ""
    first_headers, room = {}, HEADERS_MAX
    for name, value in headers.items():
        room -= len(name) + HEADER_WEIGHT
        if room <= 0:
            break
        first_headers[name] = value[:room]
        room -= len(first_headers[name])
    missing = []
    if len(query) > QUERY_MAX:
        missing.append(f"the first {QUERY_MAX:,} of {len(query):,} characters of the query")
    if length > HEADERS_MAX:
        missing.append(f"{len(first_headers):,} of {len(headers):,} headers, the last one cut")
    return query[:QUERY_MAX], first_headers, "; ".join(missing)


def read_contents(world: World) -> dict[int, Content]:
    """Returns the contents of the last calls, by the number of the call."""
    contents: Iterable[Content] = world.calls.attachments.get("contents") or ()
    return {content.seq: content for content in list(contents)}


def find_content(world: World, seq: int) -> Content | None:
    """Returns the contents of the call with the number `seq`, or None if they are no longer kept."""
    return read_contents(world).get(seq)
