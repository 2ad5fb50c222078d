"""The search for what breaks a test: rows of a covering set, and the causes of the failures there.

The problem: a client that breaks on one value fails in every row that has it. The other pairs of these rows are then
seen by no test that passes. The task is that each test passes every pair of values that contains no cause of its own.

The design: run a row. If tests fail, find the causes at once: a cause such as a gateway that answers 502 would spoil
most of the next rows. Then plan again. For the tests with the same causes, plan rows without these causes, for all
pairs that are in no earlier row without these causes. Other tests meet these causes in their own rows.

The invariant: before a row is planned, every failure so far has a cause. So a test has passed each variant without its
causes (or the command did not report it, which counts as passed). Each row either has a new pair or brings a new cause,
and a test has at most `CAUSES_MAX` causes. So the search ends, and then the task is done.

Tests of a command may share a world. There a test may break for what another test no longer does: the gateway fails
the first call of an operation, and the test that made that call today has failed before. The cause of a test is only
what its own calls met. So if a cause has several choices and one of them breaks another test alone, one more run is
made, in which each reply fails whose call met that axis. A test that passes there did not meet it.

Axes that no call met cannot make a difference and are not varied. Under a variant, the tests may make calls that meet
more axes. These axes are covered from then on.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from random import Random

from sandbox.extensions.vary.cover import CoverageGoal, RowIndex
from sandbox.extensions.vary.delta_debugging import FailureQuery, minimize
from sandbox.extensions.vary.runs import Result, Runs
from sandbox.extensions.vary.space import TODAY, Choice, Space, Variant

CAUSES_MAX = 12  # of one test; nearly everything breaks a test that has more
ATTEMPTS = 4  # runs of a cause that the test passed as part of another variant


@dataclass(frozen=True, slots=True)
class Break:
    """A test that fails under a variant of few axes. `allowed` is the reason if the break is allowed.

    `rerun` has further axes, with which other tests of the same world let it fail; without them it may pass there."""

    test: str
    variant: Variant
    result: Result
    allowed: str | None = None
    rerun: Variant | None = None


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
        return frozenset(broken.variant for broken in self.breaks)

    def explains(self, failing: Variant) -> bool:
        """Whether a failure under this variant needs no further search."""
        return self.is_complete or any(failing.holds(cause) for cause in self.variants)


class Search:
    """The runs so far, and the causes that were found in them."""

    def __init__(self, runs: Runs, space: Space, strength: int, chance: Random) -> None:
        self.runs = runs
        self.space = space
        self.strength = strength
        self.chance = chance
        self.causes: dict[str, Causes] = {}
        self.row_count = 0  # of covering sets, today's bank not counted
        self.explained_count = 0  # runs whose failures have their causes

    @property
    def met(self) -> frozenset[str]:
        axes = (axis for variant in self.runs.variants for axis in self.runs.of(variant).met)
        return frozenset(axes) & self.space.axes.keys()

    def causes_of(self, test: str) -> Causes:
        return self.causes.get(test, Causes())

    def cover(self) -> None:
        """Runs rows until each test has passed every combination that contains no cause of its own."""
        planned = list(self.plan())
        self.runs.expected = self.runs.count + len(planned)
        rows = iter(planned)
        while batch := list(islice(rows, self.runs.jobs)):
            met = self.met
            self.runs.run_all((variant, 0) for variant in batch)
            self.row_count += len(batch)
            if self.explain_failures() or self.met != met:
                rows = self.plan()
        self.confirm()

    def plan(self) -> Iterator[Variant]:
        """Finds the rows that are left if no further test fails.

        Most rows for the tests with many causes count for the other tests too, so these rows come first."""
        space = self.space.only(self.met)
        done = RowIndex(self.runs.variants)
        goals = [CoverageGoal(space, self.strength, causes, done) for causes in self.cause_sets()]
        for goal in sorted(goals, key=lambda goal: len(goal.causes), reverse=True):
            for row in goal.find_rows(self.chance):
                for other in goals:
                    if other is not goal:
                        other.add(row)
                yield row

    def cause_sets(self) -> list[frozenset[Variant]]:
        """Returns the causes of each test that is not complete, with those of the command; equal ones once."""
        today = self.runs.of(TODAY).tests
        of_command = (causes.variants for test, causes in self.causes.items() if test not in today)
        shared = frozenset[Variant]().union(*of_command)
        tests = map(self.causes_of, today)
        return list(dict.fromkeys(causes.variants | shared for causes in tests if not causes.is_complete))

    def explain_failures(self) -> bool:
        """Finds a cause for each failure that has none. Returns whether there was such a failure."""
        before = self.causes.copy()
        while variants := self.runs.variants[self.explained_count :]:
            self.explained_count += len(variants)
            for variant in sorted(variants, key=lambda variant: len(variant.changes)):
                for test in self.runs.failed_tests(variant):
                    if not self.runs.fails(TODAY, test) and not self.causes_of(test).explains(variant):
                        self.causes[test] = self.add_cause(test, variant)
        return self.causes != before

    def add_cause(self, test: str, failing: Variant) -> Causes:
        """Returns the causes of the test with the one for which it fails under that variant, or that it is flaky.

        A test is flaky if a second run of the same variant has another result. Today's bank, the failing variant and
        the cause are run twice. The search starts at the smallest part of the variant under which the test failed
        before, such as the cause of another test."""
        self.runs.run_all([(TODAY, 1), (failing, 1)])
        if not (flaky := self.runs.contradiction(test)):
            parts = [part for part in self.runs.variants if failing.holds(part) and self.runs.fails(part, test)]
            smallest = min(parts, key=lambda part: len(part.changes))
            cause = minimize(smallest, FailureQuery(test, self.runs))
            self.runs.run_all([(cause, 1)])
            flaky = self.runs.contradiction(test)
        if flaky:
            return Causes(flaky=flaky)
        own, result = self.own_part(test, cause), self.runs.result(cause, test)
        broken = Break(test, own, result, rerun=None if own == cause else cause)
        return Causes((*self.causes_of(test).breaks, broken))

    def own_part(self, test: str, cause: Variant) -> Variant:
        """Returns the cause without the choices that only other tests met."""
        if not self.runs.probes or len(cause.changes) == 1:
            return cause
        own = Variant(tuple(choice for choice in cause.changes if not self.is_of_others(test, choice)))
        return own if own.changes else cause

    def is_of_others(self, test: str, choice: Choice) -> bool:
        """Whether the choice alone breaks another test, and this test does not need a reply that met its axis."""
        alone = Variant((choice,))
        breaks_others = any(name != test for name in self.runs.failed_tests(alone))
        return breaks_others and self.runs.passed(alone.probing(choice[0]), test)

    def confirm(self) -> None:
        """Runs each cause again that its test passed as part of another variant, and marks the tests that are flaky."""
        for test in self.runs.tests:
            passed = [variant for variant in self.runs.variants if self.runs.passed(variant, test)]
            for cause in self.causes_of(test).variants:
                if any(variant.holds(cause) for variant in passed):
                    self.runs.run_all((cause, number) for number in range(1, ATTEMPTS))
            if flaky := self.runs.contradiction(test):
                self.causes[test] = Causes(flaky=flaky)
