"""Covering sets: few variants in which every pair of values of every two axes occurs.

The problem: a client may break where two values occur together. 150 axes have some 58,000 pairs of values, too many for
a run each. But a variant gives each axis a value, so it has 12,000 pairs at once. The values of a variant, one for each
axis, are called a row. The task is to find few rows that have all pairs. (At strength 1 they have all values, at
strength 3 all combinations of 3 values.)

A cause is a combination of choices that is known to break a test. A row with a cause fails, so it shows nothing about
its other pairs. So a caller can ask for rows that do not contain certain causes.

The design: a greedy search, as in AETG (Cohen, Dalal, Fredman and Patton 1997). A combination that no row has yet is
called open. A new row starts with an open combination. Then each other axis gets the value that makes the most open
combinations with the choices that the row already has. Axes with many values come first, because they need the most
rows. If several values are equally good, chance decides. Several rows are made in this way, and the best is taken.

The invariant: `rows_with` has a number for each choice. Bit n of this number is set if row n contains the choice. So a
combination is open exactly if the numbers of its choices have no bit in common. A combination with which a row started
is no longer open. If no row can have a combination, it is noted as impossible. No combination becomes open again. So
after one pass over all combinations, every possible combination is covered.

Why not the smallest set: finding it is NP-hard, and would save a few runs of seconds each. Why no library: for 150 axes
allpairspy finds 40 rows in 13 s, and covertable finds no rows within minutes. This search finds 29 rows in 1 s. Neither
library can plan rows for several tests that have passed different pairs. Why no list of the open combinations: at
strength 3 there are millions of them.

Some choices exclude each other, so an axis may have no value left. Then the search goes back to the axis before it and
takes the next value there. Axes with exclusions come first, so the search does not go back far. An axis without
exclusions can always have the default value, because no cause contains a default value.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import combinations, product
from operator import and_, or_
from random import Random

from sandbox.extensions.vary.space import DEFAULT_BANK, Choice, Space, Variant

TRIES = 5  # rows that are made for each place in the set, of which the best is taken
# with as many axes, strength 3 needs over 100 variants; finding them takes 30 s, and running them minutes
SLOW_AXES = 80
Combination = tuple[Choice, ...]


@dataclass(frozen=True)
class Cover:
    """A covering set: its variants, the default bank among them, and the combinations that no variant can have.
    `impossible` does not list combinations in which two choices exclude each other."""

    space: Space
    strength: int
    variants: tuple[Variant, ...]
    impossible: frozenset[Combination] = frozenset()


def find_cover(space: Space, strength: int, seed: int = 1, done: Sequence[Variant] = (DEFAULT_BANK,)) -> Cover:
    """Returns a covering set of the space. It begins with the variants in `done`, which were run already."""
    goal = CoverageGoal(space, strength, (), RowIndex(done))
    rows = goal.find_rows(Random(seed))
    return Cover(space, goal.strength, tuple(dict.fromkeys((*done, *rows))), frozenset(goal.impossible))


class RowIndex:
    """An index of the variants that were run. It has a number for each choice that is not a default value. Bit n of
    this number is set if run n had the choice.

    A session may have hundreds of runs and of causes. All CoverageGoal objects share one index, so each run is entered
    only once. Bit operations on the numbers find the runs that contain no cause.
    """

    def __init__(self, variants: Iterable[Variant] = ()) -> None:
        self.row_count = 0
        self._changed: dict[Choice, int] = {}
        for variant in variants:
            self.add(variant)

    def add(self, variant: Variant) -> None:
        for choice in variant.changes:
            self._changed[choice] = self._changed.get(choice, 0) | 1 << self.row_count
        self.row_count += 1

    def find_rows_without(self, causes: Iterable[Collection[Choice]]) -> int:
        """Returns a number. Its bit n is set if the variant of run n contains none of the causes. A cause is a
        combination of choices that is known to break a test."""
        every = (1 << self.row_count) - 1
        rows = every
        for cause in causes:
            rows &= ~reduce(and_, (self._changed.get(choice, 0) for choice in cause), every)
        return rows

    def group_by_choice(self, space: Space, rows: int) -> dict[Choice, int]:
        """Returns a number for each choice of the space. Bit n of this number is set if `rows` has bit n and run n
        contains the choice. A run that does not change an axis contains its default value."""
        rows_of: dict[Choice, int] = {}
        for default, *other_choices in map(space.list_choices, space.axes):
            changed = {choice: self._changed.get(choice, 0) & rows for choice in other_choices}
            rows_of |= {default: rows & ~reduce(or_, changed.values(), 0)} | changed
        return rows_of


class CoverageGoal:
    """The task to cover every combination of `strength` choices that contains no cause, and the rows found so far. A
    row is a variant, seen as one value for each axis. A cause is a combination of choices that is known to break a
    test. No row contains a cause."""

    def __init__(self, space: Space, strength: int, causes: Iterable[Variant], done: RowIndex) -> None:
        self.space = space
        self.strength = min(strength, len(space.axes))
        self.causes = [frozenset(cause.changes) for cause in causes]
        # no row can have them, although no two of their choices exclude each other
        self.impossible: list[Combination] = []
        self.row_count = done.row_count
        self.rows_with = done.group_by_choice(space, done.find_rows_without(self.causes))

    def add(self, variant: Variant) -> None:
        """Adds the variant as a row, unless the variant contains a cause."""
        if self._has_cause(variant.changes):
            return
        for choice in self.space.complete(variant.within(self.space.axes)).items():
            self.rows_with[choice] |= 1 << self.row_count
        self.row_count += 1

    def find_rows(self, chance: Random) -> Iterator[Variant]:
        """Adds rows until every allowed combination of `strength` choices is in a row, and yields the variant of each
        added row. Skips a combination that contains a cause, or in which two choices exclude each other. If no row can
        have a combination, adds the combination to `impossible`."""
        axes = sorted(self.space.axes, key=self._importance.__getitem__)
        for names in combinations(axes, self.strength) if axes else ():
            for combination in product(*map(self.space.list_choices, names)):
                if self.is_open(combination) and self.space.allows(combination) and not self._has_cause(combination):
                    row = self._find_best_row(combination, chance)
                    if row is None:
                        self.impossible.append(tuple(sorted(combination)))
                    else:
                        variant = self.space.make_variant(dict(row))
                        self.add(variant)
                        yield variant

    def is_open(self, combination: Combination) -> bool:
        return not reduce(and_, (self.rows_with[choice] for choice in combination))

    def gain(self, choice: Choice, row_bits: Sequence[int]) -> int:
        """Returns how many more open combinations a new row would have if this choice were added to it. A combination
        is open if no row has it yet. `row_bits` are the numbers in `rows_with` of the choices that the new row already
        has."""
        return count_disjoint(self.rows_with[choice], row_bits, self.strength - 1)

    def count_row_gain(self, row: Collection[Choice]) -> int:
        bits = [self.rows_with[choice] for choice in row]
        return sum(self.gain(choice, bits) for choice in row)

    def _has_cause(self, choices: Collection[Choice]) -> bool:
        return any(cause.issubset(choices) for cause in self.causes)

    def _fits(self, choice: Choice, row: tuple[Choice, ...]) -> bool:
        """Whether the choice can be added to the row. It cannot if it and a choice of the row exclude each other, or if
        the row with the choice would contain a cause."""
        completes_cause = any(choice in cause and cause <= {*row, choice} for cause in self.causes)
        return not completes_cause and self.space.find_excluded_by(choice).isdisjoint(row)

    @cached_property
    def _importance(self) -> dict[str, tuple[bool, int]]:
        """Returns the sort key of each axis. Axes with exclusions come first, then axes with many values."""
        rows = ((axis, self.space.list_choices(axis)) for axis in self.space.axes)
        return {axis: (not any(map(self.space.find_excluded_by, choices)), -len(choices)) for axis, choices in rows}

    def _find_best_row(self, start: Combination, chance: Random) -> tuple[Choice, ...] | None:
        """Makes several rows that contain the choices `start`, and returns the row that covers the most combinations
        that are in no row yet. Returns None if no row can contain `start`."""
        rows = [self._complete(start, chance) for _ in range(TRIES)]
        return max(filter(None, rows), key=self.count_row_gain, default=None)

    def _complete(self, start: Combination, chance: Random) -> tuple[Choice, ...] | None:
        """Returns a row with the choices `start` and a value for each other axis, or None if there is no such row."""
        axes = [axis for axis in self.space.axes if axis not in dict(start)]
        chance.shuffle(axes)
        axes.sort(key=self._importance.__getitem__)

        def fill(row: tuple[Choice, ...], bits: tuple[int, ...]) -> tuple[Choice, ...] | None:
            if len(row) == len(self.space.axes):
                return row
            choices = [
                choice for choice in self.space.list_choices(axes[len(row) - len(start)]) if self._fits(choice, row)
            ]
            chance.shuffle(choices)
            choices.sort(key=lambda choice: self.gain(choice, bits), reverse=True)
            longer = (fill((*row, choice), (*bits, self.rows_with[choice])) for choice in choices)
            return next(filter(None, longer), None)

        return fill(start, tuple(self.rows_with[choice] for choice in start))


def count_disjoint(rows: int, sets: Sequence[int], size: int) -> int:
    """Counts the ways to choose `size` of the numbers in `sets` such that no bit is set in all chosen numbers and in
    `rows`."""
    if size == 0:
        return not rows
    if size == 1:
        return [rows & other for other in sets].count(0)
    return sum(count_disjoint(rows & other, sets[:place], size - 1) for place, other in enumerate(sets))
