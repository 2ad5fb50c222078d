"""The search: what each test has passed in the end, and how many runs that takes."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from pathlib import Path
from threading import Barrier

import pytest

from sandbox.extensions.vary.runs import Result, Runs, VariantRun
from sandbox.extensions.vary.space import DEFAULT_BANK, Variant
from sandbox.extensions.vary.space import make_space as space_of_axes
from sandbox.extensions.vary.verdict import Verdict, judge
from tests.vary.toys import Breaks, Toys, all_pairs, breaking, space_of, variant

SPACE = space_of(2, 3, 2, 2, 3, 2, 2, 4, 2, 2)
ROOT = Path(__file__).resolve().parents[2]


def sound(found: Variant) -> bool:
    """Breaks never."""
    return False


def any_of(*texts: str) -> Breaks:
    """Fails where all choices of one of these are."""
    return lambda found: any(found.holds(variant(text)) for text in texts)


def suite(**broken: Breaks) -> dict[str, Breaks]:
    """30 tests."""
    return {f"sound_{number}": sound for number in range(30 - len(broken))} | broken


def causes(verdict: Verdict, test: str) -> list[str]:
    return sorted(str(one.variant) for one in verdict.breaks if one.test == test)


TESTS = {
    "sound": sound,
    "one": breaking("a=1"),
    "pair": breaking("b=2,h=3"),
    "many": any_of("a=1", "e=1", "h=2", "c=1,d=1"),
    "hidden": any_of("g=1", "g=1,b=1", "i=1,j=1"),
}


@pytest.mark.parametrize("seed", range(3))
def test_each_test_has_passed_each_pair_that_holds_no_cause_of_its_own(seed: int) -> None:
    """Also where another cause, or that of another test, broke the first row that had the pair."""
    toys = Toys(SPACE, TESTS)
    verdict = judge(toys.runs, SPACE, 2, seed)
    for test, breaks in TESTS.items():
        passed = {
            frozenset(pair)
            for row in toys.asked
            if not breaks(row)
            for pair in combinations(SPACE.complete(row).items(), 2)
        }
        blamed = [frozenset(variant(text).changes) for text in causes(verdict, test)]
        assert {pair for pair in all_pairs(SPACE) if not any(cause <= pair for cause in blamed)} <= passed
    assert causes(verdict, "many") == ["a=1", "c=1,d=1", "e=1", "h=2"]


BROKEN = {
    "robust": (suite(), 30),
    "one value": (suite(one=breaking("final_status=ACSP"), two=breaking("final_status=ACSP")), 50),
    "values and pairs": (
        suite(
            one=breaking("final_status=ACSP"),
            pair=any_of("details_amount=number,number_digits=shortest", "details_amount=number,number_digits=exponent"),
        ),
        150,
    ),
}


# The axes but one, which has 9 values: with an axis of 4 values these alone want 36 rows.
FEW_VALUES = space_of_axes().select_axes([name for name, values in space_of_axes().axes.items() if len(values) < 5])


def test_an_axis_of_many_values_wants_hardly_more_rows_than_its_pairs() -> None:
    space = space_of_axes()
    first, second, *_ = sorted(map(len, space.axes.values()), reverse=True)
    assert judge(Toys(space, suite()).runs, space, 2, 1).variants <= first * second + 10
    assert len(space.axes) == len(FEW_VALUES.axes) + 1


@pytest.mark.parametrize("tests, most", BROKEN.values(), ids=BROKEN)
def test_few_runs_are_enough_for_all_axes_of_the_bank(tests: dict[str, Breaks], most: int) -> None:
    """A run of 30 tests takes 2 s of a processor: so 150 take well under 300 s of two."""
    space = FEW_VALUES
    toys = Toys(space, tests)
    verdict = judge(toys.runs, space, 2, 1)
    assert len(toys.asked) == verdict.runs <= most
    assert {one.test for one in verdict.breaks} == {name for name in tests if not name.startswith("sound")}


def test_what_breaks_all_tests_is_found_before_many_rows_are_lost_to_it() -> None:
    space = space_of_axes().select_axes({"gateway", "unavailable", "limits", *list(space_of_axes().axes)[::3]})
    loud = any_of("gateway=502", "gateway=504", "unavailable=first_call", "limits=minute", "limits=day")
    toys = Toys(space, dict.fromkeys(suite(), loud))
    verdict = judge(toys.runs, space, 2, 1)
    assert len(causes(verdict, "sound_0")) == 5
    without = judge(Toys(space, suite()).runs, space, 2, 1)
    assert verdict.variants <= without.variants + 5  # each cause spoils the row in which it is found, and no other


def test_the_same_seed_gives_the_same_runs() -> None:
    """Whatever order sets have in another process."""
    script = """if True:
        from sandbox.extensions.vary.verdict import judge
        from tests.vary.test_search import SPACE, TESTS, Toys
        toys = Toys(SPACE, TESTS)
        judge(toys.runs, SPACE, 2, 1)
        print(*toys.asked, sep="\\n")"""
    words = [sys.executable, "-c", script]
    there = subprocess.run(words, env={"PYTHONHASHSEED": "1"}, cwd=ROOT, check=True, capture_output=True, text=True)
    here = Toys(SPACE, TESTS)
    judge(here.runs, SPACE, 2, 1)
    assert there.stdout.splitlines() == [str(row) for row in here.asked] and len(here.asked) > 10


def test_a_command_that_crashes_is_blamed_itself_and_the_rest_is_tested_without_that() -> None:
    """Where it crashes it does not say how each test went."""
    crash, broken = breaking("a=1"), breaking("b=2")
    asked: list[Variant] = []

    def trial(found: Variant) -> VariantRun:
        asked.append(found)
        if crash(found):
            return VariantRun({"command": Result(False, "Segmentation fault")}, frozenset(SPACE.axes), partial=True)
        return VariantRun({"one": Result(not broken(found)), "two": Result(True)}, frozenset(SPACE.axes))

    verdict = judge(Runs(trial), SPACE, 2, 1)
    assert {one.test: str(one.variant) for one in verdict.breaks} == {"command": "a=1", "one": "b=2"}
    passed = {
        frozenset(pair) for row in asked if not crash(row) for pair in combinations(SPACE.complete(row).items(), 2)
    }
    assert {pair for pair in all_pairs(SPACE) if ("a", "1") not in pair} <= passed


def test_a_test_that_failed_only_when_it_was_run_again_is_flaky() -> None:
    """It was run again for another test."""
    seen: list[Variant] = []

    def fails(found: Variant) -> bool:
        seen.append(found)
        return seen.count(DEFAULT_BANK) == 2 and found == DEFAULT_BANK

    verdict = judge(Toys(SPACE, {"broken": breaking("a=1"), "flaky": fails}).runs, SPACE, 2, 1)
    assert list(verdict.flaky) == ["flaky"] and [one.test for one in verdict.breaks] == ["broken"]


def test_a_cause_that_the_test_withstands_elsewhere_is_looked_at_again() -> None:
    """It fails the first two times that it is run with the cause alone, and twice in the row before that."""
    seen: list[Variant] = []

    def fails(found: Variant) -> bool:
        seen.append(found)
        return found.holds(variant("a=1")) and (len(seen) < 5 or len(found.changes) == 1 and seen.count(found) < 3)

    verdict = judge(Toys(SPACE, {"test": fails}).runs, SPACE, 1, 1)
    assert verdict.breaks == () and list(verdict.flaky) == ["test"]
    assert seen.count(variant("a=1")) >= 3


def test_as_many_runs_as_there_are_jobs_are_made_at_once_and_none_is_made_twice() -> None:
    """Each waits until the other has begun, so both end only if both are under way."""
    began = Barrier(2)

    def trial(found: Variant) -> VariantRun:
        began.wait(20)
        return VariantRun({"test": Result(True)})

    attempts = [(variant("a=1"), 0), (variant("b=1"), 0)]
    with ThreadPoolExecutor(2) as pool:
        runs = Runs(trial, spread=pool.map, jobs=2)
        runs.run_all([*attempts, attempts[0]])
        runs.run_all(attempts)
    assert runs.variants == [variant("a=1"), variant("b=1")] and runs.count == 2


def test_a_verdict_is_the_same_with_one_job_and_with_several() -> None:
    alone = judge(Toys(SPACE, TESTS).runs, SPACE, 2, 1)
    with ThreadPoolExecutor(3) as pool:
        toys = Toys(SPACE, TESTS)
        toys.runs.spread, toys.runs.jobs = pool.map, 3
        several = judge(toys.runs, SPACE, 2, 1)
    for test in TESTS:
        assert causes(alone, test) == causes(several, test)
