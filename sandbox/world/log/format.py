"""The format of a state file: its version, its tables, and what a file of this version must look like."""

import sqlite3
from contextlib import closing
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from sandbox.world.log.marks import mark_of

FORMAT = "bank-sandbox state"
VERSION = 3
TABLES = (
    "CREATE TABLE about (format TEXT NOT NULL, version INTEGER NOT NULL, program TEXT NOT NULL, mark INTEGER NOT NULL)",
    # An id is never used again: an act that comes after its world was dropped finds nothing to be added to.
    """CREATE TABLE worlds (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE,
  beginning BLOB NOT NULL, mark INTEGER NOT NULL)""",
    # What changes while a world lives, each half with its own mark: how its clock goes and which faults were ordered,
    # and how many acts it has, with the mark of the last one.
    """CREATE TABLE heads (world INTEGER PRIMARY KEY, pace BLOB NOT NULL, faults BLOB, noted INTEGER NOT NULL,
  acts INTEGER NOT NULL, head INTEGER NOT NULL, mark INTEGER NOT NULL)""",
    """CREATE TABLE acts (world INTEGER NOT NULL, number INTEGER NOT NULL, at TEXT NOT NULL, verb TEXT NOT NULL,
  given BLOB NOT NULL, made INTEGER NOT NULL, mark INTEGER NOT NULL, PRIMARY KEY (world, number)) WITHOUT ROWID""",
    # A bank after so many acts, with the mark of the last of them, and a digest of its content, which is in pieces.
    """CREATE TABLE checkpoints (world INTEGER PRIMARY KEY, acts INTEGER NOT NULL, head INTEGER NOT NULL,
  shape TEXT NOT NULL, content BLOB NOT NULL, mark INTEGER NOT NULL)""",
    """CREATE TABLE pieces (world INTEGER NOT NULL, acts INTEGER NOT NULL, number INTEGER NOT NULL,
  content BLOB NOT NULL, UNIQUE (world, acts, number))""",
    # The machine's time up to which running worlds may have answered: one row, or none yet.
    "CREATE TABLE clock (latest REAL NOT NULL, mark INTEGER NOT NULL)",
    # What worlds that are away take along, of this program's life alone.
    "CREATE TABLE aside (world INTEGER PRIMARY KEY, content BLOB NOT NULL, mark INTEGER NOT NULL)",
)
ABOUT_COLUMNS = {1: 2, 2: 3}  # of the table `about` in earlier versions
ACT = "INSERT INTO acts VALUES (?, ?, ?, ?, ?, ?, ?)"
NAMELESS = "~"  # begins the name of a world that is not whole yet, or not wholly gone yet
OF_A_WORLD = ("heads", "acts", "checkpoints", "pieces", "aside")


# What SQLite raises; what it says of a damaged file may be no text.
FAILURES = (sqlite3.Error, UnicodeDecodeError)


class StateFileError(Exception):
    """The file cannot be used; it was left as it is."""


class DamageError(StateFileError):
    """Something in the file is not as it was written."""


def program() -> str:
    """The version of the program."""
    try:
        return version("bank-sandbox")
    except PackageNotFoundError:
        return "not installed"


def about_row(maker: str) -> tuple[str, int, str, int]:
    return FORMAT, VERSION, maker, mark_of(FORMAT, VERSION, maker)


def schema_of(database: sqlite3.Connection) -> list[tuple[str, ...]]:
    return database.execute(
        "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_master ORDER BY name"
    ).fetchall()


@cache
def schema() -> list[tuple[str, ...]]:
    """What the tables of this version look like in SQLite's own list."""
    with closing(sqlite3.connect(":memory:")) as database:
        for table in TABLES:
            database.execute(table)
        return schema_of(database)
