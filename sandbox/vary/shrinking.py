"""Delta debugging over axes: from a variant under which a test fails to the few choices that suffice."""

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate

from sandbox.vary.space import Choice, Variant
from sandbox.vary.suspects import Failure, Suspects

# Whether the test fails under each of these variants, which may be tried at once.
Ask = Callable[[Sequence[Variant]], Iterable[bool]]


def shrink(failure: Failure, ask: Ask, width: int = 1) -> Variant:
    """The smallest part of a failing variant that still fails and of which each choice is needed.

    Each step finds the shortest row of choices that fails together with those that are known to be needed; its last
    choice is needed too. Each question parts what is suspected into halves of equal weight (with `width` 2 into thirds,
    by two questions at once), so n choices of which k matter take k log n runs, and fewer where other variants passed
    or failed for no known cause.
    """
    return Shrinking(failure, ask, width).result()


class Shrinking:
    """The choices that are needed so far, and those that may be, the most suspicious first."""

    def __init__(self, failure: Failure, ask: Ask, width: int) -> None:
        self.failure = failure
        self.ask = ask
        self.width = width
        self.suspects = Suspects(failure)
        self.open = self.suspects.order
        self.needed: list[Choice] = []

    def result(self) -> Variant:
        while self.open and (length := self.shortest()):
            self.needed.append(self.open[length - 1])
            self.open = self.open[: length - 1]
        return self.without_spare(Variant.of(self.needed))

    def shortest(self) -> int:
        """How many of the open choices fail together with what is needed, at the least; so many are known to fail."""
        weights = self.suspects.weights(self.open, self.needed)
        passing, failing = (-1 if self.needed else 0), len(self.open)
        while failing - passing > 1:
            for length, failed in self.answers(parted(weights, passing, failing, self.width)).items():
                if failed:
                    failing = length
                    break
                passing = length
        return failing

    def answers(self, lengths: Sequence[int]) -> dict[int, bool]:
        """What a variant that passed holds is taken to pass, without a run of its own; the end result is run."""
        parts = {length: Variant.of([*self.needed, *self.open[:length]]) for length in lengths}
        rest = {
            length: part for length, part in parts.items() if not any(row.holds(part) for row in self.failure.passed)
        }
        failed = dict(zip(rest, self.ask(tuple(rest.values())), strict=True))
        return {length: failed.get(length, False) for length in lengths}

    def without_spare(self, variant: Variant) -> Variant:
        """Leaves out each choice without which it fails all the same; every one of these is run."""
        for choice in variant.changes:
            rest = variant.without({choice})
            if rest.changes and all(self.ask([rest])):
                variant = rest
        return variant


def parted(weights: Sequence[float], passing: int, failing: int, width: int) -> list[int]:
    """The lengths between these two that part the weights evenly, so many at the most."""
    sums = list(accumulate(weights[passing + 1 : failing + 1]))
    shares = (sums[-1] * number / (width + 1) for number in range(1, width + 1))
    places = {min(range(len(sums) - 1), key=lambda at: abs(sums[at] - share)) for share in shares}
    return [passing + 1 + place for place in sorted(places)]
