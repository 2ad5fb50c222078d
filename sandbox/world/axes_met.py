"""Which axes a world met, beside the bank: it is no part of its state and of no log."""

import threading
from collections.abc import Callable

from sandbox.contract.variants import EVERYWHERE


class AxesMet:
    """The axes that were asked for since the world began, and those of the call at hand."""

    def __init__(self) -> None:
        self._met: set[str] = set()
        self.note: Callable[[str], None] = self._met.add  # whenever a bank is asked for an axis, so it is cheap
        self._call = threading.local()
        self._lock = threading.Lock()
        self._first: set[tuple[str, str]] = set()  # axis and operation

    def _note_in_call(self, axis: str) -> None:
        self._met.add(axis)
        asked: set[str] | None = getattr(self._call, "asked", None)
        if asked is not None:
            asked.add(axis)

    def begin_call(self) -> Callable[[str], None]:
        """From here on, what this thread meets is of one call; the bank notes it by what is returned."""
        self._call.asked = set()
        return self._note_in_call

    def end_call(self) -> set[str]:
        """The axes that the call met."""
        asked: set[str] = getattr(self._call, "asked", None) or set()
        self._call.asked = None
        return asked

    def is_first(self, axis: str, operation: str) -> bool:
        """Whether this is the first call of an operation of which the axis asks that."""
        with self._lock:
            is_old = (axis, operation) in self._first
            self._first.add((axis, operation))
            return not is_old

    def met(self, called: bool) -> frozenset[str]:
        """The axes met so far; the first call meets those of every call."""
        return frozenset(self._met) | (EVERYWHERE if called else frozenset())
