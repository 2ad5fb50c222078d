"""Who reads what callers send, and answers brief calls without handing them to another thread."""

import threading
from collections import deque
from collections.abc import Callable
from logging import getLogger
from threading import get_ident
from typing import Any

from waitress import wasyncore

log = getLogger("sandbox")
TURN = 0.008  # seconds: an answer that is still under way after one or two of them is no brief one
QUIET = 64  # turns without a call, after which nobody watches
ENDS_WITHIN = 0.1  # seconds for the two threads, once no line is left
AT_ONCE = 64  # calls that are answered between two looks at the lines


class Readers:
    """Two threads. One reads, and answers brief calls itself: handing a call on costs as much as answering it. The
    other one watches, and reads on where an answer takes long; until that is there, the workers answer all calls.
    """

    def __init__(self, hand_on: Callable[[Any], None], *, answers: bool) -> None:
        self._hand_on = hand_on
        self._answers = answers
        self._lock = threading.Lock()
        self._reader: int | None = None  # the thread that reads
        self._calls: deque[Any] = deque()  # that it answers next
        self._count = 0  # of answers that were begun or ended here: odd while the reader is at one
        self._busy = threading.Lock()  # while an answer is under way in either thread
        self._is_late = False  # it is under way in the thread that reads no more
        self._stirred = threading.Event()
        self._over = threading.Event()

    @property
    def is_here(self) -> bool:
        """Whether this thread reads: it looks at all lines again before it waits."""
        return self._reader == get_ident()

    def take(self, call: Any) -> bool:
        """Whether this thread answers the call next."""
        with self._lock:
            takes = self._answers and not self._is_late and self.is_here
            if takes:
                self._calls.append(call)
            return takes

    def loop(self, timeout: float, map: dict[int, Any], use_poll: bool) -> None:
        """In the place of waitress's own loop: it returns when no line is left."""
        assert use_poll
        threads = [
            threading.Thread(target=self._work, args=(timeout, map), name=f"reader-{number}", daemon=True)
            for number in (1, 2)
        ]
        for thread in threads:
            thread.start()
        self._over.wait()
        for thread in threads:  # none outlives its server, but for an answer that takes longer
            thread.join(ENDS_WITHIN)

    def rest(self, seconds: float) -> None:
        """Takes no further call. The call that is being answered may take so many seconds more."""
        with self._lock:
            self._answers = False
            calls, self._calls = self._calls, deque()
        for call in calls:
            self._hand_on(call)
        if self._busy.acquire(timeout=seconds):
            self._busy.release()

    def _work(self, seconds: float, lines: dict[int, Any]) -> None:
        with self._lock:
            self._reader = self._reader or get_ident()
        try:
            while not self._over.is_set():
                if self.is_here:
                    self._read(seconds, lines)
                else:
                    self._watch()
        finally:
            self._over.set()
            self._stirred.set()

    def _read(self, seconds: float, lines: dict[int, Any]) -> None:
        """Returns once another thread reads, or no line is left."""
        while lines:
            wasyncore.poll2(0 if self._calls else seconds, lines)
            for _ in range(AT_ONCE):
                with self._lock:
                    if not self._calls:
                        break
                    call = self._calls.popleft()
                    self._count += 1
                    self._busy.acquire()  # here, so that a server that ends waits for this answer
                self._answer(call)
                with self._lock:
                    if not self.is_here:
                        self._is_late = False
                        return
                    self._count += 1
        self._over.set()

    def _answer(self, call: Any) -> None:
        self._stirred.set()
        try:
            call.service()
        except BaseException:
            log.exception("a call could not be answered")
            call.cancel()  # nothing more comes on this line
        finally:
            self._busy.release()

    def _watch(self) -> None:
        """Returns once this thread reads, or no line is left."""
        before = quiet = 0
        while not self._over.wait(TURN):
            with self._lock:
                quiet = quiet + 1 if self._count == before else 0
                before = self._count
                if quiet and before % 2:
                    self._count += 1
                    self._reader, self._is_late = get_ident(), True
                    calls, self._calls = self._calls, deque()
                    break
                if quiet > QUIET:
                    self._stirred.clear()
            self._stirred.wait()
        else:
            return
        for call in calls:
            self._hand_on(call)
