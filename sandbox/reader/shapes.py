"""Shapes of nodes: each reads a node, notes all its errors, and has a JSON Schema."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from sandbox.reader.tree import (
    LISTED_MAX,
    AlreadyReported,
    Node,
    ScenarioError,
    ScenarioErrors,
    Wrong,
    join_names,
    quote,
    suggestion,
)

Json = dict[str, Any]
ERRORS_MAX = 50  # each looks for the nearest name that there is, which takes time


class People(Protocol):
    """The names that a file may refer to: those of fixtures."""

    @property
    def customers(self) -> Mapping[str, Any]: ...

    @property
    def clients(self) -> Mapping[str, Any]: ...

    @property
    def names(self) -> Mapping[str, str]: ...

    def iban_of(self, name: str) -> str | None: ...


@dataclass
class Notes:
    """The errors found so far, and the bank's people (None: names are not checked)."""

    file: str
    fixtures: People | None = None
    errors: list[ScenarioError] = field(default_factory=list)
    added: set[str] = field(default_factory=set)  # names that steps add while the script plays

    def add(self, node: Node, text: str, hint: str | None = None) -> None:
        """Adds an error; stops the reading after ERRORS_MAX of them."""
        if len(self.errors) == ERRORS_MAX:
            self.errors.append(
                node.error(self.file, f"there are more than {ERRORS_MAX} errors; the rest is not listed")
            )
            self.finish()
        self.errors.append(node.error(self.file, text, hint))

    def read(self, shape: "Shape", node: Node) -> Any:
        """Reads the node; raises AlreadyReported when it has errors."""
        try:
            return shape.read(node, self)
        except Wrong as wrong:
            place = node.find(wrong.key) if wrong.key else node
            self.add(place, wrong.text, wrong.hint)
            raise AlreadyReported from None

    def read_each(self, parts: Iterable[tuple["Shape", str, Node]]) -> dict[str, Any]:
        """Reads all parts, each with its name; raises AlreadyReported when one has errors."""
        found: dict[str, Any] = {}
        count = len(self.errors)
        for shape, name, node in parts:
            with suppress(AlreadyReported):
                found[name] = self.read(shape, node)
        if len(self.errors) > count:
            raise AlreadyReported
        return found

    def read_whole(self, shape: "Shape", node: Node) -> Any:
        """Reads the node; raises ScenarioErrors when it has errors."""
        try:
            return self.read(shape, node)
        except AlreadyReported:
            self.finish()
            raise

    def finish(self) -> None:
        """Raises ScenarioErrors if there are errors."""
        if self.errors:
            errors = dict.fromkeys(self.errors)
            raise ScenarioErrors(sorted(errors, key=lambda error: (error.file, error.line or 0, error.column or 0)))


class Shape(Protocol):
    """Reads one part of a scenario, and gives its JSON Schema."""

    def read(self, node: Node, notes: Notes) -> Any: ...

    def schema(self) -> Json: ...


@dataclass(frozen=True)
class Leaf:
    """A scalar, or content that is read as a whole."""

    read: Callable[[Node, Notes], Any]
    described: Json

    def schema(self) -> Json:
        return self.described


@dataclass(frozen=True)
class Table:
    """A mapping of known keys; `make` builds the record and may find it wrong as a whole."""

    fields: Mapping[str, Shape]
    make: Callable[[dict[str, Any]], Any] = lambda rows: rows
    required: tuple[str, ...] = ()
    one_of: tuple[str, ...] = ()  # at least one of these
    called: str = "a mapping"

    def read(self, node: Node, notes: Notes) -> Any:
        if not isinstance(node.value, dict):
            raise Wrong(f"{self.called} is expected", f"with {join_names(list(self.fields)[:LISTED_MAX])}")
        count = len(notes.errors)
        for name, entry in node.rows.items():
            if name not in self.fields:
                notes.add(entry.key, f"an unknown key {quote(name)}", suggestion(name, self.fields))
        for name in self.required:
            if name not in node.rows:
                notes.add(node, f"'{name}' is missing")
        if self.one_of and not any(name in node.rows for name in self.one_of):
            notes.add(node, f"one of {join_names(self.one_of)} is missing")
        found = notes.read_each(
            (self.fields[name], name, entry.value) for name, entry in node.rows.items() if name in self.fields
        )
        if len(notes.errors) > count:
            raise AlreadyReported
        return self.make(found)

    def schema(self) -> Json:
        schema: Json = {
            "type": "object",
            "properties": {name: shape.schema() for name, shape in self.fields.items()},
            "additionalProperties": False,
        }
        if self.required:
            schema["required"] = list(self.required)
        if self.one_of:
            schema["anyOf"] = [{"required": [name]} for name in self.one_of]
        return schema


@dataclass(frozen=True)
class Each:
    """A list."""

    item: Shape
    least: int = 0
    most: int | None = None

    def read(self, node: Node, notes: Notes) -> tuple[Any, ...]:
        if not isinstance(node.value, tuple):
            raise Wrong("a list is expected", "each item begins with a dash" if node.line else None)
        if len(node.items) < self.least:
            raise Wrong("an empty list")
        if self.most is not None and len(node.items) > self.most:
            raise Wrong(f"a list of over {self.most}")
        return tuple(notes.read_each((self.item, str(at), item) for at, item in enumerate(node.items)).values())

    def schema(self) -> Json:
        bound = {} if self.most is None else {"maxItems": self.most}
        return {"type": "array", "items": self.item.schema(), "minItems": self.least} | bound


@dataclass(frozen=True)
class ByName:
    """A mapping of names to items of one shape."""

    item: Shape
    hint: str | None = None

    def read(self, node: Node, notes: Notes) -> dict[str, Any]:
        if not isinstance(node.value, dict):
            raise Wrong("a mapping of names is expected", self.hint)
        return notes.read_each((self.item, name, entry.value) for name, entry in node.rows.items())

    def schema(self) -> Json:
        return {"type": "object", "additionalProperties": self.item.schema()}


@dataclass(frozen=True)
class Either:
    """A scalar of one shape, or a mapping or list of another."""

    scalar: Shape
    other: Shape

    def read(self, node: Node, notes: Notes) -> Any:
        return (self.other if isinstance(node.value, dict | tuple) else self.scalar).read(node, notes)

    def schema(self) -> Json:
        return {"anyOf": [self.scalar.schema(), self.other.schema()]}


def plain(described: Json) -> Leaf:
    """Any content, read elsewhere."""
    return Leaf(lambda node, notes: node.plain(), described)
