"""A director of a bank in PostgreSQL: failures, lost lines, locks, other servers, and kills before a write."""

import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from psycopg import OperationalError, connect, errors
from werkzeug.test import TestResponse

from sandbox.world.log.postgres_line import Line, Statements
from sandbox.world.log.postgres_store import PostgresStore
from sandbox.world.log.store import Store
from sandbox.world.whole_places import copy_banks
from tests.postgres import Cluster
from tests.simulation.director import Director, differences
from tests.simulation.faulty import Faults
from tests.world.places import end_leases

TROUBLES = [*["nothing"] * 3, *["a_failure", "a_lie", "a_lost_line", "a_lock", "a_reader", "racers", "a_kill"]]
AFTERWARDS = [
    *["nothing"] * 4,
    *["kill", "restart", "another_server", "clock_steps_forward", "clock_steps_back", "silence"],
]
FOR_LIFE = 1_000_000.0  # seconds: of a lease whose end is ordered
LOCKED = 0.05  # seconds, by another program


class FaultyDatabase(Faults):
    """Stands before the line on which a server writes."""

    error = errors.DiskFull("could not extend file")

    def __init__(self, store: PostgresStore) -> None:
        super().__init__()
        self.line = FaultyLine(store.connection._writing, self)
        store.connection._writing = self.line

    def meet(self, text: str) -> None:
        if "heads" in text:  # the world's head is in every write of acts
            self._commit()
        self._meet(text.lstrip().partition(" ")[0].replace("WITH", "UPDATE"))

    def lose_line(self) -> None:
        """Where the next write is done, and its answer does not come."""
        if self._lies:
            self._lies = False
            assert self.line._connection is not None
            self.line._connection.pgconn.finish()
            raise OperationalError("the line broke, after all was written")


class FaultyStatements(Statements):
    def __init__(self, of: Statements, faults: FaultyDatabase) -> None:
        super().__init__(of.connection)
        self.faults = faults

    def execute(self, query: str, values: tuple[Any, ...] = ()) -> Any:
        self.faults.meet(query)
        return super().execute(query, values)

    def send(self, query: bytes, values: Any) -> Any:
        self.faults.meet(query.decode())
        found = super().send(query, values)
        if query.startswith(b"WITH"):
            self.faults.lose_line()
        return found


class FaultyLine(Line):
    def __init__(self, of: Line, faults: FaultyDatabase) -> None:
        super().__init__(of.url, of.reply_waits)
        self.turn, self.faults = of.turn, faults
        of.close()

    @contextmanager
    def statements(self) -> Iterator[Statements]:
        with super().statements() as database:
            yield FaultyStatements(database, self.faults)

    @contextmanager
    def transaction(self) -> Iterator[Statements]:
        with super().transaction() as database:
            yield FaultyStatements(database, self.faults)


class DatabaseDirector(Director):
    """On a database of its own."""

    place: str
    store: PostgresStore
    database: FaultyDatabase
    troubles = TROUBLES
    afterwards = AFTERWARDS

    def opened(self) -> PostgresStore:
        store = PostgresStore(self.place, self.stopwatch, lease=FOR_LIFE)
        self.database = FaultyDatabase(store)
        return store

    def image(self) -> Path:
        file = self.next_folder().with_suffix(".state")
        with closing(PostgresStore(self.place, serves=False, makes=False)) as origin, closing(Store(file)) as target:
            copy_banks(origin, target)
        return file

    def with_a_lost_line(self, act: Callable[[], Any]) -> list[TestResponse]:
        """Before a write: it is done again on another line."""

        def lose() -> None:
            assert self.database.line._connection is not None
            self.database.line._connection.pgconn.finish()

        self.database.at_commit(lose)
        return self.done(act)

    def with_a_lock(self, act: Callable[[], Any]) -> list[TestResponse]:
        """Another program holds every head for a moment: what writes waits for it."""
        with connect(self.place) as other:
            other.execute("SELECT 1 FROM heads FOR UPDATE")
            free = threading.Timer(LOCKED, other.rollback)
            free.start()
            replies = self.done(act)
            free.join()
        return replies

    def with_a_kill(self, act: Callable[[], Any]) -> list[TestResponse]:
        """The server is gone before a write is done: nobody heard an answer."""
        is_gone: list[bool] = []

        def go() -> None:
            is_gone.append(True)
            self._cut_all()

        self.database.at_commit(go)
        self.done(act)
        self.rest()
        if is_gone:
            self.kill()
            assert not differences(self.journal, self.views()), differences(self.journal, self.views())
        self.journal = self.views()
        return []

    def _cut_all(self) -> None:
        connection = self.store.connection
        for line in (connection._writing, connection._reading, connection._leasing):
            line.is_closed = True
            if line._connection is not None:
                line._connection.pgconn.finish()

    def kill(self) -> None:
        """Between two writes; its lease ends."""
        self._cut_all()
        self.store.close()
        end_leases(self.place)
        self.open(self.place)

    def another_server(self) -> None:
        """Takes all worlds once the lease of this one ended, while this one is silent, and is killed."""
        end_leases(self.place)
        with closing(PostgresStore(self.place, lease=FOR_LIFE)) as other:
            for world in self.worlds.all():
                other.enter(world.row)
        self.kill()


@contextmanager
def life(folder: Path, seed: str, cluster: Cluster) -> Iterator[DatabaseDirector]:
    director = DatabaseDirector(folder, seed, cluster.schema())
    try:
        yield director
    finally:
        director.close()
