"""How the bank of a test starts. Each value comes from the options of the test, else from its scenario, else from a
default. The module also starts servers and makes worlds by these values.

Tests that use a server in another process need neither the application nor the reader of scenarios. Importing the two
takes longer than a dozen tests. So they are imported only if a bank begins in this process, or if a scenario is read.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sandbox.banking.durations import read_instant
from sandbox.client import Controls
from sandbox.client.controls import time_text
from sandbox.testing.bank import BankFixture

if TYPE_CHECKING:
    from sandbox.scenarios.model import Scenario
    from sandbox.worlds.beginning import Beginning

DEFAULT = "default"
SEED = 1
OPENING = "2027-03-01T09:00:00+01:00"  # a Monday; tests that run on any day want one day
NOW = "now"
FILES = (".yaml", ".yml")
NAME_MAX = 64  # characters of a world's name


@dataclass(frozen=True, slots=True)
class Start:
    """The options with which a test's bank starts. If an option is None, the scenario decides. If the scenario does not
    say it either, the default is seed 1, OPENING and a frozen clock."""

    scenario: str | Mapping[str, Any] = DEFAULT  # a name, a file, or its content
    seed: int | None = None
    at: str | datetime | None = None  # NOW: as the server began, which is the machine's time unless it was told one
    frozen: bool | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)


def beginning_of(start: Start) -> "Beginning":
    """Returns what the default world of a new server begins with: the scenario, the seed and the clock of the start."""
    from sandbox.app import make_first_beginning

    scenario = _read(start)
    beginning = make_first_beginning(SEED, read_instant(OPENING), 0.0, scenario)
    if start.seed is not None:
        beginning = replace(beginning, seed=start.seed)
    if start.at is not None:
        beginning = replace(beginning, at=None if start.at == NOW else read_instant(time_text(start.at)))
    if start.frozen is not None:
        beginning = replace(beginning, rate=0.0 if start.frozen else beginning.rate or 1.0)
    return beginning


def make_world_options(start: Start) -> dict[str, Any]:
    """Returns the body of PUT /worlds/{name} (choice 10): seed, clock and scenario. For the default scenario without
    settings, the body has no scenario, and switches the habits of customers off (`life`)."""
    content = read_scenario_content(start)
    scenario = None if content == DEFAULT else _read(start)  # the default scenario sets neither time nor seed
    clock: dict[str, Any] = {}
    if start.at is not None and start.at != NOW:
        clock["at"] = time_text(start.at)
    elif start.at is None and (scenario is None or scenario.at is None):
        clock["at"] = OPENING
    if start.frozen is not None or scenario is None or scenario.rate is None:
        clock["frozen"] = start.frozen is not False
    seed = scenario.seed if start.seed is None and scenario is not None else start.seed
    body = {"seed": SEED if seed is None else seed, "clock": clock}
    # Tests assert on money: the default scenario, which a server may have started with life, begins without it.
    return body | ({"life": "off"} if scenario is None else {"scenario": content})


def read_scenario_content(start: Start) -> str | dict[str, Any]:
    """Returns the scenario of the start. If it is the name of a shipped scenario, and the start has no settings,
    returns the name. Otherwise returns the content of a scenario, with the start's settings added to it. The content is
    the start's own, or that of its file (empty if the file does not exist), or one that extends the shipped
    scenario."""
    if not isinstance(start.scenario, str):
        content = dict(start.scenario)
    elif Path(start.scenario).suffix in FILES:
        path = Path(start.scenario)
        content = dict(_read_file(path, path.stat().st_mtime_ns) if path.exists() else {})
    elif start.settings:
        content = {"extends": start.scenario}
    else:
        return start.scenario
    if start.settings:
        content["settings"] = {**content.get("settings", {}), **start.settings}
    return content


def _read(start: Start) -> "Scenario":
    """Reads the scenario. Raises ScenarioErrors with line and column."""
    from sandbox.scenarios.reading import load, read_content

    if isinstance(start.scenario, str):
        scenario = load(start.scenario)
        if not start.settings:
            return scenario
    return read_content(read_scenario_content(start), "scenario")


@lru_cache(maxsize=64)
def _read_file(path: Path, changed: int) -> dict[str, Any]:
    """Returns the content of a YAML file, or an empty dict if it is no mapping. The result is cached by the file's time
    of change, `changed`."""
    from sandbox.reader.tree import read_yaml

    content = read_yaml(path.read_text(encoding="utf-8-sig"), str(path)).to_python()
    return content if isinstance(content, dict) else {}


# Servers


@contextmanager
def serve_world(app: Any) -> Iterator[BankFixture]:
    """Serves an application on a free port while the block runs, and yields its default world."""
    from sandbox.server.server import serve_in_background

    with serve_in_background(app) as address, attach_to_server(address) as bank:
        yield bank
        bank.drop()


@contextmanager
def attach_to_server(base_url: str, key: str | None = None) -> Iterator[BankFixture]:
    """Yields the default world of a server that is running already."""
    with Controls(base_url, key=key) as controls:
        yield BankFixture(controls, "default")


@contextmanager
def world_of(
    server: BankFixture,
    name: str,
    start: Start,
    variants: Mapping[str, str] | None = None,
    extensions: Sequence[str] = (),
) -> Iterator[BankFixture]:
    """Makes a world at a running server and yields it. Its name is cut to NAME_MAX characters. Drops the world with its
    forks at the end of the block."""
    name = name[:NAME_MAX]
    extension_lines = [*start.settings.get("extensions", ()), *extensions] if extensions else None
    server.controls.make_world(name, **make_world_options(start), variants=variants or None, extensions=extension_lines)
    bank = BankFixture(server.controls, name)
    try:
        yield bank
    finally:
        bank.drop()
