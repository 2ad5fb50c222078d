"""Counters of each operation: calls, answers and times, for monitoring."""

import threading
from bisect import bisect_left
from collections import Counter, defaultdict

UP_TO = (0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds
NONE = "none"  # a call that reached no operation


class Tally:
    """Counts of all worlds. Names are those of the operations, so there are few."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: Counter[tuple[str, int]] = Counter()
        self._buckets: defaultdict[str, list[int]] = defaultdict(lambda: [0] * (len(UP_TO) + 1))
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def count(self, operation: str | None, status: int, seconds: float) -> None:
        name = operation or NONE
        with self._lock:
            self._calls[name, status] += 1
            self._buckets[name][bisect_left(UP_TO, seconds)] += 1
            self._seconds[name] += seconds

    def calls(self) -> dict[tuple[str, int], int]:
        with self._lock:
            return dict(self._calls)

    def times(self) -> dict[str, tuple[list[int], float]]:
        """By operation: how many fell below each bound and above the one before, and the sum."""
        with self._lock:
            return {name: (list(buckets), self._seconds[name]) for name, buckets in self._buckets.items()}
