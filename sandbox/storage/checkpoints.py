"""A bank as it stood after so many acts, so that a world is loaded without doing all its acts again.

The content is written in pieces, each in a transaction of its own, and counts once the row in `checkpoints` names it.
A checkpoint of another program, or one that is damaged, is ignored: the acts say the same, and take longer.
"""

import secrets
import threading
from collections.abc import Iterable
from hashlib import blake2b
from typing import NamedTuple

from sandbox.storage.database import Database, Transaction
from sandbox.storage.marks import LogHead, checksum_of, digest_of
from sandbox.storage.store import Store


class Checkpoint(NamedTuple):
    head: LogHead
    bank: bytes


class Checkpoints:
    """The last one of each world."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._lock = threading.Lock()
        self._under_way: set[int] = set()  # worlds

    def read(self, world: int, shape: str) -> Checkpoint | None:
        select = self.store.database.select
        query = "SELECT world, acts, head, shape, attempt, digest, mark FROM checkpoints WHERE world = ?"
        rows = select(query, world)
        if not rows:
            return None
        *content, mark = rows[0]
        _, acts, head, written_by, attempt, digest = content
        if checksum_of(*content) == mark:
            if written_by != shape:
                return None
            of_attempt = "SELECT content FROM pieces WHERE world = ? AND acts = ? AND attempt = ? ORDER BY number"
            pieces = select(of_attempt, world, acts, attempt)
            if all(isinstance(piece, bytes) for (piece,) in pieces):
                bank = b"".join(piece for (piece,) in pieces)
                if digest_of(bank) == digest:
                    return Checkpoint(LogHead(acts, head), bank)
            if select(query, world) != rows:  # another server wrote the next one meanwhile
                return self.read(world, shape)
        self.store.note(f"the checkpoint of its world {world} is damaged and is not used: all acts are done again")
        return None

    def write(self, world: int, head: LogHead, shape: str, bank: Iterable[bytes]) -> None:
        """One at a time of each world: another that comes meanwhile is not written."""
        with self._lock:
            if world in self._under_way:
                return
            self._under_way.add(world)
        try:
            self._write(world, head, shape, bank)
        finally:
            with self._lock:
                self._under_way.remove(world)

    def _write(self, world: int, head: LogHead, shape: str, bank: Iterable[bytes]) -> None:
        database = self.store.database
        if self._is_there(database, world, head, shape):
            return
        attempt = secrets.randbits(62)
        digest = blake2b(digest_size=16)
        for number, content in enumerate(bank):
            digest.update(content)
            database.write("INSERT INTO pieces VALUES (?, ?, ?, ?, ?)", world, head.acts, attempt, number, content)
        self._complete(world, head, shape, attempt, digest.digest())

    @staticmethod
    def _is_there(database: Database | Transaction, world: int, head: LogHead, shape: str) -> bool:
        """Whether another server has written this checkpoint or a later one."""
        latest = database.select("SELECT acts, head, shape FROM checkpoints WHERE world = ?", world)
        return bool(latest) and (latest[0] == (*head, shape) or latest[0][0] > head.acts)

    def _complete(self, world: int, head: LogHead, shape: str, attempt: int, digest: bytes) -> None:
        """Makes the checkpoint count, if the world and the acts that it stands for are still there.

        Deletes the pieces of earlier checkpoints and of other attempts at this one. Such an attempt may still go on; it
        finds out here that it is too late.
        """
        row = (world, *head, shape, attempt, digest)

        def work() -> None:
            with self.store.database.transaction() as transaction:
                there = transaction.select(f"SELECT acts FROM worlds WHERE id = ?{self.store.database.lock_row}", world)
                follows = not head.acts or transaction.select(
                    "SELECT 1 FROM acts WHERE world = ? AND number = ? AND mark = ?", world, *head
                )
                if there and follows and not self._is_there(transaction, world, head, shape):
                    transaction.write("DELETE FROM checkpoints WHERE world = ?", world)
                    transaction.write_rows("checkpoints", [(*row, checksum_of(*row))])
                    transaction.write(
                        "DELETE FROM pieces WHERE world = ? AND attempt <> ? AND acts <= ?", world, attempt, head.acts
                    )
                else:
                    transaction.write("DELETE FROM pieces WHERE world = ? AND attempt = ?", world, attempt)

        self.store.database.repeat(work)
