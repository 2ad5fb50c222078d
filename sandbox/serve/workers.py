"""The threads that answer calls: one reads what callers send and answers brief calls, the workers answer all others."""

import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from logging import getLogger
from threading import get_ident
from typing import Any

from waitress import wasyncore
from waitress.task import ThreadedTaskDispatcher

from sandbox.machine import seconds_passed

log = getLogger("sandbox")
TURN = 0.008  # seconds: an answer that is still under way after one or two of them is no brief one
QUIET = 64  # turns without a call, after which nobody watches
READERS_END_WITHIN = 0.1  # seconds for the two threads, once no line is left
AT_ONCE = 64  # calls that are answered between two looks at the lines
WORLD_WAITING_MAX = 200  # calls of one world that wait at once
WAITING_MAX = 400  # calls of all worlds that wait at once: each has a thread
ENDS_WITHIN = 1.0  # seconds for the calls that are under way
LAST = 0.1  # seconds of them at least for the workers, where the thread that reads took the rest


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
            thread.join(READERS_END_WITHIN)

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


class Workers(ThreadedTaskDispatcher):  # type: ignore[misc]
    """Answers calls with a fixed number of threads, and with one more for each call that waits on purpose (choice 13).

    A call that waits by a fault rule, at a barrier or after a wrong key would keep its thread from the calls of other
    worlds. Such a call first reserves a thread with `reserve`, and is refused where the bound is reached. So the fixed
    number of threads is always there for calls that do not wait. The bound of one world is lower than that of the
    server: a world that uses all of its own leaves room for others.
    """

    def __init__(self, threads: int, *, brief_here: bool = False) -> None:
        super().__init__()
        self.readers = Readers(self._hand_on, answers=brief_here)
        self.least = threads
        self.waiting: Counter[str] = Counter()  # calls that wait, by the world that they wait in
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

    def start_new_thread(self, target: Callable[[int], None], thread_no: int) -> None:
        """waitress's own would count a thread that could not be started."""
        try:
            super().start_new_thread(target, thread_no)
        except RuntimeError:
            self.threads.discard(thread_no)
            raise

    @contextmanager
    def reserve(self, world: str) -> Iterator[bool]:
        """Adds a worker for a call that is about to wait in this world. Yields False where the bound is reached."""
        has_room = self._begin_wait(world)
        try:
            yield has_room
        finally:
            if has_room:
                self._end_wait(world)

    @property
    def is_ending(self) -> bool:
        """Whether the server was told to stop: what takes long is not worth finishing."""
        return self._ending.is_set()

    def wait(self, seconds: float) -> None:
        """Waits so long, or until the server ends. The caller has reserved a worker."""
        self._ending.wait(seconds)

    def hold(self, event: threading.Event, seconds: float) -> None:
        """Waits for the event, so long at most, or until the server ends. The caller has reserved a worker."""
        self._held.add(event)
        event.wait(0 if self._ending.is_set() else seconds)
        self._held.discard(event)

    def shutdown(self, cancel_pending: bool = True, timeout: float = ENDS_WITHIN) -> bool:
        """Those who wait are answered at once: the server ends within 2 s (choice 12)."""
        self._ending.set()
        for event in tuple(self._held):
            event.set()
        ends = seconds_passed() + timeout
        self.readers.rest(timeout - LAST)
        return bool(super().shutdown(cancel_pending, max(LAST, ends - seconds_passed())))

    def _begin_wait(self, world: str) -> bool:
        with self._counting:
            is_full = self.waiting[world] >= WORLD_WAITING_MAX or self.waiting.total() >= WAITING_MAX
            if is_full or self._ending.is_set():
                return False
            self.waiting[world] += 1
            try:
                self._fit_threads()
            except RuntimeError:  # the system starts no further thread
                self.waiting[world] -= 1
                return False
            return True

    def _end_wait(self, world: str) -> None:
        with self._counting:
            self.waiting[world] -= 1
            if not self.waiting[world]:
                del self.waiting[world]
            if not self._ending.is_set():
                self._fit_threads()

    def _fit_threads(self) -> None:
        self.set_thread_count(self.least + self.waiting.total())
