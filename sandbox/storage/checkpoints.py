"""Stores checkpoints: the bank after the first n acts of a world, so that loading replays only the later acts.

The content is written in pieces, each in its own transaction. It is used once a row in `checkpoints` names it. The last
checkpoint only saves time. If it is damaged or another program wrote it, it is ignored, because the acts give the same
bank.

A server can limit the acts that a world keeps (`--acts-kept`). Then a checkpoint becomes the start of the world from
time to time: its row is written again with `is_start`, and the acts before it are deleted, except the last
ACTS_BEFORE_START of them. Positions and marks do not change, so copies of the world on other servers stay right. A
server whose copy lacks acts that were deleted loads the world again from the start. From then on the start is needed.
So any later version of the program must read it, and if it is damaged, the world is damaged.
"""

import secrets
from collections.abc import Iterable
from datetime import UTC, datetime
from hashlib import blake2b
from typing import NamedTuple

from sandbox.storage.database import Database, Row, Transaction
from sandbox.storage.marks import LogHead, compute_checksum, compute_digest
from sandbox.storage.store import LAST, ROWS_AT_ONCE, START, Store, checkpoint_row

COLUMNS = "world, acts, head, at, shape, attempt, digest"
# Acts before a start that stay: a server that had no reply to its commit looks for its act within some seconds, and
# must find it. Three servers do not add as many in that time.
ACTS_BEFORE_START = 10_000


class Checkpoint(NamedTuple):
    head: LogHead
    at: datetime
    bank: bytes


