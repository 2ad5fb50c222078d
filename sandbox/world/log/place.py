"""What the rooms of the log ask of the place where a bank is kept, be it a file or a database."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any, Protocol

from sandbox.world.log.format import StateFileError


class Database(Protocol):
    """Takes statements in the words that SQLite and PostgreSQL share, with `?` for a value."""

    def execute(self, query: str, values: Any = ..., /) -> Any: ...

    def executemany(self, query: str, rows: Iterable[Any], /) -> Any: ...


class Place(ABC):
    """A line to the place: one caller at a time, and a write is all or nothing."""

    turn: threading.RLock
    path: object  # what messages call it
    notes: list[str]  # what it has lost without being damaged as a whole

    def __init__(self, stopwatch: Callable[[], float]) -> None:
        self.stopwatch = stopwatch
        self.broken: str | None = None  # for good
        self.damage: str | None = None  # found while it is in use

    @property
    def unready(self) -> str | None:
        """Why what is done cannot be kept, or what is kept cannot be read."""
        return self.unwritable or self.damage

    @property
    @abstractmethod
    def unwritable(self) -> str | None: ...

    @abstractmethod
    def read(self) -> AbstractContextManager[Database]: ...

    @abstractmethod
    def write(self) -> AbstractContextManager[Database]: ...

    @abstractmethod
    def is_there(self, world: int) -> bool:
        """Whether a world may be written, for one who is writing: it is there, and no other server has it."""

    @abstractmethod
    def look(self) -> None:
        """Refuses what must not be answered any more."""

    @abstractmethod
    def demand(self) -> None:
        """Refuses what could not be kept."""

    @abstractmethod
    def close(self) -> None: ...

    def select(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with self.read() as database:
            rows: list[tuple[Any, ...]] = database.execute(query, values).fetchall()
        return rows

    def demand_open(self) -> None:
        if self.broken is not None:
            raise StateFileError(self.broken)

    def note(self, loss: str) -> None:
        """Notes a loss once."""
        if loss not in self.notes:
            self.notes.append(loss)
