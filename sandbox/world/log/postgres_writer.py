"""Writing what was gathered to PostgreSQL: one statement for all of it, so one trip to the database.

Columns of rows are arrays in PostgreSQL's binary form: one statement takes any number of rows, and stays the same. Our
few types are packed here, in a tenth of the time that a library takes which knows every type.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from struct import Struct
from typing import Any

from sandbox.world.log.marks import mark_of
from sandbox.world.log.place import Database
from sandbox.world.log.postgres_connection import PostgresConnection
from sandbox.world.log.postgres_line import TRIES, AgainError, BrokenError, DatabaseError, SilentError
from sandbox.world.log.world_rows import Noted
from sandbox.world.log.writer import Batch, Writer

ARRAY = Struct("!iiiii").pack  # dimensions, whether it has nulls (not read), type, length, lowest index
EMPTY = Struct("!iii").pack
LENGTH = Struct("!i").pack
NULL = LENGTH(-1)
BIGINT, BYTEA, TEXT = 20, 17, 25  # the numbers of types, the same in every PostgreSQL

Pack = Callable[[Iterable[Any]], bytes]


def numbers(column: Iterable[int]) -> bytes:
    values = tuple(column)
    return _numbers(len(values))(1, 0, BIGINT, len(values), 1, *[part for value in values for part in (8, value)])


@lru_cache(maxsize=64)
def _numbers(count: int) -> Callable[..., bytes]:
    return Struct("!iiiii" + "iq" * count).pack


def contents(column: Iterable[bytes | None], kind: int = BYTEA) -> bytes:
    values = tuple(column)
    parts = [NULL if value is None else LENGTH(len(value)) + value for value in values]
    return ARRAY(1, 0, kind, len(values), 1) + b"".join(parts)


def texts(column: Iterable[str]) -> bytes:
    return contents([value.encode() for value in column], TEXT)


TYPES: dict[Pack, tuple[str, int]] = {numbers: ("bigint", BIGINT), contents: ("bytea", BYTEA), texts: ("text", TEXT)}


def placeholders(packs: Iterable[Pack], since: int = 1) -> str:
    """What stands in `unnest(...)` for so many columns."""
    return ", ".join(f"${place}::{TYPES[pack][0]}[]" for place, pack in enumerate(packs, since))


def packed(packs: tuple[Pack, ...], rows: Sequence[tuple[Any, ...]]) -> list[bytes]:
    """Each column of rows."""
    if not rows:
        return [EMPTY(0, 0, TYPES[pack][1]) for pack in packs]
    return [pack(column) for pack, column in zip(packs, zip(*rows, strict=True), strict=True)]


HEAD = (numbers, numbers, numbers, numbers, numbers, numbers, numbers, contents, contents, numbers)
ACT = (numbers, numbers, texts, texts, contents, numbers, numbers)
# The head of a world changes only under the epoch that it was taken under, and only after the act that it stood at;
# its acts and its notes are written where that held, and nowhere else. Always the same statement, however many rows.
QUERY = f"""WITH grown AS (
  UPDATE heads SET acts = n.acts, head = n.head, mark = n.mark, pace = n.pace, faults = n.faults, noted = n.noted
  FROM unnest({placeholders(HEAD)}) AS n (place, world, epoch, was, acts, head, mark, pace, faults, noted)
  WHERE heads.world = n.world AND heads.epoch = n.epoch AND heads.head = n.was RETURNING n.place, n.world),
added AS (
  INSERT INTO acts SELECT grown.world, a.number, a.at, a.verb, a.given, a.made, a.mark
  FROM unnest({placeholders(ACT, len(HEAD) + 1)}) AS a (place, number, at, verb, given, made, mark)
  JOIN grown ON grown.place = a.place)
SELECT place FROM grown""".encode()


class PostgresWriter(Writer):
    """What another server's epoch keeps from being written is lost for its own world alone."""

    connection: PostgresConnection

    def _writing(self) -> AbstractContextManager[Any]:
        """Nothing: one statement is a transaction by itself."""
        return nullcontext()

    def _write(self, database: Database, batch: Batch) -> None:
        heads: list[tuple[Any, ...]] = []
        rows: list[tuple[Any, ...]] = []
        notes: list[Noted] = []
        for place, (backlog, gathered) in enumerate(batch.items()):
            assert backlog.noted is not None, "a world is taken before it is written"
            world, noted = backlog.world, gathered.noted_over(backlog.noted)
            notes.append(noted)
            head = gathered.acts[-1].head if gathered.acts else backlog.head
            whole = (*head, mark_of(world, *head), *noted, mark_of(world, *noted))
            heads.append((place, world, backlog.epoch, backlog.head.mark, *whole))
            rows += [(place, *row[1:]) for row in gathered.acts]
        places = self._send([*packed(HEAD, heads), *packed(ACT, rows)])
        for place, (backlog, noted) in enumerate(zip(batch, notes, strict=True)):
            if place in places:
                backlog.noted = noted
            else:
                backlog.lost = True

    def _send(self, values: list[bytes]) -> set[int]:
        """Done again where the database could not put it in order with others, and once where the line broke: what was
        written after all finds another head then, and is read back."""
        broke = False
        for left in reversed(range(TRIES)):
            try:
                with self.connection.write_alone() as database:
                    return {int.from_bytes(place or b"") for place in database.send(QUERY, values)}
            except AgainError:
                if not left:
                    raise
            except BrokenError as error:
                if broke or isinstance(error.__cause__, SilentError):
                    raise
                broke = True
        raise DatabaseError("the line broke again and again")
