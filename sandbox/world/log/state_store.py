"""What every place keeps of worlds: their beginnings and logs, as they are written; no answer is ever lost."""

import threading
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from typing import Any, NamedTuple

from sandbox.contract.errors import Error, Refusal
from sandbox.world.log.codec import encode_text, read
from sandbox.world.log.format import NAMELESS, StateFileError, program
from sandbox.world.log.marks import ActRow, Head, mark_of
from sandbox.world.log.memory_log import Act
from sandbox.world.log.pieces import Checkpoints, Trails
from sandbox.world.log.place import BEGINNING, Place, Reader
from sandbox.world.log.writer import Backlog, Noted, Writer
from sandbox.world.ownership import Ownership

__all__ = ["StateFileError", "StateStore"]

LISTED = "SELECT worlds.id, name, beginning, worlds.mark, pace, faults, noted FROM worlds"
HEADS = "JOIN heads ON heads.world = worlds.id"
DAMAGED_CLOCK = "the time up to which it was used is not as it was written"
PAGE = 500  # worlds that are read at once
ENDS_WITHIN = 1.0  # seconds for a checkpoint that is under way (choice 12: the server ends within 2)


class Listed(NamedTuple):
    """A world as a list of them needs it."""

    id: int
    name: str
    beginning: bytes
    mark: int
    pace: bytes
    faults: bytes | None
    noted: int


