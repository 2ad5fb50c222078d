"""Whole scenarios: side by side, twice the same, and told to a CI server."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from sandbox.app import assemble, make_first_beginning
from sandbox.machine import machine_time
from sandbox.player.runs import (
    ScenarioReport,
    Script,
    read_script,
    run,
    run_one,
    serve_worlds,
    write_junit_of_scenarios,
)
from sandbox.scenarios import ScenarioErrors, read_scenario
from sandbox.server.server import serve_in_background
from sandbox.worlds.registry import WorldRegistry

HERE = Path(__file__).parent
STORY = "a_refreshed_pair_replaces_the_old_one"


def script(*steps: Any, name: str = "test", **more: Any) -> Script:
    text = json.dumps({"clock": {"at": "2027-03-01T09:00"}, "steps": list(steps), **more})
    return Script(read_scenario(text, name), text)


def bodies(report: ScenarioReport, url: str) -> str:
    """Everything that the bank answered, but for the port that it had."""
    assert report.passed
    told = [one.response for step in report.steps for one in step.exchanges if "/_sandbox/" not in one.request.url.path]
    return sha256(b"\n".join(reply.content.replace(url.encode(), b"") for reply in told if reply)).hexdigest()


def played_alone() -> str:
    with serve_worlds(machine_time, 1) as url:
        return bodies(run_one(read_script(STORY), url, machine_time), url)


def test_the_same_scenario_gives_the_same_bytes_twice_and_in_another_program() -> None:
    first = played_alone()
    assert played_alone() == first
    root = HERE.parents[1]
    words = "from tests.player.test_running import played_alone; print(played_alone())"
    env = {**os.environ, "PYTHONPATH": str(root), "PYTHONHASHSEED": "3"}
    done = subprocess.run([sys.executable, "-c", words], env=env, cwd=root, capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == first, done.stderr


def test_fifty_scenarios_side_by_side_while_one_resets(url: str) -> None:
    pay = {"pay": {"debtor": "alice", "amount": "25.00"}, "as": "rent"}
    rest = [{"psu": {"approves": "rent"}}, {"clock": "60s"}, {"status": {"of": "rent", "expect": {"status": "ACSC"}}}]
    gone = {"expect": {"account": "alice", "balance": {"less": "25.00"}}}
    stories = [script(pay, *rest, gone, name=f"story-{number}") for number in range(49)]
    resets = script(pay, *[{"reset": None}, pay] * 10, *rest, gone, name="resets")
    reports = list(run([*stories[:25], resets, *stories[25:]], url, machine_time, jobs=8))
    assert [report.name for report in reports if not report.passed] == []
    assert len(reports) == 50


def test_the_same_scenario_twice_in_one_run_has_two_worlds(url: str) -> None:
    one = script({"reset": None})
    first, second = run([one, one], url, machine_time, apart=".x")
    assert first.passed and second.passed and first.world != second.world


def test_a_world_goes_away_when_all_held_and_stays_for_a_look_otherwise(url: str) -> None:
    import httpx

    kept = run_one(script({"token": {"code": "none"}}, name="kept"), url, machine_time)
    gone = run_one(script({"reset": None}, name="gone"), url, machine_time)
    found = {name["name"] for name in httpx.get(f"{url}/_sandbox/worlds", trust_env=False).json()["worlds"]}
    assert kept.world in found and gone.world not in found


@contextmanager
def running_server(**more: Any) -> Iterator[str]:
    worlds = WorldRegistry(make_first_beginning(seed=5, **more), machine_time)
    with serve_in_background(assemble(worlds)) as address:
        yield address


def test_a_scenario_plays_on_a_server_whose_clock_runs() -> None:
    with running_server(rate=1.0) as address:
        report = run_one(read_script("an_unsigned_payment_expires_after_an_hour"), address, machine_time)
    assert report.passed, report


def test_a_server_that_is_not_there_is_trouble() -> None:
    report = run_one(script({"reset": None}), "http://127.0.0.1:1", machine_time)
    assert report.trouble and not report.passed


def test_a_server_that_does_not_know_what_is_extended_says_so(url: str) -> None:
    good = script({"reset": None})
    report = run_one(Script(good.scenario, '{"extends": "nowhere"}'), url, machine_time)
    assert report.trouble and "nowhere" in report.trouble


def test_junit_tells_what_held_failed_and_was_not_played(url: str) -> None:
    asserted = {"status": {"of": "rent", "expect": {"status": "\x00<ACSC>"}}}
    failing = script({"pay": {}, "as": "rent"}, asserted, "reset", name="failing")
    lost = run_one(script({"reset": None}, name="lost"), "http://127.0.0.1:1", machine_time)
    written = write_junit_of_scenarios([run_one(failing, url, machine_time), lost])
    tree = etree.fromstring(written)
    etree.XMLSchema(etree.parse(HERE / "junit.xsd")).assertValid(tree)
    assert {name: tree.get(name) for name in ("tests", "failures", "errors")} == {
        "tests": "4",
        "failures": "1",
        "errors": "1",
    }
    assert tree.xpath("string(//testcase[2]/failure/@message)") == "status: expected ?<ACSC>, found RCVD"
    assert "/payments/sepa-credit-transfers/" in str(tree.xpath("string(//failure)"))
    assert tree.xpath("count(//skipped)") == 1


CHECKED = [
    ("- status: rent", 2, "nothing was captured as 'rent' before this step"),
    ("- pay: {}\n  as: rent\n- status: remt", 4, "did you mean 'rent'?"),
    ("- psu: {approves: rent}", 2, "a step above says `as: rent`"),
    ("- expect: {order: rent}", 2, "'rent'"),
    ("- pay: {creditor_name: 'for {rent.payment_id}'}", 2, "'rent'"),
    ("- pay: {}\n  as: rent\n- reset\n- cancel: rent", 5, "'rent'"),
]


@pytest.mark.parametrize("steps, line, told", CHECKED)
def test_a_name_that_nothing_captured_is_found_before_the_play(steps: str, line: int, told: str) -> None:
    with pytest.raises(ScenarioErrors) as caught:
        read_scenario(f"steps:\n{steps}\n", "a.yaml")
    (error,) = caught.value.errors
    assert (error.line, error.column) == (line, 3)
    assert told in str(error)


def test_an_id_that_stands_there_itself_is_no_name() -> None:
    text = "steps:\n  - move: {of: 009b595d-0a7a-447e-a44d-9da219fbee35, status: RJCT}"
    (step,) = read_scenario(text, "a.yaml").steps
    assert step.what == "move"
