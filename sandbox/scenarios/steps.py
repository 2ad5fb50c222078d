"""Reads the steps of a script, and checks their values and names before the script plays (choice 13).

A step that expects a refusal may have wrong values on purpose. A value with a {reference} is known only when the step
plays. So steps are read in two passes. The first pass checks words and keys, which are never wrong on purpose. The
second pass checks values. It skips a step that expects a refusal, also if the expectation is in a step `expect` that
follows it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sandbox.reader.shapes import Each, Either, Json, Notes, Shape, Table, make_any_content
from sandbox.reader.tree import Node, Wrong, join_names, quote, suggest
from sandbox.scenarios.model import ScriptStep, walk_steps
from sandbox.scenarios.rules import STATUS
from sandbox.scenarios.step_words import EXPECTED, JUDGED, NAME, REFUSED, STEPS, TIMES, StepWord

BRANCHES_MIN = 2
STEP_REF = "#/$defs/step"
NAMING = ("of", "payment", "approves", "refuses")  # keys whose value is the name of an earlier step
NAMING_KEYS = {word: tuple(key for key in NAMING if key in row.keys) for word, row in STEPS.items()}
NAMING_KEYS["expect"] = ("payment", "order", "file", "explain", "reply", "of", "since")
ID_LENGTH = 36  # of a payment that is given by its id
REFERENCE = re.compile(r"\{([A-Za-z_][\w-]*)\.[^{}\s]+\}")

# Words and keys


class StepShape:
    """The shape of a step: a mapping with one step word, and optionally `as`. A word that needs no content may also
    stand alone."""

    def read(self, node: Node, notes: Notes) -> ScriptStep:
        if not isinstance(node.value, dict):
            word = node.value if isinstance(node.value, str) and node.value in STEPS else None
            if word is None or STEPS[word].bare is None:
                raise Wrong("a step is a word with what it takes", "like pay: {amount: ...}")
            return ScriptStep(word, None, node.line, node.column, path=node.path)
        count = len(notes.errors)
        words = [name for name in node.rows if name in STEPS]
        for name, entry in node.rows.items():
            if name not in STEPS and name != "as":
                notes.add(entry.key, f"no step is called {quote(name)}", suggest(name, [*STEPS, "as"]))
        for name in words[1:]:
            notes.add(node.rows[name].key, f"{words[0]} and {name} are two steps", "give each a dash of its own")
        as_name = notes.read_or_none(NAME, node.rows["as"].value) if "as" in node.rows else None
        inner: tuple[tuple[ScriptStep, ...], ...] = ()
        if words:
            content = node.rows[words[0]].value
            inner = self._read_branches(words[0], content, notes)
            _check_keys(words[0], content, notes)
        elif len(notes.errors) == count:
            notes.add(node, "this step does nothing", f"the words are {join_names(STEPS)}")
        notes.demand_no_errors_since(count)
        return ScriptStep(words[0], content.to_python(), node.line, node.column, as_name, inner, node.path)

    def _read_branches(self, word: str, content: Node, notes: Notes) -> tuple[tuple[ScriptStep, ...], ...]:
        if word == "parallel" and len(content.items) < BRANCHES_MIN:
            reason = "parallel takes a list of two or more branches"
            notes.add(content, reason, "each is a list of steps, or one step")
        if word == "repeat" and isinstance(content.value, dict):
            for key in ("times", "steps"):
                if key not in content.rows:
                    notes.add(content, f"'{key}' is missing")
            if "times" in content.rows:
                notes.read_or_none(TIMES, content.rows["times"].value)
        return tuple(self._read_branch(branch, notes) for branch in _list_branches(word, content))

    def _read_branch(self, node: Node, notes: Notes) -> tuple[ScriptStep, ...]:
        if node.value == ():
            notes.add(node, "an empty list")
        steps = (notes.read_or_none(self, step) for step in _list_steps(node))
        return tuple(step for step in steps if step is not None)

    def make_schema(self) -> Json:
        """Returns a reference to the schema of a step. The schema itself is not repeated, because steps can contain
        steps without end."""
        return {"$ref": STEP_REF}


STEP = StepShape()


def _list_branches(word: str, content: Node) -> tuple[Node, ...]:
    """Returns the branches of `parallel`, or the steps of `repeat` as one branch. Other words have no branches."""
    if word == "parallel":
        return content.items
    return (content.rows["steps"].value,) if word == "repeat" and "steps" in content.rows else ()


def _list_steps(branch: Node) -> Sequence[Node]:
    """Returns the steps of a branch. A branch is written as a list of steps, or as one step."""
    return branch.items if isinstance(branch.value, tuple) else (branch,)


def _check_keys(name: str, content: Node, notes: Notes) -> None:
    word = STEPS[name]
    if name == "parallel":
        return
    if isinstance(content.value, dict):
        for key, entry in content.rows.items():
            if key not in word.keys and not word.free:
                notes.add(entry.key, f"{name} knows no {quote(key)}", suggest(key, word.keys))
    elif isinstance(content.value, tuple) or word.bare is None:
        keys = f"with {join_names(word.keys[:8])}" if word.keys else None
        notes.add(content, f"{name} takes a mapping", keys)


# Values. The check of a step also looks at the step that follows it.


def check_steps(steps: Sequence[Node], notes: Notes) -> None:
    """Adds an error for each value in the steps that can never be right. Skips the values of steps that expect a
    refusal, and values that are known only when the script plays."""
    for index, step in enumerate(steps):
        name = next((name for name in step.rows if name in STEPS), None)
        if name is not None:
            content = step.rows[name].value
            for branch in _list_branches(name, content):
                check_steps(_list_steps(branch), notes)
            if name not in ("parallel", "repeat"):
                _check_step(name, content, steps[index + 1] if index + 1 < len(steps) else None, notes)


def _check_step(name: str, content: Node, following: Node | None, notes: Notes) -> None:
    if name == "add":  # later steps may use the names that it adds
        added_names = [content.rows[key].value.value for key in ("account", "customer") if key in content.rows]
        notes.added.update(value for value in added_names if isinstance(value, str))
    if name == "expect":
        _check_expected(content, notes)
        return
    if "refused" in content.rows:
        _check_value(REFUSED, content.rows["refused"].value, notes)
    if name != "call" and "expect" in content.rows:
        _check_expected(content.rows["expect"].value, notes)
    is_judged_after = following is not None and len(following.rows) == 1 and _expects_refusal(following)
    if _expects_refusal(content) or is_judged_after:
        return
    word = STEPS[name]
    if word.whole is not None and not _has_reference(content):
        _check_value(word.whole, content, notes)
    for key, shape in word.values.items():
        if key in content.rows:
            _check_value(shape, content.rows[key].value, notes)
        elif key == word.bare and not content.rows:
            _check_value(shape, content, notes)


def _expects_refusal(node: Node) -> bool:
    """Whether `node` expects a refusal or a lost reply. `node` is the content of a step, or the whole step after it,
    which counts if it is a step `expect`. Both have the expected reply under the key `expect`."""
    content = node.to_python() if node.rows else {}
    expectation = content.get("expect")
    return "refused" in content or "lost" in content or (isinstance(expectation, dict) and is_refusal(expectation))


def is_refusal(expectation: dict[str, Any]) -> bool:
    """Whether an expected reply is a refusal: it names an error, or an HTTP status of 400 or more."""
    status = expectation.get("status")
    return "error" in expectation or "error_code" in expectation or (isinstance(status, int) and status >= 400)


def _has_reference(content: Node) -> bool:
    inner = [entry.value for entry in content.rows.values()] + list(content.items)
    return (isinstance(content.value, str) and _is_open(content)) or any(map(_has_reference, inner))


def _is_open(node: Node) -> bool:
    """Whether a value cannot be checked before the script plays. This is so for a text with a reference, and for null,
    which leaves the field out."""
    return node.value is None or (isinstance(node.value, str) and "{" in node.value)


def _check_value(shape: Shape, node: Node, notes: Notes) -> None:
    if not (_is_open(node) or any(map(_is_open, node.items))):
        notes.read_or_none(shape, node)


def _check_expected(node: Node, notes: Notes) -> None:
    """Adds an error for each expectation of a step whose value has a wrong form. Compares `status` with the statuses of
    the service only if it is written in capital letters."""
    for key, shape in EXPECTED.items():
        if key in node.rows:
            _check_value(shape, node.rows[key].value, notes)
    if "status" in node.rows:
        status = node.rows["status"].value
        if isinstance(status.value, str) and status.value.isupper() and status.value.isalpha():
            _check_value(STATUS, status, notes)


# Names of earlier steps


def step_content(step: ScriptStep) -> dict[str, Any]:
    """Returns the content of a step as a mapping. If the content is a single value, its key is the one that the step
    word has as `bare`. Returns an empty mapping if the step has no content, or if its word has no such key."""
    if isinstance(step.content, dict):
        return step.content
    bare = STEPS[step.what].bare
    return {} if step.content is None or bare is None else {bare: step.content}


def check_names(steps: Iterable[ScriptStep], notes: Notes) -> None:
    """Adds an error for each name that a step uses and that no step before it defines. Names are those of steps (`as`)
    and of barriers. A step `reset` removes the names of the steps before it."""
    names: set[str] = set()
    holds: set[str] = set()
    for step in walk_steps(steps):
        content = step_content(step)
        place = Node(None, step.path, line=step.line, column=step.column)
        if step.what == "hold":
            holds.add(step.as_name or content.get("as") or "")
        barrier = str(content.get("name")) if step.what == "release" else "{"
        if barrier not in holds and "{" not in barrier:
            hint = suggest(barrier, sorted(holds)) or "a step above says `hold: {at: ..., as: ...}`"
            notes.add(place, f"no hold is called {quote(barrier)} before this step", hint)
        for name in dict.fromkeys(_find_names(step.what, content) if not step.inner else ()):
            if name not in names:
                hint = suggest(name, sorted(names)) or f"a step above says `as: {name}`"
                notes.add(place, f"nothing was captured as {quote(name)} before this step", hint)
        if step.what == "reset":
            names.clear()
        if step.as_name is not None and step.what != "hold":
            names.add(step.as_name)


def _find_names(word: str, content: dict[str, Any]) -> Iterator[str]:
    for key in NAMING_KEYS.get(word, ()):
        name = content.get(key)
        if isinstance(name, str) and len(name) != ID_LENGTH and "{" not in name:
            yield name
    yield from _find_references(content)


def _find_references(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _find_references(inner)
    elif isinstance(value, str):
        yield from REFERENCE.findall(value)


# JSON Schema


def step_schema() -> Json:
    """Returns the JSON Schema of a step. The schema of scenarios has it once, and refers to it wherever a step is
    permitted."""
    words = [
        {"required": [name], "properties": {"as": NAME.make_schema(), name: _make_word_schema(name, word)}}
        | {"additionalProperties": False}
        for name, word in STEPS.items()
    ]
    bare = {"enum": [name for name, word in STEPS.items() if word.bare]}
    return {"anyOf": [bare, {"type": "object", "oneOf": words}]}


def _make_word_schema(name: str, word: StepWord) -> Json:
    branch = Either(STEP, Each(STEP, 1))
    if name == "parallel":
        return Each(branch, BRANCHES_MIN).make_schema()
    if name == "repeat":
        return Table({"times": TIMES, "steps": branch}, required=("times", "steps")).make_schema()
    if word.whole is not None:
        return word.whole.make_schema()
    rows: Json = (
        {"type": "object"} if word.free else Table(dict.fromkeys(word.keys, make_any_content({}))).make_schema()
    )
    if word.values:  # they count unless the step expects a refusal
        rows["if"] = {"not": {"anyOf": [{"required": [key]} for key in (*JUDGED, "lost")]}}
        rows["then"] = {"properties": {key: _open_schema(shape) for key, shape in word.values.items()}}
    if "refused" in word.keys:
        rows["properties"]["refused"] = _open_schema(REFUSED)
    return {"anyOf": [{"type": ["string", "number", "boolean", "null"]}, rows]} if word.bare else rows


def _open_schema(shape: Shape) -> Json:
    """Returns a schema that accepts what the shape accepts. The schema also accepts null, and each text with a
    reference such as `{payment.id}`."""
    return {"anyOf": [shape.make_schema(), {"type": "string", "pattern": r"\{"}, {"type": "null"}]}
