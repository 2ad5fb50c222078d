"""Static files of the rooms. Every style sheet begins with the design tokens and the rules that all pages share."""

from functools import cache
from hashlib import blake2b
from importlib.resources import files

from flask import Request, Response

TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml", ".png": "image/png"}
TEXTS = (".css", ".js")
KIT = "sandbox.web.html"
SHARED = ("tokens.css", "shared.css")
NO_CACHE, IMMUTABLE = "no-cache", "public, max-age=31536000, immutable"


@cache
def content_of(room: str, name: str) -> bytes:
    """A file of a room's folder `static`; a style sheet with the shared ones before it."""
    content = (files(room) / "static" / name).read_bytes()
    if name.endswith(".css") and room != KIT:
        return b"".join(content_of(KIT, shared) for shared in SHARED) + content
    return content


@cache
def digest_of(room: str, name: str) -> str:
    """A file that changes gets another address, so that a browser may keep the old one for good."""
    return blake2b(content_of(room, name), digest_size=8).hexdigest()


def serve(content: bytes, name: str, request: Request, cache_control: str = NO_CACHE) -> Response:
    """By default a browser asks each time whether it has the newest."""
    suffix = name[name.rindex(".") :]
    charset = ";charset=utf-8" if suffix in TEXTS else ""
    response = Response(content, content_type=TYPES[suffix] + charset)
    response.headers["Cache-Control"] = cache_control
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.add_etag()
    response.make_conditional(request)
    return response
