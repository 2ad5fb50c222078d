"""Killed 200 times at any moment, under load: nothing that was answered is lost, nothing is doubled."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROUNDS = 200


def test_two_hundred_kills_lose_and_double_nothing(tmp_path: Path) -> None:
    """By another program after so many answers, and in the midst of a write, a checkpoint or a reset."""
    words = [sys.executable, "-m", "tests.world.killed", str(tmp_path), str(ROUNDS), "1"]
    told = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)
    assert told.returncode == 0, told.stderr[-4000:]
    counts = json.loads(told.stdout)
    assert sum(counts[way] for way in ("answers", "flush", "checkpoint", "begin")) == ROUNDS
    for way in ("flush", "checkpoint", "begin"):
        assert counts[f"in the midst of {way}"] > 5, counts
    assert counts["from a checkpoint"] > ROUNDS // 4
