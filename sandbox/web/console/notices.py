"""Notices after a button was pressed: for the page that follows, and for that browser alone."""

from collections import OrderedDict
from threading import Lock
from typing import NamedTuple

KEPT = 200


class Notice(NamedTuple):
    """The outcome of an action, and the command that does the same."""

    session: str
    text: str
    curl: str
    refused: bool = False


class Notices:
    """The last ones, by number; the oldest go first."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._made = 0
        self._kept: OrderedDict[int, Notice] = OrderedDict()

    def add(self, notice: Notice) -> int:
        with self._lock:
            self._made += 1
            self._kept[self._made] = notice
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return self._made

    def of(self, number: str, session: str) -> Notice | None:
        if not (number.isascii() and number.isdigit() and len(number) < 12):
            return None
        found = self._kept.get(int(number))
        return found if found is not None and found.session == session else None
