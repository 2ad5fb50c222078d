"""Finds rows that have many combinations at once which are still asked for.

No library does: for 150 axes the two of which we know find 40 rows in 13 s (allpairspy), or none within minutes
(covertable), where these are 30 in a second; and neither goes on from what some tests passed and others did not.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random

from sandbox.extensions.vary.gaps import Bits, Gaps, Numbers, numbers_in

TRIES = 30  # rows of which the best is taken
TRIES_LEAST = 4  # for each part that some may hold and others must not
WISHES_MAX = 4  # that a row is found for; it may please others all the same
PARTS_MAX = 4
SPREAD = 0.3  # how much chance there is in the order of axes


@dataclass
class Wish:
    """What some tests want to see in a row: open combinations, and nothing that breaks these tests anyway."""

    gaps: Gaps
    causes: frozenset[Bits] = frozenset()

    def is_held(self, part: Bits) -> bool:
        """Whether a row with this part breaks the tests anyway."""
        return any(cause & ~part == 0 for cause in self.causes)


@dataclass(frozen=True)
class Rules:
    """What a row begins with, and what it must not hold."""

    numbers: Numbers
    barred: frozenset[Bits]
    start: Bits = 0

    @cached_property
    def free(self) -> Bits:
        """Choices that every row may have."""
        bound = self.dead
        for part in self.barred:
            bound |= part
        return sum(1 << number for number, beside in enumerate(self.numbers.beside) if not beside) & ~bound

    def allows(self, number: int, held: Bits) -> bool:
        """Whether a row that holds so much may have this choice too."""
        if self.free >> number & 1:
            return True
        if self.dead >> number & 1 or self.numbers.beside[number] & held:
            return False
        longer = held | 1 << number
        return not any(part & ~longer == 0 for part in self.barred if part >> number & 1)

    @cached_property
    def dead(self) -> Bits:
        """Choices that no row can have: beside them an axis has no value left."""
        dead = sum(part for part in self.barred if not part & (part - 1))
        axes = [sum(1 << number for number in values) for values in self.numbers.values]
        while True:
            more = dead
            for number, beside in enumerate(self.numbers.beside):
                if beside and not dead >> number & 1 and any(axis & ~(dead | beside) == 0 for axis in axes):
                    more |= 1 << number
            if more == dead:
                return dead
            dead = more


def find_row(numbers: Numbers, wishes: Sequence[Wish], chance: Random) -> list[int] | None:
    """The best row that chance found for all wishes together; None where nothing open is left.

    What cannot be in any row is dropped from the gaps."""
    wishes = sorted((wish for wish in wishes if wish.gaps), key=lambda wish: -sum(wish.gaps.counts()))[:WISHES_MAX]
    parts = sorted(frozenset[Bits]().union(*(wish.causes for wish in wishes)))
    starts = [part for part in parts if not all(wish.is_held(part) for wish in wishes)]
    starts = [0, *chance.sample(starts, min(PARTS_MAX, len(starts)))]
    best, most = None, 0
    for start in starts:
        rules = Rules(numbers, frozenset(part for part in parts if part & ~start), start)
        glad = Growth(rules, [wish for wish in wishes if not wish.is_held(start)], chance)
        for _ in range(max(TRIES_LEAST, TRIES // len(starts)) if any(glad.counts) else 0):
            row, gain = glad.grown()
            if gain > most:
                best, most = row, gain
    return best if best is not None else _forced(numbers, wishes, chance)


class Growth:
    """Grows rows axis by axis, each time by the value that gains most for all wishes."""

    def __init__(self, rules: Rules, wishes: Sequence[Wish], chance: Random) -> None:
        self.rules = rules
        self.gaps = [wish.gaps for wish in wishes]
        self.chance = chance
        columns = zip(*(gaps.counts() for gaps in self.gaps), strict=True)
        self.counts = [sum(column) for column in columns]  # of each choice: the open combinations with it

    def grown(self) -> tuple[list[int], int]:
        """A row, and the open combinations that it has; none where an axis has no value left."""
        row: list[int] = []
        held = total = 0
        for values in self.ordered():
            best, gain = self.best(values, row, held)
            if best is None:
                return [], 0
            row.append(best)
            held |= 1 << best
            total += gain
        return row, total

    def ordered(self) -> list[tuple[int, ...]]:
        """The values of each axis; of what the row begins with, that one alone."""
        start = self.rules.start
        axes = self.rules.numbers.values
        first = start or 1 << self.chance.choice(self.highest)
        keys = [weight * (1 + SPREAD * self.chance.random()) for weight in self.weights]
        given = [tuple(number for number in values if first >> number & 1) for values in axes]
        order = sorted(range(len(axes)), key=lambda place: (not given[place], -keys[place]))
        return [given[place] or axes[place] for place in order]

    @cached_property
    def weights(self) -> list[int]:
        """Of each axis."""
        return [sum(self.counts[number] for number in values) for values in self.rules.numbers.values]

    @cached_property
    def highest(self) -> list[int]:
        most = max(self.counts)
        return [number for number, count in enumerate(self.counts) if count == most]

    def best(self, values: Sequence[int], row: Sequence[int], held: Bits) -> tuple[int | None, int]:
        """The value that gains most beside the row, and what it gains; among equals chance decides."""
        best, most = None, -1.0
        for number in values:
            if self.rules.allows(number, held):
                gain = self.chance.random() / 2
                for gaps in self.gaps:
                    gain += gaps.gain(number, row, held)
                if gain > most:
                    best, most = number, gain
        return best, int(most)

    def improved(self, row: list[int], start: Sequence[int]) -> list[int]:
        """The same row, with a better value for each axis but those of the start."""
        for values in sorted(self.rules.numbers.values, key=lambda values: -sum(self.counts[one] for one in values)):
            old = next(number for number in row if number in values)
            if old not in start:
                row = [number for number in row if number != old]
                best, _ = self.best(values, row, sum(1 << number for number in row))
                assert best is not None, "the old value is allowed"
                row.append(best)
        return row


def _forced(numbers: Numbers, wishes: Sequence[Wish], chance: Random) -> list[int] | None:
    """A row with the first open combination that fits into one."""
    for wish in wishes:
        rules = Rules(numbers, wish.causes)
        while (first := wish.gaps.first()) is not None:
            row = _completed(rules, first)
            if row is not None:
                return Growth(rules, [wish], chance).improved(row, first)
            wish.gaps.drop(sum(1 << number for number in first))
    return None


def _completed(rules: Rules, start: Sequence[int]) -> list[int] | None:
    """Adds a value for every other axis, today's if it may be; None where that is impossible.

    Goes through the axes, the nearest first, and back where one has no value left."""
    held = 0
    for number in start:
        if not rules.allows(number, held):
            return None
        held |= 1 << number
    rest = _filled(rules, _nearest(rules, held), held)
    return None if rest is None else [*start, *rest]


def _filled(rules: Rules, axes: Sequence[Sequence[int]], held: Bits) -> list[int] | None:
    """A value for each axis beside what is held: the first with which the rest has values too."""
    if not axes:
        return []
    for number in axes[0]:
        if rules.allows(number, held) and (rest := _filled(rules, axes[1:], held | 1 << number)) is not None:
            return [number, *rest]
    return None


def _nearest(rules: Rules, held: Bits) -> list[tuple[int, ...]]:
    """The axes that a row lacks: first those that what it holds may leave without a value, then what these may, ..."""
    numbers = rules.numbers
    left = [values for values in numbers.values if not any(held >> number & 1 for number in values)]
    found: list[tuple[int, ...]] = []
    near = held
    while left:
        for part in rules.barred:
            near |= part if part & near else 0
        for number in numbers_in(near):
            near |= numbers.beside[number]
        chosen = [values for values in left if any(near >> number & 1 for number in values)] or left[:1]
        left = [values for values in left if values not in chosen]
        found += chosen
        near |= sum(1 << number for values in chosen for number in values)
    return found
