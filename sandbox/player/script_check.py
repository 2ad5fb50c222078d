"""Checks of a script before it plays: references to names that no step captured (choice 13)."""

import re
from collections.abc import Iterator
from typing import Any

from sandbox.player.playback import step_content
from sandbox.scenario import Scenario, ScenarioError, ScenarioErrors, Step
from sandbox.scenario.scenario_errors import suggestion

NAMED = {
    "psu": ("approves", "refuses"),
    "expect": ("payment", "order", "file", "explain", "reply", "of"),
    **dict.fromkeys(
        ("status", "details", "cancel", "token", "refresh", "accounts", "account", "transactions"), ("of",)
    ),
    **dict.fromkeys(("sign", "refuse", "await", "move"), ("of", "payment")),
}
ID_LENGTH = 36  # of a payment that stands there itself
_REFERENCE = re.compile(r"\{([A-Za-z_][\w-]*)\.[^{}\s]+\}")


def check(scenario: Scenario, file: str) -> None:
    """Raises ScenarioErrors for each reference to a name that no earlier step captured."""
    faults: list[ScenarioError] = []
    known: set[str] = set()
    for step in scenario.steps:
        for name in dict.fromkeys(_names(step)):
            if name not in known:
                text = f"nothing was captured as '{name}' before this step"
                hint = suggestion(name, sorted(known)) or f"a step above says `as: {name}`"
                faults.append(ScenarioError(file, step.line, step.column, f"steps.{step.what}", text, hint))
        if step.what == "reset":
            known.clear()
        if step.as_name is not None:
            known.add(step.as_name)
    if faults:
        raise ScenarioErrors(faults)


def _names(step: Step) -> Iterator[str]:
    content = step_content(step)
    for key in NAMED.get(step.what, ()):
        name = content.get(key)
        if isinstance(name, str) and len(name) != ID_LENGTH and "{" not in name:
            yield name
    yield from _references(content)


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from _references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _references(inner)
    elif isinstance(value, str):
        yield from _REFERENCE.findall(value)
