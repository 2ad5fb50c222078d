"""Steps within steps: rounds, and branches that take turns at barriers (choice 13)."""

import json
from typing import Any

import pytest

from sandbox.player.runs import read_script
from sandbox.scenarios import ScenarioErrors, make_schema, read_scenario
from tests.player.conftest import Play

PAY = {"pay": {"debtor": "alice", "amount": "5.00"}, "as": "it"}
HOLD = {"hold": {"at": "before_act", "when": {"operation": "payment_status"}, "as": "question"}}


def words(steps: tuple[Any, ...]) -> list[str]:
    return [step.text.partition(" ->")[0] for step in steps]


def test_the_branch_whose_call_is_held_goes_on_when_it_is_released(play: Play) -> None:
    asked = {"status": {"of": "it", "expect": {"status": "CANC"}}}
    steps = play(PAY, HOLD, {"parallel": [[asked, {"clock": "1s"}], [{"clock": "61m"}, {"release": "question"}]]})
    assert [step.faults for step in steps if not step.passed] == []
    assert words(steps)[2:] == [
        "branch 2: clock 61m",
        "branch 1: status of: it, expect: {status: CANC}",
        "branch 1: clock 1s",
        "branch 2: release question",
        "parallel: 2 branches ended",
    ]


def test_branches_without_barriers_go_on_one_after_the_other_and_share_names(play: Play) -> None:
    steps = play({"parallel": [PAY, [{"psu": {"approves": "it"}}, {"status": "it"}]]}, {"expect": {"status": "PDNG"}})
    assert [step.faults for step in steps if not step.passed] == []


def test_a_branch_that_nobody_releases_is_told_and_let_go(play: Play) -> None:
    *_, asked, last = play(PAY, HOLD, {"parallel": [{"clock": "1s"}, {"status": "it"}]})
    assert asked.passed and last.faults == ("branch 2 is held at question, and no step releases it",)


def test_a_branch_that_fails_ends_alone_and_the_steps_after_it_are_skipped(play: Play) -> None:
    steps = play({"parallel": [[{"token": {"code": "none"}}, {"clock": "1s"}], {"clock": "2s"}]}, {"clock": "3s"})
    assert [(step.passed, step.skipped) for step in steps] == [
        (False, False),
        (False, True),
        (True, False),
        (True, False),
        (False, True),
    ]


def test_a_release_without_a_held_call_fails(play: Play) -> None:
    *_, released = play(HOLD, {"release": "question"})
    assert released.faults == ("the script: no call is held at 'question': it is waiting",)


def test_rounds_are_repeated_until_one_fails(play: Play) -> None:
    held = play({"repeat": {"times": 3, "steps": [PAY, {"status": "it"}]}})
    assert len(held) == 6 and all(step.passed for step in held) and held[-1].text.startswith("round 3: status it")
    failed = play({"repeat": {"times": 3, "steps": [{"pay": {"amount": "0"}}]}}, {"clock": "1s"})
    assert [step.skipped for step in failed] == [False, True]


WRONG = [
    ({"parallel": [{"clock": "1s"}]}, "two or more branches"),
    ({"parallel": [[], {"clock": "1s"}]}, "an empty list"),
    ({"parallel": [{"clok": "1s"}, {"clock": "1s"}]}, "did you mean 'clock'?"),
    ({"parallel": {"clock": "1s"}}, "two or more branches"),
    ({"repeat": {"times": 0, "steps": [{"clock": "1s"}]}}, "from 1 to 10000"),
    ({"repeat": {"steps": [{"clock": "1s"}]}}, "'times' is missing"),
    ({"repeat": {"times": 2, "steps": [{"clok": "1s"}]}}, "did you mean 'clock'?"),
    ({"repeat": 3}, "takes a mapping"),
]


@pytest.mark.parametrize(("step", "why"), WRONG)
def test_a_wrong_step_within_a_step_is_told(step: Any, why: str) -> None:
    with pytest.raises(ScenarioErrors, match=why.replace("?", r"\?")):
        read_scenario(json.dumps({"steps": [step]}), "test")


def test_a_release_of_an_unknown_barrier_is_told_before_the_script_plays(tmp_path: Any) -> None:
    file = tmp_path / "story.yaml"
    file.write_text("steps:\n  - hold: {at: after_act, as: first}\n  - release: frist\n")
    with pytest.raises(ScenarioErrors, match=r"3:5: no hold is called 'frist'.*did you mean 'first'\?"):
        read_script(str(file))


def test_the_schema_knows_steps_within_steps() -> None:
    from jsonschema import Draft202012Validator

    validator = Draft202012Validator(make_schema())
    good = {"parallel": [[{"clock": "1s"}], {"repeat": {"times": 2, "steps": [{"clock": "1s"}]}}]}
    assert validator.is_valid({"steps": [good]})
    assert not validator.is_valid({"steps": [{"parallel": [[{"clok": "1s"}], {"clock": "1s"}]}]})
