"""Every shipped scenario holds, step by step."""

import pytest

from sandbox.machine import machine_time
from sandbox.player.playing import content_of
from sandbox.player.running import read_script, run_one
from sandbox.scenario.library import SHIPPED

STORIES = [name for name in SHIPPED if name != "default"]


def test_there_are_stories_enough() -> None:
    assert len(STORIES) >= 20


@pytest.mark.parametrize("name", STORIES)
def test_the_story_holds(url: str, name: str) -> None:
    report = run_one(read_script(name), url, machine_time)
    assert report.trouble is None
    told = [f"line {step.step.line}, {step.text}: {'; '.join(step.faults)}" for step in report.steps if not step.held]
    assert told == []


@pytest.mark.parametrize("name", STORIES)
def test_the_story_is_a_sentence_and_expects_something(name: str) -> None:
    scenario = read_script(name).scenario
    assert "_" in name and name == name.lower()
    assert scenario.title and scenario.about and scenario.at is not None
    judged = [step for step in scenario.steps if step.what == "expect" or {"expect", "refused"} & set(content_of(step))]
    assert judged
