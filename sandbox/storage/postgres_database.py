"""PostgreSQL, or a compatible database, shared by any number of servers.

Connections are made when they are needed and kept for the next call. A connection is closed at once if it broke, if the
database closed it, or if it leads to a server that takes no writes, as after a failover. So no call waits for a pool to
notice this. For a moment after a failed connection, calls are refused without another attempt to connect.

Nothing outlives its transaction in the database: no prepared statements, no session settings, no advisory locks. So a
pooler may give each transaction another session. The limits on silent transactions are set with each BEGIN: a server
that is stopped in the middle of a transaction delays the others for 5 seconds at most. psycopg puts values into the
text of a statement (ClientCursor), so several statements take one round trip.
"""

import select
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from random import Random
from typing import Any, TypeVar

import psycopg
from psycopg import errors, pq
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from sandbox.storage.database import (
    AgainError,
    CommitUnknownError,
    Database,
    Row,
    TakenError,
    Transaction,
    UnreachableError,
)
from sandbox.storage.format import StateFileError

T = TypeVar("T")
CONNECT_WAITS = 3  # seconds, for each host
REPLY_WAITS = 6.0  # seconds; longer than STATEMENT_WAITS, after which the database ends a statement
STATEMENT_WAITS = 5_000  # milliseconds
FAILED_FOR = 0.3  # seconds after a failed connection in which no other is tried
TRIES = 12  # of a transaction that the database could not put in order with others
PAUSE = 0.01  # seconds before the second try; later tries wait longer, each by a random factor
CONNECTIONS_KEPT = 16
BEGIN = (
    "BEGIN ISOLATION LEVEL READ COMMITTED; "
    f"SET LOCAL statement_timeout = {STATEMENT_WAITS}; "
    f"SET LOCAL idle_in_transaction_session_timeout = {STATEMENT_WAITS}; "
)
AGAIN = (errors.SerializationFailure, errors.DeadlockDetected)
TAKEN = (errors.UniqueViolation, errors.DuplicateTable)
# A standby, or a database that starts, stops or recovers: another connection may lead to one that takes writes.
ELSEWHERE = (errors.ReadOnlySqlTransaction, errors.AdminShutdown, errors.CrashShutdown, errors.CannotConnectNow)


class SilentError(psycopg.OperationalError):
    """The database did not reply in time."""


TOO_SLOW = (SilentError, errors.QueryCanceled)  # the second one after STATEMENT_WAITS


class _BoundedConnection(psycopg.Connection[Row]):
    """A connection that waits at most REPLY_WAITS for a reply, because a proxy can lose a reply without an error. After
    that time it raises SilentError and is closed."""

    def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
        try:
            return super().wait(gen, interval, REPLY_WAITS if timeout is None else timeout)
        except Exception as error:
            if not self.closed and self.pgconn.transaction_status == pq.TransactionStatus.ACTIVE:
                self.pgconn.finish()  # a late reply would be taken for the reply to the next query
                raise SilentError(f"no reply within {REPLY_WAITS:g} s") from error
            raise


class PostgresTransaction(Transaction):
    """A transaction. Its first query is sent together with BEGIN."""

    def __init__(self, connection: _BoundedConnection) -> None:
        super().__init__()
        self.connection = connection
        self.has_begun = False

    def select(self, query: str, *values: Any) -> list[Row]:
        begin = "" if self.has_begun else BEGIN
        self.has_begun = True
        return _fetch_rows(self.connection, begin + query, values)

    def commit(self) -> None:
        begin = "" if self.has_begun else BEGIN
        values = tuple(value for statement in self.writes for value in statement.values)
        text = "; ".join([*(statement.query for statement in self.writes), "COMMIT"])
        _fetch_rows(self.connection, begin + text, values)


