"""The interface of a database for a store: single queries, and transactions.

Statements have `?` for a value, and use SQL that SQLite and PostgreSQL share. A transaction reads first and writes
last: `write` only collects a statement, and the commit sends all of them. So a transaction that changes a world takes
two round trips to PostgreSQL. A transaction that writes nothing is never begun in a state file.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, TypeVar

from sandbox.storage.format import FORMAT, TABLES, VERSION, StateFileError, find_program_version

T = TypeVar("T")
Row = tuple[Any, ...]
ROWS_AT_ONCE = 500


class Statement(NamedTuple):
    query: str
    values: Row
    needs_row: bool = False  # whether the transaction is undone if the statement finds no row


class UnreachableError(StateFileError):
    """The database does not answer now."""


class CommitUnknownError(StateFileError):
    """The connection broke during a commit, so it is not known whether the transaction was committed."""


class AgainError(StateFileError):
    """A transaction failed and took no effect, but can succeed if it is repeated. For example, the database could not
    serialize it with others, or the connection broke before the commit."""


class TakenError(StateFileError):
    """Another transaction inserted the same row or made the same table at the same time."""


class GoneError(StateFileError):
    """A row that the transaction must change was deleted since the transaction began."""


class Transaction(ABC):
    """A transaction. Rows that it has read may change before its end, unless the query locked them."""

    def __init__(self) -> None:
        self.writes: list[Statement] = []

    @abstractmethod
    def select(self, query: str, *values: Any) -> list[Row]: ...

    def write(self, query: str, *values: Any) -> None:
        """Collects a statement, which the commit sends."""
        self.writes.append(Statement(query, values))

    def change_row(self, query: str, *values: Any) -> None:
        """Collects a statement that must find a row. The commit raises GoneError if the row was deleted meanwhile. A
        row that the transaction has locked cannot be deleted."""
        self.writes.append(Statement(query, values, needs_row=True))

    def write_rows(self, table: str, rows: list[Row]) -> None:
        """Collects statements that insert rows into a table. Each statement has a bounded length."""
        for start in range(0, len(rows), ROWS_AT_ONCE):
            portion = rows[start : start + ROWS_AT_ONCE]
            places = f"({', '.join('?' * len(portion[0]))})"
            values = tuple(value for row in portion for value in row)
            self.write(f"INSERT INTO {table} VALUES {', '.join([places] * len(portion))}", *values)


class Database(ABC):
    """A state file or a PostgreSQL database."""

    path: str  # its name in messages
    is_shared: bool  # whether other servers may write to it
    bytes_type: str
    rowless = ""  # SQL at the end of CREATE for a table whose rows are only found by their key
    lock_row = ""  # SQL at the end of a query that locks its rows until the end of the transaction
    trouble: str | None = None  # why the last write failed
    damage: str | None = None  # a sentence about the damage that was found

    @abstractmethod
    def select(self, query: str, *values: Any) -> list[Row]:
        """Returns the rows of a query. All of them are from the same moment."""

    @abstractmethod
    def transaction(self) -> AbstractContextManager[Transaction]: ...

    @abstractmethod
    def read_time(self) -> float:
        """Returns the database's own clock in seconds since the epoch."""

    @abstractmethod
    def has_tables(self) -> bool: ...

    @abstractmethod
    def read_size(self) -> int:
        """Returns the stored bytes, approximately."""

    @abstractmethod
    def close(self) -> None: ...

    def repeat(self, work: Callable[[], T]) -> T:
        """Runs a transaction and returns its result. A database that servers share repeats it if it ends with
        AgainError. A state file runs it once."""
        return work()

    def write(self, query: str, *values: Any) -> None:
        """Runs one statement in a transaction of its own."""

        def work() -> None:
            with self.transaction() as transaction:
                transaction.write(query, *values)

        self.repeat(work)

    @abstractmethod
    def demand_present(self) -> None:
        """Raises StateFileError if a state file was moved, replaced or deleted while it was open."""

    def begin(self, makes: bool) -> None:
        """Makes the tables in an empty database if `makes`. Raises StateFileError if the database stays empty, or if
        another program or version made it."""
        if not self.has_tables():
            if not makes:
                raise StateFileError(f"{self.path} is no state of the sandbox: it is empty")
            self._make_tables()
        demand_format(self.path, self.select("SELECT format, version FROM about"))

    def _make_tables(self) -> None:
        with self.transaction() as transaction:
            for table in TABLES:
                transaction.write(table.format(bytes=self.bytes_type, rowless=self.rowless))
            transaction.write("INSERT INTO about VALUES (?, ?, ?)", FORMAT, VERSION, find_program_version())


def demand_format(path: str, about: list[Row]) -> None:
    """Raises StateFileError unless the database has this version of the format."""
    if len(about) != 1 or about[0][0] != FORMAT:
        raise StateFileError(f"{path} is no state of the sandbox")
    if about[0][1] != VERSION:
        raise StateFileError(
            f"{path} has version {about[0][1]} of the format; this program reads version {VERSION} alone. "
            "Begin with a new one"
        )
