"""YAML 1.2 in, a tree out. No tags, no duplicate keys, and nothing that grows without bound."""

import re
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from typing import Any

import orjson

from sandbox.banking.countries import fixture_bytes
from sandbox.reader.tree import (
    DEPTH_MAX,
    NO_JSON_VALUE,
    NODES_MAX,
    TOO_MUCH,
    Node,
    Scalar,
    ScenarioError,
    ScenarioErrors,
    TreeEntry,
    can_travel,
    child_path,
    quote,
    tree_of,
)

TEXT_MAX = 500_000  # characters
TREES = "trees.json"  # content by the digest of its text; `make trees` writes it

# The core schema of YAML 1.2: `no` and `12:30` are texts.
_NULL = {"", "~", "null", "Null", "NULL"}
_BOOL = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INT = re.compile(r"[-+]?[0-9]{1,100}\Z")
_INT_OF_BASE = re.compile(r"0o[0-7]{1,100}\Z|0x[0-9a-fA-F]{1,100}\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]{1,3})?\Z")

# Beside its own errors, the parser lets through what Python says of a bad escape or directive.
_PARSER_FAULTS = (ValueError, ArithmeticError, LookupError, AttributeError, TypeError, RecursionError, AssertionError)


def read_yaml(text: str, file: str) -> Node:
    """Parses a text into a tree; raises ScenarioErrors."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    if len(text) > TEXT_MAX:
        raise ScenarioErrors([ScenarioError(file, 1, 1, "", f"a scenario of over {TEXT_MAX} characters is not read")])
    try:
        return _Builder(YAML(typ="safe", pure=True).parse(text), file).document()
    except MarkedYAMLError as fault:
        mark = fault.problem_mark or fault.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        why = fault.problem or fault.context or "it cannot be read"
        raise ScenarioErrors([ScenarioError(file, line, column, "", f"this is no YAML: {why}")]) from None
    except ScenarioErrors:
        raise
    except (YAMLError, *_PARSER_FAULTS) as fault:
        why = (str(fault).splitlines() or ["it cannot be read"])[0].partition(": special characters")[0]
        before = text[: getattr(fault, "position", 0)]  # a forbidden character
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        raise ScenarioErrors([ScenarioError(file, line, column, "", f"this is no YAML: {why}")]) from None


def resolve(text: str) -> Scalar:
    """The value of an unquoted scalar."""
    if text in _NULL:
        return None
    if text in _BOOL:
        return _BOOL[text]
    if _INT.match(text):
        return int(text)
    if _INT_OF_BASE.match(text):
        return int(text, 0)
    return float(text) if _FLOAT.match(text) else text


class _Builder:
    """Makes the tree from the parser's events, so that bounds hold before anything grows."""

    def __init__(self, events: Iterator[Any], file: str) -> None:
        self._events = events
        self._file = file
        self._anchors: dict[str, Node] = {}
        self._count = 0

    def document(self) -> Node:
        tree: Node | None = None
        for event in self._events:
            kind = type(event).__name__
            if kind == "DocumentStartEvent" and tree is not None:
                raise self._fault(event, "a second document", "a file holds one scenario: take the line of --- away")
            if kind not in ("StreamStartEvent", "StreamEndEvent", "DocumentStartEvent", "DocumentEndEvent"):
                tree = self._node(event, "", 0)
        return tree or Node({}, "", line=1, column=1)

    def _node(self, event: Any, path: str, depth: int) -> Node:
        kind = type(event).__name__
        if kind == "AliasEvent":
            node = self._anchors.get(event.anchor)
            if node is None:
                raise self._fault(event, f"nothing above is marked &{event.anchor}")
            self._count += node.size
        elif event.tag is not None:
            raise self._fault(event, f"the tag {quote(event.tag)} is not read", "a scenario has no tags")
        else:
            self._count += 1
            node = self._fresh(event, kind, path, depth)
            if event.anchor:
                self._anchors[event.anchor] = node
        if self._count > NODES_MAX or depth > DEPTH_MAX:
            raise self._fault(event, TOO_MUCH)
        return node

    def _fresh(self, event: Any, kind: str, path: str, depth: int) -> Node:
        if depth > DEPTH_MAX:
            raise self._fault(event, TOO_MUCH)
        line, column = event.start_mark.line + 1, event.start_mark.column + 1
        if kind == "ScalarEvent":
            plain = event.implicit[0] and event.style is None
            value = resolve(event.value) if plain else event.value
            if not can_travel(value):
                raise self._fault(event, NO_JSON_VALUE)
            return Node(value, path, event.value, line, column)
        if kind == "SequenceStartEvent":
            items = tuple(self._items(path, depth + 1))
            return Node(items, path, "", line, column, 1 + sum(item.size for item in items))
        rows = self._rows(path, depth + 1)
        return Node(rows, path, "", line, column, 1 + sum(1 + row.value.size for row in rows.values()))

    def _items(self, path: str, depth: int) -> Iterator[Node]:
        for at, event in enumerate(self._events):
            if type(event).__name__ == "SequenceEndEvent":
                return
            yield self._node(event, f"{path}[{at}]", depth)

    def _rows(self, path: str, depth: int) -> dict[str, TreeEntry]:
        rows: dict[str, TreeEntry] = {}
        for event in self._events:
            if type(event).__name__ == "MappingEndEvent":
                break
            key = self._node(event, path, depth)
            name = key.text
            if type(event).__name__ != "ScalarEvent":
                raise self._fault(event, "a key must be a text")
            if name in rows:
                first = f"first on line {rows[name].key.line}"
                raise self._fault(event, f"the key {quote(name)} stands here twice", first)
            place = child_path(path, name)
            rows[name] = TreeEntry(
                Node(name, place, name, key.line, key.column), self._node(next(self._events), place, depth)
            )
        return rows

    def _fault(self, event: Any, text: str, hint: str | None = None) -> ScenarioErrors:
        mark = event.start_mark
        return ScenarioErrors([ScenarioError(self._file, mark.line + 1, mark.column + 1, "", text, hint)])


# Shipped YAML, of which some was read before: to read it again would be the largest part of a start.


@cache
def _trees() -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads(fixture_bytes(TREES))
    return found


def digest_of(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def read_shipped(text: str, file: str) -> Node:
    """The tree of a text that has no errors; of a text that was changed since, as it is now."""
    content = _trees().get(digest_of(text))
    return read_yaml(text, file) if content is None else tree_of(content, file)
