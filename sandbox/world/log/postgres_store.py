"""A bank in PostgreSQL, with any number of servers: a world is taken when it is called, and read then."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

from sandbox.contract.errors import Error, Refusal
from sandbox.world.log.leases import take
from sandbox.world.log.marks import Head, chained, mark_of, root_of
from sandbox.world.log.memory_log import Act
from sandbox.world.log.postgres_connection import PostgresConnection
from sandbox.world.log.postgres_line import DatabaseError, Statements, again
from sandbox.world.log.postgres_writer import ACT, PostgresWriter, packed, placeholders
from sandbox.world.log.state_store import StateStore
from sandbox.world.log.world_rows import Noted, columns_of, insert_head, insert_world, remove_world
from sandbox.world.log.writer import Backlog
from sandbox.world.ownership import LEASE, ElsewhereError, Ownership

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

    def worlds(self, shape: str) -> Iterator[tuple[str, int, Any]]:
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
