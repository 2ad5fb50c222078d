"""A long list in pieces, which a second list shares instead of copying its items."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Generic, TypeVar

T = TypeVar("T")
PIECE = 500  # items


class PiecedList(Generic[T]):
    """It grows at its end and loses items at its start. A full piece never changes, so lists may share it."""

    def __init__(self, items: Iterable[T] = ()) -> None:
        self.pieces: list[list[T]] = []
        self._length = 0
        for item in items:
            self.append(item)

    def append(self, item: T) -> None:
        if not self.pieces or len(self.pieces[-1]) >= PIECE:
            self.pieces.append([])
        self.pieces[-1].append(item)
        self._length += 1

    def first(self, count: int) -> "PiecedList[T]":
        """A list of its own with so many items."""
        taken = PiecedList[T]()
        taken._length = left = min(max(count, 0), self._length)
        for piece in self.pieces:
            if left <= 0:
                break
            taken.pieces.append(piece if PIECE <= len(piece) <= left else piece[:left])
            left -= len(piece)
        return taken

    def drop_first(self, count: int) -> list[list[T]]:
        """The items that went, in their pieces; a piece that was split is in both, as others may share it."""
        gone: list[list[T]] = []
        left = min(count, self._length)
        self._length -= left
        while left > 0:
            piece = self.pieces[0]
            gone.append(piece)
            if len(piece) > left:
                self.pieces[0] = piece[left:]
            else:
                del self.pieces[0]
            left -= len(piece)
        return gone

    def __iter__(self) -> Iterator[T]:
        return chain.from_iterable(self.pieces)

    def __len__(self) -> int:
        return self._length
