"""How worlds come into PostgreSQL and leave it: each in one transaction, which no other one waits for."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from sandbox.contract.errors import Error, Refusal
from sandbox.world.log.backlog import Backlog
from sandbox.world.log.codec import encode_text
from sandbox.world.log.format import OF_A_WORLD
from sandbox.world.log.leases import take
from sandbox.world.log.marks import ActRow, Head, mark_of, root_of
from sandbox.world.log.memory_log import Act
from sandbox.world.log.postgres_arrays import contents, numbers, packed, placeholders, texts
from sandbox.world.log.postgres_connection import PostgresConnection
from sandbox.world.log.postgres_line import Statements, again
from sandbox.world.log.world_rows import SLICE, row_of
from sandbox.world.ownership import ElsewhereError

MADE = "INSERT INTO worlds (name, beginning, mark) VALUES (?, ?, 0) RETURNING id"
ROW = (numbers, numbers, texts, texts, contents, numbers, numbers)
ADD = f"INSERT INTO acts SELECT * FROM unnest({placeholders(ROW)})".encode()
HEAD = "INSERT INTO heads VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
Noted = tuple[bytes, bytes | None]


class PostgresRows:
    """The rows of worlds as they begin and are dropped. A server removes no world that another one has."""

    def __init__(self, connection: PostgresConnection) -> None:
        self.connection = connection
        self.ownership = connection.ownership

    @again
    def begin(self, name: str, content: bytes, noted: Noted, acts: Iterable[Act], instead: int, new: bool) -> Backlog:
        with self.connection.write() as database:
            self.ownership.demand()
            if instead and not self.connection.is_there(instead):
                raise Refusal(Error.NOT_FOUND, input="world")
            if new and database.execute("SELECT 1 FROM worlds WHERE name = ?", (name,)).fetchone():
                raise Refusal(Error.WORLD_TAKEN, input=name)
            self._forget(database, name)
            backlog = self._insert(database, name, content, noted, acts)
        self.ownership.note(backlog.world, backlog.epoch, backlog.server)
        return backlog

    def _insert(self, database: Statements, name: str, content: bytes, noted: Noted, acts: Iterable[Act]) -> Backlog:
        row = database.execute(MADE, (name, content)).fetchone()
        assert row is not None
        world = int(row[0])
        database.execute("UPDATE worlds SET mark = ? WHERE id = ?", (mark_of(world, name, content), world))
        chain = Chain(world, Head(0, root_of(content)))
        rows = chain.rows(acts)
        while piece := list(islice(rows, SLICE)):
            database.send(ADD, packed(ROW, piece))
        backlog = Backlog(world, chain.head, server=self.ownership.id, epoch=1, noted=noted)
        head = (*chain.head, mark_of(world, *chain.head))
        database.execute(HEAD, (world, *noted, mark_of(world, *noted), *head, backlog.server, backlog.epoch))
        return backlog

    @again
    def drop(self, name: str) -> None:
        with self.connection.write() as database:
            self._forget(database, name)

    def _forget(self, database: Statements, name: str) -> None:
        row = database.execute("SELECT id FROM worlds WHERE name = ?", (name,)).fetchone()
        if row is None:
            return
        if take(database, row[0], self.ownership.id) is None:
            raise ElsewhereError(self.ownership.leases.owner(row[0]))
        for table in OF_A_WORLD:
            database.execute(f"DELETE FROM {table} WHERE world = ?", row)
        database.execute("DELETE FROM worlds WHERE id = ?", row)
        self.ownership.forget(row[0])


class Chain:
    """The rows of acts after a head."""

    def __init__(self, world: int, head: Head) -> None:
        self.world = world
        self.head = head

    def rows(self, acts: Iterable[Act]) -> Iterator[ActRow]:
        for act in acts:
            row = row_of(self.world, self.head, act)
            self.head = Head(row.number, row.mark)
            yield row


def noted_of(pace: Any, faults: Any) -> Noted:
    return encode_text(pace), None if faults is None else encode_text(faults)
