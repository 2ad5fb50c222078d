"""The lines of one server to its database: one for what is written, one for what is read, one for its lease.

The database is opened if it is empty or one of ours, and takes what is written; anything else is left as it is. It is
asked in plain SQL of any engine that speaks PostgreSQL's protocol: no extension, no advisory lock, nothing that a
session keeps.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import reduce

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict

from sandbox.world.log import format as state_file
from sandbox.world.log.format import FORMAT, VERSION, DamageError, about_row, program
from sandbox.world.log.marks import mark_of
from sandbox.world.log.place import Place
from sandbox.world.log.postgres_line import DatabaseError, Line, Statements, describe
from sandbox.world.ownership import Ownership

# What PostgreSQL calls otherwise than SQLite.
OTHERWISE = {
    "INTEGER PRIMARY KEY AUTOINCREMENT": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    "INTEGER": "BIGINT",
    "BLOB": "BYTEA",
    "REAL": "DOUBLE PRECISION",
    "name TEXT": 'name TEXT COLLATE "C"',
    " WITHOUT ROWID": "",
}
TABLES = (
    *(reduce(lambda text, words: text.replace(*words), OTHERWISE.items(), table) for table in state_file.TABLES),
    # They stand in the row that every write of a world changes: a write and a take-over wait for each other.
    "ALTER TABLE heads ADD COLUMN owner BIGINT, ADD COLUMN epoch BIGINT NOT NULL",
    # A row for each server that lives. An id is never used again: a server whose row is gone has lost all its worlds.
    """CREATE TABLE servers (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, address TEXT NOT NULL,
  until TIMESTAMPTZ NOT NULL)""",
)
OURS = {text.split()[2] for text in TABLES}
LOOK = """SELECT current_setting('server_encoding'), current_schema(), current_setting('transaction_read_only'),
  current_setting('synchronous_commit')"""
THERE = "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()"
UTF8 = ("UTF8", "utf8", "UTF-8")
MINE = "SELECT 1 FROM heads WHERE world = ? AND epoch = ? FOR UPDATE"


class PostgresConnection(Place):
    """A write takes the world's head first, under this server's epoch; so none is older than a take-over."""

    def __init__(
        self, url: str, stopwatch: Callable[[], float], address: str, lease: float, *, makes: bool = True
    ) -> None:
        super().__init__(stopwatch)
        self.path: str = name_of(url)
        self._trouble: tuple[float, str] | None = None  # when a write failed last, and why
        self._writing, self._reading, self._leasing = (Line(url, reply_waits=lease) for _ in range(3))
        self.turn = self._writing.turn
        self._inside: Statements | None = None  # the transaction of the thread that has the turn
        try:
            self.notes = open_database(self._writing, makes=makes)
        except BaseException:
            self._writing.close()
            raise
        self.ownership = Ownership(self._leasing, address, lease, stopwatch)

    @property
    def unwritable(self) -> str | None:
        return self.broken or self.ownership.unready or self.trouble

    @property
    def trouble(self) -> str | None:
        """Why the last write failed; for as long as a lease, since only calls write more than that."""
        if self._trouble is None or self.stopwatch() - self._trouble[0] > self.ownership.lease:
            return None
        return self._trouble[1]

    def start(self) -> None:
        """Every line is tried before the first call comes."""
        try:
            self.ownership.start()
            with self._reading.statements() as database:
                database.execute("SELECT latest FROM clock")
        except DatabaseError as error:
            raise DatabaseError(advise(error, self.path)) from None

    def demand(self) -> None:
        """A database that could not be written is asked again by the next write: nothing waits for it here."""
        self.look()

    def look(self) -> None:
        """Nothing is answered without a lease: another server may have the world."""
        self.demand_open()
        self.ownership.demand()

    @contextmanager
    def read(self) -> Iterator[Statements]:
        self.demand_open()
        with self._reading.statements() as database:
            yield database

    @contextmanager
    def write(self) -> Iterator[Statements]:
        """A transaction. A DatabaseError may come of one that passes when it is done again: an AgainError."""
        with self._noted(), self._writing.transaction() as database:
            self._inside = database
            yield database

    @contextmanager
    def write_alone(self) -> Iterator[Statements]:
        """For one statement that is a transaction by itself, and needs one trip to the database."""
        with self._noted(), self._writing.statements() as database:
            yield database

    @contextmanager
    def _noted(self) -> Iterator[None]:
        self.demand_open()
        try:
            yield
        except DatabaseError as error:
            self._trouble = self.stopwatch(), f"{self.path}: {error}"
            raise
        self._trouble = None

    def is_there(self, world: int) -> bool:
        """For one who is in `write`: locks the world's head until the end of it."""
        assert self._inside is not None
        row = (world, self.ownership.epoch(world))
        return self._inside.execute(MINE, row).fetchone() is not None

    def close(self) -> None:
        self.broken = self.broken or f"{self.path} was closed"
        self.ownership.close()
        for line in (self._writing, self._reading, self._leasing):
            line.close()


