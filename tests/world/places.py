"""What a test does to a state file or a database behind the program's back."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from sandbox.world.log.store import is_address


def change(state: Path | str, *statements: str) -> None:
    """Statements in the words that SQLite and PostgreSQL share."""
    for statement in statements:
        rows(state, statement)


def rows(state: Path | str, statement: str) -> list[tuple[Any, ...]]:
    if not is_address(state):
        with closing(sqlite3.connect(state, isolation_level=None)) as file:
            return file.execute(statement).fetchall()
    from sandbox.world.log.postgres_line import Line  # where psycopg is installed

    with closing(Line(str(state))) as line, line.statements() as database:
        found = database.execute(statement)
        return found.fetchall() if found.description else []


def end_leases(state: Path | str) -> None:
    """Of servers that were killed: as if the length of their leases had passed."""
    if is_address(state):
        change(state, "DELETE FROM servers")


def blob(state: Path | str, content: bytes) -> str:
    """As a statement has it."""
    return f"'\\x{content.hex()}'::bytea" if is_address(state) else f"x'{content.hex()}'"
