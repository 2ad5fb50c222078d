"""What the pages of one application share, while it runs."""

from collections import OrderedDict
from collections.abc import Iterator
from threading import Lock
from typing import Generic, NamedTuple, TypeVar

from flask import Flask

from sandbox.world.registry import Worlds

T = TypeVar("T")
FILES = ("console.js", "console.svg")  # the console's own, in the folder `static`


class Latest(Generic[T]):
    """The last values that were kept; the oldest go first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = Lock()
        self._kept: OrderedDict[str, T] = OrderedDict()

    def keep(self, key: str, value: T) -> None:
        with self._lock:
            self._kept[key] = value
            if len(self._kept) > self._most:
                self._kept.popitem(last=False)

    def get(self, key: str) -> T | None:
        return self._kept.get(key)


class Notice(NamedTuple):
    """The outcome of an action, and the command that does the same; for one browser alone."""

    session: str
    text: str
    curl: str
    refused: bool = False


class Desk(NamedTuple):
    """The worlds, and what the console keeps for its visitors; `key` is what guards the controls, if anything does."""

    worlds: Worlds
    key: str | None
    bank_app: Flask  # answers the demo client's calls
    numbers: Iterator[int]  # of notices
    notices: Latest[Notice]
    verifiers: Latest[str]  # of PKCE in the console's own flows, by challenge
