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
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

from sandbox.world.log.format import FAILURES, DamageError

HEADER = struct.Struct(">8I")  # magic, version, page size, number, two salts, two sums
FRAME = struct.Struct(">6I")  # page, pages of the file after a commit, two salts, two sums
MAGIC = (0x377F0682, 0x377F0683)
USES_MAX = 2**24  # of one WAL; its first salt grows by one each time
UNFINISHED = "its last write was not finished, or the end of {} is damaged: what that held is left out"
COMMITS = 250  # between two moves; about 1,000 pages
GROWTH = 4_000_000  # bytes: large commits are moved earlier
PAGES_MAX = 8_000  # beyond that the rest is moved while no caller writes, so that the WAL begins again from its start

Sums = tuple[int, int]


class Walk(NamedTuple):
    file: BinaryIO
    page: int
    order: str  # of the bytes that the sums are made of
    salts: tuple[int, int]
    sums: Sums  # of the header
    length: int


def lost_tail(path: Path, named: str, recovered: int) -> str | None:
    """What to say of the frames after those that SQLite recovered; a DamageError if whole writes follow a hole."""
    with path.open("rb") as file:
        length = path.stat().st_size
        if length < HEADER.size:
            return UNFINISHED.format(path.name) if length else None
        walk = _read_head(file, named, length)
        at = _after_whole_frames(walk, recovered)
        if at * _step(walk) + HEADER.size >= length:
            return None
        if _is_followed_by_a_write(walk, at):
            raise DamageError(
                f"{named} is damaged: {path.name} has a hole after {recovered} of its pages, and what was written "
                f"later cannot be read. To go on without all that it holds, move {path.name} away"
            )
        found = next(_headers(walk, at), None)
        return None if found is not None and _is_of_an_earlier_use(walk, found) else UNFINISHED.format(path.name)


def _read_head(file: BinaryIO, named: str, length: int) -> Walk:
    content = file.read(HEADER.size)
    magic, _, page, _, *rest = HEADER.unpack(content)
    order = ">" if magic & 1 else "<"
    if magic not in MAGIC or _summed(content[:24], order, (0, 0)) != (rest[2], rest[3]):
        raise DamageError(f"{named} is damaged: the first bytes of its WAL are not as they were written")
    return Walk(file, page, order, (rest[0], rest[1]), (rest[2], rest[3]), length)


def _after_whole_frames(walk: Walk, recovered: int) -> int:
    """Past the frames of a write that never ended but is whole so far: nobody was answered upon it."""
    at, sums = recovered, walk.sums
    if recovered:
        found = next(_headers(walk, recovered - 1), None)
        assert found is not None
        sums = found[4], found[5]
    while (whole := _whole(walk, at, sums)) is not None:
        at, sums = at + 1, (whole[4], whole[5])
    return at


def _is_followed_by_a_write(walk: Walk, at: int) -> bool:
    """Whether the last frame of a write that ended lies after a hole, with a whole one before it. What is left of a
    write that never ended has no such frame."""
    before = next(_headers(walk, at), None)
    while before is not None:
        at += 1
        whole = _whole(walk, at, (before[4], before[5]))
        if whole is not None and whole[1]:
            return True
        before = next(_headers(walk, at), None)
    return False


def _whole(walk: Walk, at: int, sums: Sums) -> tuple[int, ...] | None:
    """The header of a frame of this use that follows from those sums."""
    walk.file.seek(HEADER.size + at * _step(walk))
    content = walk.file.read(_step(walk))
    if len(content) < _step(walk):
        return None
    frame = FRAME.unpack(content[: FRAME.size])
    if (frame[2], frame[3]) != walk.salts:
        return None
    after = _summed(content[FRAME.size :], walk.order, _summed(content[:8], walk.order, sums))
    return frame if (frame[4], frame[5]) == after else None


def _headers(walk: Walk, at: int) -> Iterator[tuple[int, ...]]:
    while True:
        walk.file.seek(HEADER.size + at * _step(walk))
        content = walk.file.read(FRAME.size)
        if len(content) < FRAME.size:
            return
        yield FRAME.unpack(content)
        at += 1


def _is_of_an_earlier_use(walk: Walk, frame: tuple[int, ...]) -> bool:
    behind = (walk.salts[0] - frame[2]) % 2**32
    is_of_this_use = frame[2] == walk.salts[0] or frame[3] == walk.salts[1]  # either, as one of them may be damaged
    return 0 < behind < USES_MAX and not is_of_this_use and any(frame[2:4])


def _step(walk: Walk) -> int:
    return FRAME.size + walk.page


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
