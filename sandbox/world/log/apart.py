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
from io import BytesIO
from typing import BinaryIO, NoReturn

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
    """What the copy writes, to be read once; a large one is read in pieces, while it is written."""

    def __init__(self, source: BinaryIO, child: int = 0) -> None:
        self._source = source
        self.child = child  # the copy
        self.is_here = not child  # nothing is left to wait for

    def __iter__(self) -> Iterator[bytes]:
        held = b""  # the last byte may be the mark
        with self._source:
            while piece := self._source.read(PIECE):
                if held:
                    yield held
                held = piece
        if self.child:
            _end(self.child, 0)
        if held[-1:] != WHOLE:
            raise CutShortError("the copy of the process ended early: it was killed, or it could not go on")
        yield held[:-1]

    def read_by(self, read: Callable[[BinaryIO], object]) -> None:
        """For a reader that takes a file, and knows where it ends."""
        try:
            read(self._source)
        finally:
            self.whole()

    def whole(self) -> bytes:
        return b"".join(self)

    def __del__(self) -> None:
        """A copy that still writes ends then."""
        self._source.close()


def ask(bank: Bank, question: Question) -> Answer:
    """Has a bank written down as it stands now; it may change as soon as this returns."""
    if bank.made >= SMALL:
        with suppress(OSError):  # too many processes, or too little memory: it takes longer then
            return _asked_apart(bank, question)
    content: list[bytes] = []
    question(bank, content.append)
    return Answer(BytesIO(b"".join((*content, WHOLE))))


def _asked_apart(bank: Bank, question: Question) -> Answer:
    reading, writing = os.pipe()
    answer = os.fdopen(reading, "rb")
    try:
        with suppress(OSError):  # a larger pipe is only faster
            fcntl(writing, SET_PIPE_SIZE, 1 << 20)
        child = _fork()
        if child == 0:
            _answer(bank, question, writing)
    except OSError:
        answer.close()
        raise
    finally:
        os.close(writing)
    return Answer(answer, child)


def _fork() -> int:
    with _forking, warnings.catch_warnings():
        # Python warns of threads: the copy has none of them, and uses nothing that another thread may hold.
        warnings.simplefilter("ignore", DeprecationWarning)
        for ended in list(_left):
            _end(ended, os.WNOHANG)
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


def _end(child: int, how: int) -> None:
    """Waits for a child. A program that uses the bank may have waited for all its children already."""
    try:
        ended, _ = os.waitpid(child, how)
    except ChildProcessError:
        ended = child
    if ended:
        _left.discard(child)
