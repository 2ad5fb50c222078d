"""The format of the stored state: its tables in SQL that SQLite and PostgreSQL share, the classes whose records are
stored, and the errors of a state file or database."""

from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any, TypeVar

T = TypeVar("T")

FORMAT = "bank-sandbox state"
VERSION = 1
TABLES = (
    "CREATE TABLE about (format TEXT NOT NULL, version BIGINT NOT NULL, program TEXT NOT NULL)",
    # `mark` is of what never changes. The other columns change with each act or note: how many acts there are and the
    # mark of the last one; the clock's pace, faults and barriers (`noted`), with a number that changes with them; and
    # the time at the last change (`until`). `seal` is the mark of these. `used` says when the world was called last,
    # to the hour.
    """CREATE TABLE worlds (id BIGINT PRIMARY KEY, name TEXT NOT NULL UNIQUE, beginning {bytes} NOT NULL,
  mark BIGINT NOT NULL, acts BIGINT NOT NULL, head BIGINT NOT NULL, noted {bytes} NOT NULL, version BIGINT NOT NULL,
  until DOUBLE PRECISION NOT NULL, seal BIGINT NOT NULL, used DOUBLE PRECISION NOT NULL)""",
    """CREATE TABLE acts (world BIGINT NOT NULL, number BIGINT NOT NULL, id TEXT NOT NULL, at TEXT NOT NULL,
  verb TEXT NOT NULL, given {bytes} NOT NULL, made BIGINT NOT NULL, mark BIGINT NOT NULL,
  PRIMARY KEY (world, number)){rowless}""",
    # A bank after so many acts, with the mark of the last of them, its time, and a digest of its content, which is in
    # pieces. Servers may write checkpoints of the same acts at once: the pieces of each attempt have its random number.
    # A world has its last checkpoint, and another one with `is_start` if the acts before that one were deleted.
    """CREATE TABLE checkpoints (world BIGINT NOT NULL, is_start BIGINT NOT NULL, acts BIGINT NOT NULL,
  head BIGINT NOT NULL, at TEXT NOT NULL, shape TEXT NOT NULL, attempt BIGINT NOT NULL, digest {bytes} NOT NULL,
  mark BIGINT NOT NULL, PRIMARY KEY (world, is_start))""",
    """CREATE TABLE pieces (world BIGINT NOT NULL, acts BIGINT NOT NULL, attempt BIGINT NOT NULL,
  number BIGINT NOT NULL, content {bytes} NOT NULL, PRIMARY KEY (world, acts, attempt, number))""",
    # The calls of a world, in portions as they were written: `last` is the number of the last call so far.
    """CREATE TABLE calls (world BIGINT NOT NULL, portion BIGINT NOT NULL, last BIGINT NOT NULL,
  content {bytes} NOT NULL, digest {bytes} NOT NULL, PRIMARY KEY (world, portion))""",
    # What the referee and other packages have learnt from the calls up to number `last`.
    """CREATE TABLE aside (world BIGINT PRIMARY KEY, last BIGINT NOT NULL, content {bytes} NOT NULL,
  digest {bytes} NOT NULL)""",
    # What is counted beside the log: how many calls there were ever, and how much a client called in a minute or a day.
    """CREATE TABLE counts (world BIGINT NOT NULL, name TEXT NOT NULL, since DOUBLE PRECISION NOT NULL,
  count BIGINT NOT NULL, PRIMARY KEY (world, name))""",
    # Worlds whose rows are to be deleted once `after` has passed: those that were dropped, and those in the making.
    "CREATE TABLE garbage (world BIGINT PRIMARY KEY, after DOUBLE PRECISION NOT NULL)",
    # The machine's time up to which running worlds of a file may have answered.
    "CREATE TABLE clock (latest DOUBLE PRECISION NOT NULL, mark BIGINT NOT NULL)",
)
# The classes whose records are stored, by their names in stored data. A name never changes. The codec imports the bank
# and registers its classes. Classes of other packages register themselves.
RECORDS: dict[str, type[Any]] = {}
NAMES: dict[type[Any], str] = {}
OF_A_WORLD = ("acts", "checkpoints", "pieces", "calls", "aside", "counts")


class StateFileError(Exception):
    """The state file or the database cannot be used. The reason may be temporary."""


class ActsDeletedError(StateFileError):
    """Another server deleted the acts before a checkpoint while this server read them. Reading the world again
    succeeds."""


class DamageError(StateFileError):
    """Stored data is not as it was written."""


def stored_as(name: str) -> Callable[[type[T]], type[T]]:
    """Registers the class under a name, so that acts, beginnings and exports can contain its records."""

    def register(kind: type[T]) -> type[T]:
        RECORDS[name] = kind
        NAMES[kind] = name
        return kind

    return register


def find_program_version() -> str:
    """Returns the version of the program, or `not installed`."""
    try:
        return version("bank-sandbox")
    except PackageNotFoundError:
        return "not installed"
