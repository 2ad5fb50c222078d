"""The threads that answer calls."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from waitress.task import ThreadedTaskDispatcher

from sandbox.machine import seconds_passed
from sandbox.serve.readers import Readers

WAITING_MAX = 200  # calls that wait at once; beyond that they share the workers
READY_MAX = 16
ENDS_WITHIN = 1.0  # seconds for the calls that are under way
LAST = 0.1  # seconds of them at least for the workers, where the thread that reads took the rest


class Workers(ThreadedTaskDispatcher):  # type: ignore[misc]
    """A call that waits by a fault rule gets a worker of its own meanwhile, so that others go on (choice 13)."""

    def __init__(self, threads: int, *, brief_here: bool = False) -> None:
        super().__init__()
        self.readers = Readers(self._hand_on, answers=brief_here)
        self.least = threads
        self.waiting = 0
        self._ready = (
            0  # workers that stay for calls that are handed on: a thread for each would cost more than the call
        )
        self._counting = threading.Lock()
        self._ending = threading.Event()
        self._held: set[threading.Event] = set()
        self.set_thread_count(threads)

    def add_task(self, channel: Any) -> None:
        if not (channel.is_brief and self.readers.take(channel)):
            self._hand_on(channel)

    def _hand_on(self, channel: Any) -> None:
        """waitress's own `add_task` also logs each call that finds no idle worker: many, where callers are many."""
        with self.lock:
            self.queue.append(channel)
            self.queue_cv.notify()

    def wait(self, seconds: float) -> None:
        extra = self._count(+1)
        try:
            self._ending.wait(seconds)
        finally:
            if extra:
                self._count(-1)

    def hold(self, event: threading.Event, seconds: float) -> bool:
        """Waits for the event, or not at all where no worker is left for others."""
        if not self._count(+1):
            return False
        self._held.add(event)
        try:
            event.wait(0 if self._ending.is_set() else seconds)
        finally:
            self._held.discard(event)
            self._count(-1)
        return True

    @contextmanager
    def beside(self) -> Iterator[bool]:
        """While a call is at another server, which may hand one of its own to this one: False where no worker is left
        for that."""
        has_room = self._count(+1)
        self._ready = min(READY_MAX, max(self._ready, self.waiting))
        try:
            yield has_room
        finally:
            if has_room:
                self._count(-1)

    def shutdown(self, cancel_pending: bool = True, timeout: float = ENDS_WITHIN) -> bool:
        """Those who wait are answered at once: the server ends within 2 s (choice 12)."""
        self._ending.set()
        for event in tuple(self._held):
            event.set()
        ends = seconds_passed() + timeout
        self.readers.rest(timeout - LAST)
        return bool(super().shutdown(cancel_pending, max(LAST, ends - seconds_passed())))

    def _count(self, change: int) -> bool:
        with self._counting:
            if self._ending.is_set() or self.waiting + change > WAITING_MAX:
                return False
            self.waiting += change
            self.set_thread_count(self.least + max(self.waiting, self._ready))
            return True
