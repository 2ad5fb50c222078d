"""What new connections of a server meet: a fault that a tester orders, for some seconds of the machine's clock."""

import threading
from collections.abc import Callable
from typing import NamedTuple

ENDED = "ended"
LINE = "SANDBOX_LINE"  # where an application keeps it
WAITS = "SANDBOX_WAITS"  # and whether its answers wait for a disk


class LineFault(NamedTuple):
    """`closed`: nobody listens; `silent`: nobody answers; `handshake`: TLS fails. `ended`: the server ends."""

    kind: str
    seconds: float


class Line:
    """The order goes to every address that the server listens on; without a server there is none."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listeners: list[Callable[[LineFault], None]] = []
        self.speaks_tls = False

    @property
    def is_served(self) -> bool:
        return bool(self._listeners)

    def tell(self, listener: Callable[[LineFault], None], *, tls: bool = False) -> None:
        """From now on the listener is told of each order."""
        with self._lock:
            self._listeners.append(listener)
            self.speaks_tls = self.speaks_tls or tls

    def forget(self, listener: Callable[[LineFault], None]) -> None:
        """The server of this listener ended."""
        with self._lock:
            self._listeners = [one for one in self._listeners if one != listener]

    def end(self) -> None:
        """No new connection is taken any more; those that are open go on."""
        self.order(ENDED, 0.0)

    def order(self, kind: str, seconds: float) -> None:
        with self._lock:
            listeners = tuple(self._listeners)
        for listener in listeners:
            listener(LineFault(kind, seconds))
