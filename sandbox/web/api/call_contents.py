"""The contents of the last calls, word for word, for people who look at them (choice 10)."""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from werkzeug.datastructures import Headers

from sandbox.web.api.call_record import BODY_MAX, CallRecord
from sandbox.world.calls import cut
from sandbox.world.world import World

HEADERS_MAX = 16_384  # bytes of all headers of a request, names and values
QUERY_MAX = 4_000  # characters
TYPE_MAX = 200
FIXED = 2_000  # bytes: about what a call takes beside its texts
A_HEADER = 100  # bytes: about what one takes beside its characters


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
