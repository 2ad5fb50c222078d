"""What all worlds of a server keep in memory beside money, bounded in bytes: calls, acts, and files that wait; and how
their calls, their findings and the counts of limits are kept in a file, beside the calls.

The calls of the world that nobody called for longest go first, then acts are compacted. Money never goes.
"""

import threading
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from logging import getLogger

from sandbox.contract.errors import Error, Refusal
from sandbox.world.log.format import StateFileError
from sandbox.world.log.memory_log import MemoryLog
from sandbox.world.log.state_store import StateStore
from sandbox.world.trailed_world import TrailedWorld

log = getLogger("sandbox")
AT_ONCE = 20  # worlds in one transaction: an answer waits for no more than that
EVERY = 1.0  # seconds: what a kill may lose
SHARE = 9  # at the most a tenth of the time goes into it: many busy worlds are kept less often
FILES_SHARE = 4  # a quarter may be files that wait
WEIGHED_SHARE = 64  # weighing all worlds takes as long as there are many: after a 64th more, not after each call


@dataclass(frozen=True, slots=True)
class Room:
    """How much one server holds."""

    worlds_max: int = 10_000  # in memory; without a state file there are no more than these
    put_away_after: float = 1800.0  # seconds without a call, by the machine's clock; needs a state file
    history_max: int = 500_000_000  # bytes that memory keeps beside money: calls, acts, files that wait


USUAL = Room()


class History:
    """Weighs all worlds now and then, and lets the oldest go."""

    def __init__(self, most: int, worlds: Callable[[], Iterable[TrailedWorld]]) -> None:
        self.most = most
        self._worlds = worlds
        self._grown = 0

    def grew(self, weight: int) -> None:
        """So many bytes came; races between callers cost exactness, and nothing else."""
        self._grown += weight
        if self._grown >= self.most // WEIGHED_SHARE:
            self._grown = 0
            self.shed()

    def shed(self) -> None:
        worlds = [world for world in self._worlds() if not world.is_unloaded]
        excess = sum(map(weight_of, worlds)) - self.most
        if excess <= 0:
            return
        idle_first = sorted(worlds, key=lambda world: world.used)
        for share in (2, 1):  # a half of the calls, then all
            for world in idle_first:
                if excess <= 0:
                    return
                excess -= forget_calls(world, share)
        compact(max(worlds, key=weight_of))  # one at a time: it takes a while

    def demand_files(self, size: int) -> None:
        """Whether one more file that waits fits beside those of all worlds; a single one always does."""
        waiting = sum(map(files_weight, self._worlds()))
        if waiting and waiting + size > self.most // FILES_SHARE:
            decided = {"bytes_waiting": waiting, "bytes_of_this": size, "bytes_allowed": self.most // FILES_SHARE}
            raise Refusal(Error.FILES_FULL, decided=decided)


def weight_of(world: TrailedWorld) -> int:
    """Bytes that memory keeps of a world beside money; an unloaded world has none."""
    held = world.in_memory
    if held is None:
        return 0
    kept = held.exchanges, held.kept.get("contents"), held.log
    return sum(getattr(one, "weight", 0) for one in kept) + files_weight(world)


def files_weight(world: TrailedWorld) -> int:
    """Bytes of its files that wait for their validation."""
    held = world.in_memory
    return 0 if held is None else sum(list(held.bank.files_waiting.values()))


def forget_calls(world: TrailedWorld, share: int) -> int:
    """The oldest of them, a half or all; the answer is how many bytes went. Nobody waits for a busy world."""
    if not world._lock.acquire(blocking=False):
        return 0
    try:
        before, held = weight_of(world), world.in_memory
        for kept in () if held is None else (held.exchanges, held.kept.get("contents")):
            if kept:
                kept.forget(max(1, len(kept) // share))
        return before - weight_of(world)
    finally:
        world._lock.release()


def compact(world: TrailedWorld) -> None:
    """The acts before the checkpoint before this one go. Nobody waits for a busy world."""
    if not world._lock.acquire(blocking=False):
        return
    try:
        held = world.in_memory
        if held is not None and isinstance(held.log, MemoryLog):
            held.log.keep_checkpoint(held.bank)
    finally:
        world._lock.release()


class CallKeeper:
    """One thread for all worlds of a server; it begins with the first call."""

    def __init__(self, store: StateStore) -> None:
        self._store = store
        self._touched: dict[int, TrailedWorld] = {}
        self._lock = threading.Lock()  # of a round
        self._ends = threading.Event()
        self._thread: threading.Thread | None = None
        store.before_close.append(self.close)

    def touch(self, world: TrailedWorld) -> None:
        """Something came that is to be kept."""
        self._touched[id(world)] = world
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="calls", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        pause, stopwatch = EVERY, self._store.connection.stopwatch
        while not self._ends.wait(pause):
            began = stopwatch()
            self.keep_all()
            pause = max(EVERY, (stopwatch() - began) * SHARE)

    def keep_all(self) -> None:
        """Everything so far. What cannot be written now is written the next time."""
        with self._lock:
            # One by one, as calls touch worlds meanwhile.
            touched = [self._touched.popitem()[1] for _ in range(len(self._touched))]
            for first in range(0, len(touched), AT_ONCE):
                self._keep_or_put_back(touched[first : first + AT_ONCE])

    def _keep_or_put_back(self, worlds: list[TrailedWorld]) -> None:
        try:
            self._keep(worlds)
        except StateFileError:
            self._touched |= {id(world): world for world in worlds}
        except Exception:  # our mistake; no call depends on it
            if len(worlds) == 1:
                log.exception("the calls of the world %s could not be kept", worlds[0].name)
                return
            for world in worlds:  # each by itself, as one of them must not cost the others theirs
                self._keep_or_put_back([world])

    def _keep(self, worlds: list[TrailedWorld]) -> None:
        with ExitStack() as held:
            for world in worlds:
                held.enter_context(world.trailing)
            trails = [(world, trail) for world in worlds if (trail := world.trail()) is not None]
            self._store.trails.keep([trail for _, trail in trails])
            for world, trail in trails:
                world.note_trail(trail)

    def close(self) -> None:
        self._ends.set()
        self.keep_all()
