"""Checks of a script before it plays: references to names that no step captured (choice 13)."""

import re
from collections.abc import Iterator
from typing import Any

from sandbox.player.playback import step_content
from sandbox.reader.tree import SHOWN_MAX, suggestion
from sandbox.scenario import Scenario, ScenarioError, ScenarioErrors, Step
from sandbox.scenario.model import each_step
from sandbox.scenario.step_rows import STEPS

NAMING = ("of", "payment", "approves", "refuses")  # keys whose value is the name of an earlier step
NAMED = {word: tuple(key for key in NAMING if key in row.keys) for word, row in STEPS.items()}
NAMED["expect"] = ("payment", "order", "file", "explain", "reply", "of", "since")
ID_LENGTH = 36  # of a payment that stands there itself
_REFERENCE = re.compile(r"\{([A-Za-z_][\w-]*)\.[^{}\s]+\}")


def check(scenario: Scenario, file: str) -> None:
    """Raises ScenarioErrors for each reference to a name that no earlier step captured."""
    faults: list[ScenarioError] = []
    names: set[str] = set()
    holds: set[str] = set()
    for step in each_step(scenario.steps):
        if step.what == "hold":
            holds.add(step.as_name or step_content(step).get("as") or "")
        barrier = str(step_content(step).get("name")) if step.what == "release" else "{"
        if barrier not in holds and "{" not in barrier:
            hint = suggestion(barrier, sorted(holds)) or "a step above says `hold: {at: ..., as: ...}`"
            text = f"no hold is called '{barrier[:SHOWN_MAX]}' before this step"
            faults.append(ScenarioError(file, step.line, step.column, "steps.release", text, hint))
        for name in dict.fromkeys(_names(step)):
            if name not in names:
                text = f"nothing was captured as '{name}' before this step"
                hint = suggestion(name, sorted(names)) or f"a step above says `as: {name}`"
                faults.append(ScenarioError(file, step.line, step.column, f"steps.{step.what}", text, hint))
        if step.what == "reset":
            names.clear()
        if step.as_name is not None and step.what != "hold":
            names.add(step.as_name)
    if faults:
        raise ScenarioErrors(faults)


def _names(step: Step) -> Iterator[str]:
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
