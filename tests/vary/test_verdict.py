"""The verdict: toy tests that break under one value or two, and the causes that are named."""

from itertools import count

import pytest

from sandbox.extensions.vary.runs import FailsByDefault, NothingMet, Runs, VariantRun
from sandbox.extensions.vary.space import DEFAULT_BANK, Variant, read_variant
from sandbox.extensions.vary.space import make_space as space_of_axes
from sandbox.extensions.vary.verdict import (
    Verdict,
    allow,
    judge,
    merge,
    read_allowed,
    write_allowed,
)
from tests.vary.toys import Breaks, Toys, breaking, space_of, variant

SPACE = space_of(2, 3, 2, 2, 3, 2, 2, 4, 2, 2)
PAIRS = ("a=1,b=2", "c=1,h=3", "d=1,e=2", "f=1,j=1", "g=1,i=1")


def sound(found: Variant) -> bool:
    """Breaks never."""
    return False


def causes(verdict: Verdict) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {test: [] for test in verdict.tests}
    for one in verdict.breaks:
        found[one.test].append(str(one.variant))
    return found


def test_for_every_value_of_every_axis_a_client_that_breaks_on_it_alone_is_told_so() -> None:
    space = space_of_axes()
    values = [f"{axis}={value}" for axis, values in space.axes.items() for value in values[1:]]
    verdict = judge(Toys(space, {text: breaking(text) for text in values}).runs, space, 1, 1)
    assert causes(verdict) == {text: [text] for text in values}
    assert verdict.withstood == () and verdict.flaky == {}


@pytest.mark.parametrize("seed", range(3))
def test_for_five_pairs_exactly_the_pair_is_told(seed: int) -> None:
    toys = Toys(SPACE, {f"test_{pair}": breaking(pair) for pair in PAIRS} | {"test_sound": sound})
    assert causes(judge(toys.runs, SPACE, 2, seed)) == {f"test_{pair}": [pair] for pair in PAIRS} | {"test_sound": []}


def test_what_hides_behind_another_cause_is_found_too() -> None:
    toys = Toys(SPACE, {"test": lambda found: any(breaking(one)(found) for one in ("a=1", "b=2,h=3", "e=1,j=1"))})
    assert sorted(causes(judge(toys.runs, SPACE, 2, 1))["test"]) == ["a=1", "b=2,h=3", "e=1,j=1"]


def test_what_takes_three_axes_is_blamed_on_all_three() -> None:
    space = space_of(2, 2, 2)
    found = judge(Toys(space, {"test": breaking("a=1,b=1,c=1")}).runs, space, 3, 1)
    assert causes(found) == {"test": ["a=1,b=1,c=1"]}


def test_a_cause_that_other_choices_heal_is_found_all_the_same() -> None:
    """A test may pass where more differs."""

    def fails(found: Variant) -> bool:
        return breaking("a=1")(found) and not breaking("b=1,c=1")(found)

    space = space_of(2, 2, 2, 2)
    assert causes(judge(Toys(space, {"test": fails}).runs, space, 2, 1)) == {"test": ["a=1"]}


def test_the_causes_of_other_tests_are_tried_first() -> None:
    space = space_of(*[2] * 20)
    rest = {f"sound_{number}": sound for number in range(5)}
    alone = Toys(space, {"one": breaking("c=1,k=1"), **rest})
    judge(alone.runs, space, 2, 1)
    both = Toys(space, {"one": breaking("c=1,k=1"), "other": breaking("c=1,k=1"), **rest})
    judge(both.runs, space, 2, 1)
    assert len(both.asked) == len(alone.asked)


# Flaky tests


def test_a_test_that_passes_once_and_fails_once_is_flaky_and_nothing_is_blamed() -> None:
    turns = count()
    toys = Toys(SPACE, {"flaky": lambda found: next(turns) == 3, "sound": sound, "broken": breaking("a=1")})
    verdict = judge(toys.runs, SPACE, 2, 1)
    assert list(verdict.flaky) == ["flaky"] and "passed once and failed once" in verdict.flaky["flaky"]
    assert causes(verdict) == {"flaky": [], "sound": [], "broken": ["a=1"]}
    assert "a" not in verdict.withstood and "b" in verdict.withstood


def test_where_every_test_is_flaky_no_axis_is_withstood() -> None:
    turns = count()
    verdict = judge(Toys(SPACE, {"flaky": lambda found: next(turns) in (1, 2)}).runs, SPACE, 2, 1)
    assert list(verdict.flaky) == ["flaky"] and verdict.withstood == () and verdict.met


def test_a_test_that_fails_at_the_second_look_at_today_is_flaky() -> None:
    seen: list[Variant] = []

    def fails(found: Variant) -> bool:
        seen.append(found)
        return found.holds(variant("b=1")) or seen.count(DEFAULT_BANK) > 1

    verdict = judge(Toys(SPACE, {"test": fails}).runs, SPACE, 2, 1)
    assert "the bank of today" in verdict.flaky["test"] and verdict.breaks == ()


