"""The controls' lock (choice 10): a key that every call of /_sandbox must show."""

from dataclasses import dataclass, field
from typing import Any

from flask import Flask, request

from sandbox.errors import Error, Refusal
from sandbox.rules.pkce import same_text

PLACE = "/_sandbox/"


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
            if lock.key is not None and not same_text(environ.get("HTTP_X_SANDBOX_KEY", ""), lock.key):
                raise Refusal(Error.KEY_REFUSED)


def demand_own_page(environ: dict[str, Any]) -> None:
    """A browser tells which page calls: one of another origin may not move the bank behind its user's back."""
    origin = environ.get("HTTP_ORIGIN")
    if origin is not None and origin.partition("://")[2] != environ.get("HTTP_HOST"):
        raise Refusal(Error.ORIGIN_FOREIGN)
