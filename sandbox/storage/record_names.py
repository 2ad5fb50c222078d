"""Under which name each record is stored. A name never changes, also when its class is renamed."""

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

RECORDS: dict[str, type[Any]] = {}
NAMES: dict[type[Any], str] = {}


def stored_as(name: str) -> Callable[[type[T]], type[T]]:
    """Lets acts, beginnings and exports hold records of the class, under this name."""

    def register(kind: type[T]) -> type[T]:
        RECORDS[name] = kind
        NAMES[kind] = name
        return kind

    return register
