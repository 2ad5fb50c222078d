"""Removes worlds from a state file: all that is left of one, and those that an earlier program had no time for."""

import sqlite3

from sandbox.world.log.format import NAMELESS, OF_A_WORLD
from sandbox.world.log.marks import mark_of


def remove(database: sqlite3.Connection, world: int) -> None:
    """All that is left of a world. Its own row goes last, so that no other is ever without it."""
    for table in OF_A_WORLD:
        database.execute(f"DELETE FROM {table} WHERE world = ?", (world,))
    database.execute("DELETE FROM worlds WHERE id = ?", (world,))


def remove_nameless(database: sqlite3.Connection) -> None:
    """Worlds that were not whole yet, or not wholly gone, when the program ended. A row that is not as it was written
    stays, and is reported as damage.
    """
    query = "SELECT id, name, beginning, mark FROM worlds WHERE name GLOB ?"
    for world, name, content, mark in database.execute(query, (f"{NAMELESS}*",)).fetchall():
        if mark_of(world, name, content) == mark:
            remove(database, world)
