"""The commands `referee` and `coverage`, against a bank in this program."""

import json
from typing import Any

import httpx
import pytest
from click.testing import CliRunner, Result
from flask import Flask

from sandbox.cli import main
from tests.tpp import Tpp

PLAIN: dict[str, Any] = {"code_challenge_method": "plain"}


@pytest.fixture
def run(app: Flask, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The command, whose calls end in the bank of this test."""
    inner = httpx.Client

    def here(**options: Any) -> httpx.Client:
        """Where the commands open a line."""
        return inner(transport=httpx.WSGITransport(app=app), **options)

    monkeypatch.setattr(httpx, "Client", here)
    return lambda *words: CliRunner().invoke(main, words)


def test_a_client_without_fault_ends_with_0(run: Any, tpp: Tpp) -> None:
    tpp.initiate()
    told: Result = run("referee", "--fail-on", "advice")
    assert (told.exit_code, told.output.splitlines()[-1][:9]) == (0, "0 error, ")


def test_the_report_is_told_as_json(run: Any, tpp: Tpp) -> None:
    tpp.initiate(**PLAIN)
    assert json.loads(run("referee", "--json").output)["counts"]["warning"] == 1


@pytest.mark.parametrize("level, code", [("error", 0), ("warning", 1), ("advice", 1)])
def test_a_finding_as_grave_as_the_level_ends_with_1(run: Any, tpp: Tpp, level: str, code: int) -> None:
    tpp.initiate(**PLAIN)
    told = run("referee", "--fail-on", level)
    assert told.exit_code == code
    assert "pkce-plain: The PKCE method is plain" in told.output and "service 4.0" in told.output


def test_what_is_waved_off_does_not_fail_and_is_told_with_its_reason(run: Any, tpp: Tpp) -> None:
    tpp.initiate(**PLAIN)
    told = run("referee", "--fail-on", "advice", "--waive", "pkce-plain: old app")
    assert told.exit_code == 0 and "(accepted: old app)" in told.output


def test_a_rule_that_is_broken_often_is_listed_once_with_its_first_calls(run: Any, tpp: Tpp) -> None:
    for _ in range(7):
        tpp.initiate(**PLAIN)
    lines = run("referee").output.splitlines()
    assert [line for line in lines if "pkce-plain" in line] == ["warning pkce-plain: The PKCE method is plain, 7 times"]
    start = next(number for number, line in enumerate(lines) if "pkce-plain" in line)
    assert sum(" POST /payments/" in line for line in lines[start : start + 13]) == 5
    assert lines[start + 12].strip() == "and 2 more (--json lists all)"


@pytest.mark.parametrize("kind, begins", [("sarif", "{"), ("junit", "<?xml"), ("html", "<!doctype")])
def test_every_format_is_printed(run: Any, tpp: Tpp, kind: str, begins: str) -> None:
    tpp.initiate(**PLAIN)
    told = run("referee", "--format", kind, "--fail-on", "warning")
    assert told.exit_code == 1 and told.output.startswith(begins)


def test_another_world_is_asked(app: Flask, run: Any) -> None:
    Tpp(app, "there").initiate(**PLAIN)
    assert "pkce-plain" in run("referee", "--world", "there").output
    assert "pkce-plain" not in run("referee").output


def test_a_waive_that_names_no_rule_is_told(run: Any) -> None:
    told = run("referee", "--waive", "nothing: x")
    assert told.exit_code == 1 and "no rule of the referee" in told.output


def test_no_sandbox_there_is_told_without_a_traceback() -> None:
    told = CliRunner().invoke(main, ["referee", "--url", "http://127.0.0.1:1"])
    assert told.exit_code == 1 and "no sandbox answers at http://127.0.0.1:1" in told.output


def test_coverage_is_a_table_and_what_to_try_next(run: Any, tpp: Tpp) -> None:
    tpp.initiate()
    told = run("coverage").output
    assert ["operation", "1", "16", "6.2", "%"] in [line.split() for line in told.splitlines()]
    assert len(told.split("most useful first:\n")[1].splitlines()) == 10
    assert json.loads(run("coverage", "--json").output)["cells"]["operation"]["payment_initiation"] is True
