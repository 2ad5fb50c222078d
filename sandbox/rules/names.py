"""Names that appear in addresses."""

import re
from functools import lru_cache
from urllib.parse import urlsplit

_WORLD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}\Z")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def is_world_name(name: str) -> bool:
    """Letters, digits, `_`, `.` and `-`, 64 at most, and no dot first: it stands in paths."""
    return _WORLD.match(name) is not None


@lru_cache(maxsize=256)
def fits_redirect(pattern: str, uri: str) -> bool:
    """Exactly the registered address, or a registered loopback pattern with any port and path (choice 2)."""
    if not pattern.endswith(":*/*"):
        return uri == pattern
    if not uri.isascii() or not uri.isprintable() or " " in uri or "\\" in uri:
        return False
    try:
        parts, wanted = urlsplit(uri), urlsplit(pattern.removesuffix(":*/*"))
        parts.port  # noqa: B018 - reading it checks it
    except ValueError:
        return False
    if parts.fragment or "#" in uri or parts.username is not None or parts.password is not None:
        return False
    return parts.hostname in _LOOPBACK and (parts.scheme, parts.hostname) == (wanted.scheme, wanted.hostname)
