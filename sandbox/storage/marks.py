"""Marks: checksums by which a damaged row is found. The mark of each act is computed from the act and from the mark of
the act before it.

So the acts of a log form a chain, which begins with the mark of the world's beginning. The mark of the last act is
stored a second time, apart from the acts. A check of the chain up to this mark finds each row that was changed,
deleted, or replaced by another row.
"""

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any, NamedTuple


class LogHead(NamedTuple):
    """A position in a log: the number of acts, and the mark of the last act."""

    acts: int
    mark: int


class ActRow(NamedTuple):
    """A row of the table of acts, in the order of its columns."""

    world: int
    number: int
    id: str
    at: str
    verb: str
    given: bytes
    made: int
    mark: int

    @property
    def head(self) -> LogHead:
        """The position in the log after this act."""
        return LogHead(self.number, self.mark)


class MarkError(ValueError):
    """An act is not as it was written. `number` is its number."""

    def __init__(self, number: int) -> None:
        super().__init__(f"act {number}")
        self.number = number


def compute_checksum(*values: Any) -> int:
    """Returns the checksum of the values of a row. The types of the values count too: 1 and "1" have different
    checksums."""
    hashable = tuple(compute_digest(value) if type(value) is bytes else value for value in values)
    return _shorten(repr(hashable).encode())


def compute_digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=16).digest()


def compute_root(beginning: bytes) -> int:
    """Returns the mark of a world's beginning, with which the chain of its acts begins."""
    return compute_checksum("beginning", beginning)


def act_mark(previous: int, number: int, act_id: str, at: str, verb: str, arguments: bytes, made: int) -> int:
    return _shorten(f"{previous!r}/{number!r}/{act_id!r}/{at!r}/{verb!r}/{made!r}/".encode() + arguments)


def chain_rows(world: int, head: LogHead, acts: Iterable[tuple[str, str, str, bytes, int]]) -> Iterator[ActRow]:
    """Yields rows for acts that follow a position in the log. The mark of each row is computed from the act and from
    the mark of the row before it."""
    for columns in acts:
        number = head.acts + 1
        row = ActRow(world, number, *columns, act_mark(head.mark, number, *columns))
        head = row.head
        yield row


def demand_chain(rows: Iterable[tuple[Any, ...]], head: LogHead) -> Iterator[ActRow]:
    """Yields the rows as ActRow. `head` is the position before the first row. Raises MarkError at the first row that
    does not follow from the rows before it."""
    number, mark = head
    for columns in rows:
        number += 1
        row = ActRow(*columns)
        if row.number != number or not isinstance(row.given, bytes):
            raise MarkError(number)
        mark = act_mark(mark, *row[1:7])
        if row.mark != mark:
            raise MarkError(number)
        yield row


def _shorten(content: bytes) -> int:
    """Returns a digest of 64 bits, as a signed number that every database can store."""
    return int.from_bytes(blake2b(content, digest_size=8).digest(), signed=True)
