"""What lies in pieces beside a world's acts: checkpoints of its bank, so written that no flush waits for more than one
piece; and its last calls, with what other rooms keep of it.

Calls are kept as they come, each portion once: in the table of pieces, under a number of acts that no checkpoint has.
"""

import pickle
import threading
from collections.abc import Iterable, Sequence
from functools import cache
from hashlib import blake2b
from typing import Any, NamedTuple

from sandbox.world.log import checkpoint
from sandbox.world.log.checkpoint import print_of, read_plain
from sandbox.world.log.marks import Head, digest_of, mark_of
from sandbox.world.log.place import Database, Place
from sandbox.world.log.writer import Writer

PIECE = """INSERT INTO pieces VALUES (?, ?, ?, ?)
  ON CONFLICT (world, acts, number) DO UPDATE SET content = excluded.content"""
PIECES = "SELECT content FROM pieces WHERE world = ? AND acts = ? ORDER BY number"
WHOLE = """INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (world) DO UPDATE SET acts = excluded.acts,
  head = excluded.head, shape = excluded.shape, content = excluded.content, mark = excluded.mark"""
OTHER = """DELETE FROM pieces WHERE (world, acts, number) IN
  (SELECT world, acts, number FROM pieces WHERE world = ? AND acts != ? AND acts >= 0 LIMIT 1)"""
FOLLOWS = "SELECT 1 FROM acts WHERE world = ? AND number = ? AND mark = ?"
FORM = "trail 1"
CALLS = -1  # stands where a checkpoint has its number of acts
DIGEST = 16  # bytes, before each portion
ASIDE = """INSERT INTO aside VALUES (?, ?, ?)
  ON CONFLICT (world) DO UPDATE SET content = excluded.content, mark = excluded.mark"""
ROOMS = ("referee", "world/calls.py")  # whose records are in what is kept

Call = tuple[Any, ...]


class Checkpoint(NamedTuple):
    """A bank as it was written down, and after which acts."""

    head: Head
    bank: bytes


class Checkpoints:
    """The last one of each world."""

    def __init__(self, connection: Place, writer: Writer) -> None:
        self.connection = connection
        self.writer = writer
        self._lock = threading.Lock()
        self._under_way: set[int] = set()  # worlds whose checkpoint is being written

    def read(self, world: int, shape: str) -> Checkpoint | None:
        """The checkpoint of a world, or None. Another program's is ignored; a damaged one is ignored and noted."""
        with self.connection.read() as database:
            row = database.execute("SELECT * FROM checkpoints WHERE world = ?", (world,)).fetchone()
            whole = row is None or mark_of(*row[:-1]) == row[-1]
            if row is None or (whole and row[3] != shape):
                return None
            parts = [piece for (piece,) in database.execute(PIECES, row[:2])] if whole else []
        if whole and all(isinstance(part, bytes) for part in parts):
            content = b"".join(parts)
            if digest_of(content) == row[4]:
                return Checkpoint(Head(row[1], row[2]), content)
        self.connection.note(f"the checkpoint of its world {world} is damaged and is not used: all acts are done again")
        return None

    def keep(self, world: int, head: Head, shape: str, bank: Iterable[bytes]) -> None:
        """Only of a world that is still there, and only after the very acts that it stands for. One at a time of each
        world: another that comes meanwhile is not kept."""
        with self._lock:
            if world in self._under_way:
                return
            self._under_way.add(world)
        try:
            self._keep(world, head, shape, bank)
        finally:
            with self._lock:
                self._under_way.remove(world)

    def _keep(self, world: int, head: Head, shape: str, bank: Iterable[bytes]) -> None:
        self.writer.flush()
        with self.connection.read() as database:
            latest = database.execute("SELECT acts, head, shape FROM checkpoints WHERE world = ?", (world,)).fetchone()
            follows = not head.acts or database.execute(FOLLOWS, (world, *head)).fetchone()
        if latest == (*head, shape) or not follows:
            return
        self._clear(world, latest[0] if latest else -1)  # of one that was cut short
        found = blake2b(digest_size=16)
        for number, content in enumerate(bank):
            found.update(content)
            with self.connection.write() as database:
                if not self.connection.is_there(world):
                    return
                database.execute(PIECE, (world, head.acts, number, content))
        with self.connection.write() as database:
            if self.connection.is_there(world):
                row = (world, *head, shape, found.digest())
                database.execute(WHOLE, (*row, mark_of(*row)))
        self._clear(world, head.acts)

    def _clear(self, world: int, acts: int) -> None:
        """Deletes the pieces of other checkpoints, each by itself."""
        gone = 1
        while gone:
            with self.connection.write() as database:
                gone = database.execute(OTHER, (world, acts)).rowcount if self.connection.is_there(world) else 0


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

    def __init__(self, connection: Place) -> None:
        self.connection = connection
        self._damaged: set[int] = set()  # worlds whose calls begin anew: what is kept of them is replaced

    def keep(self, trails: Sequence[Trail]) -> None:
        if not trails:
            return
        with self.connection.write() as database:
            for trail in trails:
                if self.connection.is_there(trail.world):
                    self._keep(database, trail)
        self._damaged.difference_update(trail.world for trail in trails)

    def _keep(self, database: Database, trail: Trail) -> None:
        world = trail.world
        if world in self._damaged:
            database.execute("DELETE FROM pieces WHERE world = ? AND acts = ?", (world, CALLS))
        if trail.calls:
            content = pickle.dumps(list(trail.calls), protocol=5)
            database.execute(PIECE, (world, CALLS, trail.calls[-1][0], digest_of(content) + content))
            gone = "DELETE FROM pieces WHERE world = ? AND acts = ? AND number < ?"
            database.execute(gone, (world, CALLS, trail.oldest))
        database.execute(ASIDE, (world, trail.rest, mark_of(world, trail.rest)))

    def read(self, world: int) -> tuple[list[Call], Rest]:
        """A bank is worth more than its calls: where they are damaged, that is a note, and they begin anew."""
        with self.connection.read() as database:
            row = database.execute("SELECT * FROM aside WHERE world = ?", (world,)).fetchone()
            pieces = database.execute(PIECES, (world, CALLS)).fetchall()
        try:
            if row is not None and mark_of(*row[:-1]) != row[-1]:
                raise ValueError("what lies aside is not as it was written")
            return [call for (piece,) in pieces for call in _calls(piece)], read_rest(None if row is None else row[1])
        except Exception as fault:  # whatever damaged content leads to
            self._damaged.add(world)
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
    if not isinstance(piece, bytes) or digest_of(content := piece[DIGEST:]) != piece[:DIGEST]:
        raise ValueError("a portion of calls is not as it was written")
    found: list[Call] = read_plain(content)
    return found
