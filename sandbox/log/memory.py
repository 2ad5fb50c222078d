"""What a world was asked to do, kept in memory."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple

from sandbox.bank.state import Bank


class Act(NamedTuple):
    """One act by its name, with all it was given and the bank time it came at."""

    at: datetime
    verb: str
    arguments: tuple[Any, ...]
    made: int = 0  # how much the bank had made after it, so that who plays it again sees at once where it goes astray


class MemoryLog:
    """Acts in order; played again on the same beginning they give the same bank."""

    def __init__(self) -> None:
        self._acts: list[Act] = []

    def append(self, act: Act) -> None:
        self._acts.append(act)

    def first(self, count: int) -> "MemoryLog":
        """A log of its own, with so many acts."""
        earlier = MemoryLog()
        earlier._acts = self._acts[:count]
        return earlier

    def until(self, at: datetime) -> "MemoryLog":
        """A log of its own, with the acts up to a time."""
        earlier = MemoryLog()
        earlier._acts = [act for act in self._acts if act.at <= at]
        return earlier

    is_checkpoint_due = False

    def keep_checkpoint(self, bank: Bank) -> None:
        """A world in memory is never started again."""

    def demand(self) -> None:
        """Memory can always take an act."""

    def flush(self) -> None:
        """Memory keeps as it goes."""

    def note_pace(self, pace: object) -> None:
        """A world in memory ends with the program."""

    def note_faults(self, faults: object) -> None:
        """A world in memory ends with the program."""

    def __iter__(self) -> Iterator[Act]:
        return iter(self._acts)

    def __len__(self) -> int:
        return len(self._acts)
