"""Checkpoints of banks: written in pieces, so that no flush waits for more than one of them."""

import threading
from collections.abc import Iterable
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from sandbox.world.log.marks import Head, digest_of, mark_of

if TYPE_CHECKING:
    from sandbox.world.log.place import Place
    from sandbox.world.log.writer import Writer

PIECE = """INSERT INTO pieces VALUES (?, ?, ?, ?)
  ON CONFLICT (world, acts, number) DO UPDATE SET content = excluded.content"""
WHOLE = """INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (world) DO UPDATE SET acts = excluded.acts,
  head = excluded.head, shape = excluded.shape, content = excluded.content, mark = excluded.mark"""
OTHER = """DELETE FROM pieces WHERE (world, acts, number) IN
  (SELECT world, acts, number FROM pieces WHERE world = ? AND acts != ? AND acts >= 0 LIMIT 1)"""
FOLLOWS = "SELECT 1 FROM acts WHERE world = ? AND number = ? AND mark = ?"


class Checkpoint(NamedTuple):
    """A bank as it was written down, and after which acts."""

    head: Head
    bank: bytes


class Checkpoints:
    """The last one of each world."""

    def __init__(self, connection: "Place", writer: "Writer") -> None:
        self.connection = connection
        self.writer = writer
        self._lock = threading.Lock()
        self._under_way: set[int] = set()  # worlds whose checkpoint is being written

    def read(self, world: int, shape: str) -> Checkpoint | None:
        """One of another shape is none; one that is damaged is not needed, but told."""
        pieces = "SELECT content FROM pieces WHERE world = ? AND acts = ? ORDER BY number"
        with self.connection.read() as database:
            row = database.execute("SELECT * FROM checkpoints WHERE world = ?", (world,)).fetchone()
            whole = row is None or mark_of(*row[:-1]) == row[-1]
            if row is None or (whole and row[3] != shape):
                return None
            parts = [piece for (piece,) in database.execute(pieces, row[:2])] if whole else []
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
