"""What a world was asked to do, kept in memory."""

import zlib
from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple

from sandbox.bank.state import Bank
from sandbox.world.log import checkpoint


class Act(NamedTuple):
    """One act by its name, with all it was given and the bank time it came at."""

    at: datetime
    verb: str
    arguments: tuple[Any, ...]
    made: int = 0  # how much the bank had made after it, so that who plays it again sees at once where it goes astray


class Folded(NamedTuple):
    """What so many acts came to: the bank as it stood then, made small."""

    acts: int
    at: datetime
    bank: bytes


class MemoryLog:
    """Acts in order; played again on the same beginning, or on what was folded, they give the same bank.

    There are two foldings: acts before the earlier one are gone, so that half of what may be kept always is.
    """

    def __init__(self) -> None:
        self._acts: list[Act] = []  # since the earlier folding
        self.folded: Folded | None = None
        self._later: Folded | None = None

    def append(self, act: Act) -> None:
        self._acts.append(act)

    def first(self, count: int) -> "MemoryLog":
        """A log of its own, with so many acts."""
        earlier = MemoryLog()
        earlier.folded = self.folded
        earlier._acts = self._acts[: count - self._before]
        return earlier

    def until(self, at: datetime) -> "MemoryLog":
        """A log of its own, with the acts up to a time, which lies after what was folded."""
        earlier = MemoryLog()
        earlier.folded = self.folded
        earlier._acts = [act for act in self._acts if act.at <= at]
        return earlier

    def is_checkpoint_due(self, kept: int) -> bool:
        """Whether half of what may be kept came since the last folding, and of a large world a share of all."""
        last = self._later.acts if self._later else self._before
        return len(self) - last >= max(kept // 2, last // checkpoint.SHARE)

    def keep_checkpoint(self, bank: Bank) -> None:
        """Folds all acts so far; those before the last time go."""
        if self._later is not None:
            del self._acts[: self._later.acts - self._before]
            self.folded = self._later
        self._later = Folded(len(self), bank.clock.now, zlib.compress(checkpoint.written(bank), 1))

    def begin_on(self, bank: Bank) -> None:
        """A fresh bank becomes what was folded; the acts that are left go on from there."""
        if self.folded is not None:
            checkpoint.read_onto(bank, zlib.decompress(self.folded.bank))

    @property
    def _before(self) -> int:
        return self.folded.acts if self.folded else 0

    def note_pace(self, pace: object) -> None:
        """A world in memory ends with the program."""

    def __iter__(self) -> Iterator[Act]:
        return iter(self._acts)

    def __len__(self) -> int:
        return self._before + len(self._acts)
