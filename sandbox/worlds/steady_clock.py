"""The machine's clock as running worlds have it: it never steps back, not even over a restart."""

import threading
from collections.abc import Callable
from contextlib import suppress

from sandbox.storage.format import StateFileError
from sandbox.storage.store import Store

AHEAD = 0.5  # seconds: how far ahead of an answer the time that a state file keeps may lie, so that few answers write


class SteadyClock:
    """Where the machine's clock steps back, this one stands for a moment, or goes on from where it was."""

    def __init__(self, real: Callable[[], float], store: Store | None = None) -> None:
        self.real = real
        self._store = store
        self._latest = self._kept = 0.0 if store is None else store.latest_time()  # kept: in the file
        self._offset = 0.0
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        if store is not None:
            store.before_close.append(self._keep_exactly)

    def __call__(self) -> float:
        with self._lock:
            now = self.real() + self._offset
            if now < self._latest - AHEAD:
                self._offset += self._latest - now
            self._latest = max(self._latest, now)
            return self._latest

    def keep(self) -> None:
        """Before an answer that tells a time by this clock. A file that cannot be written refuses what changes a bank,
        but not this."""
        if self._latest > self._kept:
            with self._writing:
                if self._latest > self._kept:
                    self._keep(self._latest + AHEAD)

    def _keep_exactly(self) -> None:
        with self._writing:
            if self._kept > self._latest:
                self._keep(self._latest)

    def _keep(self, until: float) -> None:
        if self._store is not None:
            with suppress(StateFileError):
                self._store.keep_latest_time(until)
        self._kept = until
