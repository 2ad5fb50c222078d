"""Reads the steps of a script, and checks their values before it plays (choice 13).

A step that expects a refusal may be wrong on purpose, and a value with a {reference} is known only when it plays.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from sandbox.reader.shapes import Json, Notes, Shape, Table, plain
from sandbox.reader.tree import AlreadyReported, Node, Wrong, join_names, quote, suggestion
from sandbox.scenarios.model import ScriptStep
from sandbox.scenarios.return_rows import STATUS
from sandbox.scenarios.step_rows import EXPECTED, JUDGED, NAME, REFUSED, STEPS, TIMES, Word

BRANCHES_MIN = 2
STEP_REF = "#/$defs/step"
Branches = tuple[tuple[ScriptStep, ...], ...]


class StepShape:
    """A mapping of one step word, and `as`."""

    def read(self, node: Node, notes: Notes) -> ScriptStep:
        if not isinstance(node.value, dict):
            word = node.value if isinstance(node.value, str) and node.value in STEPS else None
            if word is None or STEPS[word].bare is None:
                raise Wrong("a step is a word with what it takes", "like pay: {amount: ...}")
            return ScriptStep(word, None, node.line, node.column, path=node.path)
        words = [name for name in node.rows if name in STEPS]
        count = len(notes.errors)
        for name, entry in node.rows.items():
            if name not in STEPS and name != "as":
                notes.add(entry.key, f"no step is called {quote(name)}", suggestion(name, [*STEPS, "as"]))
        for name in words[1:]:
            notes.add(node.rows[name].key, f"{words[0]} and {name} are two steps", "give each a dash of its own")
        as_name = _read_or_none(NAME, node.rows["as"].value, notes) if "as" in node.rows else None
        inner: Branches = ()
        if words:
            content = node.rows[words[0]].value
            inner = self._inner(words[0], content, notes)
            _check_keys(words[0], content, notes)
        elif len(notes.errors) == count:
            notes.add(node, "this step does nothing", f"the words are {join_names(STEPS)}")
        if len(notes.errors) > count:
            raise AlreadyReported
        return ScriptStep(words[0], content.plain(), node.line, node.column, as_name, inner, node.path)

    def _inner(self, name: str, node: Node, notes: Notes) -> Branches:
        """The steps within a step."""
        if name == "parallel":
            if len(node.items) < BRANCHES_MIN:
                why = "parallel takes a list of two or more branches"
                notes.add(node, why, "each is a list of steps, or one step")
            return tuple(branch for item in node.items if (branch := self._branch(item, notes)))
        if name != "repeat" or not isinstance(node.value, dict):
            return ()
        for key in ("times", "steps"):
            if key not in node.rows:
                notes.add(node, f"'{key}' is missing")
        if "times" in node.rows:
            _read_or_none(TIMES, node.rows["times"].value, notes)
        return (self._branch(node.rows["steps"].value, notes),) if "steps" in node.rows else ()

    def _branch(self, node: Node, notes: Notes) -> tuple[ScriptStep, ...]:
        """A list of steps, or one."""
        if node.value == ():
            notes.add(node, "an empty list")
        found = (_read_or_none(self, step, notes) for step in _steps_of(node))
        return tuple(step for step in found if step is not None)

    def schema(self) -> Json:
        """Steps may stand within steps."""
        return {"$ref": STEP_REF}


def _steps_of(node: Node) -> Sequence[Node]:
    return node.items if isinstance(node.value, tuple) else (node,)


def _read_or_none(shape: Shape, node: Node, notes: Notes) -> Any:
    with suppress(AlreadyReported):
        return notes.read(shape, node)


def step_schema() -> Json:
    """The schema to which those of steps refer."""
    words = [
        {"required": [name], "properties": {"as": NAME.schema(), name: _schema(name, word)}}
        | {"additionalProperties": False}
        for name, word in STEPS.items()
    ]
    bare = {"enum": [name for name, word in STEPS.items() if word.bare]}
    return {"anyOf": [bare, {"type": "object", "oneOf": words}]}


def _check_keys(name: str, node: Node, notes: Notes) -> None:
    word = STEPS[name]
    if name == "parallel":
        return
    if isinstance(node.value, dict):
        for key, entry in node.rows.items():
            if key not in word.keys and not word.free:
                notes.add(entry.key, f"{name} knows no {quote(key)}", suggestion(key, word.keys))
    elif isinstance(node.value, tuple) or word.bare is None:
        keys = f"with {join_names(word.keys[:8])}" if word.keys else None
        notes.add(node, f"{name} takes a mapping", keys)


def _schema(name: str, word: Word) -> Json:
    steps: Json = {"type": "array", "items": {"$ref": STEP_REF}, "minItems": 1}
    if name == "parallel":
        branch = {"anyOf": [{"$ref": STEP_REF}, steps]}
        return {"type": "array", "items": branch, "minItems": BRANCHES_MIN}
    if name == "repeat":
        return {
            "type": "object",
            "properties": {"times": TIMES.schema(), "steps": {"anyOf": [steps, {"$ref": STEP_REF}]}},
            "required": ["times", "steps"],
            "additionalProperties": False,
        }
    if word.whole is not None:
        return word.whole.schema()
    rows = Table(dict.fromkeys(word.keys, plain({}))).schema()
    if word.free:
        rows = {"type": "object"}
    values = {key: schema_of(shape) for key, shape in word.values.items()}
    if values:  # a step that expects a refusal may be wrong on purpose
        rows["if"] = {"not": {"anyOf": [{"required": [key]} for key in (*JUDGED, "lost")]}}
        rows["then"] = {"properties": values}
    if "refused" in word.keys:
        rows["properties"]["refused"] = schema_of(REFUSED)
    return {"anyOf": [{"type": ["string", "number", "boolean", "null"]}, rows]} if word.bare else rows


# The values of steps, with the step after each in sight


def check_steps(steps: Sequence[Node], notes: Notes) -> None:
    """Adds an error for each value that no step can mean."""
    for index, step in enumerate(steps):
        name = next((name for name in step.rows if name in STEPS), None)
        if name is None:
            continue
        content = step.rows[name].value
        following = steps[index + 1] if index + 1 < len(steps) else None
        if name == "parallel":
            for branch in content.items:
                check_steps(_steps_of(branch), notes)
        elif name == "repeat":
            if "steps" in content.rows:
                check_steps(_steps_of(content.rows["steps"].value), notes)
        else:
            _check_step(name, content, following, notes)


def _check_step(name: str, content: Node, following: Node | None, notes: Notes) -> None:
    if name == "add":  # the steps after it may name what it adds
        added = [content.rows[key].value.value for key in ("account", "customer") if key in content.rows]
        notes.added.update(value for value in added if isinstance(value, str))
    if name == "expect":
        check_expected(content, notes)
        return
    if "refused" in content.rows:
        check_value(REFUSED, content.rows["refused"].value, notes)
    if name != "call" and "expect" in content.rows:
        check_expected(content.rows["expect"].value, notes)
    judges = following if following is not None and len(following.rows) == 1 else None
    if _expects_refusal(content) or _expects_refusal(judges):
        return
    word = STEPS[name]
    if word.whole is not None and not _has_open(content):
        check_value(word.whole, content, notes)
    for key, shape in word.values.items():
        if key in content.rows:
            check_value(shape, content.rows[key].value, notes)
        elif key == word.bare and not content.rows:
            check_value(shape, content, notes)


def _expects_refusal(node: Node | None) -> bool:
    """Of a step by the keys of its content, or of a step `expect` that follows."""
    content = node.plain() if node is not None and node.rows else {}
    expected = content.get("expect")
    return "refused" in content or "lost" in content or (isinstance(expected, dict) and is_refusal(expected))


def is_refusal(expected: dict[str, Any]) -> bool:
    """Whether what a step expects of a reply is a refusal."""
    status = expected.get("status")
    return "error" in expected or "error_code" in expected or (isinstance(status, int) and status >= 400)


def _has_open(node: Node) -> bool:
    inner = [entry.value for entry in node.rows.values()] + list(node.items)
    return (is_open(node) and isinstance(node.value, str)) or any(map(_has_open, inner))


def is_open(node: Node) -> bool:
    """Whether the value is known only when the script plays, or leaves a field out."""
    return node.value is None or (isinstance(node.value, str) and "{" in node.value)


def check_value(shape: Shape, node: Node, notes: Notes) -> None:
    if not (is_open(node) or any(map(is_open, node.items))):
        _read_or_none(shape, node, notes)


def schema_of(shape: Shape) -> Json:
    """The JSON schema of a value, or of a placeholder that is filled when the script plays."""
    return {"anyOf": [shape.schema(), {"type": "string", "pattern": r"\{"}, {"type": "null"}]}


def check_expected(node: Node, notes: Notes) -> None:
    """What a step expects: statuses and accounts by their names."""
    for key, shape in EXPECTED.items():
        if key in node.rows:
            check_value(shape, node.rows[key].value, notes)
    if "status" in node.rows:
        place = node.rows["status"].value
        if isinstance(place.value, str) and place.value.isupper() and place.value.isalpha():
            check_value(STATUS, place, notes)
