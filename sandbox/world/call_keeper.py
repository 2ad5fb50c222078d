"""Keeps the calls, the findings and the counts of limits of worlds that were called, beside the calls."""

import threading
from contextlib import ExitStack
from itertools import islice
from logging import getLogger
from typing import TYPE_CHECKING

from sandbox.world.log.format import StateFileError
from sandbox.world.trailed_world import TrailedWorld

if TYPE_CHECKING:
    from sandbox.world.log.state_store import StateStore

log = getLogger("sandbox")
AT_ONCE = 20  # worlds in one transaction: an answer waits for no more than that
EVERY = 1.0  # seconds: what a kill may lose
SHARE = 9  # at the most a tenth of the time goes into it: many busy worlds are kept less often


class CallKeeper:
    """One thread for all worlds of a server; it begins with the first call."""

    def __init__(self, store: "StateStore") -> None:
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
            touched, self._touched = self._touched, {}
            worlds = iter(touched.values())
            while portion := list(islice(worlds, AT_ONCE)):
                try:
                    self._keep(portion)
                except StateFileError:
                    self._touched = {id(world): world for world in portion} | self._touched
                except Exception:  # our mistake; no call depends on it
                    log.exception("the calls of worlds could not be kept")

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
