"""Checks the names that steps use: an earlier step must have captured them (choice 13)."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from sandbox.reader.shapes import Notes
from sandbox.reader.tree import Node, quote, suggestion
from sandbox.scenarios.model import ScriptStep, each_step
from sandbox.scenarios.step_rows import STEPS

NAMING = ("of", "payment", "approves", "refuses")  # keys whose value is the name of an earlier step
NAMED = {word: tuple(key for key in NAMING if key in row.keys) for word, row in STEPS.items()}
NAMED["expect"] = ("payment", "order", "file", "explain", "reply", "of", "since")
ID_LENGTH = 36  # of a payment that stands there itself
_REFERENCE = re.compile(r"\{([A-Za-z_][\w-]*)\.[^{}\s]+\}")


def step_content(step: ScriptStep) -> dict[str, Any]:
    """The content as a mapping; a single value becomes the key that the step word names as `bare`."""
    if isinstance(step.content, dict):
        return step.content
    bare = STEPS[step.what].bare
    return {} if step.content is None or bare is None else {bare: step.content}


def check_names(steps: Iterable[ScriptStep], notes: Notes) -> None:
    """Adds an error for each name that no step above the one that uses it captured."""
    names: set[str] = set()
    holds: set[str] = set()
    for step in each_step(steps):
        content = step_content(step)
        place = Node(None, step.path, line=step.line, column=step.column)
        if step.what == "hold":
            holds.add(step.as_name or content.get("as") or "")
        barrier = str(content.get("name")) if step.what == "release" else "{"
        if barrier not in holds and "{" not in barrier:
            hint = suggestion(barrier, sorted(holds)) or "a step above says `hold: {at: ..., as: ...}`"
            notes.add(place, f"no hold is called {quote(barrier)} before this step", hint)
        for name in dict.fromkeys(_names(step)):
            if name not in names:
                hint = suggestion(name, sorted(names)) or f"a step above says `as: {name}`"
                notes.add(place, f"nothing was captured as {quote(name)} before this step", hint)
        if step.what == "reset":
            names.clear()
        if step.as_name is not None and step.what != "hold":
            names.add(step.as_name)


def _names(step: ScriptStep) -> Iterator[str]:
    if step.inner:
        return
    content = step_content(step)
    for key in NAMED.get(step.what, ()):
        name = content.get(key)
        if isinstance(name, str) and len(name) != ID_LENGTH and "{" not in name:
            yield name
    yield from _references(content)


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _references(inner)
    elif isinstance(value, str):
        yield from _REFERENCE.findall(value)
