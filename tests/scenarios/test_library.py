"""Every shipped scenario holds, step by step."""

from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from typing import Any

import pytest

from sandbox.contract.errors import OF_CONTROLS, Error
from sandbox.machine import machine_time
from sandbox.player.playback import step_content
from sandbox.player.runs import Report, read_script, run_one
from sandbox.player.script_check import each_step
from sandbox.scenario.library import SHIPPED

STORIES = [name for name in SHIPPED if name != "default"]
# What no story can meet: the transport's own, and the controls' errors.
NOT_IN_STORIES = {Error.CERTIFICATE_REFUSED, *OF_CONTROLS}
TERMINAL = {
    "payments": {"ACSC", "RJCT", "CANC"},
    "periodic-payments": {"CANC"},
    "bulk-payments": {"ACSC", "RJCT", "CANC"},
}


@cache
def played(url: str, name: str) -> Report:
    return run_one(read_script(name), url, machine_time)


def replies(url: str) -> Iterator[tuple[str, Any]]:
    """The path and the body of every reply of every story."""
    for name in STORIES:
        for step in played(url, name).steps:
            for one in step.exchanges:
                if one.response is not None and one.response.headers.get("Content-Type", "").startswith(
                    "application/json"
                ):
                    with suppress(ValueError):
                        yield one.request.url.path, one.response.json()


def test_there_are_stories_enough() -> None:
    assert len(STORIES) >= 20


@pytest.mark.parametrize("name", STORIES)
def test_the_story_holds(url: str, name: str) -> None:
    report = played(url, name)
    assert report.trouble is None
    told = [f"line {step.step.line}, {step.text}: {'; '.join(step.faults)}" for step in report.steps if not step.passed]
    assert told == []


@pytest.mark.parametrize("name", STORIES)
def test_the_story_is_a_sentence_and_expects_something(name: str) -> None:
    scenario = read_script(name).scenario
    assert "_" in name and name == name.lower()
    assert scenario.title and scenario.about and scenario.at is not None
    steps = list(each_step(scenario.steps))
    assert any(step.what == "expect" or {"expect", "refused"} & set(step_content(step)) for step in steps)


def test_the_stories_meet_every_error_of_the_catalogue(url: str) -> None:
    met = {body.get("error_code") for _, body in replies(url) if isinstance(body, dict)}
    missing = {error.name for error in Error if error not in NOT_IN_STORIES and error.value.code not in met}
    assert missing == set()


def test_the_stories_reach_every_terminal_status_of_every_kind(url: str) -> None:
    reached: dict[str, set[str]] = {kind: set() for kind in TERMINAL}
    for path, body in replies(url):
        kind = next((kind for kind in TERMINAL if f"/{kind}/" in path and path.endswith("/status")), None)
        if kind and isinstance(body, dict) and "error" not in body:
            reached[kind].add(body["status"])
    assert {kind: TERMINAL[kind] - reached[kind] for kind in TERMINAL} == {kind: set() for kind in TERMINAL}