class StateStore(Reader):
    """One place. Rows are gathered under the worlds' locks and written outside of them, together."""

    kind = "State file"  # what a note begins with
    ownership: Ownership | None = None
    is_shared = False  # other servers may have worlds of it: each is taken when it is called, and given up

    def __init__(self, connection: Place, writer: Writer) -> None:
        self._lock = threading.Lock()
        self._beside: list[threading.Thread] = []
        self.before_close: list[Callable[[], None]] = []
        super().__init__(connection)
        self.path = connection.path  # what messages call it
        self.writer = writer
        self.checkpoints = Checkpoints(connection, writer)
        self.trails = Trails(connection)

    def advertise(self, address: str) -> None:
        """Where other servers reach this one, if others may share the place."""
        if self.ownership is not None:
            self.ownership.address = address
            self.ownership.renew()

    @abstractmethod
    def worlds(self, shape: str) -> Iterator[Listed]:
        """What a server knows of from its start."""

    @abstractmethod
    def size(self) -> int:
        """Bytes on disk."""

    def enter(self, world: int) -> Backlog:
        """Before a world is read into memory: nothing that was written under an earlier backlog counts any more."""
        return Backlog(world)

    def has(self, backlog: Backlog) -> bool:
        """Whether a world in memory is still this server's."""
        return self.ownership is None or self.ownership.has(backlog.world, backlog.epoch)

    def leave(self, backlog: Backlog) -> None:
        """After a world's memory was written down and given back."""

    def begin(
        self, name: str, beginning: Any, pace: Any, acts: Iterable[Act], faults: Any, instead: int, new: bool
    ) -> Backlog:
        """Begins a world, also with acts from elsewhere: whole or not at all. The world of its name is replaced, unless
        `new` is set; a world that begins again names itself in `instead`, so that no other world is replaced."""
        noted = encode_text(pace), None if faults is None else encode_text(faults)
        return self._begin(name, encode_text(beginning), noted, acts, instead, new)

    @abstractmethod
    def _begin(
        self, name: str, beginning: bytes, noted: Noted, acts: Iterable[Act], instead: int, new: bool
    ) -> Backlog: ...

    @abstractmethod
    def drop(self, name: str) -> None: ...

    def kept(self, world: int) -> Listed:
        """A world by its row."""
        rows = self.connection.select(f"{LISTED} LEFT {HEADS} WHERE worlds.id = ?", world)
        if not rows or rows[0][1].startswith(NAMELESS):
            raise Refusal(Error.NOT_FOUND, input="world")
        return Listed(*rows[0])

    def listed(self, name: str) -> Listed | None:
        """A world by its name."""
        rows = self.connection.select(f"{LISTED} {HEADS} WHERE name = ?", name)
        return Listed(*rows[0]) if rows else None

    def page(self, after: str, most: int) -> list[Listed]:
        """So many worlds after a name, in the order of their names."""
        query = f"{LISTED} {HEADS} WHERE name > ? AND name < '{NAMELESS}' ORDER BY name LIMIT ?"
        return [Listed(*row) for row in self.connection.select(query, after, most)]

    def each(self, after: str = "", most: int = PAGE) -> Iterator[Listed]:
        """All worlds after a name, so many read at once."""
        while rows := self.page(after, min(PAGE, most)):
            yield from rows
            after = rows[-1].name

    def count(self) -> int:
        return int(self.value(f"SELECT count(*) FROM worlds WHERE name < '{NAMELESS}'"))

    def count_acts(self) -> int:
        """Of all worlds."""
        return int(self.value("SELECT coalesce(sum(acts), 0) FROM heads"))

    def value(self, query: str, *values: Any) -> Any:
        """The only one that a query finds."""
        return self.connection.select(query, *values)[0][0]

    def beginnings(self, row: Listed) -> tuple[Any, Any, Any]:
        """A world's beginning, its pace, and the faults that were ordered since."""
        world, name, beginning, mark, pace, faults, noted = row
        self.demand_mark((world, name, beginning, mark), BEGINNING.format(world))
        clock = f"the clock or the faults of its world {world} are not as they were written"
        self.demand_mark((world, pace, faults, noted), clock)
        try:
            return read(beginning), read(pace), None if faults is None else read(faults)
        except (ValueError, TypeError) as fault:
            raise self.damage(f"its world {name} cannot be read: {fault}") from None

    def program(self) -> str:
        """The version of the program that made the file."""
        return str(self.value("SELECT program FROM about"))

    @property
    def is_of_another_program(self) -> bool:
        """Where worlds are shared, each says so by itself, once it is called."""
        return not self.is_shared and self.program() != program()

    def head(self, world: int) -> Head:
        """How many acts a world has; one that is gone is told as that, and not as an empty one."""
        head = self.head_if_any(world)
        if head is None:
            raise Refusal(Error.NOT_FOUND, input="world")
        return head

    def acts(self, world: int, since: Head, until: Head | None = None, *, stops: bool = False) -> Iterator[Act]:
        """Those after a head, and where it is said, that they lead to another; and no more than those if it stops."""
        head = since
        for row in self.rows(world, since):
            if stops and head == until:
                return
            head = row.head
            yield self.act_of(world, row)
        if until is not None and head != until:
            raise self.damage(f"acts of its world {world} are missing after act {head.acts}")

    def act_of(self, world: int, row: ActRow) -> Act:
        try:
            return Act(datetime.fromisoformat(row.at), row.verb, read(row.given), row.made)
        except (ValueError, TypeError):
            raise self.damage(f"act {row.number} of its world {world} cannot be read") from None

    def latest_time(self) -> float:
        """The machine's time up to which running worlds may have answered; 0 where none did."""
        row = self.marked(DAMAGED_CLOCK, "SELECT latest, mark FROM clock")
        return 0.0 if row is None else float(row[0])

    def keep_latest_time(self, latest: float) -> None:
        with self.connection.write() as database:
            row = (latest, mark_of(latest))
            if not database.execute("UPDATE clock SET latest = ?, mark = ?", row).rowcount:
                database.execute("INSERT INTO clock (latest, mark) VALUES (?, ?)", row)

    def beside(self, name: str, work: Callable[[], None]) -> None:
        """Work that goes on while calls are answered, and ends before the file is closed."""
        thread = threading.Thread(target=work, name=name, daemon=True)
        with self._lock:
            self._beside = [one for one in self._beside if one.is_alive()]
            self._beside.append(thread)
            thread.start()  # here, as who closes waits for every one that it finds

    def close(self) -> None:
        """Writes what was gathered, if it still can; once is enough."""
        self._ends.set()
        for last in self.before_close:
            last()
        with self._lock:
            beside = self._beside
        for thread in beside:
            thread.join(ENDS_WITHIN / len(beside))
        with suppress(StateFileError):  # nothing of it was answered
            self.writer.flush()
        self.connection.close()
