"""Long work in the server's process, with short pauses in which others go on: nobody has to wrest the turn from it."""

import threading
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")
PAUSE = 0.0005  # seconds

_pausing = threading.Event()


def pause() -> None:
    _pausing.wait(PAUSE)


def with_pauses(items: Iterable[T], every: int) -> Iterator[T]:
    """The items, with a pause after so many of them."""
    for number, item in enumerate(items, 1):
        yield item
        if number % every == 0:
            pause()
