"""Content as a tree of nodes with their line and column, and the errors that name such a place."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any, NamedTuple

from sandbox.banking.names import nearest

NODES_MAX = 50_000
DEPTH_MAX = 30

SHOWN_MAX = 80  # characters of a value that a sentence quotes
PATH_MAX = 400  # characters of a path
LISTED_MAX = 16  # names that a hint lists

Scalar = str | int | float | bool | None
HALF = re.compile("[\ud800-\udfff]")  # of a pair of surrogates: YAML can spell one, no file or page can hold it
NO_JSON_VALUE = "half a pair of surrogates, NaN and Infinity are not JSON"
TOO_MUCH = f"a scenario of over {NODES_MAX} values, or over {DEPTH_MAX} levels deep, is not read"


@dataclass(frozen=True, slots=True)
class ScenarioError:
    """One error. A file has lines and columns (from 1), JSON has a path only."""

    file: str
    line: int | None
    column: int | None
    path: str
    text: str
    hint: str | None = None

    def __str__(self) -> str:
        place = self.path[:PATH_MAX] if self.line is None else f"{self.line}:{self.column}"
        return f"{self.file}:{place}: {self.text}" + (f" ({self.hint})" if self.hint else "")


class ScenarioErrors(ValueError):
    """All errors of a scenario or of fixtures."""

    def __init__(self, errors: Iterable[ScenarioError]) -> None:
        self.errors = tuple(errors)
        super().__init__("\n".join(str(error) for error in self.errors))


@dataclass(eq=False)
class Wrong(Exception):
    """A wrong value; `key` names the wrong part of it."""

    text: str
    hint: str | None = None
    key: str | None = None


class AlreadyReported(Exception):
    """The error of this node is already in the notes."""


def quote(value: object) -> str:
    """A value as a sentence quotes it."""
    text = str(value)
    return f"'{text if len(text) <= SHOWN_MAX else text[:SHOWN_MAX] + '...'}'"


def join_names(words: Iterable[str], last: str = "or") -> str:
    """`a, b or c`."""
    names = list(words)
    return f" {last} ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def suggestion(word: str, options: Iterable[str]) -> str | None:
    """A hint: the nearest names, or all names if they are few."""
    names = list(options)
    near = nearest(word, names)
    if near:
        return f"did you mean '{near}'?"
    return f"known: {join_names(names)}" if 0 < len(names) <= LISTED_MAX else None


class TreeEntry(NamedTuple):
    """A key and what stands under it."""

    key: "Node"
    value: "Node"


@dataclass(frozen=True, slots=True)
class Node:
    """A scalar, a list or a mapping; `text` is how a scalar was written."""

    value: "Scalar | tuple[Node, ...] | dict[str, TreeEntry]"
    path: str
    text: str = ""
    line: int | None = None
    column: int | None = None
    size: int = 1

    @property
    def rows(self) -> dict[str, TreeEntry]:
        """The entries of a mapping; of anything else, none."""
        return self.value if isinstance(self.value, dict) else {}

    @property
    def items(self) -> "tuple[Node, ...]":
        """The items of a list; of anything else, none."""
        return self.value if isinstance(self.value, tuple) else ()

    def plain(self) -> Any:
        """The content without lines and columns."""
        if isinstance(self.value, dict):
            return {name: entry.value.plain() for name, entry in self.value.items()}
        if isinstance(self.value, tuple):
            return [item.plain() for item in self.value]
        return self.value

    def error(self, file: str, text: str, hint: str | None = None) -> ScenarioError:
        """An error at this place."""
        return ScenarioError(file, self.line, self.column, self.path or "(top)", text, hint)

    def find(self, path: str) -> "Node":
        """The node at a dotted path, or its nearest existing parent."""
        for name, entry in self.rows.items():
            if path == name:
                return entry.value
            if path.startswith(f"{name}."):
                return entry.value.find(path[len(name) + 1 :])
        first, _, rest = path.partition(".")
        if first.isdecimal() and int(first) < len(self.items):
            return self.items[int(first)].find(rest)
        return self


def child_path(path: str, name: str) -> str:
    """The path of a part."""
    return f"{path}.{name}" if path else name


def can_travel(value: Scalar) -> bool:
    """Tells whether JSON can hold the value, as state files, exports and replies are JSON."""
    match value:
        case str():
            return value.isascii() or HALF.search(value) is None
        case float():
            return isfinite(value)
        case _:
            return True


def tree_of(content: Any, file: str) -> Node:
    """The tree of JSON content."""
    count = iter(range(NODES_MAX))

    def grow(value: Any, path: str, depth: int) -> Node:
        if next(count, None) is None or depth > DEPTH_MAX:
            raise ScenarioErrors([Node(None, path).error(file, TOO_MUCH)])
        if isinstance(value, dict):
            return Node(dict(entries(value, path, depth)), path)
        if isinstance(value, list | tuple):
            return Node(tuple(grow(item, f"{path}[{at}]", depth + 1) for at, item in enumerate(value)), path)
        if value is None or isinstance(value, str | int | float):
            if not can_travel(value):
                raise ScenarioErrors([Node(None, path).error(file, NO_JSON_VALUE)])
            return Node(value, path, str(value))
        raise ScenarioErrors([Node(None, path).error(file, f"a {type(value).__name__} cannot stand in a scenario")])

    def entries(value: dict[Any, Any], path: str, depth: int) -> Iterator[tuple[str, TreeEntry]]:
        for key, inner in value.items():
            if not isinstance(key, str):
                raise ScenarioErrors([Node(None, path).error(file, "a key must be a text")])
            place = child_path(path, key)
            yield key, TreeEntry(Node(key, place, key), grow(inner, place, depth + 1))

    return grow(content, "", 0)
