"""The acts of a world in memory, and their replay."""

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
    """A verb with its arguments and its bank time."""

    at: datetime
    verb: str
    arguments: tuple[Any, ...]
    made: int = 0  # how much the bank had made after it, so that who plays it again sees at once where it goes astray
    id: str = ""  # of the change that it belongs to, which the ids of the bank are drawn with; empty: of none


ACT_WEIGHT = 500  # bytes: about what one takes without a file, which is nearly all that an act can weigh


class PackedCheckpoint(NamedTuple):
    """A compressed bank after the first `acts` acts."""

    acts: int
    at: datetime
    bank: bytes
    passed: int = 0  # bytes of all acts so far


class CheckpointTask:
    """Writes a checkpoint from a copy of the bank in a thread of its own. `done` is set when it is complete."""

    def __init__(self, acts: int, bank: Bank, passed: int) -> None:
        self.done: PackedCheckpoint | None = None

        def pack() -> None:
            self.done = PackedCheckpoint(acts, bank.clock.now, checkpoint.pack(bank), passed)
            release_bank(bank)

        self.thread = threading.Thread(target=pack, name="compaction", daemon=True)
        self.thread.start()


class MemoryLog:
    """The acts of a world without a store. Replayed after its beginning or the earlier checkpoint, they give the same
    bank.

    At every second checkpoint, the acts before the earlier one are dropped. So at least half of the acts that may be
    kept always are.
    """

    def __init__(self, folded: PackedCheckpoint | None = None) -> None:
        self._acts = list[Act]()  # since the earlier checkpoint
        self.folded = folded
        self._later: PackedCheckpoint | None = None
        self._folding: CheckpointTask | None = None
        self._tried = 0  # acts, at the last checkpoint that was begun
        self._passed = self._passed_tried = 0  # bytes of all acts so far, and at that checkpoint

    def append(self, act: Act) -> None:
        self._finish_folding()
        self._acts.append(act)
        files = sum(len(argument) for argument in act.arguments if isinstance(argument, bytes | str))
        self._passed += ACT_WEIGHT + files

    def note(self, bank: Bank, act: Act) -> None:
        """Appends an act. Begins a checkpoint if half of the acts or bytes that may be kept came since the last one."""
        self.append(act)
        heavy = self._passed - self._passed_tried > bank.decisions.acts_bytes_max // 2
        if heavy or self.acts_until_checkpoint(bank.decisions.acts_kept) <= 0:
            self.keep_checkpoint(bank)

    def acts_until_checkpoint(self, most: int) -> int:
        """The acts until the next checkpoint: half of `most` after the last one, and more in a log that is long
        already."""
        last = max(self._tried, self._before)
        return last + max(most // 2, last // checkpoint.SHARE) - len(self)

    @property
    def weight(self) -> int:
        """The bytes of the stored acts, approximately."""
        before = self.folded.passed if self.folded else 0
        return self._passed - before + sum(len(packed.bank) for packed in (self.folded, self._later) if packed)

    def first(self, count: int) -> "MemoryLog":
        """A new log of the first `count` acts."""
        earlier = MemoryLog()
        earlier.folded = self.folded
        earlier._acts = self._acts[: max(count - self._before, 0)]
        earlier._passed = self._passed  # or less
        return earlier

    def until(self, at: datetime) -> "MemoryLog":
        """A new log of the acts up to a time after `folded`."""
        return self.first(self._before + sum(act.at <= at for act in self._acts))

    def keep_checkpoint(self, bank: Bank) -> None:
        """Begins a checkpoint of all acts so far. It is used once a later call finds it complete."""
        self._finish_folding()
        self._tried, self._passed_tried = len(self), self._passed
        if self._folding is None:
            self._folding = CheckpointTask(len(self), copy_bank(bank), self._passed)

    def _finish_folding(self) -> None:
        """Drops the acts before the last checkpoint once the next one is written."""
        folding = self._folding
        if folding is None or folding.thread.is_alive():
            return
        self._folding = None
        if folding.done is None:
            return
        if self._later is not None:
            del self._acts[: self._later.acts - self._before]
            self.folded = self._later
        self._later = folding.done

    @property
    def _before(self) -> int:
        return self.folded.acts if self.folded else 0

    def __iter__(self) -> Iterator[Act]:
        return iter(self._acts)

    def __len__(self) -> int:
        return self._before + len(self._acts)


class ReplayMismatch(Exception):
    """A replayed act has another outcome than the first time."""


def play(
    bank: Bank, acts: Iterable[Act], done: int = 0, advance: Callable[[Bank, datetime], None] = timeline.advance
) -> int:
    """Replays acts, each at its own time. Returns `done` plus their number."""
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
