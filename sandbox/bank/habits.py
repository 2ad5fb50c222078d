"""Habits of customers under the clock; only the next occurrence of each is scheduled."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from heapq import heappop, heappush
from typing import Any, NamedTuple, Protocol


class HabitOccurrence(NamedTuple):
    """An occurrence of a habit. Occurrences of the same time are ordered by account, then by habit."""

    at: datetime
    rank: int
    slot: int  # the day, or the chance on a day: what is drawn follows from the seed, the habit and this
    held: bool = False  # its terminal has reserved an amount, which the booking releases


class HabitSource(Protocol):
    """The source of habits: the people of a seed."""

    def first(self, since: datetime) -> tuple[HabitOccurrence, ...]:
        """The first occurrence of each habit after an instant, soonest first."""

    def happen(self, bank: Any, now: HabitOccurrence) -> HabitOccurrence:
        """Performs an occurrence; returns the habit's next one."""

    def release_hold(self, bank: Any, reservation: HabitOccurrence) -> None:
        """Releases an amount that a card terminal reserved."""

    def name(self, rank: int) -> str:
        """The account and the habit, for who looks ahead."""


class Habits:
    """The habits of one bank. Banks that begin at the same morning share the first occurrences until their clocks
    move."""

    __slots__ = ("_ahead", "_source", "references", "since")

    def __init__(self, source: HabitSource, since: datetime | None) -> None:
        self._source = source
        self._ahead: list[HabitOccurrence] | tuple[HabitOccurrence, ...] | None = None
        self.since = since  # None: nobody does anything (setting `life`)
        self.references: dict[str, int] | None = None  # how many each account has used since the opening

    @property
    def next_at(self) -> datetime | None:
        if self.since is None:
            return None
        ahead = self._ahead or self._all()
        return ahead[0].at if ahead else None

    def _all(self) -> list[HabitOccurrence] | tuple[HabitOccurrence, ...]:
        if self._ahead is None:
            self._ahead = () if self.since is None else self._source.first(self.since)
        return self._ahead

    def happen(self, bank: Any) -> None:
        """Performs the soonest occurrence, and schedules the next one of that habit."""
        ahead = self._all()
        if isinstance(ahead, tuple):  # shared until now; in order of time, so it is a heap
            ahead = self._ahead = list(ahead)
        heappush(ahead, self._source.happen(bank, heappop(ahead)))

    def switch(self, bank: Any, on: bool, now: datetime) -> None:
        """Switches habits on or off; occurrences of the time in between are skipped."""
        for occurrence in self._all():
            if occurrence.held:
                self._source.release_hold(bank, occurrence)
        self._ahead, self.since = None, now if on else None

    def coming(self) -> Iterable[tuple[HabitOccurrence, str]]:
        """The next occurrence of each habit with its name, soonest first."""
        return ((occurrence, self._source.name(occurrence.rank)) for occurrence in sorted(self._all()))

    def count(self, iban: str) -> int:
        """Counts a reference of an account, and returns its number."""
        if self.references is None:
            self.references = defaultdict(int)
        self.references[iban] += 1
        return self.references[iban]

    def kept(self) -> tuple[Any, ...]:
        """The state for a checkpoint, without what the seed determines."""
        ahead = self._ahead if isinstance(self._ahead, list) else None
        return self.since, ahead, self.references and dict(self.references)

    def restore(self, parts: tuple[Any, ...]) -> None:
        self.since, self._ahead, references = parts
        self.references = references and defaultdict(int, references)

    def state(self) -> list[Any]:
        """The whole state, to compare two banks."""
        return [self.since, sorted(self._all()), self.references or {}]

    def copy(self) -> "Habits":
        twin = Habits(self._source, self.since)
        twin._ahead = list(self._ahead) if isinstance(self._ahead, list) else self._ahead
        twin.references = self.references and self.references.copy()
        return twin
