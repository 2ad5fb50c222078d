"""Killed at any moment, under load: nothing that was answered is lost, nothing is doubled."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROUNDS = {"file": 100, "database": 40}  # `make simulate` kills far more often
LEAST = {"file": 3, "database": 2}  # kills in the midst of each


@pytest.mark.parametrize("where", ["file", "database"])
def test_kills_lose_and_double_nothing(where: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """By another program after so many answers, and in the midst of a commit, a checkpoint or a reset."""
    rounds = ROUNDS[where]
    if where == "database":
        request.getfixturevalue("cluster")  # not run where PostgreSQL is missing; the program starts its own
    place = str(tmp_path) if where == "file" else where
    words = [sys.executable, "-m", "tests.worlds.killed", place, str(rounds), "1"]
    told = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)
    assert told.returncode == 0, told.stderr[-4000:]
    counts = json.loads(told.stdout)
    assert sum(counts[way] for way in ("answers", "commit", "checkpoint", "begin")) == rounds
    for way in ("commit", "checkpoint", "begin"):
        assert counts[f"in the midst of {way}"] >= LEAST[where], counts
    assert counts["from a checkpoint"] > rounds // 4
