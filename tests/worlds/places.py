"""What a test does to a state file or a database behind the program's back."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from sandbox.storage.marks import LogHead, act_mark, compute_root
from sandbox.storage.store import Position, compute_seal, is_address


def change(state: Path | str, *statements: str) -> None:
    """Statements in the words that SQLite and PostgreSQL share."""
    for statement in statements:
        rows(state, statement)


def rows(state: Path | str, statement: str) -> list[tuple[Any, ...]]:
    if not is_address(state):
        with closing(sqlite3.connect(state, isolation_level=None)) as file:
            return file.execute(statement).fetchall()
    import psycopg  # where it is installed

    with psycopg.connect(str(state), autocommit=True) as connection:
        cursor = connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


def number(state: Path | str, statement: str) -> int:
    """The one number that a query finds."""
    ((found,),) = rows(state, statement)
    return int(found)


def blob(state: Path | str, content: bytes) -> str:
    """As a statement has it."""
    return f"'\\x{content.hex()}'::bytea" if is_address(state) else f"x'{content.hex()}'"


def seal(state: Path | str, name: str = "default") -> None:
    """The world's position is sealed as it is, as a program does that writes it."""
    query = f"SELECT id, acts, head, version, until FROM worlds WHERE name = '{name}'"
    ((world, acts, head, version, until),) = rows(state, query)
    sealed = compute_seal(Position(world, LogHead(acts, head), version), until)
    change(state, f"UPDATE worlds SET seal = {sealed} WHERE id = {world}")


def lose_acts(state: Path | str, name: str, count: int = 1) -> list[str]:
    """The last acts of a world are gone, as after a failover to a database that never had them; returns their verbs."""
    ((world, acts, beginning),) = rows(state, f"SELECT id, acts, beginning FROM worlds WHERE name = '{name}'")
    left = acts - count
    gone = rows(state, f"SELECT verb FROM acts WHERE world = {world} AND number > {left} ORDER BY number")
    last = rows(state, f"SELECT mark FROM acts WHERE world = {world} AND number = {left}")
    head = last[0][0] if last else compute_root(bytes(beginning))
    change(
        state,
        f"DELETE FROM acts WHERE world = {world} AND number > {left}",
        f"UPDATE worlds SET acts = {left}, head = {head} WHERE id = {world}",
    )
    seal(state, name)
    return [str(verb) for (verb,) in gone]


def mark_anew(state: Path | str, name: str = "default") -> None:
    """All marks of a world's acts are made again, as by a program that wrote these very acts."""
    ((world, beginning),) = rows(state, f"SELECT id, beginning FROM worlds WHERE name = '{name}'")
    head = LogHead(0, compute_root(bytes(beginning)))
    for _, act, *content, _ in rows(state, f"SELECT * FROM acts WHERE world = {world} ORDER BY number"):
        head = LogHead(act, act_mark(head.mark, act, *content))
        change(state, f"UPDATE acts SET mark = {head.mark} WHERE world = {world} AND number = {act}")
    change(state, f"UPDATE worlds SET acts = {head.acts}, head = {head.mark} WHERE id = {world}")
    seal(state, name)
