"""Commands that destroy ask on a terminal (choice 12)."""

import io
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from sandbox.cli import main
from sandbox.client import Controls

DESTROY = (
    "reset", "scenario load two_people_must_sign", "rewind 2027-03-01T09:00", "fork other --replace",
    "import {export} --as other --replace", "variants cover --axes final_status --strength 1 --begin --replace",
)  # fmt: skip
LOST = "is lost. Go on? [y/N]"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def controls(url: str) -> Iterator[Controls]:
    with Controls(url) as controls:
        controls.make_world("other")
        yield controls


@pytest.fixture
def export(url: str, tmp_path: Path) -> str:
    path = tmp_path / "world.jsonl"
    assert CliRunner().invoke(main, ["export", "--url", url, "-o", str(path)]).exit_code == 0
    return str(path)


def run(url: str, words: str, export: str, typed: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs a command; on a terminal where something is typed."""
    monkeypatch.setenv("SANDBOX_URL", url)
    monkeypatch.setattr(sys, "stdin", io.StringIO() if typed is None else Terminal(typed))
    main.main(words.format(export=export).split(), standalone_mode=False)


def trace_of(controls: Controls) -> list[object]:
    return [controls.listed("worlds"), controls.listed("payments"), controls.clock.get()]


@pytest.mark.parametrize("words", DESTROY)
def test_a_no_on_a_terminal_loses_nothing(
    words: str,
    url: str,
    export: str,
    controls: Controls,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = trace_of(controls)
    for typed in ("n\n", "\n", ""):
        with pytest.raises(click.Abort):
            run(url, words, export, typed, monkeypatch)
        asked = capsys.readouterr()
        assert (LOST in asked.err or "in them is lost" in asked.err) and asked.out == ""
    assert trace_of(controls) == before


@pytest.mark.parametrize("words", DESTROY)
@pytest.mark.parametrize("typed, more", [("y\n", ""), ("", " --yes"), ("", " -y"), (None, "")])
def test_a_yes_the_option_or_no_terminal_goes_on(
    words: str,
    typed: str | None,
    more: str,
    url: str,
    export: str,
    controls: Controls,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run(url, f"{words}{more}", export, typed, monkeypatch)
    assert ("Go on?" in capsys.readouterr().err) == (typed == "y\n")


def test_a_command_that_replaces_nothing_does_not_ask(
    url: str, export: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(url, "fork another", export, "", monkeypatch)
    run(url, "import {export} --as third", export, "", monkeypatch)
    assert "Go on?" not in capsys.readouterr().err