class Checkpoints:
    """The checkpoints of each world of a store."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def read(self, world: int, shape: str) -> Checkpoint | None:
        """Returns the last checkpoint of a world. Returns None if there is none, if it is damaged, or if it was written
        with another `shape`. `shape` is the digest of the source files that define how a bank is written (see
        `compute_program_digest`)."""
        row = self._read_row(world, LAST)
        if row is None:
            return None
        *content, mark = row
        if compute_checksum(LAST, *content) == mark:
            if content[4] != shape:
                return None
            bank = self._read_content(world, content)
            if bank is not None:
                return Checkpoint(LogHead(*content[1:3]), datetime.fromisoformat(content[3]), bank)
            if self._read_row(world, LAST) != row:  # another server wrote the next one meanwhile
                return self.read(world, shape)
        self.store.note(f"the checkpoint of its world {world} is damaged and is not used: all acts are done again")
        return None

    def read_start(self, world: int) -> Checkpoint | None:
        """Returns the checkpoint from which the world starts, or None if its first acts were never deleted. Raises
        DamageError if the checkpoint is damaged."""
        row = self._read_row(world, START)
        if row is None:
            return None
        *content, mark = row
        bank = self._read_content(world, content) if compute_checksum(START, *content) == mark else None
        if bank is None:
            if self._read_row(world, START) != row:
                return self.read_start(world)
            raise self.store.note_damage(f"the bank that its world {world} starts with is not as it was written")
        return Checkpoint(LogHead(*content[1:3]), datetime.fromisoformat(content[3]), bank)

    def _read_row(self, world: int, which: int) -> Row | None:
        query = f"SELECT {COLUMNS}, mark FROM checkpoints WHERE world = ? AND is_start = ?"
        rows = self.store.database.select(query, world, which)
        return rows[0] if rows else None

    def _read_content(self, world: int, row: list[object]) -> bytes | None:
        _, acts, _, _, _, attempt, digest = row
        of_attempt = "SELECT content FROM pieces WHERE world = ? AND acts = ? AND attempt = ? ORDER BY number"
        pieces = self.store.database.select(of_attempt, world, acts, attempt)
        if not all(isinstance(piece, bytes) for (piece,) in pieces):
            return None
        bank = b"".join(piece for (piece,) in pieces)
        return bank if compute_digest(bank) == digest else None

    def write(self, world: int, head: LogHead, at: datetime, shape: str, bank: Iterable[bytes]) -> None:
        """Writes a checkpoint of a world. Does nothing if this checkpoint or a later one was already written. After the
        checkpoint is written, deletes old acts if the store limits the acts that are kept. `shape` is stored with the
        checkpoint, and `read` uses the checkpoint only if it is called with the same `shape`."""
        database = self.store.database
        if self._is_there(database, world, head, shape):
            return
        attempt = secrets.randbits(62)
        digest = blake2b(digest_size=16)
        for number, content in enumerate(bank):
            digest.update(content)
            database.write("INSERT INTO pieces VALUES (?, ?, ?, ?, ?)", world, head.acts, attempt, number, content)
        self._complete(world, (world, *head, at.astimezone(UTC).isoformat(), shape, attempt, digest.digest()))
        if self.store.acts_kept is not None:
            self.delete_acts(world, self.store.acts_kept)

    @staticmethod
    def _is_there(database: Database | Transaction, world: int, head: LogHead, shape: str) -> bool:
        """Whether the store has a later checkpoint of the world, or a checkpoint with the same `head` and `shape`.
        Another server may have written it. `head` is the position in the log, and `shape` is as in `read`."""
        query = "SELECT acts, head, shape FROM checkpoints WHERE world = ? AND is_start = 0"
        latest = database.select(query, world)
        return bool(latest) and (latest[0] == (*head, shape) or latest[0][0] > head.acts)

    def _complete(self, world: int, row: Row) -> None:
        """Makes a written checkpoint the last one of its world. `row` is its row without a mark. Deletes the pieces of
        the checkpoint instead if the world was dropped, if the world's log no longer has the last act of the
        checkpoint, or if there is a later checkpoint.

        Also deletes the pieces of earlier checkpoints, and of other attempts to write this one. A server that still
        writes such an attempt finds out here that it is too late. The pieces of the world's start stay.

        Only one thread at a time completes a checkpoint. In a state file, the reads of a transaction run before its
        writes, so two threads could otherwise delete each other's pieces.
        """
        _, acts, head, _, shape, attempt, _ = row

        def work() -> None:
            with self.store.database.transaction() as transaction:
                alive = transaction.select(f"SELECT acts FROM worlds WHERE id = ?{self.store.database.lock_row}", world)
                follows = not acts or transaction.select(
                    "SELECT 1 FROM acts WHERE world = ? AND number = ? AND mark = ?", world, acts, head
                )
                if alive and follows and not self._is_there(transaction, world, LogHead(acts, head), shape):
                    transaction.write("DELETE FROM checkpoints WHERE world = ? AND is_start = 0", world)
                    transaction.write_rows("checkpoints", [checkpoint_row(LAST, row)])
                    transaction.write(
                        """DELETE FROM pieces WHERE world = ? AND attempt <> ? AND acts <= ? AND attempt NOT IN
  (SELECT attempt FROM checkpoints WHERE world = ? AND is_start = 1)""",
                        world,
                        attempt,
                        acts,
                        world,
                    )
                else:
                    transaction.write("DELETE FROM pieces WHERE world = ? AND attempt = ?", world, attempt)

        with self.store.checkpoint_turn:
            self.store.database.repeat(work)

    def delete_acts(self, world: int, most: int) -> None:
        """Makes the last checkpoint the start of the world if at least `most` acts lie between it and the present
        start. Then deletes the acts that precede the start, except the last ACTS_BEFORE_START of them.

        The start is written first. If a server is killed in between, acts remain that nobody needs. The next call of
        this function deletes them.
        """

        def work() -> int:
            with self.store.database.transaction() as transaction:
                transaction.select(f"SELECT acts FROM worlds WHERE id = ?{self.store.database.lock_row}", world)
                query = f"SELECT {COLUMNS}, mark FROM checkpoints WHERE world = ? ORDER BY is_start"
                last, *start = transaction.select(query, world) or [()]
                before = start[0][1] if start else 0
                if not last or compute_checksum(LAST, *last[:-1]) != last[-1] or last[1] - before < most:
                    return int(before)
                transaction.write("DELETE FROM checkpoints WHERE world = ? AND is_start = 1", world)
                transaction.write_rows("checkpoints", [checkpoint_row(START, last[:-1])])
                return int(last[1])

        with self.store.checkpoint_turn:
            number = self.store.database.repeat(work) - ACTS_BEFORE_START
        query = "SELECT number FROM acts WHERE world = ? AND number <= ? ORDER BY number LIMIT ?"
        while rows := self.store.database.select(query, world, number, ROWS_AT_ONCE):
            self.store.database.write("DELETE FROM acts WHERE world = ? AND number <= ?", world, rows[-1][0])
