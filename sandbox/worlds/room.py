"""What one server holds in memory beside money, bounded in bytes: calls, acts, and files that wait.

The calls of the world that nobody called for longest go first, then acts are compacted. Money never goes.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from sandbox.contract.errors import Error, Refusal
from sandbox.worlds.world import World

FILES_SHARE = 4  # a quarter may be files that wait
WEIGHED_SHARE = 64  # weighing all worlds takes as long as there are many: after a 64th more, not after each call


@dataclass(frozen=True, slots=True)
class Room:
    """The limits of what a server holds."""

    worlds_max: int = 10_000  # in memory; without a store there are no more than these
    put_away_after: float = 1800.0  # seconds without a call, by the machine's clock; needs a store
    history_max: int = 500_000_000  # bytes that memory keeps beside money: calls, acts, files that wait
    worlds_expire: float | None = None  # seconds without a call after which a stored world is deleted
    acts_kept: int | None = None  # acts of a stored world after which earlier ones are deleted


USUAL = Room()


class History:
    """Weighs all worlds now and then, and lets the oldest go."""

    def __init__(self, most: int, worlds: Callable[[], Iterable[World]]) -> None:
        self.most = most
        self._worlds = worlds
        self._grown = 0

    def grew(self, weight: int) -> None:
        """Counts bytes that were added. Races between callers only cost exactness."""
        self._grown += weight
        if self._grown >= self.most // WEIGHED_SHARE:
            self._grown = 0
            self.shed()

    def shed(self) -> None:
        worlds = [world for world in self._worlds() if world.in_memory is not None]
        excess = sum(map(weight_of, worlds)) - self.most
        if excess <= 0:
            return
        idle_first = sorted(worlds, key=lambda world: world.used)
        for share in (2, 1):  # a half of the calls, then all
            for world in idle_first:
                if excess <= 0:
                    return
                excess -= world.forget_calls(share)
        max(worlds, key=weight_of).compact()  # one at a time: it takes a while

    def demand_files(self, size: int) -> None:
        """Refuses a file if the waiting files of all worlds would take too much. A single file always fits."""
        waiting = sum(world.files_weight for world in self._worlds())
        if waiting and waiting + size > self.most // FILES_SHARE:
            decided = {"bytes_waiting": waiting, "bytes_of_this": size, "bytes_allowed": self.most // FILES_SHARE}
            raise Refusal(Error.FILES_FULL, decided=decided)


def weight_of(world: World) -> int:
    return world.weight
