"""From earlier versions of the format to this one, in one transaction.

Version 1 had no marks, version 2 only one for each act: what those cannot tell is taken as it is.
"""

import sqlite3
from collections.abc import Iterator
from typing import Any
from zlib import crc32

import orjson

from sandbox.world.log.codec import decode
from sandbox.world.log.format import ACT, OF_A_WORLD, TABLES, VERSION, DamageError, about_row, program
from sandbox.world.log.marks import Head, chained, root_of
from sandbox.world.log.writer import insert_head, insert_marked

MADE = {1: "0, NULL, NULL", 2: "coalesce(made, 0), made, mark"}  # how much a bank had made after an act
FAULTS = {1: "NULL", 2: "faults"}


def demand_whole(database: sqlite3.Connection, version: int, named: str) -> None:
    """What the marks of an earlier version can tell, and that each world can be read; before anything is changed."""
    for world, name, *parts in _worlds(database, "worlds", version):
        try:
            for part in parts[:2] if parts[2] is None else parts:
                decode(orjson.loads(part))
            for _ in _acts(database, "acts", world, version):
                pass
        except (ValueError, TypeError, RecursionError) as fault:
            raise DamageError(f"{named} is damaged: its world {name} cannot be read: {fault}") from None


def upgrade(database: sqlite3.Connection, version: int) -> None:
    """Inside a transaction: the old tables step aside, are read, and go."""
    found = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    old = [name for (name,) in found if not name.startswith("sqlite_")]
    maker = database.execute("SELECT program FROM about").fetchone()[0] if version > 1 else None
    for name in old:
        database.execute(f"ALTER TABLE {name} RENAME TO old_{name}")
    for table in TABLES:
        database.execute(table)
    database.execute("INSERT INTO about VALUES (?, ?, ?, ?)", about_row(maker or f"before {program()}"))
    for world, name, beginning, pace, faults in _worlds(database, "old_worlds", version):
        insert_marked(database, "worlds", (world, name, beginning))
        head = Head(0, root_of(beginning))
        for row in chained(world, head, _acts(database, "old_acts", world, version)):
            database.execute(ACT, row)
            head = row.head
        insert_head(database, world, (pace, faults), head)
    for name in old:
        database.execute(f"DROP TABLE old_{name}")
    assert VERSION == 3 and OF_A_WORLD, "a further version needs a further step"


def _worlds(database: sqlite3.Connection, table: str, version: int) -> list[tuple[Any, ...]]:
    query = f"SELECT id, name, beginning, pace, {FAULTS[version]} FROM {table} ORDER BY id"
    return database.execute(query).fetchall()


def _acts(database: sqlite3.Connection, table: str, world: int, version: int) -> Iterator[tuple[Any, ...]]:
    """Without their marks, each held against it."""
    columns = f"number, at, verb, given, {MADE[version]}"
    rows = database.execute(f"SELECT {columns} FROM {table} WHERE world = ? ORDER BY number", (world,))
    for expected, (number, at, verb, given, made, made_text, mark) in enumerate(rows, 1):
        whole = isinstance(given, bytes) and isinstance(at, str) and isinstance(verb, str) and number == expected
        crc = crc32(given, crc32(f"{world}/{number}/{at}/{verb}/{made_text}".encode())) if whole else None
        if not whole or mark not in (None, crc):
            raise ValueError(f"act {expected} is not as it was written")
        yield at, verb, given, made
