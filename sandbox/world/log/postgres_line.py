"""One line to PostgreSQL: one caller at a time, made anew after it broke, and never waited on for ever."""

import select
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import psycopg
from psycopg import errors, pq

from sandbox.world.log.format import StateFileError

P = ParamSpec("P")
T = TypeVar("T")
TRIES = 8  # of a transaction that the database could not put in order with others
CONNECT_WAITS = 5  # seconds
# What the database says where two transactions met; done again, they pass. Two servers may also make the same at once.
AGAIN = (errors.SerializationFailure, errors.DeadlockDetected, errors.UniqueViolation, errors.DuplicateTable)
READABLE, WRITABLE = 1, 2  # what psycopg's generators wait for
DONE = (pq.ExecStatus.TUPLES_OK, pq.ExecStatus.COMMAND_OK)


class DatabaseError(StateFileError):
    """The database cannot be used, or not now; nothing was changed."""


class AgainError(DatabaseError):
    """The same transaction passes when it is done again."""


class SilentError(psycopg.OperationalError):
    """A line that was waited on for long enough."""


class BrokenError(DatabaseError):
    """The line broke: whether the last statement was done is not known."""


class _Bounded(psycopg.Connection[tuple[Any, ...]]):
    """Waits for a reply no longer than a line may: a line that is cut off is silent."""

    reply_waits = 10.0  # seconds

    def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
        try:
            call = next(gen)
            while True:
                asked = (select.POLLIN if call & READABLE else 0) | (select.POLLOUT if call & WRITABLE else 0)
                found = self._await(asked, timeout or self.reply_waits)
                writable = WRITABLE if found & select.POLLOUT else 0
                readable = READABLE if found & ~select.POLLOUT else 0
                call = gen.send((writable | readable) & call or call)
        except StopIteration as end:
            return end.value

    def send(self, query: bytes, values: Sequence[bytes | None]) -> pq.abc.PGresult:
        """One statement, `$1` for a value: as bytes in PostgreSQL's binary form, so that nothing is left to find out
        about them. As with `wait`, one caller at a time."""
        line, result = self.pgconn, None
        line.send_query_params(query, values, None, [pq.Format.BINARY] * len(values), pq.Format.BINARY)
        while line.flush():
            self._await(select.POLLIN | select.POLLOUT, self.reply_waits)
            line.consume_input()
        while True:
            while line.is_busy():
                self._await(select.POLLIN, self.reply_waits)
                line.consume_input()
            found = line.get_result()
            if found is None:
                break
            result = found
        if result is None or result.status not in DONE:
            raise errors.error_from_result(result) if result else psycopg.OperationalError("no reply")
        return result

    def _await(self, events: int, waits: float) -> int:
        poll = select.poll()
        poll.register(self.pgconn.socket, events)
        found = poll.poll(int(waits * 1000))
        if not found:
            self.pgconn.finish()
            raise SilentError(f"no reply within {waits:g} s")
        return found[0][1]


def again(method: Callable[P, T]) -> Callable[P, T]:
    """For a method that is one transaction: done again where the database could not put it in order with others."""

    @wraps(method)
    def work(*args: P.args, **kwargs: P.kwargs) -> T:
        for _ in range(TRIES - 1):
            with suppress(AgainError):
                return method(*args, **kwargs)
        return method(*args, **kwargs)

    return work


class Statements:
    """Executes statements that are written as SQLite's, with `?` for a value."""

    def __init__(self, connection: _Bounded) -> None:
        self.connection = connection

    def execute(self, query: str, values: tuple[Any, ...] = ()) -> psycopg.Cursor[tuple[Any, ...]]:
        return self.connection.execute(query.replace("?", "%s").encode(), values)

    def send(self, query: bytes, values: Sequence[bytes | None]) -> list[bytes | None]:
        """A statement with values in binary form; the first column of what it returns."""
        result = self.connection.send(query, values)
        return [result.get_value(row, 0) for row in range(result.ntuples)]

    def executemany(self, query: str, rows: Iterable[tuple[Any, ...]]) -> None:
        with self.connection.cursor() as cursor:
            cursor.executemany(query.replace("?", "%s").encode(), rows)


class Line:
    """Connects when it is first used. What fails is a DatabaseError; the next use connects again."""

    def __init__(self, url: str, reply_waits: float = 10.0) -> None:
        self.url = url
        self.reply_waits = reply_waits
        self.turn = threading.RLock()
        self.is_closed = False
        self._connection: _Bounded | None = None

    @contextmanager
    def statements(self) -> Iterator[Statements]:
        """Each statement is a transaction by itself."""
        with self.turn, self._failures():
            yield Statements(self._connected())

    @contextmanager
    def transaction(self) -> Iterator[Statements]:
        """All or nothing; an AgainError where the same, done again, passes."""
        with self.turn, self._failures():
            connection = self._connected()
            with connection.transaction():
                yield Statements(connection)

    @again
    def run(self, work: Callable[[Statements], T]) -> T:
        """A transaction, done again where the database could not put it in order with others."""
        with self.transaction() as database:
            return work(database)

    @again
    def run_one(self, query: str, *values: Any) -> psycopg.Cursor[tuple[Any, ...]]:
        """The same with one statement, which is a transaction by itself: one trip to the database, not three."""
        with self.statements() as database:
            return database.execute(query, values)

    def close(self) -> None:
        self.is_closed = True
        with self.turn:
            if self._connection is not None:
                with suppress(psycopg.Error):
                    self._connection.close()

    def _connected(self) -> _Bounded:
        if self.is_closed:
            raise DatabaseError("the line to the database was closed")
        if self._connection is None or self._connection.closed or _is_ended(self._connection):
            self._connection = _Bounded.connect(
                self.url,
                autocommit=True,
                prepare_threshold=None,  # a pooler may give each transaction another session
                connect_timeout=CONNECT_WAITS,
                client_encoding="UTF8",
                application_name="bank-sandbox",
            )
            self._connection.reply_waits = self.reply_waits
        return self._connection

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except (psycopg.Error, UnicodeDecodeError) as error:
            kind = AgainError if isinstance(error, AGAIN) else DatabaseError
            connection = self._connection
            if connection is not None and (connection.closed or connection.broken):
                kind, self._connection = BrokenError, None
                with suppress(psycopg.Error):
                    connection.close()
            raise kind(describe(error)) from error


def _is_ended(connection: _Bounded) -> bool:
    """Whether the database closed a line that was idle: nothing else comes unasked."""
    if connection.pgconn.transaction_status != pq.TransactionStatus.IDLE:
        return False
    poll = select.poll()
    poll.register(connection.pgconn.socket, select.POLLIN)
    if not poll.poll(0):
        return False
    connection.close()
    return True


def describe(error: Exception) -> str:
    """One line of what the database says."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[0] if lines else type(error).__name__)[:300]
