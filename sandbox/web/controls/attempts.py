"""Attempts on the key: a caller who tries many keys waits longer for each answer (choice 10)."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from ipaddress import ip_address, ip_network

from sandbox.banking.pkce import same_text
from sandbox.contract.errors import Error, Refusal

FREE = 5  # different wrong keys that are answered at once
FIRST_DELAY, LONGEST_DELAY = 0.1, 2.0  # seconds; each further wrong key doubles it
FORGOTTEN_AFTER = 600.0  # seconds without a wrong key
CALLERS_MAX = 1_000  # the one that was longest silent is forgotten first
KEYS_MAX = 64  # of which a repetition is recognised
WAITING_MAX = 20  # callers that wait for a refusal at once

Wait = Callable[[float], None]


@dataclass(slots=True)
class Caller:
    """One address, and the wrong keys it showed."""

    last: float
    count: int = 0
    waits: bool = False
    keys: dict[bytes, None] = field(default_factory=dict)


class Attempts:
    """The wrong keys of the last minutes. A key that is wrong again is no new attempt: nothing is learnt by it."""

    def __init__(self, seconds: Callable[[], float]) -> None:
        self._seconds = seconds
        self._callers: dict[str, Caller] = {}
        self._lock = threading.Lock()
        self._waiting = 0

    def is_right(self, shown: str, expected: str, address: str, wait: Wait | None) -> bool:
        """Compares in constant time. While a caller waits for a refusal, its further keys are not compared: 429.

        `wait` is the server's own, which keeps a worker free meanwhile; without one a single refusal waits at a time.
        """
        caller_name = network_of(address)
        with self._lock:
            caller = self._callers.get(caller_name)
            if caller is not None and caller.waits:
                raise Refusal(Error.TOO_MANY_REQUESTS, seconds=1)
        if same_text(shown, expected):
            return True
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
                caller = Caller(now)
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
