"""The controls' lock (choice 10): a key that every call of /_sandbox must show."""

from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from flask import Flask, request

from sandbox.banking.pkce import same_text
from sandbox.contract.errors import Error, Refusal

PLACE = "/_sandbox/"
# The console is for browsers, which send no header of their own: it asks for the key itself.
CONSOLE = (f"{PLACE}console/", f"{PLACE}static/")
KEY_COOKIE = "sandbox-console-key"


@dataclass(frozen=True)
class Lock:
    """How the controls are kept: with a key, or not at this address at all."""

    key: str | None = field(default=None, repr=False)
    here: bool = True  # False: switched off, or on a port of their own


OPEN = Lock()


def guard(app: Flask, lock: Lock) -> None:
    """Before anything is looked up, so that a stranger learns nothing, not even which calls there are."""

    @app.before_request
    def demand_key() -> None:
        environ = request.environ
        if f"{environ['PATH_INFO']}/".startswith(PLACE):
            demand_own_page(environ)
            if environ["PATH_INFO"] == PLACE or environ["PATH_INFO"].startswith(CONSOLE):
                return
            if lock.key is not None and not (has_key(lock.key) or may_read(lock.key)):
                raise Refusal(Error.KEY_REFUSED)


def has_key(key: str) -> bool:
    return same_text(request.environ.get("HTTP_X_SANDBOX_KEY", ""), key)


def may_read(key: str) -> bool:
    """A browser that gave the key to the console may also look at what the console links to."""
    return request.method == "GET" and same_text(request.cookies.get(KEY_COOKIE, ""), print_of(key))


def print_of(key: str) -> str:
    """What a browser keeps instead of the key itself."""
    return blake2b(key.encode(), person=b"sandbox key", digest_size=24).hexdigest()


def demand_own_page(environ: dict[str, Any]) -> None:
    """A browser tells which page calls: one of another origin may not move the bank behind its user's back."""
    origin = environ.get("HTTP_ORIGIN")
    if origin is not None and origin.partition("://")[2] != environ.get("HTTP_HOST"):
        raise Refusal(Error.ORIGIN_FOREIGN)
