"""Habits of customers, such as a monthly salary. They occur as bank time passes. Only the next occurrence of each habit
is scheduled."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from heapq import heappop, heappush
from typing import Any, NamedTuple, Protocol


class HabitOccurrence(NamedTuple):
    """One occurrence of a habit. `rank` is the number of the habit in the list of all habits, which is ordered by
    account. Occurrences at the same time are ordered by `rank`."""

    at: datetime
    rank: int
    slot: int  # the day, or the chance on a day; with the seed and the habit it determines the random values
    held: bool = False  # a card terminal has reserved the amount, until the booking


class HabitSource(Protocol):
    """Generates occurrences from a seed. `people.life` implements it."""

    def find_first(self, since: datetime) -> tuple[HabitOccurrence, ...]:
        """Returns the first occurrence of each habit after `since`, soonest first."""

    def perform(self, bank: Any, now: HabitOccurrence) -> HabitOccurrence:
        """Performs an occurrence. Returns the next occurrence of the same habit."""

    def release_hold(self, bank: Any, reservation: HabitOccurrence) -> None:
        """Releases an amount that a card terminal reserved."""

    def find_name(self, rank: int) -> str:
        """Returns the name `IBAN/habit` of the habit whose occurrences have this rank."""


class Habits:
    """The scheduled habits of one bank. Banks with the same opening share the tuple of first occurrences. A bank makes
    its own list when it performs a habit."""

    __slots__ = ("_ahead", "_source", "references", "since")

    def __init__(self, source: HabitSource, since: datetime | None) -> None:
        self._source = source
        self._ahead: list[HabitOccurrence] | tuple[HabitOccurrence, ...] | None = None
        self.since = since  # None: nobody does anything (setting `life`)
        self.references: dict[str, int] | None = None  # by account: how many were used since the opening

    @property
    def next_at(self) -> datetime | None:
        if self.since is None:
            return None
        ahead = self._ahead or self._load_all()
        return ahead[0].at if ahead else None

    def _load_all(self) -> list[HabitOccurrence] | tuple[HabitOccurrence, ...]:
        if self._ahead is None:
            self._ahead = () if self.since is None else self._source.find_first(self.since)
        return self._ahead

    def perform_next(self, bank: Any) -> None:
        """Performs the soonest occurrence, and schedules the next occurrence of the same habit."""
        ahead = self._load_all()
        if isinstance(ahead, tuple):  # shared until now; in order of time, so it is a heap
            ahead = self._ahead = list(ahead)
        heappush(ahead, self._source.perform(bank, heappop(ahead)))

    def switch(self, bank: Any, on: bool, now: datetime) -> None:
        """Switches habits on or off. Occurrences that are due while habits are off are never performed. Also releases
        the amounts that card terminals have reserved."""
        for occurrence in self._load_all():
            if occurrence.held:
                self._source.release_hold(bank, occurrence)
        self._ahead, self.since = None, now if on else None

    def list_coming(self) -> Iterable[tuple[HabitOccurrence, str]]:
        """Yields the next occurrence of each habit with the habit's name, soonest first."""
        return ((occurrence, self._source.find_name(occurrence.rank)) for occurrence in sorted(self._load_all()))

    def take_reference_number(self, iban: str) -> int:
        """Returns the next reference number of an account, and marks it as used."""
        if self.references is None:
            self.references = defaultdict(int)
        self.references[iban] += 1
        return self.references[iban]

    def checkpoint_parts(self) -> tuple[Any, ...]:
        """Returns the state for a checkpoint. Leaves out the shared first occurrences, because the seed determines
        them."""
        ahead = self._ahead if isinstance(self._ahead, list) else None
        return self.since, ahead, self.references and dict(self.references)

    def restore(self, parts: tuple[Any, ...]) -> None:
        self.since, self._ahead, references = parts
        self.references = references and defaultdict(int, references)

    def read_state(self) -> list[Any]:
        """Returns the whole state, by which two banks are compared."""
        return [self.since, sorted(self._load_all()), self.references or {}]

    def copy(self) -> "Habits":
        twin = Habits(self._source, self.since)
        twin._ahead = list(self._ahead) if isinstance(self._ahead, list) else self._ahead
        twin.references = self.references and self.references.copy()
        return twin