def name_of(url: str) -> str:
    """The database without its password, for messages."""
    try:
        parts = conninfo_to_dict(url)
    except psycopg.Error as error:
        raise DatabaseError(f"--state is no address of a database: {describe(error)}") from None
    where = f"{parts.get('host') or 'localhost'}{':' if parts.get('port') else ''}{parts.get('port') or ''}"
    return f"the database {parts.get('dbname') or parts.get('user') or 'of this user'} on {where}"


def open_database(line: Line, *, makes: bool = True) -> list[str]:
    """Makes the tables where nothing is, unless it is only read; what is there must be ours. The answer is what is
    worth a note."""
    named = name_of(line.url)
    try:
        with line.statements() as database:
            notes = _demand_fit(database, named, writes=makes)
        line.run(lambda database: _demand_ours(database, named, makes))
    except DatabaseError as error:
        raise DatabaseError(advise(error, named)) from None
    return notes


def _demand_fit(database: Statements, named: str, *, writes: bool) -> list[str]:
    row = database.execute(LOOK).fetchone()
    assert row is not None
    encoding, schema, read_only, commit = row
    if encoding not in UTF8:
        raise DatabaseError(
            f"{named} has the encoding {encoding}, and the sandbox needs UTF8. "
            "Make another one: createdb -E UTF8 -T template0 NAME"
        )
    if schema is None:
        raise DatabaseError(f"{named} has no schema for new tables: set the search_path of its user")
    if writes and read_only == "on":
        raise DatabaseError(f"{named} is read-only. Name the primary server, or end default_transaction_read_only")
    return (
        ["it may lose the last answers if it crashes: synchronous_commit is off"] if writes and commit == "off" else []
    )


def _demand_ours(database: Statements, named: str, makes: bool) -> None:
    there = {name for (name,) in database.execute(THERE).fetchall()}
    if not there and not makes:
        raise DatabaseError(f"{named} holds no bank: it is empty")
    if not there:
        for table in TABLES:
            database.execute(table)
        database.execute("INSERT INTO about VALUES (?, ?, ?, ?)", about_row(program()))
        database.execute("INSERT INTO clock VALUES (?, ?)", (0.0, mark_of(0.0)))
        return
    about = database.execute("SELECT * FROM about").fetchone() if "about" in there else None
    if about is None or about[0] != FORMAT or not isinstance(about[1], int):
        raise DatabaseError(
            f"{named} belongs to another program: it has tables, and none of them is the sandbox's. "
            "Give the sandbox a database of its own: createdb NAME"
        )
    if about[1] != VERSION:
        who = "A newer program" if about[1] > VERSION else "The program that made it"
        raise DatabaseError(
            f"{named} has version {about[1]} of the format; this program reads {VERSION}. {who} can read it, "
            "and carry it over through a file: bank-sandbox state copy"
        )
    if about != about_row(str(about[2])) or not there >= OURS:
        raise DamageError(f"{named} is damaged: its tables are not those of version {VERSION} of the format")


def advise(error: DatabaseError, named: str) -> str:
    """What to do about what the database said."""
    cause = error.__cause__
    match cause:
        case errors.InsufficientPrivilege():
            return f"{named}: {error}. Make this user its owner: ALTER DATABASE NAME OWNER TO USER"
        case errors.ReadOnlySqlTransaction():
            return f"{named} is read-only. Name the primary server, or end default_transaction_read_only"
        case psycopg.OperationalError():
            return f"{named} cannot be reached: {error}{_advice(str(cause))}"
    return str(error) if str(error).startswith(named) else f"{named}: {error}"


def _advice(message: str) -> str:
    if "too many" in message or "remaining connection slots" in message or "max_client_conn" in message:
        return ". Raise max_connections, or put a pooler before it: a server needs 3 connections"
    if "does not exist" in message and "database" in message:
        return ". Make it: createdb NAME"
    if "authentication" in message or "password" in message:
        return ". Check the user and the password in --state, or set PGPASSWORD"
    return ". Check the address, and that PostgreSQL runs there"
