"""How much a client may call (service 4.1: 429). Counts are the world's own: they leave no trace in the bank."""

import threading
from datetime import date, datetime, timedelta

MINUTE = timedelta(minutes=1)
COUNTED_MAX = 100_000  # reads of a day; beyond that the count begins again
ACCOUNT_MAX = 64  # characters; a logical-id has fewer, and anything may stand in a path

Read = tuple[str, str, str]  # client, account, operation
Kept = tuple[dict[str, tuple[datetime, int]], date | None, dict[Read, int]]


class Limits:
    """Counts by bank time. A minute begins with a client's first call in it, a day at midnight in Brussels."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._minutes: dict[str, tuple[datetime, int]] = {}
        self._day: date | None = None
        self._reads: dict[Read, int] = {}

    def kept(self) -> Kept:
        """The counts, to be kept."""
        with self._lock:
            return dict(self._minutes), self._day, dict(self._reads)

    def restore(self, kept: Kept) -> None:
        with self._lock:
            self._minutes, self._day, self._reads = kept

    def count_call(self, client: str, now: datetime, per_minute: int) -> int | None:
        """None when the call may pass, else the seconds of bank time until the next may."""
        with self._lock:
            since, count = self._minutes.get(client, (now, 0))
            if now - since >= MINUTE:
                since, count = now, 0
            if count >= per_minute:
                return max(1, -((since + MINUTE - now) // timedelta(seconds=-1)))  # whole ones, never too few
            self._minutes[client] = since, count + 1
            return None

    def count_read(self, read: Read, today: date, per_day: int) -> bool:
        """Whether one more read of an account without its PSU may pass today."""
        client, account, operation = read
        read = client, account[:ACCOUNT_MAX], operation
        with self._lock:
            if self._day != today or len(self._reads) > COUNTED_MAX:
                self._day, self._reads = today, {}
            count = self._reads.get(read, 0)
            if count >= per_day:
                return False
            self._reads[read] = count + 1
            return True
