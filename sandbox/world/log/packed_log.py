"""So many acts of a state file, in memory while another world or an export is made of them.

They are kept packed, as their columns: 200,000 acts are many million objects, and to give those back would stop every
thread.
"""

import marshal
import zlib
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from itertools import islice

from sandbox.world.log.marks import ActRow
from sandbox.world.log.memory_log import Act, MemoryLog
from sandbox.world.pausing import pause

PIECE = 200  # acts


class PackedLog:
    """Read once; each pass over it makes the acts anew."""

    folded = None

    def __init__(self, rows: Iterable[ActRow], act_of: Callable[[ActRow], Act]) -> None:
        self._act_of = act_of
        self._pieces: list[bytes] = []
        self._length = 0
        rest = iter(rows)
        while piece := [tuple(row) for row in islice(rest, PIECE)]:
            self._pieces.append(zlib.compress(marshal.dumps(piece), 1))
            self._length += len(piece)
            pause()

    def until(self, at: datetime) -> MemoryLog:
        """A log of its own, with the acts up to a time."""
        earlier = MemoryLog()
        for act in self:
            if act.at <= at:
                earlier.append(act)
        return earlier

    def __iter__(self) -> Iterator[Act]:
        for piece in self._pieces:
            for row in marshal.loads(zlib.decompress(piece)):
                yield self._act_of(ActRow(*row))

    def __len__(self) -> int:
        return self._length
