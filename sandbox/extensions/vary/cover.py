"""Covering sets: few variants in which every pair of values of every two axes occurs.

The problem: a client may break where two values occur together. 152 axes have some 56,000 pairs of values, too many for
a run each. But a variant gives each axis a value, so it has 11,000 pairs at once. A row is the list of these values.
The task is to find few rows that have all pairs (at strength 1 all values, at strength 3 all threes).

The design: a greedy search, as in AETG (Cohen, Dalal, Fredman and Patton 1997). A row starts with a combination that no
earlier row has. Then each axis gets the value that has the most such combinations with the values before it. Axes with
many open combinations come first, chance decides among equals, and the best of a few rows is taken.

The invariant: `CoverageGoal.open` has exactly the combinations that are still asked for. Each row closes at least the
combination that it starts with, or no row can have that combination and it is dropped. So the search ends, and then
everything is covered.

Why not the smallest set: finding it is NP-hard, and would save a few runs of seconds each. Why no library: for 150 axes
allpairspy finds 40 rows in 13 s, and covertable none within minutes. This search finds 28 in 0.5 s. Neither library can
cover what some tests have passed and others have not.

Some choices exclude each other, so an axis may have no value left beside the values of a row. Then the search goes back
to the axis before it and takes the next value. Axes with exclusions come first, so it does not go back far. Any other
axis can always have today's value, because no cause contains that.

A set of choices is an integer: bit n says whether it has the choice with number n. At strength 3 there are millions of
combinations, which would need gigabytes as objects.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from random import Random

from sandbox.extensions.vary.space import TODAY, Choice, Space, Variant

TRIES = 5  # rows of which the best is taken
SLOW_AXES = 80  # from here on, strength 3 is over 100 variants, which take 7 s to find and minutes to run
ChoiceSet = int  # bit n: the choice with number n
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
    strength = min(strength, len(space.axes))
    if not strength:
        return Cover(space, strength, tuple(dict.fromkeys(done)))
    index = ChoiceIndex(space)
    goal = CoverageGoal(index, strength)
    rows = [index.row_of(variant) for variant in done]
    for row in rows:
        goal.close(row)
    rows += find_rows([goal], Random(seed))
    return Cover(space, strength, tuple(dict.fromkeys(map(index.variant_of, rows))), frozenset(goal.impossible))


class ChoiceIndex:
    """The choices of a space by number."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self.choices = [(axis, value) for axis in sorted(space.axes) for value in space.axes[axis]]
        self.numbers = {choice: number for number, choice in enumerate(self.choices)}
        self.axes = [[self.numbers[axis, value] for value in space.axes[axis]] for axis in sorted(space.axes)]
        self.has_exclusions = [any(space.rivals(self.choices[number]) for number in axis) for axis in self.axes]
        # For each choice: itself, the other values of its axis and its exclusions. No row has two of these.
        self.apart: list[ChoiceSet] = []
        for axis, value in self.choices:
            same_axis = {(axis, other) for other in space.axes[axis]}
            self.apart.append(self.set_of(same_axis | (space.rivals((axis, value)) & self.numbers.keys())))

    def set_of(self, choices: Iterable[Choice]) -> ChoiceSet:
        return sum(1 << self.numbers[choice] for choice in choices)

    def row_of(self, variant: Variant) -> list[int]:
        """The values of a variant for all axes of the index; other axes are left out."""
        return [self.numbers[choice] for choice in self.space.complete(variant.within(self.space.axes)).items()]

    def variant_of(self, row: Sequence[int]) -> Variant:
        return self.space.variant(dict(self.choices[number] for number in row))