class PostgresDatabase(Database):
    is_shared = True
    bytes_type = "BYTEA"
    lock_row = " FOR UPDATE"

    def __init__(self, url: str, *, makes: bool = True) -> None:
        try:
            options: dict[str, Any] = conninfo_to_dict(url)
        except psycopg.Error as error:
            raise StateFileError(f"the address of the database cannot be read: {_describe(error)}") from None
        self.path = make_conninfo(**{name: value for name, value in options.items() if not name.endswith("password")})
        defaults: dict[str, Any] = {
            "target_session_attrs": "read-write",
            "connect_timeout": CONNECT_WAITS,
            "keepalives_idle": 5,
        }
        defaults |= {"keepalives_interval": 1, "keepalives_count": 3, "tcp_user_timeout": STATEMENT_WAITS}
        defaults |= {"application_name": "bank-sandbox", "client_encoding": "UTF8"}
        self._conninfo = make_conninfo(**(defaults | options))
        self._idle: list[_BoundedConnection] = []
        self._lock = threading.Lock()
        self._failure: str | None = None  # of the last connection, for FAILED_FOR
        self._is_closed = False
        self._random = Random()
        try:
            # If several servers make the tables at once, all but the first try again and then find the tables.
            self._repeat(lambda: self.begin(makes), AgainError, TakenError)
        except BaseException:
            self.close()
            raise

    def has_tables(self) -> bool:
        return self.select("SELECT to_regclass('about') IS NOT NULL") == [(True,)]

    def select(self, query: str, *values: Any) -> list[Row]:
        def work() -> list[Row]:
            with self._borrow() as connection:
                return _fetch_rows(connection, query, values)

        try:
            return self._repeat(work, AgainError)
        except AgainError as error:  # must not repeat a transaction around this query
            raise UnreachableError(str(error)) from error

    @contextmanager
    def transaction(self) -> Iterator[PostgresTransaction]:
        """Yields a transaction, and commits its writes at the end of the block. Raises AgainError if the caller should
        repeat the whole transaction, for example because the connection broke before the commit. Raises
        CommitUnknownError if the connection broke during the commit."""
        with self._borrow() as connection:
            transaction = PostgresTransaction(connection)
            yield transaction
            if transaction.writes:
                try:
                    transaction.commit()
                except psycopg.Error as error:
                    if _is_broken(connection):
                        raise CommitUnknownError(f"{self.path}: {_describe(error)}") from error
                    raise

    @contextmanager
    def _borrow(self) -> Iterator[_BoundedConnection]:
        """Lends a connection to the block. Turns an error of the database into AgainError if repeating the block can
        succeed, into TakenError if another transaction inserted the same row or made the same table, into
        UnreachableError if the database was too slow, and else into StateFileError."""
        connection = self._take()
        try:
            yield connection
        except psycopg.Error as error:
            kind = (
                AgainError
                if _is_worth_repeating(error, connection)
                else TakenError
                if isinstance(error, TAKEN)
                else UnreachableError
                if isinstance(error, TOO_SLOW)
                else StateFileError
            )
            raise kind(f"{self.path}: {_describe(error)}") from error
        finally:
            self._give_back(connection)

    def repeat(self, work: Callable[[], T]) -> T:
        """Runs a transaction and returns its result. Repeats it while it ends with AgainError, but runs it at most
        TRIES times."""
        return self._repeat(work, AgainError)

    def _repeat(self, work: Callable[[], T], *errors: type[Exception]) -> T:
        """Runs work, and repeats it if it ends with one of these errors. Runs it at most TRIES times, with growing
        pauses. The last error is raised."""
        for number in range(1, TRIES):
            with suppress(*errors):
                return work()
            threading.Event().wait(PAUSE * number * (0.5 + self._random.random()))
        return work()

    def read_time(self) -> float:
        return float(self.select(f"SELECT {NOW}")[0][0])

    def demand_present(self) -> None:
        """Does nothing. If the database is gone, the next query fails by itself."""

    def read_size(self) -> int:
        """Returns the bytes of the largest columns, because databases that are compatible with PostgreSQL have no
        common function for the size."""
        parts = ("acts", "given"), ("pieces", "content"), ("calls", "content")
        return sum(int(self.select(f"SELECT coalesce(sum(length({of})), 0) FROM {table}")[0][0]) for table, of in parts)

    def close(self) -> None:
        with self._lock:
            self._is_closed, idle, self._idle = True, self._idle, []
        for connection in idle:
            with suppress(psycopg.Error):
                connection.close()

    def _take(self) -> _BoundedConnection:
        while True:
            with self._lock:
                if self._is_closed:
                    raise StateFileError(f"{self.path}: the connections to the database were closed")
                connection = self._idle.pop() if self._idle else None
            if connection is None:
                return self._connect()
            if not _is_ended(connection):
                return connection

    def _connect(self) -> _BoundedConnection:
        if self._failure is not None:
            raise UnreachableError(self._failure)
        try:
            connection = _BoundedConnection.connect(
                self._conninfo, autocommit=True, prepare_threshold=None, cursor_factory=psycopg.ClientCursor
            )
        except psycopg.Error as error:
            self.trouble = f"{self.path}: {_describe(error)}"
            self._failure = self.trouble
            timer = threading.Timer(FAILED_FOR, self._forget_failure)
            timer.daemon = True
            timer.start()
            raise UnreachableError(self.trouble) from error
        self.trouble = None
        return connection

    def _forget_failure(self) -> None:
        self._failure = None

    def _give_back(self, connection: _BoundedConnection) -> None:
        """Rolls back a transaction that is still open on the connection. Keeps the connection for later, or closes it
        if it does not work or enough are kept."""
        if not connection.closed and connection.pgconn.transaction_status != pq.TransactionStatus.IDLE:
            with suppress(psycopg.Error):
                connection.execute("ROLLBACK")
        in_order = not connection.closed and connection.pgconn.transaction_status == pq.TransactionStatus.IDLE
        with self._lock:
            if in_order and not self._is_closed and len(self._idle) < CONNECTIONS_KEPT:
                self._idle.append(connection)
                return
        with suppress(psycopg.Error):
            connection.close()


NOW = "extract(epoch FROM clock_timestamp())::double precision"


def _fetch_rows(connection: _BoundedConnection, query: str, values: Row) -> list[Row]:
    """Runs one or more statements. Returns the rows of the last statement that has a result."""
    try:
        cursor = connection.execute(query.replace("?", "%s").encode(), values)
        rows: list[Row] = []
        while True:
            if cursor.description is not None:
                rows = cursor.fetchall()
            if not cursor.nextset():
                return rows
    except ELSEWHERE:
        connection.close()
        raise
    except UnicodeDecodeError as error:
        raise psycopg.DataError(str(error)) from error


def _is_worth_repeating(error: Exception, connection: _BoundedConnection) -> bool:
    """Whether another attempt may succeed, perhaps on another connection. False after a time-out, because the call has
    waited long enough."""
    return not isinstance(error, SilentError) and (isinstance(error, (*AGAIN, *ELSEWHERE)) or _is_broken(connection))


def _is_broken(connection: _BoundedConnection) -> bool:
    return connection.closed or connection.pgconn.status != pq.ConnStatus.OK


def _is_ended(connection: _BoundedConnection) -> bool:
    """Whether the database has closed this idle connection, which its readable socket shows. If so, closes the
    connection on this side too."""
    if connection.closed:
        return True
    poll = select.poll()
    poll.register(connection.pgconn.socket, select.POLLIN)
    if not poll.poll(0):
        return False
    connection.close()
    return True


def _describe(error: Exception) -> str:
    """Returns the first line of the database's message, or the name of the error's class if there is no message."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[0] if lines else type(error).__name__)[:300]
