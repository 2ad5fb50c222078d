"""Decides who may call the controls (choice 10), by checks of the headers Host and Origin and of the key.

A page of another site can make a visitor's browser call this server. The browser then sends the Origin of that page, or
Sec-Fetch-Site, and the call is refused. That site can also make its own host name lead to this server's address, so
that the browser takes both for one origin. Then the header Host has a foreign name, and the call is refused. All other
callers must show the key, if the server has a key. A browser shows it once, in the console's form. After that it sends
a cookie with a fingerprint of the key. With the cookie, it may read, and send forms of the console. These forms contain
a further proof.

The matched route decides which checks a call gets, because a path can be spelled in many ways. A route that is neither
the bank's nor a page of the console demands the key. So a route that somebody adds later is guarded too.

The length of the key protects it against guesses. Replies to wrong keys are delayed as well, so that a caller who tries
many keys does not use up the server. Other programs refuse an address after some wrong keys. That would also shut out a
caller with the right key behind the same proxy or NAT. So each key is compared, in constant time, and the reply to the
right key is never delayed. Each new wrong key from a network doubles the delay. A repeated wrong key is not a guess, so
a client with an old key is not delayed. The numbers of networks, keys and waiting replies are bounded. A call beyond
these bounds is refused with 429.
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

from sandbox.banking.pkce import is_same_secret
from sandbox.contract.errors import Error, Refusal
from sandbox.web.api.addresses import Hosts
from sandbox.web.api.app import ENTRY

PLACE = "/_sandbox/"
KEY_HEADER = "X-Sandbox-Key"
KEY_COOKIE = "sandbox-console-key"
OTHER_SITES = ("cross-site", "same-site")  # values of Sec-Fetch-Site for a page of another origin
READ_ONLY = ("GET", "HEAD")
FORM_TYPES = ("application/x-www-form-urlencoded", "multipart/form-data", "text/plain")
ATTEMPTS = "sandbox.attempts"  # among the app's extensions
FREE = 5  # different wrong keys that are answered at once
FIRST_DELAY, LONGEST_DELAY = 0.1, 2.0  # seconds; each further wrong key doubles it
FORGOTTEN_AFTER = 600.0  # seconds without a wrong key
CALLERS_MAX = 1_000  # networks; the one that was idle longest is forgotten first
KEYS_MAX = 64  # wrong keys of a network that are recognised
WAITING_MAX = 20  # refusals that wait at once

Wait = Callable[[float], None]


@dataclass(frozen=True)
class Lock:
    """The rules for callers of the controls: the key that they must show, and the names of the server that a header
    Host may have."""

    key: str | None = field(default=None, repr=False)
    here: bool = True  # False: switched off, or on a port of their own
    hosts: Hosts = Hosts()


OPEN = Lock()


@dataclass(slots=True)
class KeyAttempts:
    """The wrong keys that one network has sent."""

    last: float
    count: int = 0
    waits: bool = False
    keys: dict[bytes, None] = field(default_factory=dict)


class Attempts:
    """The wrong keys that each network has sent in the last minutes. Delays the replies to them."""

    def __init__(self, seconds: Callable[[], float]) -> None:
        self._seconds = seconds
        self._callers: dict[str, KeyAttempts] = {}
        self._lock = threading.Lock()
        self._waiting = 0

    def is_right(self, shown_key: str, right_key: str, address: str, wait: Wait | None) -> bool:
        """Whether the key is right. Returns True at once. Returns False after a delay if the network has sent many
        different wrong keys, else at once. Instead of a delay, raises Refusal if the reply to another wrong key of the
        same network is still delayed, or if too many replies to other networks are delayed.

        `wait` waits without keeping a worker (thread) of the server. Without `wait`, only one wrong key can be delayed
        at a time.
        """
        if is_same_secret(shown_key, right_key):
            return True
        caller_name = find_network(address)
        delay = self._count(caller_name, shown_key)
        if delay:
            with self._delay_one_at_a_time(caller_name, WAITING_MAX if wait else 1):
                (wait or time.sleep)(delay)
        return False

    def _count(self, name: str, shown_key: str) -> float:
        """Counts a wrong key. Returns by how many seconds the reply to it is delayed. This is 0 for a wrong key that
        was counted before."""
        now, key = self._seconds(), blake2b(shown_key.encode("utf-8", "replace"), digest_size=16).digest()
        with self._lock:
            caller = self._callers.pop(name, None)
            if caller is None or now - caller.last > FORGOTTEN_AFTER:
                caller = KeyAttempts(now)
            self._callers[name] = caller
            drop_first(self._callers, CALLERS_MAX)
            if key in caller.keys:
                return 0.0
            caller.last, caller.count = now, caller.count + 1
            caller.keys[key] = None
            drop_first(caller.keys, KEYS_MAX)
            return compute_delay(caller.count)

    @contextmanager
    def _delay_one_at_a_time(self, name: str, most: int) -> Iterator[None]:
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


def drop_first(register: dict[Any, Any], most: int) -> None:
    """Drops the oldest entries until no more than `most` are left."""
    while len(register) > most:
        del register[next(iter(register))]


def compute_delay(count: int) -> float:
    """Returns by how many seconds a reply is delayed, if a network has sent `count` different wrong keys."""
    if count <= FREE:
        return 0.0
    return float(min(LONGEST_DELAY, FIRST_DELAY * 2 ** min(count - FREE - 1, 30)))


def find_network(address: str) -> str:
    """Returns the network to which an address belongs. Wrong keys are counted for each network. An IPv4 address is a
    network of its own. An IPv6 address counts as its /64 network, because one caller may own all of that. A text that
    is no IP address is returned unchanged."""
    try:
        ip = ip_address(address)
    except ValueError:
        return address
    return str(ip) if ip.version == 4 else str(ip_network((int(ip), 64), strict=False))


def guard(app: Flask, lock: Lock, attempts: Attempts, bank: Collection[str], pages: Collection[str]) -> None:
    """Makes the application check Host, content type, Origin and key of each call before its view runs. Does not check
    the routes in `bank`, nor unknown paths that are not below `/_sandbox`. The routes in `pages` are pages of the
    console. Their key is not checked here, because they ask for it themselves. All other routes need the key, if the
    server has one. A browser that opens the documentation without the key is redirected to the console's form for the
    key. Any other call without the key is refused."""
    app.extensions[ATTEMPTS] = attempts

    def demand_entry() -> Response | None:
        endpoint = None if request.url_rule is None else request.url_rule.endpoint
        is_beside_the_bank = f"{request.environ['PATH_INFO']}/".startswith(PLACE)
        if endpoint in bank or (endpoint is None and not is_beside_the_bank):
            return None
        demand_host(request.environ.get("HTTP_HOST"), lock.hosts)
        if endpoint is not None and endpoint.startswith("control ") and request.method not in READ_ONLY:
            demand_no_form(request)  # whatever its origin is (choice 10)
        demand_own_page(request.environ)
        if endpoint in pages or lock.key is None:
            return None
        if shows_key(request, lock.key, by_cookie=request.method == "GET"):
            return None
        is_page = endpoint is not None and endpoint.startswith("reference /docs") and "static" not in endpoint
        if is_page and request.method == "GET" and "text/html" in request.headers.get("Accept", ""):
            return _ask_for_key()
        raise Refusal(Error.KEY_REFUSED)

    app.extensions[ENTRY] = demand_entry


def _ask_for_key() -> Response:
    """Redirects a browser to the console's form for the key. After the form, the browser comes back to the page that it
    asked for."""
    back = request.full_path.rstrip("?").removeprefix("/_sandbox")
    address = f"{request.script_root}{PLACE}console/key?{urlencode({'back': back})}"
    return Response(status=303, headers={"Location": address, "Cache-Control": "no-store"})


def demand_host(host: str | None, hosts: Hosts) -> None:
    if host is not None and not hosts.is_own_name(host):
        raise Refusal(Error.HOST_FOREIGN, host=host[:100])


def demand_no_form(call: Request) -> None:
    """Refuses the content types that a form of another page can send without asking."""
    if call.mimetype in FORM_TYPES:
        raise Refusal(Error.UNSUPPORTED_MEDIA_TYPE, expected="application/json")


def demand_own_page(environ: dict[str, Any]) -> None:
    origin = environ.get("HTTP_ORIGIN")
    if origin is None:
        foreign = environ["REQUEST_METHOD"] not in READ_ONLY and environ.get("HTTP_SEC_FETCH_SITE") in OTHER_SITES
    else:
        foreign = origin.partition("://")[2] != environ.get("HTTP_HOST")
    if foreign:
        raise Refusal(Error.ORIGIN_FOREIGN)


def shows_key(call: Request, key: str, *, by_cookie: bool) -> bool:
    """Whether the call has the right key in the header KEY_HEADER. With `by_cookie`, the cookie that the console's form
    sets counts too, if the call does not have the header."""
    in_header, in_cookie = call.headers.get(KEY_HEADER), call.cookies.get(KEY_COOKIE)
    if in_header:
        return is_right(call, in_header, key)
    return by_cookie and bool(in_cookie) and is_right(call, str(in_cookie), compute_fingerprint(key))


def is_right(call: Request, shown_key: str, right_key: str) -> bool:
    """Whether `shown_key` is `right_key`. Both may be fingerprints of keys. A wrong key is counted, and the reply to it
    may be delayed."""
    attempts: Attempts = current_app.extensions[ATTEMPTS]
    return attempts.is_right(shown_key, right_key, call.remote_addr or "", _find_wait(call.environ))


def _find_wait(environ: dict[str, Any]) -> Wait | None:
    """Returns the function by which the server delays a reply. It reserves a worker (thread), so that other calls go
    on, and raises Refusal if no worker is free. Returns None in a process without a server."""
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


def compute_fingerprint(key: str) -> str:
    """Returns the fingerprint of a key. A browser stores it in a cookie instead of the key."""
    return blake2b(key.encode(), person=b"sandbox key", digest_size=24).hexdigest()
