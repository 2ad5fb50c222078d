"""The rows of a world, in the words that a state file and a database share: how they are made, marked and removed."""

from datetime import UTC
from typing import Any

from sandbox.world.log.codec import encode_text
from sandbox.world.log.format import NAMELESS, OF_A_WORLD
from sandbox.world.log.marks import Head, mark_of
from sandbox.world.log.memory_log import Act
from sandbox.world.log.place import Database

Noted = tuple[bytes, bytes | None]  # how a world's clock goes, and which faults were ordered


def insert_world(database: Database, name: str, beginning: bytes) -> int:
    """The answer is its id."""
    query = "INSERT INTO worlds (name, beginning, mark) VALUES (?, ?, 0) RETURNING id"
    world = int(database.execute(query, (name, beginning)).fetchone()[0])
    rename_world(database, world, name, beginning)
    return world


def rename_world(database: Database, world: int, name: str, beginning: bytes) -> None:
    row = (name, mark_of(world, name, beginning), world)
    database.execute("UPDATE worlds SET name = ?, mark = ? WHERE id = ?", row)


def insert_head(database: Database, world: int, noted: Noted, head: Head, *owned: int | None) -> None:
    """In a database, with its owner and the epoch."""
    row = (world, *noted, mark_of(world, *noted), *head, mark_of(world, *head), *owned)
    _insert(database, "heads", row)


def insert_marked(database: Database, table: str, row: tuple[Any, ...]) -> None:
    """Into a table whose mark is of all its columns."""
    _insert(database, table, (*row, mark_of(*row)))


def _insert(database: Database, table: str, row: tuple[Any, ...]) -> None:
    places = ", ".join("?" * len(row))
    database.execute(f"INSERT INTO {table} VALUES ({places})", row)


def columns_of(act: Act) -> tuple[str, str, bytes, int]:
    """An act as a row keeps it."""
    return act.at.astimezone(UTC).isoformat(), act.verb, encode_text(act.arguments), act.made


def remove_world(database: Database, world: int) -> None:
    """All that is left of a world. Its own row goes last, so that no other is ever without it."""
    for table in OF_A_WORLD:
        database.execute(f"DELETE FROM {table} WHERE world = ?", (world,))
    database.execute("DELETE FROM worlds WHERE id = ?", (world,))


def remove_nameless(database: Database) -> None:
    """Worlds that were not whole yet, or not wholly gone, when the program ended. A row that is not as it was written
    stays, and is reported as damage.
    """
    query = "SELECT id, name, beginning, mark FROM worlds WHERE name GLOB ?"
    for world, name, content, mark in database.execute(query, (f"{NAMELESS}*",)).fetchall():
        if mark_of(world, name, content) == mark:
            remove_world(database, world)
