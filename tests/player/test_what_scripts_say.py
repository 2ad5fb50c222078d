"""What a script can say of time, lost replies and authentication, and how its values are checked (choice 13)."""

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from sandbox.scenarios import ScenarioErrors, make_schema, read_scenario
from tests.player.conftest import Play
from tests.tpp import Tpp

PAY: dict[str, Any] = {"pay": {"debtor": "alice", "amount": "5.00"}, "as": "it"}
LOST = {"when": {"operation": "payment_initiation", "nth": 1}, "cut": "before"}


@pytest.mark.parametrize(
    ("wanted", "fault"),
    [
        ("90s", None),
        ("1m30s", None),
        ({"over": "89s", "under": "91s"}, None),
        ("60s", "elapsed: expected 60s, found 90s"),
        ({"under": "90s"}, "elapsed: expected under 90s, found 90s"),
    ],
)
def test_a_duration_is_asserted(play: Play, wanted: Any, fault: str | None) -> None:
    *_, since_step = play({"clock": "10s"}, PAY, {"clock": "90s"}, {"expect": {"elapsed": wanted, "since": "it"}})
    assert since_step.faults == (() if fault is None else (fault,))


def test_without_a_step_time_is_that_of_the_script(play: Play) -> None:
    *_, last = play({"clock": "10s"}, PAY, {"clock": "90s"}, {"expect": {"elapsed": "100s"}})
    assert last.passed


def test_a_lost_reply_is_sent_again_unless_the_step_says_otherwise(play: Play) -> None:
    count = {"verify": {"operation": "payment_initiation", "times": {"exactly": 2}}}
    assert all(step.passed for step in play({"fault": LOST}, PAY, count))
    once = {"pay": {"debtor": "alice", "resend": False, "lost": True}}
    listed = {"call": {"path": "/_sandbox/payments", "expect": {"payments": {"count": 1}}}}
    asked = {"verify": {"operation": "payment_initiation", "times": {"exactly": 1}}}
    assert [step.faults for step in play({"fault": LOST}, once, listed, asked) if not step.passed] == []


def test_a_scenario_keeps_the_seed_of_the_world_unless_it_names_one(tpp: Tpp) -> None:
    tpp.http.put("/_sandbox/worlds/w", json={"seed": 42})
    there = Tpp(tpp.http.application, "w")
    assert there.control("PUT", "/scenario", name="a_payment_goes_its_ordinary_way").get_json()["seed"] == 42
    assert there.control("PUT", "/scenario", scenario={"seed": 7}).get_json()["seed"] == 7
    assert there.control("PUT", "/scenario", scenario={}).get_json()["seed"] == 7


FILE = """\
bank:
  customers:
    nora: {name: Nora, kind: privat, language: nl}
  accounts:
    nora-current: {number: 1000901, owners: [nora], opening: {EUR: "1.00"}, life: emploi}
steps:
  - order: {debtor: alice, frequency: DAILY}
    as: it
  - await: {payment: it, status: DONE}
  - expect: {account: nobody, balance: unchanged}
  - clock: yesterday
  - psu: {approves: it, customer: alic}
  - pay: {debtor: nora-curent}
  - status: {of: it, refused: NOT_FOUNT}
  - repeat: {times: 2, steps: [{clock: {mode: runing}}]}
  - fault: {when: {operation: tokens}, delay: 1s}
  - settings: {unsigned_afte: 5m}
"""
TOLD = [
    (3, 30, "did you mean 'private'?"),
    (5, 83, "did you mean 'employee'?"),
    (7, 39, "known: WEEKLY, MONTHLY"),
    (9, 34, "known: RCVD, PATC"),
    (10, 23, "such as alice-current"),
    (11, 12, None),
    (12, 35, "did you mean 'alice'?"),
    (13, 19, "did you mean 'nora-current'?"),
    (14, 31, "did you mean 'NOT_FOUND'?"),
    (15, 47, "did you mean 'running'?"),
    (16, 31, "did you mean 'token'?"),
    (17, 16, "did you mean 'unsigned_after'?"),
]


def test_all_faults_of_a_file_are_told_at_once_with_line_column_and_the_nearest_name() -> None:
    with pytest.raises(ScenarioErrors) as found:
        read_scenario(FILE, "wrong.yaml")
    assert [(error.line, error.column) for error in found.value.errors] == [told[:2] for told in TOLD]
    for error, (_, _, hint) in zip(found.value.errors, TOLD, strict=True):
        assert hint is None or hint in str(error.hint), error


MEANT: list[Any] = [
    {"order": {"frequency": "DAILY", "refused": 400}},
    {"pay": {"debtor": "nobody", "refused": True}},
    {"pay": {"debtor": "{it.iban}"}},
    {"pay": {"debtor": None, "creditor_iban": "FR7630006000011234567890189"}},
    {"clock": "{it.span}"},
    {"account": "8a1f8f0e-6a4e-4a53-9d5c-5a9b8f0f2a11"},
]


@pytest.mark.parametrize("step", MEANT)
def test_a_value_that_is_wrong_on_purpose_or_not_known_yet_is_let_through(step: Any) -> None:
    assert read_scenario(json.dumps({"steps": [PAY, step]}), "test").steps
    assert Draft202012Validator(make_schema()).is_valid({"steps": [step]})


def test_a_step_before_an_expected_refusal_may_be_wrong_on_purpose() -> None:
    refused = "steps:\n  - pay: {debtor: nobody}\n    as: it\n  - expect: {status: 403}\n"
    added = "  - add: {customer: nora}\n  - psu: {approves: it, customer: nora}\n"
    assert len(read_scenario(refused + added, "test").steps) == 4


@pytest.mark.parametrize(
    "step", [{"order": {"frequency": "DAILY"}}, {"await": {"status": "DONE"}}, {"clock": {"mode": "x"}}]
)
def test_the_schema_knows_the_values_of_steps(step: Any) -> None:
    assert not Draft202012Validator(make_schema()).is_valid({"steps": [step]})
