"""httpx reads all certificate authorities of the machine for each client that it makes, in 15 ms of CPU. They are the
same for all tests, so they are read once.
"""

import os
from functools import cache
from ssl import SSLContext
from typing import Any

from httpx import create_ssl_context
from httpx._transports import default

PLACES = ("SSL_CERT_FILE", "SSL_CERT_DIR")


@cache
def _usual(*places: str | None) -> SSLContext:
    return create_ssl_context()


def _context(verify: Any = True, cert: Any = None, trust_env: bool = True) -> SSLContext:
    if verify is True and cert is None and trust_env:
        return _usual(*map(os.environ.get, PLACES))
    return create_ssl_context(verify=verify, cert=cert, trust_env=trust_env)


def read_once() -> None:
    """Without it all is the same, and slower."""
    setattr(default, "create_ssl_context", _context)  # noqa: B010 - it is theirs, and mypy knows it as a function
