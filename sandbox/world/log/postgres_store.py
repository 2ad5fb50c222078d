"""A bank in PostgreSQL, with any number of servers: a world is taken when it is called, and read then.

One statement writes all gathered rows, in one round trip to the database. Each column is an array in PostgreSQL's
binary form, so the same statement takes any number of rows. The arrays of our few types are packed here, in a tenth
of the time that a general library needs.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from itertools import islice
from struct import Struct
from typing import Any, NamedTuple

from sandbox.contract.errors import Error, Refusal
from sandbox.world.log.marks import Head, chained, mark_of, root_of
from sandbox.world.log.memory_log import Act
from sandbox.world.log.place import Database
from sandbox.world.log.postgres_connection import PostgresConnection
from sandbox.world.log.postgres_line import (
    TRIES,
    AgainError,
    BrokenError,
    DatabaseError,
    SilentError,
    Statements,
    again,
)
from sandbox.world.log.state_store import Listed, StateStore
from sandbox.world.log.writer import Backlog, Batch, Noted, Writer, columns_of, insert_head, insert_world, remove_world
from sandbox.world.ownership import LEASE, ElsewhereError, Ownership, take

ARRAY = Struct("!iiiii").pack  # dimensions, whether it has nulls (not read), type, length, lowest index
EMPTY = Struct("!iii").pack
LENGTH = Struct("!i").pack
NULL = LENGTH(-1)


class Column(NamedTuple):
    """A type: its name, its number, which is the same in every PostgreSQL, and a value of it after its length."""

    name: str
    number: int
    pack: Callable[[Any], bytes]


NUMBERS = Column("bigint", 20, partial(Struct("!iq").pack, 8))
CONTENTS = Column("bytea", 17, lambda value: NULL if value is None else LENGTH(len(value)) + value)
TEXTS = Column("text", 25, lambda value: CONTENTS.pack(value.encode()))


def placeholders(columns: Iterable[Column], since: int = 1) -> str:
    """What stands in `unnest(...)` for so many columns."""
    return ", ".join(f"${place}::{column.name}[]" for place, column in enumerate(columns, since))


def packed(columns: tuple[Column, ...], rows: Sequence[tuple[Any, ...]]) -> list[bytes]:
    """Each column of rows."""
    if not rows:
        return [EMPTY(0, 0, column.number) for column in columns]
    return [
        ARRAY(1, 0, column.number, len(rows), 1) + b"".join(map(column.pack, values))
        for column, values in zip(columns, zip(*rows, strict=True), strict=True)
    ]


HEAD = (*[NUMBERS] * 7, CONTENTS, CONTENTS, NUMBERS)
ACT = (NUMBERS, NUMBERS, TEXTS, TEXTS, CONTENTS, NUMBERS, NUMBERS)
# The head of a world changes only under the epoch that it was taken under, and only after the act that it stood at;
# its acts and its notes are written where that held, and nowhere else. Always the same statement, however many rows.
QUERY = f"""WITH grown AS (
  UPDATE heads SET acts = n.acts, head = n.head, mark = n.mark, pace = n.pace, faults = n.faults, noted = n.noted
  FROM unnest({placeholders(HEAD)}) AS n (place, world, epoch, was, acts, head, mark, pace, faults, noted)
  WHERE heads.world = n.world AND heads.epoch = n.epoch AND heads.head = n.was RETURNING n.place, n.world),
added AS (
  INSERT INTO acts SELECT grown.world, a.number, a.at, a.verb, a.given, a.made, a.mark
  FROM unnest({placeholders(ACT, len(HEAD) + 1)}) AS a (place, number, at, verb, given, made, mark)
  JOIN grown ON grown.place = a.place)
SELECT place FROM grown""".encode()


class PostgresWriter(Writer):
    """What another server's epoch keeps from being written is lost for its own world alone."""

    connection: PostgresConnection

    def _writing(self) -> AbstractContextManager[Any]:
        """Nothing: one statement is a transaction by itself."""
        return nullcontext()

    def _write(self, database: Database, batch: Batch) -> None:
        heads: list[tuple[Any, ...]] = []
        rows: list[tuple[Any, ...]] = []
        notes: list[Noted] = []
        for place, (backlog, gathered) in enumerate(batch.items()):
            assert backlog.noted is not None, "a world is taken before it is written"
            world, noted = backlog.world, gathered.noted_over(backlog.noted)
            notes.append(noted)
            head = gathered.acts[-1].head if gathered.acts else backlog.head
            whole = (*head, mark_of(world, *head), *noted, mark_of(world, *noted))
            heads.append((place, world, backlog.epoch, backlog.head.mark, *whole))
            rows += [(place, *row[1:]) for row in gathered.acts]
        places = self._send([*packed(HEAD, heads), *packed(ACT, rows)])
        for place, (backlog, noted) in enumerate(zip(batch, notes, strict=True)):
            if place in places:
                backlog.noted = noted
            else:
                backlog.lost = True

    def _send(self, values: list[bytes]) -> set[int]:
        """Done again where the database could not put it in order with others, and once where the line broke: what was
        written after all finds another head then, and is read back."""
        broke = False
        for left in reversed(range(TRIES)):
            try:
                with self.connection.write_alone() as database:
                    return {int.from_bytes(place or b"") for place in database.send(QUERY, values)}
            except AgainError:
                if not left:
                    raise
            except BrokenError as error:
                if broke or isinstance(error.__cause__, SilentError):
                    raise
                broke = True
        raise DatabaseError("the line broke again and again")


