"""How far a world's memory is ahead of its file, and what was gathered and is not written yet."""

from dataclasses import dataclass, field
from itertools import groupby

from sandbox.world.log.marks import ActRow, Head


@dataclass(eq=False, slots=True)
class Backlog:
    """Of one world. Once something of it could not be written, all later than that is built on sand: it is lost, and
    the world is read back with an Backlog of its own."""

    world: int
    head: Head = Head(0, 0)  # as it is in the file
    taken: int = 0  # acts and notes so far
    kept: int = 0  # how many of them are written
    lost: bool = False
    server: int = 0  # that has the world, where several share a place
    epoch: int = 0  # under which it has it
    noted: tuple[bytes, bytes | None] | None = None  # its pace and its faults, as they are kept


Logs = list[tuple[Backlog, list[ActRow]]]


@dataclass(slots=True)
class Batch:
    """Acts in order, and of what changes without an act only the last state."""

    acts: list[tuple[Backlog, ActRow]] = field(default_factory=list)
    noted: dict[tuple[str, Backlog], bytes] = field(default_factory=dict)
    taken: dict[Backlog, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.taken)

    def take(self, backlog: Backlog) -> None:
        backlog.taken += 1
        self.taken[backlog] = backlog.taken

    def logs(self) -> Logs:
        """The acts of each world, in order."""
        ordered = sorted(self.acts, key=lambda pair: pair[0].world)
        return [(backlog, [row for _, row in pairs]) for backlog, pairs in groupby(ordered, key=lambda pair: pair[0])]
