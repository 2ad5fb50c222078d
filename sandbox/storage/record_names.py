"""The classes whose records are stored, by their names in stored data. A name never changes.

This is apart from the codec, which imports all of the bank, because classes of other packages are registered here too.
"""

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

RECORDS: dict[str, type[Any]] = {}
NAMES: dict[type[Any], str] = {}


def stored_as(name: str) -> Callable[[type[T]], type[T]]:
    """Registers the class, so that acts, beginnings and exports can contain its records."""

    def register(kind: type[T]) -> type[T]:
        RECORDS[name] = kind
        NAMES[kind] = name
        return kind

    return register
