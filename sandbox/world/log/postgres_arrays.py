"""Columns of rows as arrays in PostgreSQL's binary form: one statement takes any number of rows, and stays the same.

Our few types are packed here, in a tenth of the time that a library takes which knows every type.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from struct import Struct
from typing import Any

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
