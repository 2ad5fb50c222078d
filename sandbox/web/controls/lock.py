"""Who may call the controls (choice 10): a key, the caller's Origin, and the Host."""

from collections.abc import Collection
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any
from urllib.parse import urlencode

from flask import Flask, Request, Response, current_app, request

from sandbox.contract.errors import Error, Refusal
from sandbox.web.api.app import ENTRY
from sandbox.web.controls.attempts import Attempts
from sandbox.web.controls.hosts import Hosts

PLACE = "/_sandbox/"
KEY_HEADER = "X-Sandbox-Key"
KEY_COOKIE = "sandbox-console-key"
OTHER_SITES = ("cross-site", "same-site")  # what browsers say in Sec-Fetch-Site of another origin
READ_ONLY = ("GET", "HEAD")
ATTEMPTS = "sandbox.attempts"  # among the app's extensions


@dataclass(frozen=True)
class Lock:
    """How the controls are kept: with a key, under which names, or not at this address at all."""

    key: str | None = field(default=None, repr=False)
    here: bool = True  # False: switched off, or on a port of their own
    hosts: Hosts = Hosts()


OPEN = Lock()


def guard(app: Flask, lock: Lock, attempts: Attempts, bank: Collection[str], pages: Collection[str]) -> None:
    """`bank` are the endpoints that anyone may call, `pages` those that ask for the key themselves.

    The matched route decides, however its path was spelled; a route that is in neither demands the key.
    """
    app.extensions[ATTEMPTS] = attempts

    def demand_entry() -> Response | None:
        endpoint = None if request.url_rule is None else request.url_rule.endpoint
        if endpoint in bank or (endpoint is None and not is_beside_the_bank(request.environ)):
            return None
        demand_host(request.environ.get("HTTP_HOST"), lock.hosts)
        demand_own_page(request.environ)
        if endpoint in pages:
            return None
        if lock.key is not None and not shows_key(request, lock.key, by_cookie=request.method == "GET"):
            if is_page(endpoint, request):
                return ask_for_key(request)
            raise Refusal(Error.KEY_REFUSED)
        return None

    app.extensions[ENTRY] = demand_entry


def is_page(endpoint: str | None, asked: Request) -> bool:
    """Whether a browser asks for a page of the documentation, which is not the console's."""
    documentation = endpoint is not None and endpoint.startswith("reference /docs") and "static" not in endpoint
    return documentation and asked.method == "GET" and "text/html" in asked.headers.get("Accept", "")


def ask_for_key(asked: Request) -> Response:
    """The console's form, which leads back."""
    back = asked.full_path.rstrip("?").removeprefix("/_sandbox")
    address = f"{asked.script_root}{PLACE}console/key?{urlencode({'back': back})}"
    return Response(status=303, headers={"Location": address, "Cache-Control": "no-store"})


def is_beside_the_bank(environ: dict[str, Any]) -> bool:
    """Below /_sandbox nothing is told without the key, not even which calls there are."""
    return f"{environ['PATH_INFO']}/".startswith(PLACE)


def shows_key(asked: Request, key: str, *, by_cookie: bool) -> bool:
    """By the header, or by what the console's form left with the browser."""
    shown, kept = asked.headers.get(KEY_HEADER), asked.cookies.get(KEY_COOKIE)
    if shown:
        return is_right(asked, shown, key)
    return by_cookie and bool(kept) and is_right(asked, str(kept), print_of(key))


def is_right(asked: Request, shown: str, expected: str) -> bool:
    """A comparison that grows slow for callers who try many keys."""
    attempts: Attempts = current_app.extensions[ATTEMPTS]
    return attempts.is_right(shown, expected, asked.remote_addr or "", asked.environ.get("sandbox.wait"))


def print_of(key: str) -> str:
    """What a browser keeps instead of the key itself."""
    return blake2b(key.encode(), person=b"sandbox key", digest_size=24).hexdigest()


def demand_host(host: str | None, hosts: Hosts) -> None:
    """A page of another site can let its own name lead to this address; browsers then take the sandbox for its own."""
    if host is not None and not hosts.allow(host):
        raise Refusal(Error.HOST_FOREIGN, host=host[:100])


def demand_own_page(environ: dict[str, Any]) -> None:
    """A browser tells which page calls: one of another origin may not move the bank behind its user's back."""
    origin = environ.get("HTTP_ORIGIN")
    if origin is None:
        foreign = environ["REQUEST_METHOD"] not in READ_ONLY and environ.get("HTTP_SEC_FETCH_SITE") in OTHER_SITES
    else:
        foreign = origin.partition("://")[2] != environ.get("HTTP_HOST")
    if foreign:
        raise Refusal(Error.ORIGIN_FOREIGN)
