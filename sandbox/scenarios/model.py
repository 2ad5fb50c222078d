"""The records of a scenario: the scenario itself and its steps (choice 13)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from sandbox.bank.rules import ScenarioRule
from sandbox.contract.decisions import Decisions
from sandbox.contract.decisions_sandbox import OnOff
from sandbox.people.fixtures import Fixtures
from sandbox.worlds.beginning import Beginning, change_seed
from sandbox.worlds.faults import Fault

ROOT = "default"  # the scenario that others extend, unless they say otherwise

People = dict[str, Any] | str  # the content of fixtures, or the name of shipped ones


@dataclass(frozen=True, slots=True)
class ScriptStep:
    """A step of a scenario's script. `what` is its word, such as `pay`. `content` says what `sandbox.player` has to
    do."""

    what: str
    content: Any
    line: int | None = None
    column: int | None = None
    as_name: str | None = None
    inner: tuple[tuple["ScriptStep", ...], ...] = ()  # the branches of `parallel`, or the steps that `repeat` repeats
    path: str = "steps"


def walk_steps(steps: Iterable[ScriptStep]) -> Iterator[ScriptStep]:
    """Yields all steps in the order of the file. After a step come the steps that it contains."""
    for step in steps:
        yield step
        for branch in step.inner:
            yield from walk_steps(branch)


@dataclass(frozen=True, slots=True)
class Scenario:
    """A scenario. A seed, time or rate that is None means the server's own value."""

    name: str
    title: str
    about: str
    extends: str | None
    seed: int | None
    at: datetime | None
    rate: float | None  # 0 is frozen
    fixtures: Fixtures
    settings: Decisions
    rules: tuple[ScenarioRule, ...]
    faults: tuple[Fault, ...]
    steps: tuple[ScriptStep, ...]
    bank: People = field(compare=False, repr=False)  # the content of the fixtures
    life: OnOff | None = None  # the setting, if the file or one that it extends names it


def make_beginning(scenario: Scenario, server: Beginning, guarded: bool = False) -> Beginning:
    """Returns the beginning of a world that runs the scenario. A value that the scenario does not set is taken from
    `server`, the beginning that the server gives its worlds. If the scenario sets a seed, the secret of ids and tokens
    is removed, unless the server is `guarded` by a key.

    The setting `life` lets customers act by themselves. The shipped default scenario takes it from the server. In other
    scenarios it is off unless they set it, because their steps compare amounts of money (choice 13).
    """
    is_root = scenario.name == ROOT and scenario.extends is None
    life = scenario.life or (server.settings.life if is_root else "off")
    return replace(
        server if scenario.seed is None else change_seed(server, scenario.seed, guarded),
        fixtures=scenario.fixtures,
        at=server.at if scenario.at is None else scenario.at,
        rate=server.rate if scenario.rate is None else scenario.rate,
        scenario=scenario.name,
        settings=replace(scenario.settings, life=life),
        rules=scenario.rules,
        faults=scenario.faults,
    )
