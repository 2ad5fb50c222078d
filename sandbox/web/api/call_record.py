"""A call and its reply as one plain record, for everything that observes calls."""

from collections.abc import Callable
from contextlib import suppress
from time import perf_counter
from typing import Any, NamedTuple

from flask import Request, Response
from werkzeug.exceptions import HTTPException

from sandbox.bank.grants import Grant
from sandbox.bank.records import Client
from sandbox.contract.errors import Refusal
from sandbox.contract.operations import Operation
from sandbox.web.api.call import Call
from sandbox.web.api.gate import UUID_4
from sandbox.world.calls import Observe
from sandbox.world.faults import Fault

BODY_MAX = 16_384  # bytes of a body; what is longer is cut
LARGE = 100_000  # bytes of a file; its fingerprint is made before the world's lock is taken
READ_MAX = 1_000_000  # of an initiation that was refused; what was accepted was read anyway
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
    print: bytes | None  # fingerprint of a large file that was accepted
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
    client: Client | None = None
    grant: Grant | None = None
    subject: str | None = None
    variants: tuple[tuple[str, str], ...] = ()  # in force
    met: frozenset[str] = frozenset()  # axes, where any are in force

    @property
    def status(self) -> int:
        return self.response.status_code


def record_call(
    observe: Observe,
    print_of: Callable[[bytes], bytes] | None,
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
    common = (
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
        print_of(body) if print_of is not None and is_large else None,
        response,
        environ["sandbox.started"],
        perf_counter(),
        environ.get("sandbox.refusal"),
        environ.get("sandbox.fault"),
        environ.get("sandbox.surprise"),
    )
    return CallRecord(*common) if call is None else CallRecord(*common, *_facts_of(call))


def _facts_of(call: Call) -> tuple[Any, ...]:
    """What the checks found, in the order of the record."""
    variants = call.settings.variants
    return (
        call.operation,
        call.path,
        call.version,
        call.challenge,
        getattr(call, "client", None),
        call.grant,
        call.subject,
        variants,
        frozenset(call.world.axes.end_call()) if variants else frozenset(),
    )


def asked_as(environ: dict[str, Any]) -> str:
    """The Request-ID, if it is one."""
    asked: str = environ.get("HTTP_REQUEST_ID", "")
    return asked if UUID_4.match(asked) else ""


def body_of(request: Request) -> bytes:
    """For those who look on: a body that ended before its length is none."""
    with suppress(HTTPException):
        return request.get_data()
    return b""
