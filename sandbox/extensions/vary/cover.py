"""Covering sets: few variants in which every pair of values of every two axes occurs, or what tests are yet to see."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from random import Random

from sandbox.extensions.vary.gaps import Bits, Gaps, Numbers, numbers_in
from sandbox.extensions.vary.rows import Rules, Wish, find_row
from sandbox.extensions.vary.space import TODAY, Choice, Space, Variant

PLANS = {1: 8, 2: 4, 3: 1}  # for each strength, of which the one with the fewest rows is taken
SLOW_AXES = 80  # from so many, strength 3 is over 90 variants, which take some 10 s to find and minutes to run
Tuple = tuple[Choice, ...]


@dataclass(frozen=True)
class Cover:
    """The variants, today's bank among them, and the combinations that no variant can have."""

    space: Space
    strength: int
    variants: tuple[Variant, ...]
    impossible: frozenset[Tuple] = frozenset()


def find_cover(space: Space, strength: int, seed: int = 1, done: Sequence[Variant] = (TODAY,)) -> Cover:
    """Covers the space; `done` are variants that count already, and come first."""
    strength = min(strength, len(space.axes))
    if not strength:
        return Cover(space, strength, tuple(dict.fromkeys(done)))
    numbers = Numbers(space)
    gaps = Gaps(numbers, strength)
    rows = [space.complete(variant) for variant in done]
    for row in rows:
        gaps.close([numbers.of[choice] for choice in row.items()])
    rows += map(numbers.row, shortest_rows(numbers, [Wish(gaps)], Random(seed)))
    variants = dict.fromkeys(map(space.variant, rows))
    return Cover(space, strength, tuple(variants), frozenset(_impossible(space, strength, rows)))


def find_rows(numbers: Numbers, wishes: Sequence[Wish], chance: Random) -> Iterator[list[int]]:
    """Rows until nothing is open, each as if the earlier ones had passed all tests that can pass them."""
    while (row := find_row(numbers, wishes, chance)) is not None:
        yield row
        held = sum(1 << number for number in row)
        for wish in wishes:
            if not any(cause & ~held == 0 for cause in wish.causes):
                wish.gaps.close(row)


def shortest_rows(numbers: Numbers, wishes: Sequence[Wish], chance: Random) -> list[list[int]]:
    """The fewest rows of some that chance finds, until nothing is open."""
    plans = []
    for _ in range(PLANS[wishes[0].gaps.strength] if wishes else 1):
        copies = [Wish(wish.gaps.copy(), wish.causes) for wish in wishes]
        plans.append(list(find_rows(numbers, copies, chance)))
    return min(plans, key=len)


def tuples_of(space: Space, strength: int) -> Iterator[Tuple]:
    """Each combination of so many values of different axes whose choices do not exclude each other."""
    for names in combinations(sorted(space.axes), strength):
        for values in product(*(space.axes[name] for name in names)):
            found = tuple(zip(names, values, strict=True))
            if space.allows(found):
                yield found


def _impossible(space: Space, strength: int, rows: Sequence[dict[str, str]]) -> set[Tuple]:
    """What no row has though its choices do not exclude each other; only exclusions can be the reason."""
    if not space.excludes:
        return set()
    found = set(tuples_of(space, strength))
    for row in rows:
        found.difference_update(combinations(sorted(row.items()), strength))
    return found


class Evidence:
    """Tests that passed and failed alike share one wish, so a suite costs little more than one test."""

    def __init__(self, numbers: Numbers, strength: int, tests: frozenset[str]) -> None:
        self.numbers = numbers
        self.groups = [(tests, Wish(Gaps(numbers, strength)))]

    def note(self, variant: Variant, passed: frozenset[str]) -> None:
        """A run, and the tests that passed it."""
        space = self.numbers.space
        row = [self.numbers.of[choice] for choice in space.complete(variant.within(space.axes)).items()]
        groups = []
        for tests, wish in self.groups:
            glad, rest = tests & passed, tests - passed
            if rest:
                groups.append((rest, Wish(wish.gaps.copy(), wish.causes) if glad else wish))
            if glad:
                wish.gaps.close(row)
                groups.append((glad, wish))
        self.groups = groups

    def learn(self, causes: Mapping[str, frozenset[Variant]]) -> None:
        """The causes of each test; a test that is not named is looked at no more."""
        groups = []
        for tests, wish in self.groups:
            parts: dict[frozenset[Bits], set[str]] = {}
            for test in sorted(tests & causes.keys()):
                bits = frozenset(self.numbers.bits(one.changes) for one in causes[test])
                parts.setdefault(bits, set()).add(test)
            for bits, some in parts.items():
                gaps = wish.gaps if len(parts) == 1 else wish.gaps.copy()
                if bits != wish.causes:
                    dead = (1 << number for number in numbers_in(Rules(self.numbers, bits).dead))
                    for part in {*bits, *dead} - wish.causes:
                        gaps.drop(part)
                groups.append((frozenset(some), Wish(gaps, bits)))
        self.groups = groups
