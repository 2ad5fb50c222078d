"""Reads YAML and JSON into a tree of values with their places. Also defines the errors that name such a place.

An error of a scenario must name its line and column, and a hostile file must not fill the memory. The loaders of YAML
libraries return values without places. They also expand aliases before a bound can be checked. So the tree is made from
the events of a parser (start of a mapping, scalar, end of a mapping), because each event has its place.

The number of nodes is limited. An alias becomes the node that it names, and nothing is copied. But all nodes that this
node contains count again. Tags and duplicate keys are refused, because YAML libraries treat them differently. The nodes
of JSON have only paths, and no lines and columns.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from math import isfinite
from typing import Any, NamedTuple

import orjson

from sandbox.banking.countries import read_fixture
from sandbox.banking.names import find_nearest

TEXT_MAX = 500_000  # characters of a file
NODES_MAX = 50_000
DEPTH_MAX = 30
SHOWN_MAX = 80  # characters of a value that a sentence quotes
PATH_MAX = 400  # characters of a path
LISTED_MAX = 16  # the most names that a hint lists
TREES = "trees.json"  # the content of shipped files, by the digest of their text; `make trees` writes it

Scalar = str | int | float | bool | None
HALF_PAIR = re.compile("[\ud800-\udfff]")  # a lone surrogate, which YAML can write but UTF-8 cannot encode
NO_JSON_VALUE = "half a pair of surrogates, NaN and Infinity are not JSON"
TOO_MUCH = f"a scenario of over {NODES_MAX} values, or over {DEPTH_MAX} levels deep, is not read"

# The values of the core schema of YAML 1.2, in which `no` and `12:30` are texts.
WORDS: dict[str, Scalar] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
INTEGER = re.compile(r"[-+]?[0-9]{1,100}\Z")
INTEGER_OF_BASE = re.compile(r"0o[0-7]{1,100}\Z|0x[0-9a-fA-F]{1,100}\Z")
FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]{1,3})?\Z")

# The parser also raises these errors for a bad escape or directive.
PARSER_ERRORS = (ValueError, ArithmeticError, LookupError, AttributeError, TypeError, RecursionError, AssertionError)


@dataclass(frozen=True, slots=True)
class ScenarioError:
    """An error with the path of the wrong node. In a file it also has a line and a column, counted from 1."""

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
    """Raised for a wrong value. `key` is the path of the wrong part within the value, or None if the whole value is
    wrong."""

    text: str
    hint: str | None = None
    key: str | None = None


def quote(value: object) -> str:
    text = str(value)
    return f"'{text if len(text) <= SHOWN_MAX else text[:SHOWN_MAX] + '...'}'"


def join_names(words: Iterable[str], last: str = "or") -> str:
    """Joins words as `a, b or c`."""
    names = list(words)
    return f" {last} ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def suggest(word: str, options: Iterable[str]) -> str | None:
    """Returns a hint with the option that is most similar to a word. If no option is similar, returns a hint with all
    options if they are few, else None."""
    names = list(options)
    near = find_nearest(word, names)
    if near:
        return f"did you mean '{near}'?"
    return f"known: {join_names(names)}" if 0 < len(names) <= LISTED_MAX else None


class TreeEntry(NamedTuple):
    key: "Node"
    value: "Node"


@dataclass(frozen=True, slots=True)
class Node:
    """A scalar, a list or a mapping. `text` is a scalar as it was written in the file."""

    value: "Scalar | tuple[Node, ...] | dict[str, TreeEntry]"
    path: str
    text: str = ""
    line: int | None = None
    column: int | None = None
    size: int = 1  # the number of nodes that it contains, including itself

    @property
    def rows(self) -> dict[str, TreeEntry]:
        """The entries of a mapping. Empty for other nodes."""
        return self.value if isinstance(self.value, dict) else {}

    @property
    def items(self) -> "tuple[Node, ...]":
        """The items of a list. Empty for other nodes."""
        return self.value if isinstance(self.value, tuple) else ()

    def to_python(self) -> Any:
        """Returns the content as dicts, lists and scalars, without places."""
        if isinstance(self.value, dict):
            return {name: entry.value.to_python() for name, entry in self.value.items()}
        if isinstance(self.value, tuple):
            return [item.to_python() for item in self.value]
        return self.value

    def with_rows(self, rows: dict[str, TreeEntry]) -> "Node":
        """Returns a mapping with these entries, at the place of this node."""
        return Node(rows, self.path, "", self.line, self.column)

    def make_error(self, file: str, text: str, hint: str | None = None) -> ScenarioError:
        return ScenarioError(file, self.line, self.column, self.path or "(top)", text, hint)

    def find(self, path: str) -> "Node":
        """Returns the node at a dotted path, or its nearest parent that exists."""
        for name, entry in self.rows.items():
            if path == name:
                return entry.value
            if path.startswith(f"{name}."):
                return entry.value.find(path[len(name) + 1 :])
        first, _, remaining_path = path.partition(".")
        if first.isdecimal() and int(first) < len(self.items):
            return self.items[int(first)].find(remaining_path)
        return self


def _join_path(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _is_json_value(value: Scalar) -> bool:
    """Whether JSON can hold the value. State files, exports and replies are JSON."""
    if isinstance(value, str):
        return value.isascii() or HALF_PAIR.search(value) is None
    return not isinstance(value, float) or isfinite(value)


# JSON


def make_tree(content: Any, file: str) -> Node:
    """Returns the tree of JSON content. Raises ScenarioErrors if the content is too large or too deep, or has a value
    that JSON cannot hold."""
    count = iter(range(NODES_MAX))

    def fail(path: str, text: str) -> ScenarioErrors:
        return ScenarioErrors([Node(None, path).make_error(file, text)])

    def make_node(value: Any, path: str, depth: int) -> Node:
        if next(count, None) is None or depth > DEPTH_MAX:
            raise fail(path, TOO_MUCH)
        if isinstance(value, dict):
            return Node(dict(make_entries(value, path, depth)), path)
        if isinstance(value, list | tuple):
            return Node(tuple(make_node(item, f"{path}[{at}]", depth + 1) for at, item in enumerate(value)), path)
        if value is not None and not isinstance(value, str | int | float):
            raise fail(path, f"a {type(value).__name__} cannot stand in a scenario")
        if not _is_json_value(value):
            raise fail(path, NO_JSON_VALUE)
        return Node(value, path, str(value))

    def make_entries(value: dict[Any, Any], path: str, depth: int) -> Iterator[tuple[str, TreeEntry]]:
        for key, inner in value.items():
            if not isinstance(key, str):
                raise fail(path, "a key must be a text")
            place = _join_path(path, key)
            yield key, TreeEntry(Node(key, place, key), make_node(inner, place, depth + 1))

    return make_node(content, "", 0)


# YAML


def read_yaml(text: str, file: str) -> Node:
    """Returns the tree of a YAML text. The tree of an empty text is an empty mapping. Raises ScenarioErrors if the text
    is too large or no YAML, or if it has several documents, tags or duplicate keys."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    builder = _TreeBuilder(file)
    if len(text) > TEXT_MAX:
        raise builder.fail(1, 1, f"a scenario of over {TEXT_MAX} characters is not read")
    try:
        return builder.read_document(YAML(typ="safe", pure=True).parse(text))
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        reason = error.problem or error.context or "it cannot be read"
    except ScenarioErrors:
        raise
    except (YAMLError, *PARSER_ERRORS) as error:
        reason = (str(error).splitlines() or ["it cannot be read"])[0].partition(": special characters")[0]
        before = text[: getattr(error, "position", 0)]  # a forbidden character
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    raise builder.fail(line, column, f"this is no YAML: {reason}")


