"""Shapes. A shape turns a node of the tree into a value, and notes every error with its place.

Each shape also has a JSON Schema, so the published schema of scenarios is made from the shapes that read them. A schema
cannot express everything that a shape checks, such as the names that the bank knows or the order of two times.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Protocol

from sandbox.banking.durations import read_duration, read_instant, write_duration
from sandbox.banking.money import is_currency
from sandbox.reader.tree import (
    LISTED_MAX,
    Node,
    ScenarioError,
    ScenarioErrors,
    Wrong,
    join_names,
    quote,
    suggest,
)

Json = dict[str, Any]
ERRORS_MAX = 50  # a bound of the time, because an error may have to find the nearest name
TEXT_LENGTH_MAX = 10_000
TITLE_LENGTH_MAX = 300
AMOUNT_PATTERN = r"[0-9]{1,13}(\.[0-9]{1,3})?"
DURATION_PATTERN = r"^(([0-9]{1,9}(\.[0-9]{1,6})?[smhdw])+|P[0-9WDTHMS.]+)$"
INT32_MAX = 2**31 - 1  # clients generated in Go and Java read larger integers only if the schema says `int64`
NOT_EMPTY: Json = {"type": "string", "minLength": 1}


class People(Protocol):
    """The names in fixtures to which a scenario may refer."""

    @property
    def customers(self) -> Mapping[str, Any]: ...

    @property
    def clients(self) -> Mapping[str, Any]: ...

    @property
    def names(self) -> Mapping[str, str]: ...

    def find_iban(self, name: str) -> str | None: ...


class AlreadyReported(Exception):
    """Raised for a node whose errors are already in the Notes."""


@dataclass
class Notes:
    """The errors of a file so far, and the people of the bank (`fixtures`). Without people, names in the file are not
    checked."""

    file: str
    fixtures: People | None = None
    errors: list[ScenarioError] = field(default_factory=list)
    added: set[str] = field(default_factory=set)  # names that steps add while the script plays

    def add(self, node: Node, text: str, hint: str | None = None) -> None:
        """Adds an error. If there are ERRORS_MAX errors already, raises ScenarioErrors."""
        if len(self.errors) == ERRORS_MAX:
            self.errors.append(
                node.make_error(self.file, f"there are more than {ERRORS_MAX} errors; the rest is not listed")
            )
            self.finish()
        self.errors.append(node.make_error(self.file, text, hint))

    def read(self, shape: "Shape", node: Node) -> Any:
        """Returns the value of the node. If it is wrong, adds the error and raises AlreadyReported."""
        try:
            return shape.read(node, self)
        except Wrong as wrong:
            place = node.find(wrong.key) if wrong.key else node
            self.add(place, wrong.text, wrong.hint)
            raise AlreadyReported from None

    def read_or_none(self, shape: "Shape", node: Node) -> Any:
        """Returns the value of the node, or None if it has errors."""
        with suppress(AlreadyReported):
            return self.read(shape, node)

    def read_each(self, parts: Iterable[tuple["Shape", str, Node]]) -> dict[str, Any]:
        """Returns the values of all parts by name. Raises AlreadyReported if a part has errors."""
        count = len(self.errors)
        values = {name: self.read_or_none(shape, node) for shape, name, node in parts}
        self.demand_no_errors_since(count)
        return values

    def read_whole(self, shape: "Shape", node: Node) -> Any:
        """Returns the value of the node. Raises ScenarioErrors if it has errors."""
        try:
            return self.read(shape, node)
        except AlreadyReported:
            self.finish()
            raise

    def demand_no_errors_since(self, count: int) -> None:
        if len(self.errors) > count:
            raise AlreadyReported

    def finish(self) -> None:
        """Raises ScenarioErrors if there are errors."""
        if self.errors:
            errors = dict.fromkeys(self.errors)
            raise ScenarioErrors(sorted(errors, key=lambda error: (error.file, error.line or 0, error.column or 0)))


class Shape(Protocol):
    def read(self, node: Node, notes: Notes) -> Any: ...

    def make_schema(self) -> Json: ...


@dataclass(frozen=True)
class Leaf:
    """A shape whose value is read by the function `read`. The value may be a scalar or a whole part of a file.
    `described` is its JSON Schema."""

    read: Callable[[Node, Notes], Any]
    described: Json

    def make_schema(self) -> Json:
        return self.described


@dataclass(frozen=True)
class Table:
    """A shape for a mapping with known keys. `make` gets the values of the keys and makes the value of the mapping. It
    may raise Wrong if the values of the keys do not fit together."""

    fields: Mapping[str, Shape]
    make: Callable[[dict[str, Any]], Any] = lambda rows: rows
    required: tuple[str, ...] = ()
    one_of: tuple[str, ...] = ()  # keys of which the mapping must have one or more
    called: str = "a mapping"
    key_called: str = "key"
    hint: str | None = None
    elsewhere: Mapping[str, str] = field(default_factory=dict)  # hints for keys that belong elsewhere in the file

    def read(self, node: Node, notes: Notes) -> Any:
        if not isinstance(node.value, dict):
            hint = self.hint or f"with {join_names(list(self.fields)[:LISTED_MAX])}"
            raise Wrong(f"{self.called} is expected", hint)
        count = len(notes.errors)
        for name, entry in node.rows.items():
            if name not in self.fields:
                nearest = self.elsewhere.get(name) or suggest(name, self.fields)
                notes.add(entry.key, f"an unknown {self.key_called} {quote(name)}", nearest)
        for name in self.required:
            if name not in node.rows:
                notes.add(node, f"'{name}' is missing")
        if self.one_of and not any(name in node.rows for name in self.one_of):
            notes.add(node, f"one of {join_names(self.one_of)} is missing")
        known_entries = [
            (self.fields[name], name, entry.value) for name, entry in node.rows.items() if name in self.fields
        ]
        values = notes.read_each(known_entries)
        notes.demand_no_errors_since(count)
        return self.make(values)

    def make_schema(self) -> Json:
        schema: Json = {
            "type": "object",
            "properties": {name: shape.make_schema() for name, shape in self.fields.items()},
            "additionalProperties": False,
        }
        if self.required:
            schema["required"] = list(self.required)
        if self.one_of:
            # This means the same as `anyOf` with one `required` for each name. Clients generated in TypeScript do not
            # compile with such an `anyOf`.
            schema["not"] = {"properties": {name: {"not": {}} for name in self.one_of}}
        return schema


@dataclass(frozen=True)
class Each:
    """A shape for a list whose items all have the shape `item`."""

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

    def make_schema(self) -> Json:
        bound = {} if self.most is None else {"maxItems": self.most}
        return {"type": "array", "items": self.item.make_schema(), "minItems": self.least} | bound


@dataclass(frozen=True)
class ByName:
    """A shape for a mapping with any names, whose values all have the shape `item`."""

    item: Shape
    hint: str | None = None

    def read(self, node: Node, notes: Notes) -> dict[str, Any]:
        if not isinstance(node.value, dict):
            raise Wrong("a mapping of names is expected", self.hint)
        return notes.read_each((self.item, name, entry.value) for name, entry in node.rows.items())

    def make_schema(self) -> Json:
        return {"type": "object", "additionalProperties": self.item.make_schema()}


@dataclass(frozen=True)
class Either:
    """A shape for a scalar (read by `scalar`), or for a mapping or a list (read by `other`)."""

    scalar: Shape
    other: Shape

    def read(self, node: Node, notes: Notes) -> Any:
        return (self.other if isinstance(node.value, dict | tuple) else self.scalar).read(node, notes)

    def make_schema(self) -> Json:
        scalar, other = self.scalar.make_schema(), self.other.make_schema()
        if other.get("type") != "array":
            return {"anyOf": [scalar, other]}
        # Generated clients in Java do not compile with a list among the alternatives of `anyOf`.
        if isinstance(scalar.get("type"), str) and "enum" not in scalar:
            return {**scalar, **other, "type": [scalar["type"], "array"]}
        return {"if": {"type": "array", "items": {}}, "then": other, "else": scalar}


def make_any_content(described: Json) -> Leaf:
    """Returns a shape that accepts any content. Its value is the content as Python values."""
    return Leaf(lambda node, notes: node.to_python(), described)


# Texts


def read_text(node: Node) -> str:
    """Returns the text of a node. Raises Wrong if the value is no text, or if the text is empty or too long."""
    if not isinstance(node.value, str):
        is_scalar = node.line is not None and not isinstance(node.value, dict | tuple | None)
        raise Wrong("a text is expected", f'in quotes: "{node.text}"' if is_scalar else None)
    if not node.value.strip():
        raise Wrong("an empty text")
    if len(node.value) > TEXT_LENGTH_MAX:
        raise Wrong(f"a text of over {TEXT_LENGTH_MAX} characters")
    return node.value


def make_checked_text(
    is_right: Callable[[str], object], wrong: Callable[[str], Wrong], described: Json = NOT_EMPTY
) -> Leaf:
    """Returns a shape for a text for which `is_right` is true. `wrong` makes the error for any other text."""

    def read(node: Node, notes: Notes) -> str:
        value = read_text(node)
        if not is_right(value):
            raise wrong(value)
        return value

    return Leaf(read, described)


def make_text(pattern: str, example: str) -> Leaf:
    """Returns a shape for a text that matches a pattern as a whole."""
    return make_checked_text(
        re.compile(pattern).fullmatch,
        lambda value: Wrong(f"{quote(value)} has the wrong form", f"like {example}"),
        NOT_EMPTY | {"pattern": f"^({pattern})$"},
    )


def make_text_that(is_right: Callable[[str], bool], called: str) -> Leaf:
    """Returns a shape for a text that a function accepts. `called` names such a text in an error."""
    return make_checked_text(is_right, lambda value: Wrong(f"{quote(value)} is no {called}"))


def make_one_of(words: Iterable[str], called: str) -> Leaf:
    options = tuple(words)
    return make_checked_text(
        options.__contains__,
        lambda value: Wrong(f"{quote(value)} is no {called}", suggest(value, options)),
        {"type": "string", "enum": list(options)},
    )


def make_pattern_or(leaf: Leaf) -> Leaf:
    """Returns a shape for a text. A text with *, ? or [ is a pattern, and the shape returns it unchanged. Any other
    text is read by `leaf`."""

    def read(node: Node, notes: Notes) -> Any:
        value = read_text(node)
        return value if any(sign in value for sign in "*?[") else leaf.read(node, notes)

    return Leaf(read, NOT_EMPTY if "enum" in leaf.described else leaf.described)


# Names of the bank's people


def find_iban(node: Node, notes: Notes) -> str:
    """Returns the IBAN of an account. The node has the account's IBAN, its name or its owner's name. Raises Wrong if
    the bank has no such account. Without people in `notes`, returns the text unchanged."""
    name, people = read_text(node), notes.fixtures
    if people is None:
        return name
    iban = people.find_iban(name)
    if iban is not None:
        return iban
    if name in people.customers:
        raise Wrong(f"{quote(name)} has no account")
    raise Wrong(f"{quote(name)} is no account of this bank", suggest(name, [*people.names, *people.customers]))


def make_name(called: str, names_in: Callable[[People], Iterable[str]]) -> Leaf:
    """Returns a shape for a name that `names_in` finds among the bank's people. `called` says in an error what the name
    is, such as `customer`. Without people in the Notes, the shape accepts any name."""

    def read(node: Node, notes: Notes) -> str:
        name = read_text(node)
        if notes.fixtures is not None and name not in (names := list(names_in(notes.fixtures))):
            raise Wrong(f"{quote(name)} is no {called} of this bank", suggest(name, names))
        return name

    return Leaf(read, NOT_EMPTY)


# Numbers, amounts and times


def make_number(least: int, most: int) -> Leaf:
    def read(node: Node, notes: Notes) -> int:
        if isinstance(node.value, bool) or not isinstance(node.value, int):
            raise Wrong("a whole number is expected")
        if not least <= node.value <= most:
            raise Wrong(f"a number from {least} to {most} is expected")
        return node.value

    large = {"format": "int64"} if most > INT32_MAX else {}
    return Leaf(read, {"type": "integer", "minimum": least, "maximum": most} | large)


def make_fraction(least: float, most: float, open_below: bool = False) -> Leaf:
    def read(node: Node, notes: Notes) -> float:
        if isinstance(node.value, bool) or not isinstance(node.value, int | float):
            raise Wrong("a number is expected")
        below = node.value <= least if open_below else node.value < least
        if below or node.value > most or math.isnan(node.value):
            bounds = f"above {least:g} and up to" if open_below else f"from {least:g} to"
            raise Wrong(f"a number {bounds} {most:.10g} is expected")
        return float(node.value)

    return Leaf(read, {"type": "number", "exclusiveMinimum" if open_below else "minimum": least, "maximum": most})


def _read_flag(node: Node, notes: Notes) -> bool:
    if not isinstance(node.value, bool):
        raise Wrong("true or false is expected")
    return node.value


def _read_yes(node: Node, notes: Notes) -> bool:
    if node.value is not True:
        raise Wrong("true is expected", "or take the line away")
    return True


def _read_amount(node: Node, notes: Notes) -> Decimal:
    """Returns an amount with all digits that were written: 0.10 keeps its zero. Quotes around it are optional."""
    if isinstance(node.value, bool) or not re.fullmatch(AMOUNT_PATTERN, node.text):
        raise Wrong("an amount is expected", 'like "250.00"')
    return Decimal(node.text)


def make_duration(longest: timedelta | None = None) -> Leaf:
    def read(node: Node, notes: Notes) -> timedelta:
        try:
            span = read_duration(node.value)
        except ValueError as error:
            is_bare = isinstance(node.value, int) and not isinstance(node.value, bool)
            raise Wrong(str(error), f"did you mean '{node.value}s'?" if is_bare else None) from None
        if longest is not None and span > longest:
            raise Wrong(f"{quote(node.value)} is too long", f"{write_duration(longest)} at most")
        return span

    return Leaf(read, {"type": "string", "pattern": DURATION_PATTERN})


def _read_instant(node: Node, notes: Notes) -> datetime:
    try:
        return read_instant(node.value)
    except ValueError as error:
        raise Wrong(str(error)) from None


def read_window(rows: dict[str, Any]) -> dict[str, Any]:
    """Returns the rows with the key `from` renamed to `since`. Raises Wrong if `from` is not before `until`."""
    since: datetime | None = rows.get("from")
    until: datetime | None = rows.get("until")
    if since and until and since >= until:
        raise Wrong("'until' must lie after 'from'", key="until")
    return {name: value for name, value in rows.items() if name != "from"} | {"since": since}


def find_only_key(rows: dict[str, Any], names: Iterable[str]) -> str:
    """Returns the only key of `names` that the rows have. Raises Wrong if the rows have several of these keys, or have
    no such key."""
    present = [name for name in names if name in rows]
    if len(present) > 1:
        raise Wrong(f"only one of {join_names(present, 'and')} can hold", key=present[1])
    if not present:
        raise Wrong(f"one of {join_names(names)} is missing")
    return present[0]


TEXT = Leaf(lambda node, notes: read_text(node), NOT_EMPTY)
TITLE = make_checked_text(
    lambda title: len(title) <= TITLE_LENGTH_MAX,
    lambda title: Wrong(f"a title of over {TITLE_LENGTH_MAX} characters", "say the rest in 'about'"),
    NOT_EMPTY | {"maxLength": TITLE_LENGTH_MAX},
)
FLAG = Leaf(_read_flag, {"type": "boolean"})
YES = Leaf(_read_yes, {"const": True})
DURATION = make_duration()
INSTANT = Leaf(_read_instant, {"type": "string", "pattern": r"^2[01][0-9]{2}-"})
AMOUNT_TEXT = Leaf(
    _read_amount,
    {"anyOf": [{"type": "number", "minimum": 0}, {"type": "string", "pattern": f"^({AMOUNT_PATTERN})$"}]},
)
ACCOUNT = Leaf(find_iban, NOT_EMPTY)
CURRENCY = make_text_that(is_currency, "currency")
CUSTOMER = make_name("customer", lambda people: people.customers)
CLIENT = make_name("client", lambda people: people.clients)
NTH = make_number(1, 1_000_000_000)
