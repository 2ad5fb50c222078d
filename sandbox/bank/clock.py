"""Bank time and scheduled events. Nothing here reads the machine's clock."""

from collections.abc import Iterator
from datetime import date, datetime
from heapq import heappop, heappush
from typing import NamedTuple

from sandbox.banking.calendar import find_brussels_date
from sandbox.contract.moves import Trigger


class Clock:
    """The bank's time, in UTC. The timeline sets it to the time of each due event in turn."""

    __slots__ = ("_day", "_day_of", "now")

    def __init__(self, now: datetime) -> None:
        self.now = now
        self._day_of = now
        self._day = find_brussels_date(now)

    def set(self, now: datetime) -> None:
        assert now >= self.now, f"the clock never goes back: {self.now} to {now}"
        self.now = now

    @property
    def today(self) -> date:
        """The date in Brussels. It is read often, so it is computed once per change of the clock."""
        if self._day_of != self.now:
            self._day_of, self._day = self.now, find_brussels_date(self.now)
        return self._day


class Promise(NamedTuple):
    """A scheduled event: at the time `at`, the trigger happens to the subject. Events of the same time run in the order
    in which they were scheduled."""

    at: datetime
    number: int
    subject_id: str
    trigger: Trigger


class Agenda:
    """Scheduled events, soonest first. An event is never removed before its time, even if it will have no effect by
    then."""

    __slots__ = ("made", "promises")

    def __init__(self) -> None:
        self.promises: list[Promise] = []
        self.made = 0

    def add(self, at: datetime, subject_id: str, trigger: Trigger) -> None:
        self.made += 1
        heappush(self.promises, Promise(at, self.made, subject_id, trigger))

    def pop_due(self, until: datetime) -> Promise | None:
        if self.promises and self.promises[0].at <= until:
            return heappop(self.promises)
        return None

    def find_due(self, until: datetime) -> Iterator[Promise]:
        """Yields the events that are due at or before `until`, in no particular order, because sorting takes time. The
        events stay in the agenda."""
        places = [0] if self.promises else []
        while places:
            place = places.pop()
            promise = self.promises[place]
            if promise.at <= until:
                yield promise
                places += [child for child in (2 * place + 1, 2 * place + 2) if child < len(self.promises)]

    def walk_in_order(self) -> Iterator[Promise]:
        """Yields the events soonest first. Walks the heap instead of sorting all events, because callers often need
        only the first."""
        ahead = [(self.promises[0], 0)] if self.promises else []
        while ahead:
            promise, place = heappop(ahead)
            yield promise
            for child in (2 * place + 1, 2 * place + 2):
                if child < len(self.promises):
                    heappush(ahead, (self.promises[child], child))

    @property
    def next_at(self) -> datetime | None:
        return self.promises[0].at if self.promises else None
