"""A recording of a bank that spells words otherwise becomes a scenario with the default words, which plays."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from sandbox.extensions.lift.lifting import lift_file
from sandbox.machine import machine_time
from sandbox.player.runs import Script, serve_worlds
from sandbox.reader.tree import read_yaml
from sandbox.scenarios import read_scenario
from tests.lift.plays import Play, play

PAY: dict[str, Any] = {"pay": {}, "as": "it"}
STATUS: dict[str, Any] = {"status": {"of": "it"}}
APPROVE: dict[str, Any] = {"psu": {"approves": "it", "customer": "alice"}}
REFUSE: dict[str, Any] = {"psu": {"refuses": "it", "customer": "alice"}}
CANCEL: dict[str, Any] = {"cancel": {"of": "it", "token": "unknown", "refused": True}}
ORDER: dict[str, Any] = {"order": {"start_date": "2027-03-05", "end_date": "2027-03-20"}, "as": "it"}
PNDG, ISO, LOWER = {"status_spelling": "PNDG"}, {"reason_codes": "iso"}, {"error_words": "lower"}
TOLD: list[tuple[dict[str, str], list[Any], str, dict[str, Any]]] = [
    (PNDG, [PAY, APPROVE, STATUS], "PNDG", {"expect": {"status": "PDNG"}}),
    (ISO, [PAY, REFUSE, STATUS], "DS02", {"expect": {"status": "CANC", "reason": "PSU_REFUSED"}}),
    (ISO, [ORDER, REFUSE, STATUS], "DS02", {"expect": {"status": "CANC", "reason": "PSU_REFUSED"}}),
    (ISO, [PAY, {"clock": "2h"}, STATUS], "TM01", {"expect": {"status": "CANC", "reason": "TIME_OUT"}}),
    (LOWER, [PAY, CANCEL], "failed_security_validation", {"refused": "FAILED_SECURITY_VALIDATION"}),
]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serve_worlds(machine_time, jobs=2) as address:
        yield address


def play_text(text: str, url: str) -> Play:
    found = play(Script(read_scenario(text, "a record"), text), url)
    assert found.report.trouble is None, found.report.trouble
    assert [(step.text, step.faults) for step in found.report.steps if not step.passed] == []
    return found


def record_steps(url: str, variants: dict[str, str], steps: list[Any], controls: bool) -> bytes:
    text = json.dumps({"settings": {"variants": variants}, "steps": steps})
    har = json.loads(play_text(text, url).har)
    entries = [entry for entry in har["log"]["entries"] if controls or "/_sandbox/" not in entry["request"]["url"]]
    return json.dumps({"log": {"entries": entries}}).encode()


def lift_last_step(har: bytes) -> tuple[str, dict[str, Any]]:
    text, unexplained = lift_file(har, "A record")
    assert unexplained == []
    (content,) = read_yaml(text, "lifted").to_python()["steps"][-1].values()
    return text, content


@pytest.mark.parametrize("controls", [True, False])
@pytest.mark.parametrize("variants, steps, spelled, expected", TOLD)
def test_words_that_a_bank_spells_otherwise_are_lifted_as_the_default_ones(
    url: str, variants: dict[str, str], steps: list[Any], spelled: str, expected: dict[str, Any], controls: bool
) -> None:
    har = record_steps(url, variants, steps, controls)
    assert spelled.encode() in har
    text, content = lift_last_step(har)
    assert content | expected == content
    play_text(text, url)


@pytest.mark.parametrize("controls", [True, False])
def test_an_order_that_is_over_is_not_taken_for_a_refused_one(url: str, controls: bool) -> None:
    steps = [ORDER, APPROVE, STATUS, {"clock": "60d"}, STATUS]
    text, content = lift_last_step(record_steps(url, ISO, steps, controls))
    assert content["expect"] == {"status": "CANC", "reason": "CONTRACT_ENDED"}
    play_text(text, url)


@pytest.mark.parametrize("other", [{}, {"token_type_case": "bearer"}])
def test_axes_of_spelling_that_a_control_sets_are_not_lifted(url: str, other: dict[str, str]) -> None:
    har = record_steps(url, {}, [{"settings": {"variants": PNDG | other}}, PAY, APPROVE, STATUS], controls=True)
    text, content = lift_last_step(har)
    assert content["expect"] == {"status": "PDNG"} and "status_spelling" not in text
    assert all(axis in text for axis in other)
    play_text(text, url)


def test_a_code_that_a_control_gave_stays(url: str) -> None:
    move = {"move": {"of": "it", "status": "CANC", "reason": "DS02"}}
    text, content = lift_last_step(record_steps(url, {}, [PAY, move, STATUS], controls=True))
    assert content["expect"] == {"status": "CANC", "reason": "DS02"}
    play_text(text, url)


def test_the_code_of_a_rejection_stays(url: str) -> None:
    move = {"move": {"of": "it", "status": "RJCT", "reason": "TM01"}}
    text, content = lift_last_step(record_steps(url, ISO, [PAY, APPROVE, move, STATUS], controls=False))
    assert content["expect"] == {"status": "RJCT", "reason": "TM01"}
    play_text(text, url)
