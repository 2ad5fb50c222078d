"""Why a test fails under some variants: the choices that suffice, or that the test is flaky."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sandbox.vary.runs import UNKNOWN, Result, Runs
from sandbox.vary.shrinking import shrink
from sandbox.vary.space import TODAY, Variant

CAUSES_MAX = 12  # of one test; after that it is broken by nearly everything


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


class Flaky(Exception):
    """The same run passed once and failed once."""


def find_causes(test: str, rows: Sequence[Variant], runs: Runs, earlier: list[Variant], before: Causes) -> Causes:
    """Looks in each failing row for every cause: what is found is taken out of the row, and the rest is run again.

    `earlier` are causes of other tests, which are tried first; new ones are added. `before` are those found so far.
    """

    def fails(variant: Variant) -> bool:
        return not runs.of(variant).result(test).passed

    failed = sorted(filter(fails, rows), key=lambda row: len(row.changes))
    passed = [row for row in runs.variants if not fails(row) and runs.of(row).result(test) is not UNKNOWN]
    found = [cause.variant for cause in before.found]
    try:
        if failed:
            _demand_same(test, TODAY, runs)
        for row in failed:
            rest = _take_out(row, found)
            while rest.changes and len(found) < CAUSES_MAX and fails(rest):
                _demand_same(test, rest, runs)
                start = next((one for one in tuple(earlier) if rest.holds(one) and fails(one)), rest)
                cause = shrink(start, fails, [one for one in passed if not one.holds(start)])
                _demand_same(test, cause, runs)
                found.append(cause)
                earlier.append(cause)
                rest = _take_out(rest, found)
    except Flaky as flaky:
        return Causes(flaky=str(flaky))
    return Causes(tuple(Cause(one, runs.of(one).result(test)) for one in found))


def _take_out(row: Variant, causes: Iterable[Variant]) -> Variant:
    """The row without one choice of each cause, so that what else it holds is tested too."""
    for cause in causes:
        if row.holds(cause):
            row = row.without(cause.changes[:1])
    return row


def _demand_same(test: str, variant: Variant, runs: Runs) -> None:
    first, again = runs.of(variant).result(test), runs.of(variant, 1).result(test)
    if first.passed != again.passed:
        failed = again if first.passed else first
        raise Flaky(f"passed once and failed once with {str(variant) or 'the bank of today'}: {failed.failure}")
