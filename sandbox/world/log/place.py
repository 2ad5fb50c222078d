"""What the rooms of the log ask of the place where a bank is kept, be it a file or a database."""

import threading
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any, Protocol


class Database(Protocol):
    """Takes statements in the words that SQLite and PostgreSQL share, with `?` for a value."""

    def execute(self, query: str, values: Any = ..., /) -> Any: ...

    def executemany(self, query: str, rows: Iterable[Any], /) -> Any: ...


class Place(Protocol):
    """A line to the place: one caller at a time, and a write is all or nothing."""

    turn: threading.RLock
    stopwatch: Callable[[], float]
    notes: list[str]  # what it has lost without being damaged as a whole
    damage: str | None  # found while it is in use

    @property
    def path(self) -> object:
        """What messages call it."""

    @property
    def unready(self) -> str | None:
        """Why what is done cannot be kept, or what is kept cannot be read."""

    @property
    def unwritable(self) -> str | None: ...

    def read(self) -> AbstractContextManager[Database]: ...

    def write(self) -> AbstractContextManager[Database]: ...

    def is_there(self, world: int) -> bool:
        """Whether a world may be written, for one who is writing: it is there, and no other server has it."""

    def look(self) -> None:
        """Refuses what must not be answered any more."""

    def demand(self) -> None:
        """Refuses what could not be kept."""

    def close(self) -> None: ...