class CoverageGoal:
    """The combinations that are still asked for, and the causes that no row for them may contain.

    The keys of `open` are tuples of `strength - 1` choices, in every order. The value is the set of the choices that
    make an open combination with them. At strength 1 the key is one choice, and the value is that choice while it is
    open.
    """

    def __init__(self, index: ChoiceIndex, strength: int, causes: Iterable[Variant] = ()) -> None:
        self.index = index
        self.strength = strength
        self.causes = [index.set_of(cause.changes) for cause in causes]
        self.impossible: list[Combination] = []  # in no row, although no two of their choices exclude each other
        self.open: dict[tuple[int, ...], ChoiceSet] = {}
        every = (1 << len(index.choices)) - 1
        for key in permutations(range(len(index.choices)), max(1, strength - 1)):
            apart = 0
            for number in key:
                apart |= index.apart[number]
            if not any(index.apart[one] >> other & 1 for one, other in permutations(key, 2)):
                self.open[key] = every & ~apart if strength > 1 else 1 << key[0]
        for cause in self.causes:
            self.drop(cause)

    def drop(self, part: ChoiceSet) -> None:
        """Closes every combination that contains these choices."""
        for key in self.open:
            missing = part & ~sum(1 << number for number in key)
            if missing == 0:
                self.open[key] = 0
            elif missing.bit_count() == 1:
                self.open[key] &= ~missing

    def close(self, row: Sequence[int]) -> None:
        """Closes every combination of a row."""
        rest = ~sum(1 << number for number in row)
        for key in permutations(row, max(1, self.strength - 1)):
            if key in self.open:  # a variant that was run for another reason may have choices that exclude each other
                self.open[key] &= rest

    def count(self) -> list[int]:
        """Returns for each choice how many combinations with it are open (at strength 3 twice as many)."""
        counts = [0] * len(self.index.choices)
        for key, partners in self.open.items():
            counts[key[0]] += partners.bit_count()
        return counts

    def gain(self, number: int, row: Sequence[int], held: ChoiceSet) -> int:
        """Returns how many open combinations the choice has with the row; `held` is the row as a set."""
        if self.strength < 3:
            return (self.open[number,] & (held | 1 << number)).bit_count()
        return sum((self.open[number, other] & held).bit_count() for other in row if other != number) // 2

    def allows(self, number: int, held: ChoiceSet) -> bool:
        """Whether a row may have this choice too: nothing in the row excludes it, and it completes no cause."""
        longer = held | 1 << number
        return not self.index.apart[number] & held and not any(cause & ~longer == 0 for cause in self.causes)

    def pick(self, counts: Sequence[int], chance: Random) -> tuple[int, ...]:
        """Returns an open combination with one of the choices that are in most of them."""
        most = max(counts)
        first = chance.choice([number for number, count in enumerate(counts) if count == most])
        key = chance.choice([key for key, partners in self.open.items() if key[0] == first and partners])
        partners = [number for number in range(len(counts)) if self.open[key] >> number & 1]
        return tuple(dict.fromkeys((*key, chance.choice(partners))))


def find_row(goal: CoverageGoal, chance: Random) -> list[int] | None:
    """Returns the best row of several, or None if no row can have an open combination."""
    best: list[int] | None = None
    most = tries = 0
    counts = goal.count()
    while tries < TRIES and any(counts):
        start = goal.pick(counts, chance)
        row = _complete(goal, start, counts, chance)
        if row is None:
            goal.drop(sum(1 << number for number in start))
            goal.impossible.append(tuple(sorted(goal.index.choices[number] for number in start)))
            counts = goal.count()
            continue
        tries += 1
        gain = sum(goal.gain(number, row, sum(1 << other for other in row)) for number in row)
        if gain > most:
            best, most = row, gain
    return best


def _complete(goal: CoverageGoal, start: Sequence[int], counts: Sequence[int], chance: Random) -> list[int] | None:
    """Returns a row with these choices, or None if an axis has no value left beside them."""
    index = goal.index
    given = set(start)
    axes = [place for place, values in enumerate(index.axes) if given.isdisjoint(values)]
    chance.shuffle(axes)
    axes.sort(key=lambda place: (not index.has_exclusions[place], -sum(counts[number] for number in index.axes[place])))

    def fill(row: list[int], held: ChoiceSet, depth: int) -> list[int] | None:
        if depth == len(axes):
            return row
        values = [number for number in index.axes[axes[depth]] if goal.allows(number, held)]
        chance.shuffle(values)
        for number in sorted(values, key=lambda number: goal.gain(number, row, held), reverse=True):
            if (whole := fill([*row, number], held | 1 << number, depth + 1)) is not None:
                return whole
        return None

    return fill(list(start), sum(1 << number for number in start), 0)


def find_rows(goals: Sequence[CoverageGoal], chance: Random) -> Iterator[list[int]]:
    """Finds rows until no goal has an open combination, each for the goal that has the most.

    A row counts for a goal if it contains none of the goal's causes."""
    while True:
        goals = sorted(goals, key=lambda goal: sum(goal.count()), reverse=True)
        row = next((row for goal in goals if (row := find_row(goal, chance)) is not None), None)
        if row is None:
            return
        yield row
        held = sum(1 << number for number in row)
        for goal in goals:
            if not any(cause & ~held == 0 for cause in goal.causes):
                goal.close(row)