def resolve(text: str) -> Scalar:
    """Returns the value of an unquoted scalar."""
    if text in WORDS:
        return WORDS[text]
    if INTEGER.match(text):
        return int(text)
    if INTEGER_OF_BASE.match(text):
        return int(text, 0)
    return float(text) if FLOAT.match(text) else text


class _TreeBuilder:
    """Builds the tree from the parser's events. Checks the bounds of the tree before it adds a node."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._events: Iterator[Any] = iter(())
        self._anchors: dict[str, Node] = {}
        self._count = 0

    def read_document(self, events: Iterator[Any]) -> Node:
        self._events = events
        tree: Node | None = None
        for event in events:
            kind = type(event).__name__
            if kind == "DocumentStartEvent" and tree is not None:
                hint = "a file holds one scenario: take the line of --- away"
                raise self._fail_at(event, "a second document", hint)
            if kind not in ("StreamStartEvent", "StreamEndEvent", "DocumentStartEvent", "DocumentEndEvent"):
                tree = self._read_node(event, "", 0)
        return tree or Node({}, "", line=1, column=1)

    def _read_node(self, event: Any, path: str, depth: int) -> Node:
        if type(event).__name__ == "AliasEvent":
            node = self._anchors.get(event.anchor)
            if node is None:
                raise self._fail_at(event, f"nothing above is marked &{event.anchor}")
            self._count += node.size
        elif event.tag is not None:
            raise self._fail_at(event, f"the tag {quote(event.tag)} is not read", "a scenario has no tags")
        elif depth > DEPTH_MAX:
            raise self._fail_at(event, TOO_MUCH)
        else:
            self._count += 1
            node = self._make_node(event, path, depth + 1)
            if event.anchor:
                self._anchors[event.anchor] = node
        if self._count > NODES_MAX or depth > DEPTH_MAX:
            raise self._fail_at(event, TOO_MUCH)
        return node

    def _make_node(self, event: Any, path: str, depth: int) -> Node:
        line, column = event.start_mark.line + 1, event.start_mark.column + 1
        match type(event).__name__:
            case "ScalarEvent":
                is_plain = event.implicit[0] and event.style is None
                value = resolve(event.value) if is_plain else event.value
                if not _is_json_value(value):
                    raise self._fail_at(event, NO_JSON_VALUE)
                return Node(value, path, event.value, line, column)
            case "SequenceStartEvent":
                items = tuple(self._read_items(path, depth))
                return Node(items, path, "", line, column, 1 + sum(item.size for item in items))
            case _:
                rows = self._read_rows(path, depth)
                return Node(rows, path, "", line, column, 1 + sum(1 + row.value.size for row in rows.values()))

    def _read_items(self, path: str, depth: int) -> Iterator[Node]:
        for at, event in enumerate(self._events):
            if type(event).__name__ == "SequenceEndEvent":
                return
            yield self._read_node(event, f"{path}[{at}]", depth)

    def _read_rows(self, path: str, depth: int) -> dict[str, TreeEntry]:
        rows: dict[str, TreeEntry] = {}
        for event in self._events:
            if type(event).__name__ == "MappingEndEvent":
                break
            key = self._read_node(event, path, depth)
            name = key.text
            if type(event).__name__ != "ScalarEvent":
                raise self._fail_at(event, "a key must be a text")
            if name in rows:
                first = f"first on line {rows[name].key.line}"
                raise self._fail_at(event, f"the key {quote(name)} stands here twice", first)
            place = _join_path(path, name)
            value = self._read_node(next(self._events), place, depth)
            rows[name] = TreeEntry(Node(name, place, name, key.line, key.column), value)
        return rows

    def _fail_at(self, event: Any, text: str, hint: str | None = None) -> ScenarioErrors:
        return self.fail(event.start_mark.line + 1, event.start_mark.column + 1, text, hint)

    def fail(self, line: int, column: int, text: str, hint: str | None = None) -> ScenarioErrors:
        return ScenarioErrors([ScenarioError(self._file, line, column, "", text, hint)])


# Shipped files, whose parsed content is stored, because parsing YAML would be the largest part of a start


@cache
def _load_trees() -> dict[str, Any]:
    trees: dict[str, Any] = orjson.loads(read_fixture(TREES))
    return trees


def compute_digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def read_shipped(text: str, file: str) -> Node:
    """Returns the tree of the text of a shipped file. Takes the content from `trees.json` if it is there. Otherwise
    parses the text as YAML. Raises ScenarioErrors."""
    content = _load_trees().get(compute_digest(text))
    return read_yaml(text, file) if content is None else make_tree(content, file)
