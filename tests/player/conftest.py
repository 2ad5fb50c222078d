"""One server for the scripts of these tests; each plays in a world of its own."""

import json
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest

from sandbox.machine import machine_time
from sandbox.player.runs import Script, run_one, serve_worlds
from sandbox.player.step_result import StepResult
from sandbox.scenarios import read_scenario

Play = Callable[..., tuple[StepResult, ...]]
numbers = count(1)


@pytest.fixture(scope="session")
def url() -> Iterator[str]:
    with serve_worlds(machine_time, jobs=4) as address:
        yield address


@pytest.fixture
def play(url: str) -> Play:
    """Plays steps, and more of a scenario when it is given; each time in a world of its own."""

    def played(*steps: Any, **more: Any) -> tuple[StepResult, ...]:
        content = {"clock": {"at": "2027-03-01T09:00"}, "steps": list(steps), **more}
        text = json.dumps(content)
        report = run_one(Script(read_scenario(text, "test"), text), url, machine_time, world=f"test-{next(numbers)}")
        assert report.trouble is None, report.trouble
        return report.steps

    return played
