"""The contents of the last calls, word for word, for people who look at them (choice 10)."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NamedTuple

from flask import Request, Response
from werkzeug.datastructures import Headers
from werkzeug.exceptions import HTTPException

from sandbox.world.calls import Recent, cut
from sandbox.world.world import World

BODY_MAX = 16_384  # bytes of a body; what is longer is cut
HEADERS_MAX = 16_384  # bytes of all headers of a request, names and values
QUERY_MAX = 4_000  # characters
TYPE_MAX = 200
FIXED = 2_000  # bytes: about what a call takes beside its texts
A_HEADER = 100  # bytes: about what one takes beside its characters


class Content(NamedTuple):
    """Secrets are in it: whoever shows it takes them out."""

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


def keep_content(world: World, seq: int, environ: dict[str, Any], response: Response) -> int:
    """On the way of every call, so it refers to what is there and copies next to nothing; how much it weighs."""
    settings = world.settings
    if settings.contents_kept == 0:
        return 0
    length = environ["werkzeug.request"].content_length or 0 if environ.get("CONTENT_LENGTH") else 0
    body = response.response
    reply = body[0] if type(body) is list and len(body) == 1 else response.get_data() if response.is_sequence else None
    query, headers, missing = head_of(environ)
    sent = sent_in(environ["werkzeug.request"], length, response.status_code) if length else b""
    reply, replied = (None, 0) if reply is None else (reply[:BODY_MAX], len(reply))
    kind = cut(environ.get("CONTENT_TYPE", ""), TYPE_MAX)
    weight = FIXED + A_HEADER * len(headers) + sum(map(len, (query, kind, sent, reply or b"", *headers.values())))
    content = Content(
        seq, query, kind, headers, sent, length, response.headers, reply, replied, missing, weight
    )  # fmt: skip
    kept: Recent[Content] | None = world.kept.get("contents")
    if kept is None:
        kept = world.kept.setdefault("contents", Recent())
    kept.add(content, settings.contents_kept, settings.calls_bytes_max)
    return weight


def head_of(environ: dict[str, Any]) -> tuple[str, dict[str, str], str]:
    """Query and headers, and what is missing of them."""
    query: str = environ["QUERY_STRING"]
    headers = {name: value for name, value in environ.items() if name[:5] == "HTTP_"}
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


def sent_in(request: Request, length: int, status: int) -> bytes:
    """The head of the body. A long one that was refused unread stays unread."""
    return b"" if length > BODY_MAX and status >= 300 else body_of(request)[:BODY_MAX]


def body_of(request: Request) -> bytes:
    """For those who look on: a body that ended before its length is none."""
    with suppress(HTTPException):
        return request.get_data()
    return b""


def content_of_call(world: World, seq: int) -> Content | None:
    """The contents of the call of that number, if they are still kept."""
    kept: Iterable[Content] = world.kept.get("contents") or ()
    return next((content for content in list(kept) if content.seq == seq), None)
