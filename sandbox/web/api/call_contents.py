"""What was said in a call, word for word: kept of the last ones, for people who look at them (choice 10)."""

from collections import deque
from contextlib import suppress
from typing import Any, NamedTuple

from flask import Request, Response
from werkzeug.datastructures import Headers
from werkzeug.exceptions import HTTPException

from sandbox.world.world import World

SAID_MAX = 16_384  # bytes of a body; what is longer is cut


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


def keep_content(world: World, seq: int, environ: dict[str, Any], response: Response) -> None:
    """On the way of every call, so it refers to what is there and copies next to nothing."""
    most = world.bank.settings.contents_kept
    if most == 0:
        return
    length = environ["werkzeug.request"].content_length or 0 if environ.get("CONTENT_LENGTH") else 0
    body = response.response
    reply = body[0] if type(body) is list and len(body) == 1 else response.get_data() if response.is_sequence else None
    content = Content(
        seq,
        environ["QUERY_STRING"],
        environ.get("CONTENT_TYPE", ""),
        {name: value for name, value in environ.items() if name[:5] == "HTTP_"},
        sent_in(environ["werkzeug.request"], length, response.status_code) if length else b"",
        length,
        response.headers,
        reply if reply is None or len(reply) <= SAID_MAX else reply[:SAID_MAX],
        0 if reply is None else len(reply),
    )
    kept: deque[Content] | None = world.kept.get("contents")
    if kept is None or kept.maxlen != most:
        kept = world.kept["contents"] = deque(kept or (), most)
    kept.append(content)


def sent_in(request: Request, length: int, status: int) -> bytes:
    """The head of the body. A long one that was refused unread stays unread."""
    return b"" if length > SAID_MAX and status >= 300 else body_of(request)[:SAID_MAX]


def body_of(request: Request) -> bytes:
    """For those who look on: a body that ended before its length is none."""
    with suppress(HTTPException):
        return request.get_data()
    return b""


def content_of_call(world: World, seq: int) -> Content | None:
    """What was said in the call of that number, if it is still kept."""
    kept: deque[Content] = world.kept.get("contents") or deque()
    return next((content for content in list(kept) if content.seq == seq), None)
