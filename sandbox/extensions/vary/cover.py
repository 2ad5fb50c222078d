"""Covering sets: few variants in which every pair of values of every two axes occurs.

The problem: a client may break where two values occur together. 150 axes have some 58,000 pairs of values, too many for
a run each. But a variant gives each axis a value, so it has 12,000 pairs at once. A row is the list of these choices.
The task is to find few rows that have all pairs (at strength 1 all values, at strength 3 all threes).

The design: a greedy search, as in AETG (Cohen, Dalal, Fredman and Patton 1997). A row starts with a combination that no
earlier row has, which is called open. Then each axis gets the value that makes the most open combinations with the
choices before it. Axes with many values come first, because they need the most rows. Chance decides among equals, and
the best of a few rows is taken.

The invariant: `rows_with` has for each choice the numbers of the rows that contain it. So a combination is open exactly
if no number is in the sets of all its choices. Each row closes the combination that it starts with, or no row can have
that combination. No combination is opened again. So after one pass over all combinations, everything is covered.

Why not the smallest set: finding it is NP-hard, and would save a few runs of seconds each. Why no library: for 150 axes
allpairspy finds 40 rows in 13 s, and covertable none within minutes. This search finds 29 in 1 s. Neither library can
cover what some tests have passed and others have not. Why no list of the open combinations: at strength 3 there are
millions of them.

Some choices exclude each other, so an axis may have no value left. Then the search goes back to the axis before it and
takes the next value. Axes with exclusions come first, so it does not go back far. Any other axis can always have the
value of today, because no cause contains that.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from random import Random

from sandbox.extensions.vary.space import TODAY, Choice, Space, Variant

TRIES = 5  # rows of which the best is taken
SLOW_AXES = 80  # from here on, strength 3 is over 100 variants, which take 30 s to find and minutes to run
Combination = tuple[Choice, ...]


@dataclass(frozen=True)
class Cover:
    """The variants of a covering set, with today's bank, and the combinations that no variant can have."""

    space: Space
    strength: int
    variants: tuple[Variant, ...]
    impossible: frozenset[Combination] = frozenset()


def find_cover(space: Space, strength: int, seed: int = 1, done: Sequence[Variant] = (TODAY,)) -> Cover:
    """Covers the space. The variants of `done` count as run, and come first."""
    goal = CoverageGoal(space, strength, done=done)
    rows = goal.find_rows(Random(seed))
    return Cover(space, goal.strength, tuple(dict.fromkeys((*done, *rows))), frozenset(goal.impossible))


class CoverageGoal:
    """The combinations without any of these causes, and the rows that cover them."""

    def __init__(
        self, space: Space, strength: int, causes: Iterable[Variant] = (), done: Iterable[Variant] = ()
    ) -> None:
        self.space = space
        self.strength = min(strength, len(space.axes))
        self.causes = [frozenset(cause.changes) for cause in causes]
        self.impossible: list[Combination] = []  # in no row, although no two of their choices exclude each other
        self.row_count = 0
        self.rows_with: dict[Choice, set[int]] = {}
        for axis in space.axes:
            self.rows_with |= {choice: set() for choice in space.choices(axis)}
        for variant in done:
            self.add(variant)

    def add(self, variant: Variant) -> None:
        """Counts the variant as a row, unless it contains a cause."""
        if self._has_cause(variant.changes):
            return
        self.row_count += 1
        for choice in self.space.complete(variant.within(self.space.axes)).items():
            self.rows_with[choice].add(self.row_count)

    def find_rows(self, chance: Random) -> Iterator[Variant]:
        """Finds and adds rows until no combination is open."""
        axes = sorted(self.space.axes, key=self._importance)
        for names in combinations(axes, self.strength) if axes else ():
            for combination in product(*map(self.space.choices, names)):
                if self.is_open(combination) and self.space.allows(combination) and not self._has_cause(combination):
                    row = self._best_row(combination, chance)
                    if row is None:
                        self.impossible.append(tuple(sorted(combination)))
                    else:
                        variant = self.space.variant(dict(row))
                        self.add(variant)
                        yield variant

    def is_open(self, combination: Combination) -> bool:
        return not set.intersection(*(self.rows_with[choice] for choice in combination))

    def gain(self, choice: Choice, row: Iterable[Choice]) -> int:
        """Returns how many open combinations the choice makes with choices of the row."""
        return count_disjoint(self.rows_with[choice], [self.rows_with[other] for other in row], self.strength - 1)

    def _has_cause(self, choices: Collection[Choice]) -> bool:
        return any(cause.issubset(choices) for cause in self.causes)

    def _fits(self, choice: Choice, row: tuple[Choice, ...]) -> bool:
        """Whether nothing in the row excludes the choice, and the choice completes no cause."""
        completes_cause = any(choice in cause and cause <= {*row, choice} for cause in self.causes)
        return not completes_cause and self.space.excluded_by(choice).isdisjoint(row)

    def _importance(self, axis: str) -> tuple[bool, int]:
        """Sorts axes with exclusions first, then those with the most values."""
        choices = self.space.choices(axis)
        return not any(map(self.space.excluded_by, choices)), -len(choices)

    def _best_row(self, start: Combination, chance: Random) -> tuple[Choice, ...] | None:
        """Returns the best row of several, or None if no row can have these choices."""
        rows = [self._complete(start, chance) for _ in range(TRIES)]
        return max(filter(None, rows), key=lambda row: sum(self.gain(choice, row) for choice in row), default=None)

    def _complete(self, start: Combination, chance: Random) -> tuple[Choice, ...] | None:
        """Returns a row with these choices, or None if an axis has no value left."""
        axes = [axis for axis in self.space.axes if axis not in dict(start)]
        chance.shuffle(axes)
        axes.sort(key=self._importance)

        def fill(row: tuple[Choice, ...]) -> tuple[Choice, ...] | None:
            if len(row) == len(self.space.axes):
                return row
            choices = [choice for choice in self.space.choices(axes[len(row) - len(start)]) if self._fits(choice, row)]
            chance.shuffle(choices)
            choices.sort(key=lambda choice: self.gain(choice, row), reverse=True)
            return next(filter(None, (fill((*row, choice)) for choice in choices)), None)

        return fill(start)


def count_disjoint(rows: set[int], others: Sequence[set[int]], size: int) -> int:
    """Returns how many selections of that size from the others have no number in common with each other and `rows`."""
    if size == 0:
        return not rows
    if size == 1:
        return sum(map(rows.isdisjoint, others))
    return sum(count_disjoint(rows & other, others[:place], size - 1) for place, other in enumerate(others))
