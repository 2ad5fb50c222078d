"""A call and its reply as one plain record, for everything that observes calls; and the contents of the last calls,
word for word, for people who look at them (choice 10).
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime
from time import perf_counter
from typing import Any, NamedTuple

from flask import Request, Response
from werkzeug.datastructures import Headers
from werkzeug.exceptions import HTTPException

from sandbox.bank.grants import Grant
from sandbox.bank.records import RegisteredClient
from sandbox.contract.errors import Refusal
from sandbox.contract.operations import Operation
from sandbox.web.api.call import Call
from sandbox.web.api.gate import UUID_4
from sandbox.worlds.calls import Observe, cut
from sandbox.worlds.faults import Fault
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
        asked_as(environ),
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


def asked_as(environ: dict[str, Any]) -> str:
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
    kept: Iterable[Content] = world.kept.get("contents") or ()
    return {content.seq: content for content in list(kept)}


def content_of_call(world: World, seq: int) -> Content | None:
    """The contents of the call of that number, if they are still kept."""
    return contents_of_calls(world).get(seq)
