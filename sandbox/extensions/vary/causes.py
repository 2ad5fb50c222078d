"""Why a test fails under some variants: from a failing variant to the few choices that suffice, by delta debugging."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from sandbox.extensions.vary.runs import UNKNOWN, Result, Runs
from sandbox.extensions.vary.space import TODAY, Choice, Variant

# How likely a cause is, where a pair of choices that was in no variant that passed counts 1:
FRESH = 400.0  # one choice that was in no variant that passed
LOUD = 20.0  # as many times, where almost any client breaks on its axis
AGAIN = 5.0  # as many times for each further failure that it explains
FAINT = 0.01  # any other, such as three choices together

# Almost any client breaks on these, and where it does, a row says nothing about the rest. They are suspected first.
LOUD_AXES = frozenset({"gateway", "unavailable", "limits"})
FEW = 4  # choices
CAUSES_MAX = 12  # of one test; after that it is broken by nearly everything
ATTEMPTS = 4  # of a cause that a test withstood in another variant
Bits = int


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


# Whether the test fails under each of these variants, which may be tried at once.
Ask = Callable[[Sequence[Variant]], Iterable[bool]]


def shrink(failure: Failure, ask: Ask, width: int = 1) -> Variant:
    """The smallest part of a failing variant that still fails and of which each choice is needed.

    Each step finds the shortest row of choices that fails together with those that are known to be needed; its last
    choice is needed too. Each question parts what is suspected into halves of equal weight (with `width` 2 into thirds,
    by two questions at once), so n choices of which k matter take k log n runs, and fewer where other variants passed
    or failed for no known cause.
    """
    found = Shrinking(failure, ask, width)
    while found.open and (length := found.shortest()):
        found.needed.append(found.open[length - 1])
        found.open = found.open[: length - 1]
    return found.without_spare(Variant.of(found.needed))


class Shrinking:
    """The choices that are needed so far, and those that may be, the most suspicious first."""

    def __init__(self, failure: Failure, ask: Ask, width: int) -> None:
        self.failure = failure
        self.ask = ask
        self.width = width
        self.suspects = Suspects(failure)
        self.open = self.suspects.order
        self.needed: list[Choice] = []

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
        asked = [one for one in lengths if not any(row.holds(parts[one]) for row in self.failure.passed)]
        failed = dict(zip(asked, self.ask([parts[length] for length in asked]), strict=True))
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


@dataclass(frozen=True, slots=True)
class Break:
    """A test that fails under a variant of few axes. `allowed` is the reason why that is known and let pass."""

    test: str
    variant: Variant
    result: Result
    allowed: str | None = None


@dataclass(frozen=True, slots=True)
class Causes:
    """All causes of one test. `flaky` says where it passed once and failed once; then nothing is blamed."""

    found: tuple[Break, ...] = ()
    flaky: str = ""

    @property
    def complete(self) -> bool:
        """Whether it makes no sense to look for more."""
        return bool(self.flaky) or len(self.found) >= CAUSES_MAX

    @property
    def variants(self) -> frozenset[Variant]:
        return frozenset(cause.variant for cause in self.found)


class Flaky(Exception):
    """The same run passed once and failed once."""


def add_cause(test: str, before: Causes, failure: Failure, runs: Runs, ask: Ask, width: int = 1) -> Causes:
    """One cause more, which is in that failing variant, or that the test is flaky."""
    try:
        demand_steady(test, runs)
        for variant in (TODAY, failure.variant):
            demand_same(test, variant, runs)
        cause = shrink(failure, ask, width)
        demand_same(test, cause, runs)
    except Flaky as flaky:
        return Causes(flaky=str(flaky))
    return Causes((*before.found, Break(test, cause, runs.result(cause, test))))


def passed_by(test: str, runs: Runs) -> list[Variant]:
    return [row for row in runs.variants if runs.passed(row, test)]


def doubted(test: str, runs: Runs, causes: Causes) -> Causes:
    """The causes, unless one that the test withstood in another variant is withstood alone too: then it is flaky."""
    passed = passed_by(test, runs)
    try:
        demand_steady(test, runs)
        for cause in causes.variants:
            if any(row.holds(cause) for row in passed):
                demand_same(test, cause, runs, range(1, ATTEMPTS))
    except Flaky as flaky:
        return Causes(flaky=str(flaky))
    return causes


def demand_same(test: str, variant: Variant, runs: Runs, attempts: Iterable[int] = (1,)) -> None:
    first = runs.result(variant, test)
    for attempt in attempts:
        again = runs.result(variant, test, attempt)
        if first.passed != again.passed and UNKNOWN not in (first, again):
            failed = again if first.passed else first
            raise Flaky(f"passed once and failed once with {str(variant) or 'the bank of today'}: {failed.failure}")


def demand_steady(test: str, runs: Runs) -> None:
    """Raises Flaky where a second run, made for any test, went another way for this one."""
    for variant, attempt in runs.again:
        demand_same(test, variant, runs, (attempt,))
