"""What the runs show so far: which combinations each test passed, and which it is yet to see."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sandbox.vary.gaps import Bits, Gaps, Numbers, numbers_in
from sandbox.vary.rows import Rules, Wish
from sandbox.vary.space import Variant

CausesOf = Mapping[str, frozenset[Variant]]  # of each test


@dataclass
class Evidence:
    """Tests that passed and failed alike share one wish, so a suite costs little more than one test."""

    numbers: Numbers
    strength: int
    groups: list[tuple[frozenset[str], Wish]] = field(default_factory=list)

    @property
    def wishes(self) -> list[Wish]:
        return [wish for _, wish in self.groups]

    def add(self, tests: Iterable[str]) -> None:
        """Tests of which nothing is known yet."""
        self.groups.append((frozenset(tests), Wish(Gaps(self.numbers, self.strength))))

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

    def learn(self, causes: CausesOf) -> None:
        """The causes of each test; a test that is not named is looked at no more."""
        groups = []
        for tests, wish in self.groups:
            parts: dict[frozenset[Bits], set[str]] = {}
            for test in sorted(tests & causes.keys()):
                parts.setdefault(frozenset(map(self._bits, causes[test])), set()).add(test)
            for bits, some in parts.items():
                gaps = wish.gaps if len(parts) == 1 else wish.gaps.copy()
                if bits != wish.causes:
                    dead = (1 << number for number in numbers_in(Rules(self.numbers, bits).dead))
                    for part in {*bits, *dead} - wish.causes:
                        gaps.drop(part)
                groups.append((frozenset(some), Wish(gaps, bits)))
        self.groups = groups

    def _bits(self, variant: Variant) -> Bits:
        return self.numbers.bits(variant.changes)
