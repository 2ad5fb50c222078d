"""Why a test fails under some variants: the choices that suffice, or that the test is flaky."""

from collections.abc import Iterable
from dataclasses import dataclass

from sandbox.vary.runs import UNKNOWN, Result, Runs
from sandbox.vary.shrinking import Ask, shrink
from sandbox.vary.space import TODAY, Variant
from sandbox.vary.suspects import Failure

CAUSES_MAX = 12  # of one test; after that it is broken by nearly everything
# Almost any client breaks on these, and where it does, a row says nothing about the rest. They are suspected first.
LOUD = frozenset({"gateway", "unavailable", "limits"})
ATTEMPTS = 4  # of a cause that a test withstood in another variant


@dataclass(frozen=True, slots=True)
class Cause:
    """A variant of one axis, or a few, under which the test fails, and what it said then."""

    variant: Variant
    result: Result


@dataclass(frozen=True, slots=True)
class Causes:
    """All causes of one test. `flaky` says where it passed once and failed once; then nothing is blamed."""

    found: tuple[Cause, ...] = ()
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
    return Causes((*before.found, Cause(cause, runs.result(cause, test))))


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
