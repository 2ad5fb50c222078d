"""Bars with the time left: on a terminal only, so that files and pipes hold what a command says and nothing else."""

import io
import sys
from datetime import date

import pytest

from sandbox.bulkfiles.csv_reader import HEADER
from sandbox.bulkfiles.report import ValidationRules
from sandbox.bulkfiles.stages import Kind, count_progress, read_file
from sandbox.commands.screen import draw_progress, show_progress
from tests.spec import files


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("total, unit", [(10, ""), (None, ""), (10, "bytes"), (None, "bytes"), (0, "")])
def test_a_bar_is_drawn_on_a_terminal(total: int | None, unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    with draw_progress("copying", total, unit) as step:
        step(3)
    drawn = shown.getvalue()
    assert "copying" in drawn and "3" in drawn


def test_what_is_done_and_how_many_there_are_may_be_another_by_now(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    with draw_progress("today's bank", 1) as step:
        step(1, total=40, label="covering [all]")
    assert "covering [all]" in shown.getvalue() and "1/40" in shown.getvalue()


def test_elsewhere_nothing_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(sys, "stderr", shown)
    with draw_progress("copying", 10) as step:
        step(3)
    assert list(show_progress([1, 2], 2, "playing")) == [1, 2]
    assert shown.getvalue() == ""


def test_a_bar_goes_away_with_an_error_of_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    with pytest.raises(KeyError), draw_progress("copying", 10):
        raise KeyError("x")


@pytest.mark.parametrize(
    "kind, content",
    [
        ("pain.001", files.pain() + b"<!--" + b"x" * 400_000 + b"-->"),
        ("csv", ",".join(HEADER).encode() + b"\n" + b"x\n" * 2_000),
    ],
)
def test_the_check_of_a_file_tells_how_far_it_is(kind: Kind, content: bytes) -> None:
    calls: list[int] = []
    read_file(kind, content, ValidationRules(date(2027, 3, 1)), lambda: calls.append(1))
    assert len(calls) > 1 and abs(len(calls) - count_progress(kind, content)) <= 1
