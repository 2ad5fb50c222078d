"""What a script may expect of the referee; and the shipped scripts, whose client does wrong only where it says so."""

from dataclasses import replace

import pytest

from sandbox.extensions.referee.report import read_waive
from sandbox.machine import machine_time
from sandbox.player.runs import read_script, run_one
from sandbox.scenarios.model import ScriptStep
from sandbox.scenarios.reading import SHIPPED
from tests.player.conftest import Play

PAY = {"pay": {"debtor": "alice", "amount": "25.00"}, "as": "rent"}
SIGN = {"psu": {"approves": "rent"}}
CLEAN = {"expect": {"referee": "clean"}}
UNASKED = "status-never-asked"


def test_a_client_without_fault_is_clean(play: Play) -> None:
    assert all(step.passed for step in play(PAY, SIGN, {"status": "rent"}, CLEAN))


def test_a_finding_is_told_where_clean_was_expected(play: Play) -> None:
    *_, failed = play(PAY, SIGN, CLEAN)
    assert not failed.passed and f"warning {UNASKED} in POST /payments" in failed.faults[0]


def test_a_finding_may_be_expected(play: Play) -> None:
    *_, held = play(PAY, SIGN, {"expect": {"referee": [UNASKED]}})
    assert held.passed


def test_a_finding_that_does_not_come_is_told(play: Play) -> None:
    *_, failed = play(PAY, {"expect": {"referee": [UNASKED]}})
    assert failed.faults == (f"referee: expected {UNASKED}, and it was not found",)


def test_what_is_waved_off_is_clean(play: Play) -> None:
    *_, held = play(PAY, SIGN, CLEAN, settings={"referee_waives": [f"{UNASKED}: this script looks by the controls"]})
    assert held.passed


@pytest.mark.parametrize("wanted", [{"referee": "dirty"}, {"referee": "clean", "status": 200}])
def test_anything_else_is_no_expectation(play: Play, wanted: dict[str, object]) -> None:
    *_, failed = play(PAY, {"expect": wanted})
    assert "of the referee one expects" in failed.faults[0]


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_script_leaves_nothing_for_the_referee_to_find(url: str, name: str) -> None:
    """Where a story does wrong on purpose, it says so itself; and what it says does happen."""
    script = read_script(name)
    waived = [read_waive(text)[0] for text in script.scenario.settings.referee_waives]
    asked = [
        ScriptStep("expect", {"referee": "clean"}),
        ScriptStep("call", {"method": "GET", "path": "/_sandbox/referee"}),
        *(ScriptStep("expect", {"findings": {"some": {"rule": rule}}}) for rule in waived),
    ]
    steps = (*script.scenario.steps, *asked)
    report = run_one(replace(script, scenario=replace(script.scenario, steps=steps)), url, machine_time)
    assert report.passed, [step.faults for step in report.steps if not step.passed] or report.trouble
