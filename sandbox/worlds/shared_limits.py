"""How much a client calls (service 4.1: 429), counted by the database that servers share: one statement a call."""

from datetime import date, datetime

from sandbox.storage.store import Store
from sandbox.worlds.counts import ACCOUNT_MAX, MINUTE, Read

COUNT = """INSERT INTO counts VALUES (?, ?, ?, 1) ON CONFLICT (world, name) DO UPDATE SET
  since = CASE WHEN excluded.since - counts.since >= ? THEN excluded.since ELSE counts.since END,
  count = CASE WHEN excluded.since - counts.since >= ? THEN 1 ELSE counts.count + 1 END
  RETURNING since, count"""


class SharedLimits:
    """Counts by bank time, as `Limits` has them."""

    def __init__(self, store: Store, world: int) -> None:
        self._store = store
        self._world = world

    def count_call(self, client: str, now: datetime, per_minute: int) -> int | None:
        """None when the call may pass, else the seconds of bank time until the next may."""
        length = MINUTE.total_seconds()
        since, count = self._count(f"minute of {client}", now.timestamp(), length)
        if count <= per_minute:
            return None
        left = since + length - now.timestamp()
        return max(1, -int(-left // 1))

    def count_read(self, read: Read, today: date, per_day: int) -> bool:
        """Whether one more read of an account without its PSU may pass today."""
        client, account, operation = read
        name = f"reads of {client} {account[:ACCOUNT_MAX]} {operation}"
        _, count = self._count(name, float(today.toordinal()), 1.0)
        return count <= per_day

    def _count(self, name: str, since: float, length: float) -> tuple[float, int]:
        rows = self._store.database.select(COUNT, self._world, name, since, length, length)
        return float(rows[0][0]), int(rows[0][1])
