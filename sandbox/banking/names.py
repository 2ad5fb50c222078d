"""Finds the known name that is nearest to a misspelled word, checks names of worlds, and reads and changes URLs."""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from functools import lru_cache
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

_WORLD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}\Z")
_PORT = re.compile(r"(:[0-9]{1,5})?\Z")
URI_MAX = 2_000  # ours: characters of a Redirect-URI, which every initiation keeps
SHOWN_MAX = 80  # characters of a word that are compared with the known names
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def find_nearest(word: str, names: Iterable[str]) -> str | None:
    """Returns the known name that is most similar to a word, or None if none is similar."""
    by_lower = {name.lower(): name for name in names}
    near = get_close_matches(word[:SHOWN_MAX].lower(), by_lower, 1, 0.6)
    return by_lower[near[0]] if near else None


def is_world_name(name: str) -> bool:
    """Whether the name has 1 to 64 letters, digits, `_`, `.` or `-`, and begins with a letter or a digit."""
    return _WORLD.match(name) is not None


@lru_cache(maxsize=256)
def fits_redirect(pattern: str, uri: str) -> bool:
    """Whether a redirect URL is permitted by a registered one (choice 2). The two must be equal. But if the registered
    URL is a loopback address that ends in `:*/*`, any port and any path are permitted."""
    if not pattern.endswith(":*/*"):
        return uri == pattern
    if not uri.isascii() or not uri.isprintable() or " " in uri or "\\" in uri:
        return False
    try:
        parts, allowed = urlsplit(uri), urlsplit(pattern.removesuffix(":*/*"))
        parts.port  # noqa: B018 - reading it checks it
    except ValueError:
        return False
    if "#" in uri or allowed.hostname not in _LOOPBACK or parts.scheme != allowed.scheme:
        return False
    # The library reads http://[::1].evil.com/ as the host ::1, so the whole authority is held against the pattern.
    host, port_text = parts.netloc[: len(allowed.netloc)], parts.netloc[len(allowed.netloc) :]
    return host.lower() == allowed.netloc and _PORT.match(port_text) is not None


def add_query(uri: str, **values: str | None) -> str:
    """Returns the URL with `values` added at the end of its query (choice 5). Values that are None are left out."""
    parts = urlsplit(uri)
    more = urlencode({name: value for name, value in values.items() if value is not None})
    query = f"{parts.query}&{more}" if parts.query and more else parts.query or more
    return urlunsplit(parts._replace(query=query))


def find_state(address: str) -> str | None:
    """Returns the value of the last `state` parameter in the query of a URL, or None if there is none."""
    return dict(parse_qsl(urlsplit(address).query, keep_blank_values=True)).get("state")


def find_last_segment(address: str) -> str:
    """Returns the last part of a URL's path. In SCA and consent addresses this is the token."""
    return urlsplit(address).path.rpartition("/")[2]
