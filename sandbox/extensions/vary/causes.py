"""Why a test fails: the minimal variants that break it, or that it is flaky."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from sandbox.extensions.vary.delta_debugging import minimize
from sandbox.extensions.vary.runs import Result, Runs
from sandbox.extensions.vary.space import TODAY, Variant

CAUSES_MAX = 12  # of one test; nearly everything breaks a test that has more
RUNS_MAX = 200  # for one cause
ATTEMPTS = 4  # runs of a cause that the test passed as part of another variant


@dataclass(frozen=True, slots=True)
class Break:
    """A test that fails under a variant of few axes. `allowed` is the reason if the break is allowed."""

    test: str
    variant: Variant
    result: Result
    allowed: str | None = None


@dataclass(frozen=True, slots=True)
class Causes:
    """All causes of one test. `flaky` says where the test passed once and failed once; then there are no causes."""

    breaks: tuple[Break, ...] = ()
    flaky: str = ""

    @property
    def is_complete(self) -> bool:
        """Whether no more causes are looked for."""
        return bool(self.flaky) or len(self.breaks) >= CAUSES_MAX

    @property
    def variants(self) -> frozenset[Variant]:
        return frozenset(found.variant for found in self.breaks)

    def explains(self, failing: Variant) -> bool:
        """Whether a failure under this variant needs no further search."""
        return self.is_complete or any(failing.holds(cause) for cause in self.variants)


def add_cause(test: str, before: Causes, failing: Variant, runs: Runs) -> Causes:
    """Returns the causes with the one for which the test fails under that variant, or that the test is flaky.

    A test is flaky if a second run of the same variant has another result. Today's bank, the failing variant and the
    cause are run twice."""
    runs.run_all([(TODAY, 1), (failing, 1)])
    if not (flaky := runs.contradiction(test)):
        cause = minimize(smallest_failing(test, failing, runs), FailureQuery(test, runs))
        runs.run_all([(cause, 1)])
        flaky = runs.contradiction(test)
    if flaky:
        return Causes(flaky=flaky)
    return Causes((*before.breaks, Break(test, cause, runs.result(cause, test))))


def smallest_failing(test: str, failing: Variant, runs: Runs) -> Variant:
    """Returns the smallest part of the variant under which the test failed before, such as another test's cause."""
    parts = [part for part in runs.variants if failing.holds(part) and runs.fails(part, test)]
    return min(parts, key=lambda part: len(part.changes))


class FailureQuery:
    """Finds variants under which a test fails: among the runs that were made, then by at most `RUNS_MAX` new runs.

    After that it finds no more, so that delta debugging ends with the smallest variant that has failed so far."""

    def __init__(self, test: str, runs: Runs) -> None:
        self.test = test
        self.runs = runs
        self.left = RUNS_MAX

    def __call__(self, variants: Sequence[Variant]) -> Variant | None:
        return next(filter(self._fails, self._in_batches(variants)), None)

    def _fails(self, variant: Variant) -> bool:
        return self.runs.fails(variant, self.test)

    def _in_batches(self, variants: Sequence[Variant]) -> Iterator[Variant]:
        yield from filter(self.runs.has, variants)
        missing = (variant for variant in variants if not self.runs.has(variant))
        while batch := list(islice(missing, min(self.runs.jobs, self.left))):
            self.left -= len(batch)
            self.runs.run_all((variant, 0) for variant in batch)
            yield from batch


def confirm(test: str, before: Causes, runs: Runs) -> Causes:
    """Returns the causes, or that the test is flaky. A cause that the test passed in another variant is run again."""
    withstood = [variant for variant in runs.variants if runs.passed(variant, test)]
    for cause in before.variants:
        if any(variant.holds(cause) for variant in withstood):
            runs.run_all((cause, number) for number in range(1, ATTEMPTS))
    flaky = runs.contradiction(test)
    return Causes(flaky=flaky) if flaky else before
