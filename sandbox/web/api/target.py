"""The path of a request as its caller spelled it: routes are matched on that, ids are decoded after it."""

import re
from collections.abc import Callable, Iterable
from time import perf_counter
from typing import Any
from urllib.parse import quote, unquote, unquote_to_bytes

from werkzeug.routing import Rule, UnicodeConverter

PLAIN = "!$&'()*+,;=:@/"  # beside what `quote` leaves as it is: RFC 3986, 3.3
ABSOLUTE = re.compile(r"https?://([^/?#]*)(.*)", re.IGNORECASE | re.DOTALL)  # RFC 9112, 3.2.2
PATH = re.compile(r"(?:/(?:[^/\\?#%\x00-\x1f\x7f]|%[0-9A-Fa-f]{2})+)*/?")

Outside = Callable[[dict[str, Any], Any], Iterable[bytes] | None]
# What a call leaves in its environ that refers back to it: a body of 60 MB would stay until the collector looks.
IN_CIRCLES = ("werkzeug.request", "sandbox.call", "sandbox.refusal")
ASCII = "".join(map(chr, range(128)))


class WorldPath:
    """Moves the prefix /worlds/{name} from the path to the root, so that below it all is as at the bare address.

    Routes are matched on the path as the caller spelled it, so PATH_INFO is not decoded from here on.
    Bytes of a query that are no ASCII are quoted: the framework would decode them, and fail where they are no UTF-8.
    """

    def __init__(self, inner: Callable[..., Iterable[bytes]]) -> None:
        self.inner = inner
        self.public: tuple[str, tuple[str, ...]] | None = None  # scheme of --public-url, and its host in each spelling
        self.outside: dict[str, Outside] = {}  # paths that may be answered before the bank sees them

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        environ["sandbox.started"] = perf_counter()
        path = raw_path(environ)
        outside = self.outside.get(path)
        found = None if outside is None else outside(environ, start_response)
        if found is not None:
            return found
        environ["sandbox.path"] = path
        name, environ["PATH_INFO"] = world_and_path(path)
        if environ["PATH_INFO"] is not path:
            environ["SCRIPT_NAME"] = f"{environ.get('SCRIPT_NAME', '')}/worlds/{name}"
        environ["sandbox.world"] = name
        target = environ.get("REQUEST_URI") or ""
        absolute = None if target[:1] == "/" else ABSOLUTE.match(target)
        if absolute:  # its host counts instead of the header (RFC 9112, 3.2.2)
            environ["HTTP_HOST"] = absolute[1]
        if self.public and environ.get("HTTP_HOST", "").lower() in self.public[1]:
            environ["wsgi.url_scheme"] = self.public[0]  # also where a proxy that ends the TLS is not on this machine
        query = environ.get("QUERY_STRING", "")
        if not query.isascii():
            environ["QUERY_STRING"] = quote(query, safe=ASCII, encoding="latin-1")
        try:
            return self.inner(environ, start_response)
        finally:
            for name in IN_CIRCLES:
                environ.pop(name, None)


class Route(Rule):
    """A rule for reading paths. No address is written from one, so that werkzeug has nothing to compile for that."""

    def _compile_builder(self, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
        return write_no_address


def write_no_address(rule: Rule, **values: object) -> tuple[str, str]:
    raise AssertionError(f"the address of {rule.rule} is not written from its rule")


class Segment(UnicodeConverter):
    """One segment of a path, percent-decoded once, after routing: `123%2F1` is the reference `123/1` (choice 5)."""

    def to_python(self, value: str) -> str:
        return unquote(value) if "%" in value else value


def world_and_path(path: str) -> tuple[str, str]:
    """The name of the world, and the path in it."""
    if not path.startswith("/worlds/"):
        return "default", path
    name, _, rest = path[8:].partition("/")
    return name, f"/{rest}"


def raw_path(environ: dict[str, Any]) -> str:
    """The path before any decoding. Servers tell it as REQUEST_URI or RAW_URI; elsewhere it is made anew."""
    target: str = environ.get("REQUEST_URI") or environ.get("RAW_URI") or ""
    plain = target.partition("?")[0]
    if plain == environ.get("PATH_INFO") and plain[:1] == "/" and "%" not in plain and not environ.get("SCRIPT_NAME"):
        return plain  # nearly always
    absolute = ABSOLUTE.match(target)
    path = (absolute[2] if absolute else target).partition("?")[0] or ("/" if absolute else "")
    decoded_path, root = environ.get("PATH_INFO", ""), environ.get("SCRIPT_NAME", "")
    for prefix in (root, ""):
        # waitress takes the first slashes for one, and cheroot keeps %2F in what it decoded.
        if path.startswith(prefix) and same(path[len(prefix) :], decoded_path):
            return path[len(prefix) :]
    return quote(decoded_path, safe=PLAIN, encoding="latin-1")


def same(path: str, decoded_path: str) -> bool:
    """Whether the server decoded this path to that one; a middleware in between may have set another."""
    decoded = text_of(path)
    return decoded_path in (path, decoded) or decoded.lstrip("/") in (
        decoded_path.lstrip("/"),
        text_of(decoded_path).lstrip("/"),
    )


def text_of(path: str) -> str:
    """As WSGI has paths: bytes written as Latin-1."""
    return unquote_to_bytes(path.encode("latin-1", "replace")).decode("latin-1")


def is_readable(path: str) -> bool:
    """Whole percent escapes, no control characters, no backslash, and no empty segment but the last."""
    return PATH.fullmatch(path) is not None


def has_dots(path: str) -> bool:
    """Whether a segment is `.` or `..`, which other programs take out of a path."""
    return not {".", ".."}.isdisjoint(path.split("/"))
