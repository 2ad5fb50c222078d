"""Every shipped scenario holds, step by step."""

from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from typing import Any

import pytest

from sandbox.contract.errors import OF_CONTROLS, Error
from sandbox.extensions.lift.lifting import lift_file
from sandbox.player.runs import ScenarioReport, Script, read_script
from sandbox.scenarios import read_scenario
from sandbox.scenarios.model import walk_steps
from sandbox.scenarios.reading import SHIPPED
from sandbox.scenarios.steps import step_content
from tests.lift.plays import Play, play

STORIES = [name for name in SHIPPED if "_" in name]  # the others are banks without steps
# What no story can meet: the transport's own, and the controls' errors.
NOT_IN_STORIES = {Error.CERTIFICATE_REFUSED, *OF_CONTROLS}
TERMINAL = {
    "payments": {"ACSC", "RJCT", "CANC"},
    "periodic-payments": {"CANC"},
    "bulk-payments": {"ACSC", "RJCT", "CANC"},
}


@cache
def played(url: str, name: str) -> Play:
    return play(read_script(name), url)


def faults_of(report: ScenarioReport) -> list[str]:
    found = [
        f"line {step.step.line}, {step.text}: {'; '.join(step.faults)}" for step in report.steps if not step.passed
    ]
    return found if report.trouble is None else [report.trouble, *found]


def replies(url: str) -> Iterator[tuple[str, Any]]:
    """The path and the body of every reply of every story."""
    for name in STORIES:
        for step in played(url, name).report.steps:
            for one in step.exchanges:
                if one.response is not None and one.response.headers.get("Content-Type", "").startswith(
                    "application/json"
                ):
                    with suppress(ValueError):
                        yield one.request.url.path, one.response.json()


def test_there_are_stories_enough() -> None:
    assert len(STORIES) >= 20


@pytest.mark.parametrize("name", STORIES, scope="class")
class TestStory:
    """A story is played once for all of these."""

    def test_the_story_holds(self, url: str, name: str) -> None:
        assert faults_of(played(url, name).report) == []

    def test_lifted_from_its_record_it_comes_to_the_same_states(self, url: str, name: str) -> None:
        first = played(url, name)
        text, unexplained = lift_file(first.har, f"{name} from its record")
        assert unexplained == []
        again = play(Script(read_scenario(text, f"lifted-{name}"), text), url)
        assert faults_of(again.report) == []
        assert again.states == first.states
        assert {iban: again.balances.get(iban) for iban in first.balances} == first.balances


@pytest.mark.parametrize("name", STORIES)
def test_the_story_is_a_sentence_and_expects_something(name: str) -> None:
    scenario = read_script(name).scenario
    assert "_" in name and name == name.lower()
    assert scenario.title and scenario.about and scenario.at is not None
    steps = list(walk_steps(scenario.steps))
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
