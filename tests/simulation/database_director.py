"""A director of a bank in PostgreSQL: failures, lost lines, locks, kills before a write, and a second server."""

import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from psycopg import OperationalError, connect, errors
from werkzeug.test import TestResponse

from sandbox.app import assemble
from sandbox.storage.postgres_database import PostgresDatabase, _BoundedConnection
from sandbox.storage.store import Store, open_store
from sandbox.worlds.whole_stores import copy_banks
from tests.postgres import Cluster
from tests.simulation.director import Director, differences
from tests.simulation.faulty import GROWS, WRITES, Faults
from tests.tpp import Tpp

TROUBLES = [*["nothing"] * 3, *["a_failure", "a_lie", "a_lost_line", "a_lock", "a_reader", "racers", "a_kill"]]
AFTERWARDS = [
    *["nothing"] * 4,
    *["kill", "restart", "another_server", "clock_steps_forward", "clock_steps_back", "silence", "write_calls"],
]
LOCKED = 0.05  # seconds, by another program
ASKED_ELSEWHERE = 0.3


class FaultyDatabase(Faults):
    """Stands before the lines of a server."""

    error = errors.DiskFull("could not extend file")

    def __init__(self, store: Store) -> None:
        super().__init__()
        assert isinstance(store.database, PostgresDatabase)
        self.database = store.database
        self.lines: list[_BoundedConnection] = []  # all that were ever used
        take = self.database._take

        def taken() -> _BoundedConnection:
            line = take()
            if line not in self.lines:
                self.lines.append(line)
                self._stand_before(line)
            return line

        vars(self.database)["_take"] = taken

    def _stand_before(self, line: _BoundedConnection) -> None:
        execute = line.execute

        def met(query: Any, *given: Any) -> Any:
            text = query.decode() if isinstance(query, bytes) else query
            grows = GROWS in text
            if grows:
                self._commit()
            if any(f"{word} " in text for word in WRITES if word not in ("BEGIN", "COMMIT", "UPDATE")) or grows:
                self._meet("INSERT")
            cursor = execute(query, *given)
            if grows and self._lies:
                self._lies = False
                line.pgconn.finish()
                raise OperationalError("the line broke, after all was written")
            return cursor

        vars(line)["execute"] = met

    def cut(self) -> None:
        """All lines break."""
        for line in self.lines:
            line.pgconn.finish()

    def end(self) -> None:
        """As if the process were gone."""
        self.database._is_closed = True
        self.cut()


class DatabaseDirector(Director):
    """On a database of its own, with a second server that answers what races, and shows the same."""

    place: str
    database: FaultyDatabase
    troubles = TROUBLES
    afterwards = AFTERWARDS
    other_store: Store | None = None

    def opened(self) -> Store:
        store = open_store(self.place)
        self.database = FaultyDatabase(store)
        return store

    def open(self, place: Path | str) -> None:
        super().open(place)
        if self.other_store is None:
            self.other_store = open_store(self.place)
            self.other_app = assemble(self.worlds_of(self.other_store))

    def close(self) -> None:
        super().close()
        if self.other_store is not None:
            self.other_store.close()

    def store_time(self) -> float:
        return self.store.read_time()

    def image(self) -> Path:
        file = self.next_folder().with_suffix(".state")
        with closing(open_store(self.place, makes=False)) as origin, closing(open_store(file)) as target:
            copy_banks(origin, target)
        return file

    def racer(self, world: str) -> Tpp:
        return Tpp(self.random.choice((self.app, self.other_app)), world)

    def demand_kept(self) -> None:
        """Now and then also by the other server."""
        if self.random.random() < ASKED_ELSEWHERE:
            found = self.views(self.other_app)
            assert not differences(self.journal, found), f"another server tells: {differences(self.journal, found)}"
        super().demand_kept()

    def with_a_lost_line(self, act: Callable[[], Any]) -> list[TestResponse]:
        """Before a write is sent."""
        self.database.at_commit(self.database.cut)
        return self.done(act)

    def with_a_lock(self, act: Callable[[], Any]) -> list[TestResponse]:
        """Another program holds every world for a moment: what writes waits for it."""
        with connect(self.place) as other:
            other.execute("SELECT 1 FROM worlds FOR UPDATE")
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
            self.database.end()

        self.database.at_commit(go)
        self.done(act)
        self.rest()
        if is_gone:
            self.kill()
            assert not differences(self.journal, self.views()), differences(self.journal, self.views())
        self.journal = self.views()
        return []

    def kill(self) -> None:
        """Between two writes."""
        self.database.end()
        self.store.close()
        self.open(self.place)

    def another_server(self) -> None:
        """Answers a call: this one shows it at once."""
        name = self.random.choice(sorted(self.journal))
        reply = self.acts.pay(Tpp(self.other_app, name))
        self.journal = self.views()
        for _, paid in self.acts.paid_by(reply):
            assert paid in [row["payment_id"] for row in self.journal[name]["payments"]]


@contextmanager
def life(folder: Path, seed: str, cluster: Cluster) -> Iterator[DatabaseDirector]:
    director = DatabaseDirector(folder, seed, cluster.schema())
    try:
        yield director
    finally:
        director.close()
