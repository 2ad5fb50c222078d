"""Stores the acts of a world in memory, and replays acts."""

import threading
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any, NamedTuple

from sandbox.bank import timeline
from sandbox.bank.state import Bank
from sandbox.bank.verbs import VERBS
from sandbox.contract.errors import Refusal
from sandbox.storage import checkpoint
from sandbox.storage.bank_copy import copy_bank, release_bank


class Act(NamedTuple):
    """One change of a bank: a verb with its arguments, and the bank time at which it ran."""

    at: datetime
    verb: str
    arguments: tuple[Any, ...]
    made: int = 0  # `Bank.made` after the act, so that a replay detects the first act with another outcome
    id: str = ""  # the id of its change, in a shared world; the bank's random values depend on it


ACT_WEIGHT = 500  # the approximate bytes of an act without a file in memory


class PackedCheckpoint(NamedTuple):
    """A bank after its first `acts` acts, as compressed bytes."""

    acts: int
    at: datetime
    bank: bytes
    passed: int = 0  # the bytes of all acts before it


class CheckpointTask:
    """Writes a checkpoint from a copy of the bank in its own thread.

    The thread sets `has_ended` when its work is done. `Thread.is_alive` is no substitute, because it stays true for a
    moment after the work. In that moment a complete checkpoint would not be used.
    """

    def __init__(self, acts: int, bank: Bank, passed: int) -> None:
        self.done: PackedCheckpoint | None = None  # stays None if writing failed
        self.has_ended = False

        def pack() -> None:
            try:
                self.done = PackedCheckpoint(acts, bank.clock.now, checkpoint.pack(bank), passed)
            finally:
                self.has_ended = True
            release_bank(bank)

        threading.Thread(target=pack, name="compaction", daemon=True).start()


class MemoryLog:
    """The acts of a world without a store. Replayed from the world's beginning, or from the checkpoint `start` if there
    is one, they give the world's bank.

    Each complete checkpoint drops the acts before the previous checkpoint. A checkpoint is due after half of the acts
    that may be kept, so at least half of them always stay.
    """

    def __init__(self, start: PackedCheckpoint | None = None) -> None:
        self._acts = list[Act]()  # the acts since `start`
        self.start = start
        self._later: PackedCheckpoint | None = None
        self._task: CheckpointTask | None = None
        self._tried = 0  # the number of acts when the last checkpoint was begun
        self._passed = self._passed_tried = 0  # the bytes of all acts so far, and when the last checkpoint was begun

    def append(self, act: Act) -> None:
        self._finish_checkpoint()
        self._acts.append(act)
        files = sum(len(argument) for argument in act.arguments if isinstance(argument, bytes | str))
        self._passed += ACT_WEIGHT + files

    def note(self, bank: Bank, act: Act) -> None:
        """Appends an act. Begins a checkpoint if the acts since the last one exceed half of the permitted bytes, or if
        `count_until_checkpoint` says that one is due."""
        self.append(act)
        heavy = self._passed - self._passed_tried > bank.decisions.acts_bytes_max // 2
        if heavy or self.count_until_checkpoint(bank.decisions.acts_kept) <= 0:
            self.keep_checkpoint(bank)

    def count_until_checkpoint(self, most: int) -> int:
        """Returns the number of acts until the next checkpoint is due. `most` is the number of acts that may be kept.
        The next checkpoint is due `most` / 2 acts after the last one, or after a quarter of the acts that the last one
        had, whichever is later."""
        last = max(self._tried, self._before)
        return last + max(most // 2, last // checkpoint.SHARE) - len(self)

    @property
    def weight(self) -> int:
        """The approximate bytes of the acts and checkpoints in memory."""
        before = self.start.passed if self.start else 0
        return (
            self._passed - before + sum(len(checkpoint.bank) for checkpoint in (self.start, self._later) if checkpoint)
        )

    def copy_first(self, count: int) -> "MemoryLog":
        """Returns a new log of the first `count` acts, counted from the world's beginning. The acts before `start` are
        not in it, because they were dropped."""
        earlier = MemoryLog()
        earlier.start = self.start
        earlier._acts = self._acts[: max(count - self._before, 0)]
        earlier._passed = self._passed  # too many if acts are left out; only the estimate of the memory depends on it
        return earlier

    def copy_until(self, at: datetime) -> "MemoryLog":
        """Returns a new log of the acts up to a time. The time must not be before `start`."""
        return self.copy_first(self._before + sum(act.at <= at for act in self._acts))

    def keep_checkpoint(self, bank: Bank) -> None:
        """Begins a checkpoint of all acts so far in the background, unless one is being written. After it is complete,
        the next act that is added makes the log use it."""
        self._finish_checkpoint()
        self._tried, self._passed_tried = len(self), self._passed
        if self._task is None:
            self._task = CheckpointTask(len(self), copy_bank(bank), self._passed)

    def _finish_checkpoint(self) -> None:
        """If the checkpoint in the background is complete, adds it to the log. If the log has an earlier checkpoint,
        drops the acts before that one, which becomes the start of the log. Ignores a checkpoint that could not be
        written."""
        task = self._task
        if task is None or not task.has_ended:
            return
        self._task = None
        if task.done is None:
            return
        if self._later is not None:
            del self._acts[: self._later.acts - self._before]
            self.start = self._later
        self._later = task.done

    @property
    def _before(self) -> int:
        return self.start.acts if self.start else 0

    def __iter__(self) -> Iterator[Act]:
        return iter(self._acts)

    def __len__(self) -> int:
        return self._before + len(self._acts)


class ReplayMismatch(Exception):
    """A replayed act has another outcome than it had when it was logged."""


def play(
    bank: Bank, acts: Iterable[Act], done: int = 0, advance: Callable[[Bank, datetime], None] = timeline.advance
) -> int:
    """Replays acts, each at its own time. `advance` moves the bank's clock to that time. `done` is the number of acts
    that the bank already has. Returns `done` plus the number of replayed acts. Raises ReplayMismatch if an act has
    another outcome than it had when it was logged."""
    for act in acts:
        done += 1
        bank.mint.salt = act.id
        advance(bank, act.at)
        try:
            VERBS[act.verb](bank, *act.arguments)
        except Refusal as refusal:
            if not refusal.lasting:
                raise ReplayMismatch(f"act {done} ({act.verb}) was taken once and is refused now: {refusal}") from None
        if act.made and act.made != bank.made:
            raise ReplayMismatch(
                f"act {done} ({act.verb}) goes another way than it went: {bank.made} and not {act.made}"
            )
    bank.mint.salt = ""
    return done