SLICE = 500  # acts in one statement
ADD = f"INSERT INTO acts SELECT * FROM unnest({placeholders(ACT)})".encode()
LATEST = """UPDATE clock SET latest = ?, mark = ?
  WHERE latest < ? OR NOT EXISTS (SELECT 1 FROM servers WHERE id != ?)"""


class PostgresStore(StateStore):
    """One database; this server has those worlds that it took."""

    kind = "State"
    is_shared = True
    connection: PostgresConnection
    ownership: Ownership

    def __init__(
        self,
        url: str,
        stopwatch: Callable[[], float] = lambda: 0.0,
        address: str = "http://127.0.0.1",
        lease: float | None = None,
        serves: bool = True,
        makes: bool = True,
    ) -> None:
        connection = PostgresConnection(url, stopwatch, address, lease or LEASE, makes=makes)
        super().__init__(connection, PostgresWriter(connection))
        self.ownership = connection.ownership
        try:
            if serves:
                connection.start()
        except BaseException:
            connection.close()
            raise

    def worlds(self, shape: str) -> Iterator[Listed]:
        """None: a start reads nothing for each world."""
        return iter(())

    def enter(self, world: int) -> Backlog:
        """Takes the world: whatever was on its way to the database under an earlier epoch comes too late."""
        try:
            return self.ownership.take(world)
        except ElsewhereError:
            if self.connection.select("SELECT 1 FROM worlds WHERE id = ?", world):
                raise
            raise Refusal(Error.NOT_FOUND, input="world") from None

    def leave(self, backlog: Backlog) -> None:
        """Without a database the lease ends by itself."""
        with suppress(DatabaseError):
            self.ownership.give(backlog.world, backlog.epoch)

    @again
    def _begin(
        self, name: str, beginning: bytes, noted: Noted, acts: Iterable[Act], instead: int, new: bool
    ) -> Backlog:
        """In one transaction, which no other one waits for."""
        with self.connection.write() as database:
            self.ownership.demand()
            if instead and not self.connection.is_there(instead):
                raise Refusal(Error.NOT_FOUND, input="world")
            if new and database.execute("SELECT 1 FROM worlds WHERE name = ?", (name,)).fetchone():
                raise Refusal(Error.WORLD_TAKEN, input=name)
            self._forget(database, name)
            world, head = insert_world(database, name, beginning), Head(0, root_of(beginning))
            rows = chained(world, head, map(columns_of, acts))
            while piece := list(islice(rows, SLICE)):
                database.send(ADD, packed(ACT, piece))
                head = piece[-1].head
            server, epoch = self.ownership.id, 1
            insert_head(database, world, noted, head, server, epoch)
        self.ownership.note(world, epoch, server)
        return Backlog(world, head, epoch=epoch, noted=noted)

    @again
    def drop(self, name: str) -> None:
        with self.connection.write() as database:
            self._forget(database, name)

    def _forget(self, database: Statements, name: str) -> None:
        """No server removes a world that another one has."""
        row = database.execute("SELECT id FROM worlds WHERE name = ?", (name,)).fetchone()
        if row is None:
            return
        if take(database, row[0], self.ownership.id) is None:
            raise ElsewhereError(self.ownership.owner(row[0]))
        remove_world(database, row[0])
        self.ownership.forget(row[0])

    def keep_latest_time(self, latest: float) -> None:
        """Keeps the latest time of all servers. A single server also takes back, as it ends, what it wrote ahead."""
        row = (latest, mark_of(latest), latest, self.ownership.id)
        with self.connection.write_alone() as database:
            database.execute(LATEST, row)

    def size(self) -> int:
        """Bytes on disk, of the whole database."""
        return int(self.value("SELECT pg_database_size(current_database())"))
