"""The classes whose records are stored, by the names that stored data has for them. A name never changes.

This is apart from the codec, which imports all of the bank: classes of other packages are registered here too.
"""

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

RECORDS: dict[str, type[Any]] = {}
NAMES: dict[type[Any], str] = {}


def stored_as(name: str) -> Callable[[type[T]], type[T]]:
    """Lets acts, beginnings and exports hold records of the class."""

    def register(kind: type[T]) -> type[T]:
        RECORDS[name] = kind
        NAMES[kind] = name
        return kind

    return register
