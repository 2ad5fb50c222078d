"""A world's records beside its bank: its last calls, and what other rooms keep of it.

Calls are kept as they come, each portion once: in the table of pieces, under a number of acts that no checkpoint has.
"""

import pickle
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from sandbox.world.log import checkpoint
from sandbox.world.log.checkpoint import print_of, read_plain
from sandbox.world.log.checkpoints import PIECE
from sandbox.world.log.marks import digest_of, mark_of

if TYPE_CHECKING:
    from sandbox.world.log.place import Database, Place

FORM = "trail 1"
CALLS = -1  # stands where a checkpoint has its number of acts
DIGEST = 16  # bytes, before each portion
ASIDE = """INSERT INTO aside VALUES (?, ?, ?)
  ON CONFLICT (world) DO UPDATE SET content = excluded.content, mark = excluded.mark"""
ROOMS = ("referee", "world/calls.py")  # whose records are in what is kept

Call = tuple[Any, ...]


class Trail(NamedTuple):
    """Of one world: the calls since the last time, the number of the oldest one that memory has, and the rest."""

    world: int
    calls: Sequence[Call]
    oldest: int
    made: int  # calls, ever
    limits: Any  # their counts
    rest: bytes = b""  # these two, and what other rooms keep

    def with_kept(self, kept: dict[str, bytes]) -> "Trail":
        return self._replace(rest=write_rest(self.made, self.limits, kept))


class Rest(NamedTuple):
    """How many calls there were ever, the counts of limits, and what other rooms keep."""

    made: int
    limits: Any
    kept: dict[str, bytes]


class Trails:
    """Writes several in one transaction, and reads one."""

    def __init__(self, connection: "Place") -> None:
        self.connection = connection

    def keep(self, trails: Sequence[Trail]) -> None:
        if not trails:
            return
        with self.connection.write() as database:
            for trail in trails:
                if self.connection.is_there(trail.world):
                    self._keep(database, trail)

    def _keep(self, database: "Database", trail: Trail) -> None:
        world = trail.world
        if trail.calls:
            content = pickle.dumps(list(trail.calls), protocol=5)
            database.execute(PIECE, (world, CALLS, trail.calls[-1][0], digest_of(content) + content))
            gone = "DELETE FROM pieces WHERE world = ? AND acts = ? AND number < ?"
            database.execute(gone, (world, CALLS, trail.oldest))
        database.execute(ASIDE, (world, trail.rest, mark_of(world, trail.rest)))

    def read(self, world: int) -> tuple[list[Call], Rest]:
        """A bank is worth more than its calls: where they are damaged, that is a note, and they begin anew."""
        query = "SELECT content FROM pieces WHERE world = ? AND acts = ? ORDER BY number"
        with self.connection.read() as database:
            row = database.execute("SELECT * FROM aside WHERE world = ?", (world,)).fetchone()
            pieces = database.execute(query, (world, CALLS)).fetchall()
        try:
            if row is not None and mark_of(*row[:-1]) != row[-1]:
                raise ValueError("its mark")
            return [call for (piece,) in pieces for call in _calls(piece)], read_rest(None if row is None else row[1])
        except Exception as fault:  # whatever damaged content leads to
            self.connection.note(f"the calls and findings of its world {world} are damaged and are not used: {fault}")
            return [], Rest(0, None, {})


@cache
def shape() -> str:
    """A print of the program that knows how to read what rooms keep; another one begins anew with that."""
    return print_of(ROOMS, checkpoint.shape().encode())


def write_rest(made: int, limits: Any, kept: dict[str, bytes]) -> bytes:
    return pickle.dumps((FORM, shape(), made, limits, kept), protocol=5)


def read_rest(content: bytes | None) -> Rest:
    """Nothing where nothing was put, or by a program that put something else there."""
    found = None if content is None else read_plain(content)
    if found is None or found[0] != FORM:
        return Rest(0, None, {})
    _, program, made, limits, kept = found
    return Rest(made, limits, kept if program == shape() else {})


def _calls(piece: bytes) -> list[Call]:
    content = piece[DIGEST:]
    if digest_of(content) != piece[:DIGEST]:
        raise ValueError("a portion of calls")
    found: list[Call] = read_plain(content)
    return found
