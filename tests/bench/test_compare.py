"""Two runs of the bench are held against each other without mistaking chance for change."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from bench import compare
from bench.table import Figure

RATE = Figure("GET status", 5000, "calls/s", 10_000, 0.5, least=0.4)
WAIT = Figure("fork", 10.0, "ms", most=20)


def verdicts(old: Figure, new: Figure) -> str:
    ((*_, verdict),) = compare.compared({old.name: asdict(old)}, {new.name: asdict(new)})
    return verdict


@pytest.mark.parametrize(
    ("old", "value", "ratio", "verdict"),
    [
        (RATE, 2500, 0.25, "WORSE"),
        (RATE, 9000, 0.9, "better"),
        (RATE, 5200, 0.52, ""),
        (RATE, 100, 0.5, ""),  # a slower machine: the ratio counts
        (WAIT, 20.0, None, "WORSE"),
        (WAIT, 5.0, None, "better"),
        (WAIT, 10.9, None, ""),
    ],
)
def test_a_change_counts_in_the_direction_that_matters(
    old: Figure, value: float, ratio: float | None, verdict: str
) -> None:
    new = Figure(old.name, value, old.unit, old.floor, ratio, least=old.least, most=old.most)
    assert verdicts(old, new) == verdict


def test_what_is_new_or_gone_is_said_and_is_no_fault() -> None:
    rows = compare.compared({"old": asdict(RATE)}, {"new": asdict(WAIT)})
    assert [(row[0], row[-1]) for row in rows] == [("new", "new"), ("old", "gone")]


@pytest.mark.parametrize(("value", "code"), [(2500, 1), (5000, 0)])
def test_the_command_ends_with_1_when_something_got_worse(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    value: float,
    code: int,
) -> None:
    new = Figure(RATE.name, value, RATE.unit, RATE.floor, value / 10_000, least=RATE.least)
    for name, figure in (("old", RATE), ("new", new)):
        content = {"machine": f"the {name} one", "figures": [asdict(figure)]}
        (tmp_path / name).write_text(json.dumps(content))
    monkeypatch.setattr("sys.argv", ["compare", str(tmp_path / "old"), str(tmp_path / "new")])
    assert compare.main() == code
    told = capsys.readouterr().out
    assert "GET status" in told and "machines differ" in told
