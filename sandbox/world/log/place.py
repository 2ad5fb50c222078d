"""The place where a bank is kept, be it a file or a database, and reading what it keeps, held against its marks: at the
start, and of a long log beside the calls."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from logging import getLogger
from typing import Any, NamedTuple, Protocol

from sandbox.world.log.format import NAMELESS, DamageError, StateFileError
from sandbox.world.log.marks import ActRow, Head, MarkError, demand_chain, mark_of, root_of

log = getLogger("sandbox")
BEGINNING = "what its world {} begins with is not as it was written"
PIECE = 200  # rows that are read at once; who writes waits for no more
AT_START_MAX = 20_000  # acts; with more, those before the checkpoints are checked beside the calls


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
        self.in_use = False  # before that, whoever opens the place tells what is found
        self._told: set[str] = set()

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
            self.tell(f"{self.path}: {loss}")

    def use(self) -> None:
        """From now on calls are answered. Damage that was found beside the start is told."""
        self.in_use = True
        if self.damage is not None:
            self.tell(self.damage)

    def tell(self, text: str) -> None:
        """Writes a line on standard error, once, if the place is in use."""
        if self.in_use and text not in self._told:
            self._told.add(text)
            log.error("%s", text)


class Part(NamedTuple):
    """A stretch of a world's acts that must lead from one head to another."""

    world: int
    name: str
    since: Head
    until: Head


class Progress(NamedTuple):
    checked: int
    acts: int


class Reader:
    """Reads acts and checks their marks; raises DamageError where they differ."""

    def __init__(self, connection: Place) -> None:
        self.connection = connection
        self.progress: Progress | None = None  # how far the earlier acts are checked, while they are
        self._ends = threading.Event()

    def damage(self, what: str) -> DamageError:
        text = f"{self.connection.path} is damaged: {what}"
        self.connection.damage = self.connection.damage or text
        self.connection.tell(text)
        return DamageError(text)

    def demand_mark(self, row: tuple[Any, ...], damage: str) -> None:
        """The last column must be the mark of the others."""
        if mark_of(*row[:-1]) != row[-1]:
            raise self.damage(damage)

    def marked(self, damage: str, query: str, *values: Any) -> tuple[Any, ...] | None:
        """The row that a query finds, if any."""
        for row in self.connection.select(query, *values):
            self.demand_mark(row, damage)
            return row
        return None

    def root(self, world: int) -> Head:
        """Where the chain of a world's acts begins."""
        row = self.marked(BEGINNING.format(world), "SELECT * FROM worlds WHERE id = ?", world)
        if row is None or row[1].startswith(NAMELESS):
            return Head(0, root_of(b""))
        return Head(0, root_of(row[2]))

    def head_if_any(self, world: int) -> Head | None:
        damage = f"the number of acts of its world {world} is not as it was written"
        row = self.marked(damage, "SELECT world, acts, head, mark FROM heads WHERE world = ?", world)
        return None if row is None else Head(row[1], row[2])

    def rows(self, world: int, since: Head) -> Iterator[ActRow]:
        """Acts as they are kept; in pieces, so that a long log is not held at once."""
        query = "SELECT * FROM acts WHERE world = ? AND number > ? ORDER BY number LIMIT ?"
        while True:
            rows = self.connection.select(query, world, since.acts, PIECE)
            try:
                yield from demand_chain(rows, since)
            except MarkError as error:
                raise self.damage(f"act {error.number} of its world {world} is not as it was written") from None
            if len(rows) < PIECE:
                return
            since = ActRow(*rows[-1]).head

    def demand_part(self, part: Part) -> None:
        """All of it, and that it leads where it should."""
        head = part.since
        rows = self.rows(part.world, part.since)
        while head.acts < part.until.acts and not self._ends.is_set():
            row = next(rows, None)
            if row is None:
                break
            head = row.head
            if self.progress is not None and head.acts % PIECE == 0:
                self.progress = self.progress._replace(checked=self.progress.checked + PIECE)
        if head == part.until or self._ends.is_set():
            return
        with self.connection.read():
            dropped = not self.connection.is_there(part.world)  # meanwhile, or it began again
        if not dropped:
            raise self.damage(f"after act {head.acts} of its world {part.name} acts are missing or of another log")

    def demand_earlier(self, parts: list[Part]) -> Callable[[], None] | None:
        """Those before the checkpoints: now if they are few, else by what is returned, beside the calls."""
        acts = sum(part.until.acts for part in parts)
        if acts <= AT_START_MAX:
            for part in parts:
                self.demand_part(part)
            return None
        self.progress = Progress(0, acts)
        return partial(self._work_through, parts)

    def _work_through(self, parts: list[Part]) -> None:
        try:
            for part in parts:
                self.demand_part(part)
        except StateFileError as error:  # health reports it; a call that needs these acts is refused
            if not self._ends.is_set():
                self.connection.tell(str(error))
        self.progress = None
