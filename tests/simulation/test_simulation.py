"""Short lives of a bank full of trouble, from a seed: `make simulate` leads them for ten minutes."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from sandbox.worlds.world import World
from tests.postgres import Cluster, cluster
from tests.simulation import images
from tests.simulation.__main__ import IMPATIENT, live
from tests.simulation.director import STEPS
from tests.simulation.file_director import AFTERWARDS, TROUBLES, life
from tests.worlds import damage

__all__ = ["cluster"]

ROOT = Path(__file__).parents[2]
LIVES = 3


def simulated(lives: int, *words: str) -> dict[str, int]:
    """As a program of its own, whose files are bounded and whose clocks are moved."""
    bounds = ("--lives", str(lives), "--seconds", "600")  # the seconds guard against hanging
    command = [sys.executable, "-m", "tests.simulation", "--seed", "1", *bounds]
    outcome = subprocess.run([*command, *words], cwd=ROOT, capture_output=True, text=True, timeout=660, check=False)
    assert outcome.returncode == 0, outcome.stderr[-4000:]
    counts: dict[str, int] = json.loads(outcome.stdout)
    assert counts["lives"] == lives
    return counts


def demand_each(counts: Mapping[str, int], lives: int, *decks: list[str]) -> None:
    """Each life met each kind of trouble as often as its deck was drawn from the first word to the last."""
    for deck in decks:
        for what in deck:
            assert counts[what] >= lives * (STEPS // len(deck)), what


def test_memory_the_file_and_the_client_agree_through_all_trouble() -> None:
    counts = simulated(LIVES)
    refused = {f"{trouble}: 5xx" for trouble in ("a_failure", "a_full_disk", "a_lock", "a_lie", "a_file_that_is_gone")}
    for what in {*refused, "torn and earlier"}:
        assert counts[what] > 0, what
    demand_each(counts, LIVES, TROUBLES, AFTERWARDS)
    told = sum(count for what, count in counts.items() if what.startswith("flipped"))
    assert told == counts["flip"]  # which bit is hit depends on the bytes of the file, so any of the outcomes may come


def test_a_flip_in_the_head_of_a_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def flip_the_head(path: Path, *given: Any, **more: Any) -> str:
        content = bytearray(path.read_bytes())
        content[0] ^= 1
        path.write_bytes(content)
        return "bank.state: byte 0"

    with life(tmp_path, "refused") as director:
        before = images.content(director.worlds)
        director.store.close()
        monkeypatch.setattr(damage, "damaged", flip_the_head)
        path = images.image(director.place, tmp_path / "image")
        told = images.flipped(path, director.random, director.machine.now, before, director.past)
        assert told == "flipped and refused"


def test_memory_the_database_and_the_client_agree_through_all_trouble(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where PostgreSQL is. Nothing here bounds the files of a process, so it needs none of its own."""
    from tests.simulation import database_director

    for row in IMPATIENT:
        monkeypatch.setattr(*row)
    counts = live("1/0", cluster)
    outcomes = {"a_failure: 5xx", "a_lost_line: 5xx", "a_lie: 2xx"}  # which is looked for, and found
    for what in outcomes:
        assert counts[what] > 0, what
    demand_each(counts, 1, database_director.TROUBLES, database_director.AFTERWARDS)


# What it would notice


def test_a_bank_that_tells_what_is_not_kept_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with life(tmp_path, "noticed") as director:
        director.acts.pay(director.tpp())
        director.journal = director.views()
        monkeypatch.setattr(World, "_note_act", lambda *given: None)
        assert director.acts.pay(director.tpp()).status_code == 201
        director.journal = director.views()
        with pytest.raises(AssertionError, match="the store says something else than memory"):
            director.demand_kept()


def test_an_answer_that_a_kill_undid_is_noticed(tmp_path: Path) -> None:
    with life(tmp_path, "noticed") as director:
        before = images.image(director.place, director.next_folder())
        reply = director.acts.pay(director.tpp())
        director.store.close()
        director.open(before)
        with pytest.raises(AssertionError, match="an answered payment is not there"):
            director.hold([reply], "nothing")


def test_a_refusal_that_left_a_trace_is_noticed(tmp_path: Path) -> None:
    with life(tmp_path, "noticed") as director:
        director.acts.pay(director.tpp())
        refused = director.acts.fail(director.tpp())
        with pytest.raises(AssertionError, match="what was refused left a trace"):
            director.hold([refused], "nothing")


def test_a_flip_that_nobody_tells_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with life(tmp_path, "noticed") as director:
        before = images.content(director.worlds)
        director.acts.pay(director.tpp())
        monkeypatch.setattr(damage, "damaged", lambda *given, **more: "nothing at all")
        path = images.image(director.place, tmp_path / "image")
        with pytest.raises(AssertionError, match="nothing at all: it tells something else"):
            images.flipped(path, director.random, director.machine.now, before, director.past)


def test_one_life_is_repeated_by_its_seed(tmp_path: Path) -> None:
    told = []
    for number in range(2):
        folder = tmp_path / str(number)
        folder.mkdir()
        with life(folder, "again") as director:
            for _ in range(3):
                director.with_nothing(lambda director=director: director.acts.sign(director.tpp()))  # type: ignore[misc]
            told.append(director.views())
    assert told[0] == told[1]
