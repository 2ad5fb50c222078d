"""A large bank written down by a copy of the process, so that its callers wait for the copying alone.

The machine copies a process without its memory: a page is copied when one of the two changes it. That takes some
milliseconds where a second bank in the same process takes seconds.
"""

import gc
import os
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from fcntl import fcntl
from typing import NoReturn

from sandbox.bank.state import Bank

Write = Callable[[bytes], object]
Question = Callable[[Bank, Write], None]  # writes more than nothing

SMALL = 2_000  # ids, lines of the journal and postings: to write down so many takes no longer than a copy
PIECE = 1 << 18  # bytes
WHOLE = b"\n"  # the last byte of an answer that was not cut
SET_PIPE_SIZE = 1031  # F_SETPIPE_SZ, of Linux alone

_left: set[int] = set()  # copies whose end nobody waited for
_forking = threading.Lock()


class CutShortError(Exception):
    """The copy ended before it had written everything."""


class Answer:
    """The child's output in pieces, to be read once; a large one is read while it is written."""

    def __init__(self, pieces: Iterator[bytes], child: int = 0) -> None:
        self._pieces = pieces
        self.child = child  # the copy
        self.is_here = not child  # nothing is left to wait for

    def __iter__(self) -> Iterator[bytes]:
        return self._pieces

    def whole(self) -> bytes:
        return b"".join(self._pieces)


def ask(bank: Bank, question: Question) -> Answer:
    """Has a bank written down as it stands now; it may change as soon as this returns."""
    if bank.made >= SMALL:
        with suppress(OSError):  # too many processes, or too little memory: it takes longer then
            return _asked_apart(bank, question)
    content: list[bytes] = []
    question(bank, content.append)
    return Answer(iter([b"".join(content)]))


def _asked_apart(bank: Bank, question: Question) -> Answer:
    reading, writing = os.pipe()
    try:
        with suppress(OSError):  # a larger pipe is only faster
            fcntl(writing, SET_PIPE_SIZE, 1 << 20)
        child = _fork()
        if child == 0:
            _answer(bank, question, writing)
    except OSError:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    return Answer(_Pieces(reading, child), child)


def _fork() -> int:
    with _forking, warnings.catch_warnings():
        # Python warns of threads: the copy has none of them, and uses nothing that another thread may hold.
        warnings.simplefilter("ignore", DeprecationWarning)
        for thread in list(_left):
            _end(thread, os.WNOHANG)
        child = os.fork()
        if child:
            _left.add(child)
        return child


def _answer(bank: Bank, question: Question, pipe: int) -> NoReturn:
    """In the copy, which never returns to its caller. It lets go of every file, line and lock that it was born with."""
    try:
        gc.disable()
        os.nice(5)  # calls go first
        os.closerange(0, pipe)
        os.closerange(pipe + 1, os.sysconf("SC_OPEN_MAX"))

        def write(content: bytes) -> None:
            left = memoryview(content)
            while left:
                left = left[os.write(pipe, left) :]

        question(bank, write)
        write(WHOLE)
    finally:
        os._exit(0)  # whatever happened: the reader misses the last byte


class _Pieces:
    """The reader's end of the line to a copy."""

    def __init__(self, pipe: int, child: int) -> None:
        self._pipe = pipe
        self._child = child
        self._held = b""  # the last byte may be the mark
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        if self._pipe < 0:
            raise StopIteration
        pieces, length = [self._held], len(self._held)
        while length <= PIECE:
            piece = os.read(self._pipe, PIECE)
            if not piece:
                return self._last(b"".join(pieces))
            pieces.append(piece)
            length += len(piece)
        content = b"".join(pieces)
        self._held = content[PIECE:]
        return content[:PIECE]

    def _last(self, content: bytes) -> bytes:
        self.close()
        _end(self._child, 0)
        if content[-1:] != WHOLE:
            raise CutShortError("the copy of the process ended early: it was killed, or it could not go on")
        return content[:-1]

    def close(self) -> None:
        """A copy that still writes ends then."""
        with self._lock:
            pipe, self._pipe = self._pipe, -1
        if pipe >= 0:
            os.close(pipe)

    __del__ = close


def _end(child: int, how: int) -> None:
    """Waits for a child. A program that uses the bank may have waited for all its children already."""
    try:
        ended, _ = os.waitpid(child, how)
    except ChildProcessError:
        ended = child
    if ended:
        _left.discard(child)
