"""The console's own files: the style stands in each page, the others are named by a print of what is in them."""

from base64 import b64encode
from functools import cache
from hashlib import sha256

from flask import Request, Response
from markupsafe import Markup

from sandbox.web.html.static_files import IMMUTABLE, NO_CACHE, content_of, digest_of, serve

ROOM = "sandbox.web.console"
KINDS = ("console.js", "console.svg")


@cache
def prints() -> dict[str, str]:
    return {name: digest_of(ROOM, name) for name in KINDS}


@cache
def style() -> Markup:
    """In the page itself: the first paint waits for no second request."""
    text = content_of(ROOM, "console.css").decode()
    assert "</" not in text
    return Markup(text)


@cache
def style_print() -> str:
    """By this the policy knows the style as ours, and no other."""
    return "sha256-" + b64encode(sha256(style().encode()).digest()).decode()


@cache
def brand() -> Markup:
    """The picture beside the name; it says nothing that the name does not."""
    drawn = content_of(ROOM, "console.svg").decode().strip()
    return Markup(drawn.replace("<svg ", '<svg width="24" height="24" aria-hidden="true" ', 1))


def see(name: str, request: Request) -> Response:
    """A file asked for under its own print may be kept for good."""
    named = request.args.get("v") == prints()[name]
    return serve(content_of(ROOM, name), name, request, IMMUTABLE if named else NO_CACHE)
