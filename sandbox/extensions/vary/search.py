"""Searches for what breaks each test: runs the rows of a covering set, and finds the causes of the failures.

A row is a variant of a covering set. A cause of a test is a combination of few choices that suffices to make it fail. A
call meets an axis if its answer may depend on that axis.

The problem: a test that breaks on one value fails in every row that has this value. So the failures show nothing about
the other pairs of values in these rows. The task is to let each test pass every pair of values that contains no cause
of this test.

The design: run a row. If tests fail, find the causes at once, because a cause such as a gateway that answers 502 would
spoil most of the next rows. Then plan the next rows anew. For the tests with the same causes, plan rows that contain
none of these causes. Together with such rows that were run already, they cover all pairs without a cause. Other tests
get rows of their own, which may contain these causes.

The invariant: before a row is planned, every failure so far has a known cause. So a test has passed each variant that
contains no cause of the test (or the command did not report the test, which counts as passed). Each row either has a
new pair or shows a new cause, and a test has at most `CAUSES_MAX` causes. So the search ends, and then the task is
done.

Tests of a command may share a world. There a test may fail because an earlier test no longer makes the same calls. For
example, the gateway fails the first call of an operation, and the test that usually makes that call has already failed
before it. Then the next test makes the first call. But a choice belongs to the cause of a test only if the test's own
calls met its axis. So if a cause has several choices and one of them alone breaks another test, one more run is made.
In this run, each call that meets the axis of that choice fails. A test that passes there did not meet the axis.

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
from sandbox.extensions.vary.space import DEFAULT_BANK, Choice, Space, Variant

CAUSES_MAX = 12  # the most causes of one test; a test with more of them breaks under nearly every variant
ATTEMPTS = 4  # runs of a cause that the test passed as part of another variant


@dataclass(frozen=True, slots=True)
class Break:
    """A test, and a variant of few axes under which it fails. `allowed` is the user's reason if the user allows the
    break, else None.

    Tests may share a world, and then the test may pass under `variant` alone. `rerun` is the larger variant under which
    it fails for certain, or None if `variant` is enough.
    """

    test: str
    variant: Variant
    result: Result
    allowed: str | None = None
    rerun: Variant | None = None


@dataclass(frozen=True, slots=True)
class Causes:
    """The known causes of one test. A flaky test has no causes. For such a test, `flaky` names a variant under which it
    both passed and failed. For other tests, `flaky` is empty."""

    breaks: tuple[Break, ...] = ()
    flaky: str = ""

    @property
    def is_complete(self) -> bool:
        """Whether the search looks for no more causes of this test."""
        return bool(self.flaky) or len(self.breaks) >= CAUSES_MAX

    @property
    def variants(self) -> frozenset[Variant]:
        return frozenset(broken.variant for broken in self.breaks)

    def explains(self, failing: Variant) -> bool:
        """Whether the cause of a failure under this variant is known, so no search is needed: the variant contains a
        known cause. Also returns True if no more causes of this test are searched (see `is_complete`)."""
        return self.is_complete or any(failing.holds(cause) for cause in self.variants)


class Search:
    """Runs variants and finds the causes of failures. Holds the runs so far, and the causes of each test."""

    def __init__(self, runs: Runs, space: Space, strength: int, chance: Random) -> None:
        self.runs = runs
        self.space = space
        self.strength = strength
        self.chance = chance
        self.causes: dict[str, Causes] = {}
        self.row_count = 0  # the rows of covering sets that were run, without the default bank
        self.explained_count = 0  # the runs whose failures all have a known cause

    @property
    def met(self) -> frozenset[str]:
        axes = (axis for variant in self.runs.variants for axis in self.runs.find_run(variant).met)
        return frozenset(axes) & self.space.axes.keys()

    def find_causes(self, test: str) -> Causes:
        return self.causes.get(test, Causes())

    def cover(self) -> None:
        """Runs variants until each test has passed every combination of `strength` choices that contains no cause of
        the test. Leaves out tests for which no more causes are searched, such as flaky tests. At the end, checks the
        causes by further runs (see `confirm`)."""
        planned = list(self.plan())
        self.runs.expected = self.runs.count + len(planned)
        rows = iter(planned)
        while batch := list(islice(rows, self.runs.jobs)):
            met_before = self.met
            self.runs.run_all((variant, 0) for variant in batch)
            self.row_count += len(batch)
            if self.explain_failures() or self.met != met_before:
                rows = self.plan()
        self.confirm()

    def plan(self) -> Iterator[Variant]:
        """Yields the variants that are still to be run. If one of them shows a new cause or meets a new axis, the
        caller plans anew.

        Tests with the same causes need the same rows. So rows are planned for one set of causes after the other (see
        `list_cause_sets`). A row that is planned for one set also counts for the other sets, unless it contains one of
        their causes. The largest sets come first, because most of their rows count for the others.
        """
        space = self.space.select_axes(self.met)
        run_rows = RowIndex(self.runs.variants)
        goals = [CoverageGoal(space, self.strength, causes, run_rows) for causes in self.list_cause_sets()]
        for goal in sorted(goals, key=lambda goal: len(goal.causes), reverse=True):
            for row in goal.find_rows(self.chance):
                for other in goals:
                    if other is not goal:
                        other.add(row)
                yield row

    def list_cause_sets(self) -> list[frozenset[Variant]]:
        """Returns the different sets of causes that the tests have. Leaves out tests for which no more causes are
        searched (see `Causes.is_complete`). The command as a whole may also have failed, in addition to its tests. The
        causes of such failures are in each set."""
        tests_by_default = self.runs.find_run(DEFAULT_BANK).tests
        of_command = (causes.variants for test, causes in self.causes.items() if test not in tests_by_default)
        shared = frozenset[Variant]().union(*of_command)
        tests = map(self.find_causes, tests_by_default)
        return list(dict.fromkeys(causes.variants | shared for causes in tests if not causes.is_complete))

    def explain_failures(self) -> bool:
        """Finds a cause for each failure that no known cause explains. Skips tests that fail on the default bank.
        Returns whether it found a new cause or a flaky test."""
        before = self.causes.copy()
        while variants := self.runs.variants[self.explained_count :]:
            self.explained_count += len(variants)
            for variant in sorted(variants, key=lambda variant: len(variant.changes)):
                for test in self.runs.list_failed_tests(variant):
                    if not self.runs.fails(DEFAULT_BANK, test) and not self.find_causes(test).explains(variant):
                        self.causes[test] = self.add_cause(test, variant)
        return self.causes != before

    def add_cause(self, test: str, failing: Variant) -> Causes:
        """Finds a cause of the test's failure under the variant `failing`. Returns the causes of the test that were
        known before, and the new one. If the test is flaky, returns Causes that only say so.

        A test is flaky if a second run of the same variant has another result. So the default bank, the failing variant
        and the cause are run twice. The search starts at the smallest part of `failing` under which the test is known
        to fail. Such a part may be the cause of another test.
        """
        self.runs.run_all([(DEFAULT_BANK, 1), (failing, 1)])
        if not (flaky := self.runs.find_contradiction(test)):
            parts = [part for part in self.runs.variants if failing.holds(part) and self.runs.fails(part, test)]
            smallest = min(parts, key=lambda part: len(part.changes))
            cause = minimize(smallest, FailureQuery(test, self.runs))
            self.runs.run_all([(cause, 1)])
            flaky = self.runs.find_contradiction(test)
        if flaky:
            return Causes(flaky=flaky)
        own, result = self.select_own_part(test, cause), self.runs.find_result(cause, test)
        broken = Break(test, own, result, rerun=None if own == cause else cause)
        return Causes((*self.find_causes(test).breaks, broken))

    def select_own_part(self, test: str, cause: Variant) -> Variant:
        """Returns the cause without the choices that only break other tests (see `is_of_others`). Returns the whole
        cause if no choice would be left, or if the runs cannot have a probe (see `Variant.add_probe`)."""
        if not self.runs.probes or len(cause.changes) == 1:
            return cause
        own = Variant(tuple(choice for choice in cause.changes if not self.is_of_others(test, choice)))
        return own if own.changes else cause

    def is_of_others(self, test: str, choice: Choice) -> bool:
        """Whether the choice breaks other tests, but not this test. This is so if another test fails under this choice
        alone, and if this test passes a run in which every call that meets the choice's axis fails."""
        alone = Variant((choice,))
        breaks_others = any(name != test for name in self.runs.list_failed_tests(alone))
        return breaks_others and self.runs.has_passed(alone.add_probe(choice[0]), test)

    def confirm(self) -> None:
        """Runs the tests again under each cause that a run contradicts: the test of the cause passed under a variant
        that contains the cause. Makes up to ATTEMPTS runs under that cause in all. If a test both passed and failed
        under the same variant, marks the test as flaky and drops its causes."""
        for test in self.runs.tests:
            passed = [variant for variant in self.runs.variants if self.runs.has_passed(variant, test)]
            for cause in self.find_causes(test).variants:
                if any(variant.holds(cause) for variant in passed):
                    self.runs.run_all((cause, number) for number in range(1, ATTEMPTS))
            if flaky := self.runs.find_contradiction(test):
                self.causes[test] = Causes(flaky=flaky)
