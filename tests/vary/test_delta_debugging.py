"""Delta debugging: the few choices of a failing variant that suffice, and how many runs it takes to find them."""

from collections.abc import Sequence
from itertools import count
from random import Random

import pytest

from sandbox.extensions.vary.delta_debugging import RUNS_MAX, FailureQuery, minimize, split
from sandbox.extensions.vary.search import Causes, Search
from sandbox.extensions.vary.space import DEFAULT_BANK, Variant
from tests.vary.toys import Breaks, Toys, breaking, space_of, variant

FORTY = space_of(*[2] * 40)
EVERY = FORTY.make_variant(dict.fromkeys(FORTY.axes, "1"))


def minimized(failing: Variant, breaks: Breaks) -> tuple[Variant, list[Variant]]:
    """What is left of the variant, and the variants that were run for it."""
    toys = Toys(FORTY, {"test": breaks})
    found = minimize(failing, FailureQuery("test", toys.runs))
    return found, [asked for asked in toys.asked if asked != DEFAULT_BANK]


@pytest.mark.parametrize("cause, most", [("m=1", 12), ("d=1,t=1", 45), ("a=1,h=1,z=1", 70)])
def test_exactly_the_cause_is_left_of_forty_choices_after_few_runs(cause: str, most: int) -> None:
    found, asked = minimized(EVERY, breaking(cause))
    assert found == variant(cause) and len(asked) <= most


def test_the_questions_are_those_of_the_published_example() -> None:
    """Eight changes, of which the first and the last two fail together; what was run already is not asked again."""
    eight = variant("a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1")
    found, asked = minimized(eight, breaking("a=1,g=1,h=1"))
    names = " ".join("".join(axis for axis, _ in one.changes) for one in asked)
    assert found == variant("a=1,g=1,h=1")
    assert names == "abcd efgh ab cd ef gh cdefgh abefgh abgh a b g h bgh agh ah ag"


@pytest.mark.parametrize("seed", range(20))
def test_what_is_left_fails_and_passes_without_any_single_choice(seed: int) -> None:
    """Whatever the test does elsewhere: here chance decides for each variant."""

    def breaks(found: Variant) -> bool:
        return found == EVERY or (found != DEFAULT_BANK and Random(f"{seed} {found}").random() < 0.2)

    left, _ = minimized(EVERY, breaks)
    assert breaks(left)
    assert not any(breaks(left.without({choice})) for choice in left.changes)


def test_a_cause_that_other_choices_heal_is_found_all_the_same() -> None:
    found, _ = minimized(variant("a=1,b=1,d=1"), lambda one: breaking("a=1")(one) and not breaking("b=1,c=1")(one))
    assert found == variant("a=1")


def test_one_choice_is_minimal_and_takes_no_run() -> None:
    assert minimized(variant("a=1"), breaking("a=1")) == (variant("a=1"), [])


@pytest.mark.parametrize("parts, sizes", [(2, [3, 4]), (3, [2, 2, 3]), (7, [1] * 7)])
def test_the_parts_of_a_variant_are_even_and_make_the_whole(parts: int, sizes: Sequence[int]) -> None:
    whole = variant("a=1,b=1,c=1,d=1,e=1,f=1,g=1")
    found = split(whole, parts)
    assert [len(part.changes) for part in found] == sizes
    assert Variant.of(choice for part in found for choice in part.changes) == whole


# Runs that were made already


def add_cause(test: str, failing: Variant, toys: Toys) -> Causes:
    return Search(toys.runs, FORTY, 2, Random(1)).add_cause(test, failing)


def test_a_variant_that_was_run_already_and_failed_is_taken_before_any_new_run() -> None:
    toys = Toys(FORTY, {"test": breaking("c=1")})
    toys.runs.run_all([(DEFAULT_BANK, 0), (variant("c=1"), 0)])
    assert FailureQuery("test", toys.runs)([variant("b=1"), variant("c=1")]) == variant("c=1")
    assert toys.asked == [DEFAULT_BANK, variant("c=1")]
    assert FailureQuery("test", toys.runs)([variant("b=1")]) is None
    assert toys.asked[2:] == [variant("b=1")]


def test_the_cause_of_another_test_takes_only_its_own_runs() -> None:
    toys = Toys(FORTY, {"one": breaking("c=1,k=1"), "same": breaking("c=1,k=1"), "other": breaking("d=1")})
    toys.runs.run_all([(DEFAULT_BANK, 0), (EVERY, 0)])
    (first,) = add_cause("one", EVERY, toys).breaks
    made = len(toys.asked)
    (second,) = add_cause("same", EVERY, toys).breaks
    assert first.variant == second.variant == variant("c=1,k=1") and len(toys.asked) == made
    add_cause("other", EVERY, toys)
    assert len(toys.asked) > made


def test_the_search_starts_at_the_smallest_part_that_failed_before() -> None:
    toys = Toys(FORTY, {"test": breaking("c=1,k=1")})
    row = EVERY.without({("b", "1")})
    toys.runs.run_all([(DEFAULT_BANK, 0), (DEFAULT_BANK, 1), (row, 0), (variant("c=1,k=1"), 0)])
    made = len(toys.asked)
    (found,) = add_cause("test", row, toys).breaks
    assert found.variant == variant("c=1,k=1")
    assert toys.asked[made:] == [row, variant("c=1"), variant("k=1"), variant("c=1,k=1")]


def test_a_cause_under_which_a_second_run_passes_is_not_blamed() -> None:
    turns = count()
    toys = Toys(
        FORTY, {"test": lambda found: found.holds(variant("c=1")) and (found != variant("c=1") or not next(turns))}
    )
    toys.runs.run_all([(DEFAULT_BANK, 0), (EVERY, 0)])
    causes = add_cause("test", EVERY, toys)
    assert causes.breaks == () and "passed once and failed once with c=1" in causes.flaky


# The limit of runs


def test_after_the_limit_the_smallest_variant_that_failed_is_the_answer() -> None:
    toys = Toys(FORTY, {"test": breaking("a=1,h=1,z=1")})
    questions = FailureQuery("test", toys.runs)
    questions.left = 10
    found = minimize(EVERY, questions)
    assert len(toys.asked) <= 10 + 1 and toys.runs.fails(found, "test")
    assert variant("a=1,h=1,z=1") != found != EVERY


def test_a_test_that_needs_every_choice_takes_no_more_runs_than_the_limit() -> None:
    wide = space_of(*[2] * 150)
    every = wide.make_variant(dict.fromkeys(wide.axes, "1"))
    toys = Toys(wide, {"test": lambda found: found == every})
    toys.runs.run_all([(DEFAULT_BANK, 0), (every, 0)])
    assert minimize(every, FailureQuery("test", toys.runs)) == every
    assert len(toys.asked) == 2 + RUNS_MAX
