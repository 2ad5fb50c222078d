"""How likely each choice of a failing variant is part of the cause, by the variants that passed and that failed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sandbox.vary.space import Choice, Variant

# How likely a cause is, where a pair of choices that was in no variant that passed counts 1:
FRESH = 400.0  # one choice that was in no variant that passed
LOUD = 20.0  # as many times, where almost any client breaks on its axis
AGAIN = 5.0  # as many times for each further failure that it explains
FAINT = 0.01  # any other, such as three choices together

Bits = int
FEW = 4  # choices


@dataclass(frozen=True)
class Failure:
    """A variant under which a test fails, others that it passed or failed, and axes that are suspected first."""

    variant: Variant
    passed: Sequence[Variant] = ()
    failed: Sequence[Variant] = ()
    loud: frozenset[str] = frozenset()


class Suspects:
    """The choices of a variant that failed, the likeliest first, and the pairs of them."""

    def __init__(self, failure: Failure) -> None:
        self._number = {choice: number for number, choice in enumerate(failure.variant.changes)}
        glad, sad = ([self._bits(row.changes) for row in rows] for rows in (failure.passed, failure.failed))
        self._failed = sad
        every = self._bits(failure.variant.changes)
        self._fresh: list[Bits] = []  # of each choice: those that were beside it in no variant that passed
        self.alone: dict[Choice, float] = {}
        for choice, number in self._number.items():
            beside = 0
            for row in glad:
                beside |= row if row >> number & 1 else 0
            self._fresh.append(every & ~beside & ~(1 << number))
            again = sum(row >> number & 1 for row in sad)
            likely = FRESH * (LOUD if choice[0] in failure.loud else 1.0) * AGAIN**again
            self.alone[choice] = 0.0 if beside else likely
        self.order = sorted(self._number, key=lambda one: (-self.alone[one], -self._fresh[self._number[one]], one))

    def _bits(self, choices: Iterable[Choice]) -> Bits:
        return sum(1 << self._number[choice] for choice in choices if choice in self._number)

    def pairs(self, choice: Choice, others: Bits) -> float:
        """How likely the choice breaks together with one of the others."""
        number = self._number[choice]
        by_count = [self._fresh[number] & others]  # by how many of the failures the pair explains
        for row in self._failed:
            if row >> number & 1:
                split = [(bits & ~row, bits & row) for bits in by_count]
                by_count = [
                    less | more for (less, _), (_, more) in zip([*split, (0, 0)], [(0, 0), *split], strict=True)
                ]
        return sum(bits.bit_count() * AGAIN**count for count, bits in enumerate(by_count))

    def weights(self, choices: Sequence[Choice], needed: Sequence[Choice]) -> list[float]:
        """Of each length of a beginning of the choices: that it is the shortest which fails with what is needed."""
        if needed:
            bits = self._bits(needed[:1])
            nothing_more = self.alone[needed[0]] if len(needed) == 1 else self.pairs(needed[1], bits)
            rest = [self.pairs(one, bits) if len(needed) == 1 else 0.0 for one in choices]
            return [FAINT + nothing_more, *(FAINT + one for one in rest)]
        found, before = [0.0], 0
        for choice in choices:
            found.append(FAINT + self.alone[choice] + self.pairs(choice, before))
            before |= 1 << self._number[choice]
        return found

    @property
    def is_nearly_one(self) -> bool:
        """Whether the cause is likely one choice, of few."""
        alone = sum(self.alone.values())
        every = self._bits(self._number)
        pairs = sum(self.pairs(one, every) for one in self._number) / 2
        return alone > pairs and alone**2 <= FEW * sum(one**2 for one in self.alone.values())
