"""Covering sets, checked by counting the combinations that occur in them."""

from itertools import combinations, product

import pytest

from sandbox.banking.names import is_world_name
from sandbox.contract.decisions import AXES
from sandbox.extensions.vary.cover import find_cover
from sandbox.extensions.vary.space import DEFAULT_BANK, Space, Variant
from sandbox.extensions.vary.space import make_space as space_of_axes
from tests.vary.toys import all_pairs, pairs_of, space_of, variant

SPACES = {
    "one axis": space_of(3),
    "two axes": space_of(2, 3),
    "many sizes": space_of(2, 2, 2, 3, 3, 4, 5, 2, 2),
    "one exclusion": space_of(2, 3, 2, 2, excludes=[(("a", "1"), ("b", "2"))]),
    # a=1 leaves b only 0, and c=1 wants b other than 0: so a=1 with c=1 can be in no row.
    "what follows": space_of(
        2, 3, 2, excludes=[(("a", "1"), ("b", "1")), (("a", "1"), ("b", "2")), (("c", "1"), ("b", "0"))]
    ),
}


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_every_pair_that_can_occur_does_and_no_other(space: Space) -> None:
    found = find_cover(space, 2)
    impossible = {frozenset(row) for row in found.impossible}
    if len(space.axes) > 1:
        assert all_pairs(space) - impossible == pairs_of(space, found.variants)
    assert all(space.allows(list(space.complete(one).items())) for one in found.variants)


def test_what_can_be_in_no_row_is_said() -> None:
    found = find_cover(SPACES["what follows"], 2)
    assert found.impossible == {(("a", "1"), ("c", "1"))}


def test_at_strength_1_each_value_occurs_in_as_many_rows_as_the_longest_axis_has_values() -> None:
    space = SPACES["many sizes"]
    rows = [space.complete(one) for one in find_cover(space, 1).variants]
    assert {axis: {row[axis] for row in rows} for axis in space.axes} == {
        axis: set(values) for axis, values in space.axes.items()
    }
    assert len(rows) == 5


def test_at_strength_3_each_three_values_occur() -> None:
    space = space_of(2, 3, 2, 2, 3)
    rows = [space.complete(one) for one in find_cover(space, 3).variants]
    for names in combinations(space.axes, 3):
        wanted = set(product(*(space.axes[name] for name in names)))
        assert wanted == {tuple(row[name] for name in names) for row in rows}


def test_a_strength_beyond_the_number_of_axes_is_every_combination() -> None:
    assert len(find_cover(space_of(2, 3), 3).variants) == 6


def test_no_axis_is_the_bank_of_today_alone() -> None:
    assert find_cover(Space({}), 2).variants == (DEFAULT_BANK,)


def test_few_rows_are_enough() -> None:
    """2 axes of 4 values want 16 rows; 12 more of 2 and 3 values want hardly more."""
    found = find_cover(space_of(4, 4, *[3, 2] * 6), 2)
    assert 16 <= len(found.variants) <= 24


def test_the_same_seed_gives_the_same_variants_and_another_seed_others() -> None:
    space = SPACES["many sizes"]
    first, again, other = find_cover(space, 2, 7), find_cover(space, 2, 7), find_cover(space, 2, 8)
    assert first == again and set(first.variants) != set(other.variants)


def test_variants_that_were_run_count_and_come_first() -> None:
    space = SPACES["many sizes"]
    first = find_cover(space, 2).variants
    longer = Space({**space.axes, "z": ("0", "1")})
    found = find_cover(longer, 2, done=first).variants
    assert found[: len(first)] == first
    assert pairs_of(longer, found) == all_pairs(longer)
    assert len(found) < 2 * len(first)


def test_a_variant_is_named_by_its_content() -> None:
    one, same, other = variant("a=1,b=2"), variant("b=2,a=1"), variant("a=1")
    assert one.name == same.name != other.name
    assert DEFAULT_BANK.name == "today" and all(is_world_name(row.name) for row in (one, other))
    assert Variant.of([("final_status", "ACSP")]).name == "variant-a060ace756"


def test_the_axes_of_the_bank_are_covered_without_what_a_client_must_refuse() -> None:
    space = space_of_axes(topics=["tokens"])
    assert space.axes and all(AXES[name].topic == "tokens" for name in space.axes)
    outside = {(axis.name, value.name) for axis in AXES.values() for value in axis.values if not value.within}
    assert outside.isdisjoint((name, value) for name, values in space_of_axes().axes.items() for value in values)
    assert set(space_of_axes(within=False).axes) == set(AXES)


def test_money_is_a_word_for_the_topics_that_move_it() -> None:
    topics = {AXES[name].topic for name in space_of_axes(topics=["money"]).axes}
    assert "settling" in topics and topics.isdisjoint({"tokens", "accounts", "proof"})


@pytest.mark.parametrize(
    "names, topics, told",
    [
        (["finalstatus"], [], "no axis is called 'finalstatus' (did you mean 'final_status'?)"),
        ([], ["mony"], "no topic is called 'mony' (did you mean 'money'?)"),
        (["x" * 5000], [], "no axis is called"),
    ],
)
def test_an_unknown_name_is_told_with_the_nearest(names: list[str], topics: list[str], told: str) -> None:
    with pytest.raises(ValueError, match="no ") as wrong:
        space_of_axes(names, topics)
    assert told in str(wrong.value) and len(str(wrong.value)) < 400
