"""Counters of each operation: calls, answers and times, for monitoring."""

import threading
from bisect import bisect_left

UP_TO = (0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds
NONE = "none"  # a call that reached no operation


class Times:
    """Durations of one operation: how many fell below each bound and above the one before, and their sum."""

    __slots__ = ("buckets", "seconds")

    def __init__(self) -> None:
        self.buckets = [0] * (len(UP_TO) + 1)
        self.seconds = 0.0


class Tally:
    """Counts of all worlds. Names are those of the operations, so there are few."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: dict[tuple[str, int], int] = {}
        self._times: dict[str, Times] = {}

    def count(self, operation: str | None, status: int, seconds: float) -> None:
        name = operation or NONE
        with self._lock:
            self._calls[name, status] = self._calls.get((name, status), 0) + 1
            times = self._times.get(name)
            if times is None:
                times = self._times[name] = Times()
            times.buckets[bisect_left(UP_TO, seconds)] += 1
            times.seconds += seconds

    def calls(self) -> dict[tuple[str, int], int]:
        with self._lock:
            return dict(self._calls)

    def times(self) -> dict[str, tuple[list[int], float]]:
        """By operation: the counts of the buckets, and the sum."""
        with self._lock:
            return {name: (list(times.buckets), times.seconds) for name, times in self._times.items()}
