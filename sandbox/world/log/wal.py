"""The WAL of a state file. What it holds is moved into the file beside the calls: SQLite itself would do so inside a
caller's commit. What SQLite leaves out at its end is found: it stops at the first frame that is not whole, and does not
say so.

The layout is that of https://www.sqlite.org/fileformat.html#the_write_backlog_log: a header of 32 bytes, then frames,
each with a header of 24 bytes and one page. A WAL is written again from its start, each time with new salts, so frames
of an earlier use may follow the last one of today.
"""

import sqlite3
import struct
import threading
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

from sandbox.world.log.format import FAILURES, DamageError

HEADER = struct.Struct(">8I")  # magic, version, page size, number, two salts, two sums
FRAME = struct.Struct(">6I")  # page, pages of the file after a commit, two salts, two sums
MAGIC = (0x377F0682, 0x377F0683)
USES_MAX = 2**24  # of one WAL; its first salt grows by one each time
COMMITS = 250  # between two moves; about 1,000 pages
GROWTH = 4_000_000  # bytes: large commits are moved earlier
PAGES_MAX = 8_000  # beyond that the rest is moved while no caller writes, so that the WAL begins again from its start

Sums = tuple[int, int]


class Frame(NamedTuple):
    """The header of a frame."""

    page: int
    pages: int  # of the file after a commit, else 0
    salts: tuple[int, int]
    sums: Sums


class Wal:
    """Reads frames by their numbers."""

    def __init__(self, file: BinaryIO, named: str) -> None:
        content = file.read(HEADER.size)
        magic, _, page, _, *rest = HEADER.unpack(content)
        self.file = file
        self.step = FRAME.size + page
        self.order = ">" if magic & 1 else "<"  # of the bytes that the sums are made of
        self.salts, self.sums = (rest[0], rest[1]), (rest[2], rest[3])
        if magic not in MAGIC or _summed(content[:24], self.order, (0, 0)) != self.sums:
            raise DamageError(f"{named} is damaged: the first bytes of its WAL are not as they were written")

    def _read(self, at: int) -> bytes:
        self.file.seek(HEADER.size + at * self.step)
        return self.file.read(self.step)

    def frame(self, at: int) -> Frame | None:
        content = self._read(at)[: FRAME.size]
        if len(content) < FRAME.size:
            return None
        page, pages, *rest = FRAME.unpack(content)
        return Frame(page, pages, (rest[0], rest[1]), (rest[2], rest[3]))

    def whole(self, at: int, sums: Sums) -> Frame | None:
        """A frame of this use that follows from those sums."""
        content, frame = self._read(at), self.frame(at)
        if frame is None or len(content) < self.step or frame.salts != self.salts:
            return None
        after = _summed(content[FRAME.size :], self.order, _summed(content[:8], self.order, sums))
        return frame if frame.sums == after else None


def lost_tail(path: Path, named: str, recovered: int) -> str | None:
    """What to say of the frames after those that SQLite recovered; a DamageError if whole writes follow a hole."""
    unfinished = f"its last write was not finished, or the end of {path.name} is damaged: what that held is left out"
    with path.open("rb") as file:
        length = path.stat().st_size
        if length < HEADER.size:
            return unfinished if length else None
        wal = Wal(file, named)
        at = _after_whole_frames(wal, recovered)
        if at * wal.step + HEADER.size >= length:
            return None
        if _is_followed_by_a_write(wal, at):
            raise DamageError(
                f"{named} is damaged: {path.name} has a hole after {recovered} of its pages, and what was written "
                f"later cannot be read. To go on without all that it holds, move {path.name} away"
            )
        found = wal.frame(at)
        return None if found is not None and _is_of_an_earlier_use(found.salts, wal.salts) else unfinished


def _after_whole_frames(wal: Wal, recovered: int) -> int:
    """Past the frames of a write that never ended but is whole so far: nobody was answered upon it."""
    at, last = recovered, wal.frame(recovered - 1) if recovered else None
    assert last is not None or not recovered
    while (whole := wal.whole(at, last.sums if last else wal.sums)) is not None:
        at, last = at + 1, whole
    return at


def _is_followed_by_a_write(wal: Wal, at: int) -> bool:
    """Whether the last frame of a write that ended lies after a hole, with a whole one before it. What is left of a
    write that never ended has no such frame."""
    while (before := wal.frame(at)) is not None:
        at += 1
        whole = wal.whole(at, before.sums)
        if whole is not None and whole.pages:
            return True
    return False


def _is_of_an_earlier_use(salts: tuple[int, int], today: tuple[int, int]) -> bool:
    behind = (today[0] - salts[0]) % 2**32
    is_of_this_use = salts[0] == today[0] or salts[1] == today[1]  # either, as one of them may be damaged
    return 0 < behind < USES_MAX and not is_of_this_use and any(salts)


def _summed(content: bytes, order: str, sums: Sums) -> Sums:
    """SQLite's own sum, eight bytes at a time."""
    first, second = sums
    for one, other in struct.iter_unpack(f"{order}2I", content):
        first = (first + one + second) & 0xFFFFFFFF
        second = (second + other + first) & 0xFFFFFFFF
    return first, second


class WalWriter:
    """Has a connection of its own, as one connection does one thing at a time."""

    def __init__(self, database: sqlite3.Connection, path: Path, turn: threading.RLock) -> None:
        self._database = database
        self._wal = path.with_name(f"{path.name}-wal")
        self._turn = turn  # of those who write
        self._commits = 0
        self._size = 0
        self._thread: threading.Thread | None = None

    def note_commit(self) -> None:
        """For a caller that has its turn."""
        self._commits += 1
        if self._commits < COMMITS and self._wal_size() - self._size < GROWTH:
            return
        if self._thread is None or not self._thread.is_alive():
            self._commits, self._size = 0, self._wal_size()
            self._thread = threading.Thread(target=self._move, name="wal", daemon=True)
            self._thread.start()

    def _wal_size(self) -> int:
        try:
            return self._wal.stat().st_size
        except OSError:
            return 0

    def _move(self) -> None:
        with suppress(*FAILURES):  # a full disk: tried again later, and commits refuse by themselves
            if self._move_all() > PAGES_MAX:
                with self._turn:
                    self._move_all()

    def _move_all(self) -> int:
        """The answer is how many pages the WAL has."""
        return int(self._database.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()[1])

    def end(self) -> None:
        if self._thread is not None:
            self._thread.join()
