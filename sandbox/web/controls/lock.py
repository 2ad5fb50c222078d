"""Who may call the controls (choice 10): a key, the caller's Origin, and the Host.

A caller who tries many keys waits longer for each answer.
"""

import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from ipaddress import ip_address, ip_network
from typing import Any
from urllib.parse import urlencode

from flask import Flask, Request, Response, current_app, request

from sandbox.banking.pkce import same_text
from sandbox.contract.errors import Error, Refusal
from sandbox.web.api.addresses import Hosts
from sandbox.web.api.app import ENTRY

PLACE = "/_sandbox/"
KEY_HEADER = "X-Sandbox-Key"
KEY_COOKIE = "sandbox-console-key"
OTHER_SITES = ("cross-site", "same-site")  # what browsers say in Sec-Fetch-Site of another origin
READ_ONLY = ("GET", "HEAD")
ATTEMPTS = "sandbox.attempts"  # among the app's extensions
FREE = 5  # different wrong keys that are answered at once
FIRST_DELAY, LONGEST_DELAY = 0.1, 2.0  # seconds; each further wrong key doubles it
FORGOTTEN_AFTER = 600.0  # seconds without a wrong key
CALLERS_MAX = 1_000  # the one that was longest silent is forgotten first
KEYS_MAX = 64  # of which a repetition is recognised
WAITING_MAX = 20  # callers that wait for a refusal at once

Wait = Callable[[float], None]


@dataclass(frozen=True)
class Lock:
    """How the controls are kept: with a key, under which names, or not at this address at all."""

    key: str | None = field(default=None, repr=False)
    here: bool = True  # False: switched off, or on a port of their own
    hosts: Hosts = Hosts()


OPEN = Lock()


@dataclass(slots=True)
class KeyAttempts:
    """One address, and the wrong keys it showed."""

    last: float
    count: int = 0
    waits: bool = False
    keys: dict[bytes, None] = field(default_factory=dict)


class Attempts:
    """The wrong keys of the last minutes. A key that is wrong again is no new attempt: nothing is learnt by it.

    Many callers may share an address, behind a proxy or a NAT. So each key is compared, and the right one is never
    slowed: an attempt that is refused without a comparison would shut out who has the key. What protects the key
    against guesses is its length; the delays keep callers who try many keys from using the server up.
    """

    def __init__(self, seconds: Callable[[], float]) -> None:
        self._seconds = seconds
        self._callers: dict[str, KeyAttempts] = {}
        self._lock = threading.Lock()
        self._waiting = 0

    def is_right(self, shown: str, expected: str, address: str, wait: Wait | None) -> bool:
        """Compares in constant time. A wrong key waits for its answer; while it does, the next wrong one of this caller
        is answered 429 at once.

        `wait` is the server's own, which keeps a worker free meanwhile; without one a single refusal waits at a time.
        """
        if same_text(shown, expected):
            return True
        caller_name = network_of(address)
        delay = self._count(caller_name, shown)
        if delay:
            with self._one_at_a_time(caller_name, WAITING_MAX if wait else 1):
                (wait or time.sleep)(delay)
        return False

    def _count(self, name: str, shown: str) -> float:
        """Seconds that this attempt waits for its answer."""
        now, key = self._seconds(), blake2b(shown.encode("utf-8", "replace"), digest_size=16).digest()
        with self._lock:
            caller = self._callers.pop(name, None)
            if caller is None or now - caller.last > FORGOTTEN_AFTER:
                caller = KeyAttempts(now)
            self._callers[name] = caller
            while len(self._callers) > CALLERS_MAX:
                del self._callers[next(iter(self._callers))]
            if key in caller.keys:
                return 0.0
            caller.last, caller.count = now, caller.count + 1
            caller.keys[key] = None
            while len(caller.keys) > KEYS_MAX:
                del caller.keys[next(iter(caller.keys))]
            return delay_of(caller.count)

    @contextmanager
    def _one_at_a_time(self, name: str, most: int) -> Iterator[None]:
        """One refusal at a time for a caller, and not too many for all."""
        with self._lock:
            caller = self._callers.get(name)
            if caller is None or caller.waits or self._waiting >= most:
                raise Refusal(Error.TOO_MANY_REQUESTS, seconds=1)
            caller.waits = True
            self._waiting += 1
        try:
            yield
        finally:
            with self._lock:
                caller.waits = False
                self._waiting -= 1


def delay_of(count: int) -> float:
    if count <= FREE:
        return 0.0
    return float(min(LONGEST_DELAY, FIRST_DELAY * 2 ** min(count - FREE - 1, 30)))


def network_of(address: str) -> str:
    """An IPv6 caller has a whole network of addresses."""
    try:
        ip = ip_address(address)
    except ValueError:
        return address
    return str(ip) if ip.version == 4 else str(ip_network((int(ip), 64), strict=False))


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
    return attempts.is_right(shown, expected, asked.remote_addr or "", wait_of(asked.environ))


def wait_of(environ: dict[str, Any]) -> Wait | None:
    """How a refusal waits on a server: with a worker that is reserved for it, so that others go on."""
    wait: Wait | None = environ.get("sandbox.wait")
    reserve = environ.get("sandbox.reserve")
    if wait is None or reserve is None:
        return wait

    def wait_in_reserve(seconds: float) -> None:
        with reserve("") as has_room:
            if not has_room:
                raise Refusal(Error.TOO_MANY_REQUESTS, seconds=1)
            wait(seconds)

    return wait_in_reserve


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
