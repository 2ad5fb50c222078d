"""Counts of calls, and notes about calls. Neither the bank nor its log has them.

- The calls of each client, for the limits (service 4.1: 429).
- The axes that calls have met. An axis is a point on which banks may differ. A call meets it by reading a decision (a
  setting of the bank) that belongs to the axis.
- The number, statuses and durations of each operation's calls, for monitoring.
"""

import threading
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import date, datetime, timedelta

from sandbox.contract.decisions import AXES, EVERYWHERE
from sandbox.storage.store import Store

MINUTE = timedelta(minutes=1)
COUNTED_MAX = 100_000  # different reads that are counted on a day; beyond that, all counts are reset
ACCOUNT_MAX = 64  # characters; a logical-id has fewer, and anything may stand in a path

Read = tuple[str, str, str]  # client, account, operation
LimitCounts = tuple[dict[str, tuple[datetime, int]], date | None, dict[Read, int]]
UP_TO = (0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds
NONE = "none"  # a call that reached no operation


class Limits:
    """Counts of a client's calls per minute and of its reads per day, in bank time. A minute begins with the first call
    after the previous minute, and a day at midnight."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._minutes: dict[str, tuple[datetime, int]] = {}
        self._day: date | None = None
        self._reads: dict[Read, int] = {}

    def copy_counts(self) -> LimitCounts:
        with self._lock:
            return dict(self._minutes), self._day, dict(self._reads)

    def restore(self, counts: LimitCounts) -> None:
        minutes, day, reads = counts
        with self._lock:
            self._minutes, self._day, self._reads = dict(minutes), day, dict(reads)

    def count_call(self, counted: str, now: datetime, per_minute: int) -> int | None:
        """Counts a call and returns None. If `per_minute` calls were counted in this minute already, does not count it,
        and returns the seconds of bank time until the next minute. `counted` is the text by which calls are counted,
        such as the id of a client."""
        with self._lock:
            since, count = self._minutes.get(counted, (now, 0))
            if now - since >= MINUTE:
                since, count = now, 0
            if count >= per_minute:
                return max(1, -((since + MINUTE - now) // timedelta(seconds=-1)))  # rounded up
            self._minutes[counted] = since, count + 1
            return None

    def count_read(self, read_key: Read, today: date, per_day: int) -> bool:
        """Counts a read of an account while the PSU is absent, and returns True. If `per_day` such reads were counted
        on this day already, does not count it and returns False. All counts begin at 0 again on a new day, and if there
        are more than COUNTED_MAX of them."""
        client, account, operation = read_key
        read_key = client, account[:ACCOUNT_MAX], operation
        with self._lock:
            if self._day != today or len(self._reads) > COUNTED_MAX:
                self._day, self._reads = today, {}
            count = self._reads.get(read_key, 0)
            if count >= per_day:
                return False
            self._reads[read_key] = count + 1
            return True


class SharedLimits:
    """The same counts as `Limits`, but in the database, for a world that servers share. One SQL statement counts a
    call, so refused calls are counted too. This does not change which calls are permitted."""

    COUNT = """INSERT INTO counts VALUES (?, ?, ?, 1) ON CONFLICT (world, name) DO UPDATE SET
  since = CASE WHEN excluded.since - counts.since >= ? THEN excluded.since ELSE counts.since END,
  count = CASE WHEN excluded.since - counts.since >= ? THEN 1 ELSE counts.count + 1 END
  RETURNING since, count"""

    def __init__(self, store: Store, world: int) -> None:
        self._store = store
        self._world = world

    def count_call(self, counted: str, now: datetime, per_minute: int) -> int | None:
        length = MINUTE.total_seconds()
        since, count = self._count(f"minute of {counted}", now.timestamp(), length)
        if count <= per_minute:
            return None
        seconds_left = since + length - now.timestamp()
        return max(1, -int(-seconds_left // 1))

    def count_read(self, read_key: Read, today: date, per_day: int) -> bool:
        client, account, operation = read_key
        name = f"reads of {client} {account[:ACCOUNT_MAX]} {operation}"
        _, count = self._count(name, float(today.toordinal()), 1.0)
        return count <= per_day

    def _count(self, name: str, since: float, length: float) -> tuple[float, int]:
        rows = self._store.database.select(self.COUNT, self._world, name, since, length, length)
        return float(rows[0][0]), int(rows[0][1])


def count_up(store: Store, row: int, name: str, count: int) -> int:
    """Adds `count` to a named count of a world in the store, and returns the new count."""
    query = """INSERT INTO counts VALUES (?, ?, 0, ?)
  ON CONFLICT (world, name) DO UPDATE SET count = counts.count + excluded.count RETURNING count"""
    return int(store.database.select(query, row, name, count)[0][0])


class AxesMet:
    """The axes that the calls of a world have met since it was made or was last loaded from its store. An axis is a
    point on which banks may differ. A call meets it by reading a decision (a setting of the bank) that belongs to the
    axis. So this class notes the decisions that were read: in the world, and in the present call of each thread."""

    def __init__(self) -> None:
        self._read: set[str] = set()  # decisions
        self._call = threading.local()
        self._lock = threading.Lock()
        self._first_uses: set[tuple[str, str]] = set()  # axis and operation

    def note(self, decision: str) -> None:
        """Notes that a decision was read: for the world, and for this thread's call if `begin_call` has begun to
        collect."""
        self._read.add(decision)
        of_call: set[str] | None = getattr(self._call, "read", None)
        if of_call is not None:
            of_call.add(decision)

    def begin_call(self) -> None:
        """Begins to collect the decisions that this thread reads for a call."""
        self._call.read = set()

    def end_call(self) -> set[str]:
        """Stops collecting decisions for this thread's call, and returns those that the call has read. Returns an empty
        set if `begin_call` was not called."""
        of_call: set[str] = getattr(self._call, "read", None) or set()
        self._call.read = None
        return of_call

    def is_first_use(self, axis: str, operation: str) -> bool:
        """Returns True once for each pair of axis and operation, and False from the second time on."""
        with self._lock:
            is_old = (axis, operation) in self._first_uses
            self._first_uses.add((axis, operation))
            return not is_old

    def copy_first_uses(self) -> frozenset[tuple[str, str]]:
        """Returns the pairs of axis and operation for which `is_first_use` was called."""
        with self._lock:
            return frozenset(self._first_uses)

    def restore_first_uses(self, uses: Iterable[tuple[str, str]]) -> None:
        """Sets the pairs of axis and operation for which `is_first_use` returns False from now on. Used if this world
        continues from another world's snapshot: `uses` are the pairs of that world."""
        with self._lock:
            self._first_uses = set(uses)

    def list_axes_read(self, called: bool) -> frozenset[str]:
        """Returns the axes whose decisions were read. `called` says whether the world had a call. If so, the axes that
        every call reads are included."""
        fields_read = frozenset(self._read)
        axes_met = frozenset(name for name, axis in AXES.items() if not axis.fields.isdisjoint(fields_read))
        return axes_met | EVERYWHERE if called else axes_met


class Tally:
    """The numbers of calls in all worlds, by operation and status, and the durations of calls, by operation."""

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

    def copy_calls(self) -> dict[tuple[str, int], int]:
        with self._lock:
            return dict(self._calls)

    def copy_times(self) -> dict[str, tuple[list[int], float]]:
        """Returns two facts for each operation: how many of its calls had a duration in each bucket, and the sum of the
        durations in seconds. UP_TO has the upper bounds of the buckets. The last bucket has no bound."""
        with self._lock:
            return {name: (list(buckets), self._seconds[name]) for name, buckets in self._buckets.items()}