# What was met


def test_axes_that_no_call_met_are_not_run_and_are_listed_apart() -> None:
    toys = Toys(SPACE, {"test": breaking("b=2")}, lambda found: "abc")
    verdict = judge(toys.runs, SPACE, 2, 1)
    assert verdict.never_met == tuple("defghij") and verdict.withstood == ("a", "c")
    assert {axis for found in toys.asked for axis, _ in found.changes} == set("abc")
    assert verdict.score == "2 of 3 axes withstood (66 %)"


def test_axes_that_only_a_variant_leads_to_are_covered_too() -> None:
    """With a=1 the client makes calls that it never makes today."""

    def met(found: Variant) -> str:
        return "abcd" if found.holds(variant("a=1")) else "ab"

    toys = Toys(SPACE, {"test": breaking("a=1,d=1")}, met)
    verdict = judge(toys.runs, SPACE, 2, 1)
    assert causes(verdict) == {"test": ["a=1,d=1"]} and verdict.met == set("abcd")


def test_a_test_that_fails_today_ends_the_run_at_once() -> None:
    toys = Toys(SPACE, {"test": breaking(""), "other": sound})
    with pytest.raises(FailsByDefault) as failed:
        judge(toys.runs, SPACE, 2, 1)
    assert failed.value.run.failed == ["test"] and toys.asked == [DEFAULT_BANK]


def test_tests_that_meet_nothing_end_the_run() -> None:
    with pytest.raises(NothingMet):
        judge(Toys(SPACE, {"test": breaking("a=1")}, lambda found: ()).runs, SPACE, 2, 1)


def test_a_test_that_does_not_run_under_a_variant_fails_there() -> None:
    toys = Toys(SPACE, {"one": sound, "other": sound})

    def trial(found: Variant) -> VariantRun:
        run = toys.trial(found)
        return VariantRun({"one": run.tests["one"]}, run.met) if found.holds(variant("c=1")) else run

    (found,) = judge(Runs(trial), SPACE, 2, 1).breaks
    assert (found.test, str(found.variant), found.result.failure) == ("other", "c=1", "it did not run")


def test_several_verdicts_make_one() -> None:
    one = judge(Toys(SPACE, {"one": breaking("a=1")}, lambda found: "ab").runs, SPACE, 2, 1)
    other = judge(Toys(SPACE, {"other": sound}, lambda found: "bc").runs, SPACE, 2, 1)
    both = merge([one, other])
    assert (both.tests, both.withstood, sorted(both.met)) == (("one", "other"), ("b", "c"), ["a", "b", "c"])


# Breaks that are known


def verdict_of(tests: dict[str, Breaks]) -> Verdict:
    return judge(Toys(SPACE, tests).runs, SPACE, 2, 1)


def test_a_known_break_is_let_pass_with_its_reason_and_any_other_is_not() -> None:
    allowed = read_allowed("# known\n\na=1  test_one  # mended in 2.4\n", SPACE)
    found = allow(verdict_of({"test_one": breaking("a=1"), "test_two": breaking("a=1")}), allowed)
    assert [(one.test, one.allowed) for one in found.breaks] == [("test_one", "mended in 2.4"), ("test_two", None)]
    assert [one.test for one in found.new_breaks] == ["test_two"]
    assert found.ended == () and "a" not in found.withstood


def test_a_known_break_that_breaks_no_longer_is_told() -> None:
    allowed = read_allowed("a=1 test_one # old\nb=1 test_gone # of no test\n", SPACE)
    assert allow(verdict_of({"test_one": sound}), allowed).ended == ("a=1  test_one  # old",)


def test_what_is_written_is_read_again_with_its_reasons() -> None:
    first = verdict_of({"test[x # y]\n z": breaking("a=1"), "test_two": breaking("c=1,h=3")})
    text = write_allowed(first.breaks).replace("test_two  # known", "test_two  # a reason")
    again = allow(first, read_allowed(text, SPACE))
    assert again.new_breaks == () and write_allowed(again.breaks) == text


@pytest.mark.parametrize(
    "line, told",
    [
        ("q=1  test", "line 2: no axis is called 'q'"),
        ("a=7  test", "no value of a is called '7' (known: 0 or 1)"),
        ("a=1", "line 2: expected AXIS=VALUE"),
        ("nothing at all", "line 2: expected AXIS=VALUE"),
    ],
)
def test_a_wrong_line_is_told_with_its_number(line: str, told: str) -> None:
    with pytest.raises(ValueError, match="line 2") as wrong:
        read_allowed(f"# head\n{line}\n", SPACE)
    assert told in str(wrong.value)


def test_a_variant_is_read_as_it_is_written_and_todays_values_are_left_out() -> None:
    assert read_variant("b=2, a=0", SPACE) == variant("b=2")
    assert str(read_variant("h=3,a=1", SPACE)) == "a=1,h=3"
