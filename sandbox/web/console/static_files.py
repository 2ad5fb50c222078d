"""The console's own files: the style stands in each page, the others are named by a print of what is in them."""

from base64 import b64encode
from functools import cache
from hashlib import blake2b, sha256
from importlib.resources import files

from flask import Request, Response
from markupsafe import Markup

KINDS = {"console.js": "text/javascript;charset=utf-8", "console.svg": "image/svg+xml"}
FOR_GOOD = "public, max-age=31536000, immutable"


@cache
def content_of(name: str) -> bytes:
    return (files("sandbox.web.console") / "static" / name).read_bytes()


@cache
def prints() -> dict[str, str]:
    """A file that changes gets another address, so that a browser may keep the old one for good."""
    return {name: blake2b(content_of(name), digest_size=8).hexdigest() for name in KINDS}


@cache
def style() -> Markup:
    """In the page itself: the first paint waits for no second request."""
    text = content_of("console.css").decode()
    assert "</" not in text
    return Markup(text)


@cache
def style_print() -> str:
    """By this the policy knows the style as ours, and no other."""
    return "sha256-" + b64encode(sha256(style().encode()).digest()).decode()


@cache
def brand() -> Markup:
    """The picture beside the name; it says nothing that the name does not."""
    drawn = content_of("console.svg").decode().strip()
    return Markup(drawn.replace("<svg ", '<svg width="24" height="24" aria-hidden="true" ', 1))


def see(name: str, request: Request) -> Response:
    """Under another print than today's, a browser asks each time whether it has the newest."""
    response = Response(content_of(name), content_type=KINDS[name])
    response.headers["Cache-Control"] = FOR_GOOD if request.args.get("v") == prints()[name] else "no-cache"
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.add_etag()
    response.make_conditional(request)
    return response
