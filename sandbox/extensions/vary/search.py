"""The search for what breaks a test: rows of a covering set, and the causes of the failures there.

The problem: a client that breaks on one value fails in every row that has it. The other pairs of these rows are then
seen by no test that passes. The task is that each test passes every pair of values that contains no cause of its own.

The design: run a row. If tests fail, find the causes at once: a cause such as a gateway that answers 502 would spoil
most of the next rows. Then plan again. For the tests with the same causes, plan rows without these causes, for all
pairs that are in no earlier row without these causes. Other tests meet these causes in their own rows.

The invariant: before a row is planned, every failure so far has a cause. So a test has passed each variant without its
causes (or the command did not report it, which counts as passed). Each row either has a new pair or brings a new cause,
and a test has at most `CAUSES_MAX` causes. So the search ends, and then the task is done.

Axes that no call met cannot make a difference and are not varied. Under a variant, the tests may make calls that meet
more axes. These axes are covered from then on.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from random import Random

from sandbox.extensions.vary.causes import Causes, add_cause, confirm
from sandbox.extensions.vary.cover import ChoiceIndex, CoverageGoal, find_rows
from sandbox.extensions.vary.runs import Runs
from sandbox.extensions.vary.space import TODAY, Space, Variant


def explain_failures(runs: Runs) -> dict[str, Causes]:
    """Returns the causes of each test that failed in a run so far; none if the test fails today."""
    search = Search(runs, Space({}), 1, Random(0))
    search.explain()
    search.confirm()
    return search.causes


class Search:
    """The runs so far, and the causes that were found in them."""

    def __init__(self, runs: Runs, space: Space, strength: int, chance: Random) -> None:
        self.runs = runs
        self.space = space
        self.strength = strength
        self.chance = chance
        self.causes: dict[str, Causes] = {}
        self.rows: list[Variant] = []  # of covering sets, today's bank not counted
        self.explained = 0  # runs whose failures have their causes

    @property
    def met(self) -> frozenset[str]:
        axes = (axis for variant in self.runs.variants for axis in self.runs.of(variant).met)
        return frozenset(axes) & self.space.axes.keys()

    def causes_of(self, test: str) -> Causes:
        return self.causes.get(test, Causes())

    def go(self) -> None:
        """Runs rows until each test has passed every combination that contains no cause of its own."""
        planned = list(self.plan())
        self.runs.expected = self.runs.count + len(planned)
        rows = iter(planned)
        while batch := list(islice(rows, self.runs.jobs)):
            met = self.met
            self.runs.run_all((variant, 0) for variant in batch)
            self.rows += batch
            if self.explain() or self.met != met:
                rows = self.plan()
        self.confirm()

    def plan(self) -> Iterator[Variant]:
        """Finds the rows that are left if no further test fails."""
        index = ChoiceIndex(self.space.only(self.met))
        strength = min(self.strength, len(index.space.axes))
        rows = {variant: index.row_of(variant) for variant in self.runs.variants}
        goals = []
        for causes in self.groups():
            goals.append(CoverageGoal(index, strength, causes))
            for variant, row in rows.items():
                if not any(variant.holds(cause) for cause in causes):
                    goals[-1].close(row)
        yield from map(index.variant_of, find_rows(goals, self.chance))

    def groups(self) -> Iterable[frozenset[Variant]]:
        """Returns the causes of each test that is not complete, with those of the command; equal ones once."""
        today = self.runs.of(TODAY).tests
        of_command = frozenset[Variant]().union(
            *(causes.variants for test, causes in self.causes.items() if test not in today)
        )
        return dict.fromkeys(
            self.causes_of(test).variants | of_command for test in today if not self.causes_of(test).is_complete
        )

    def explain(self) -> bool:
        """Finds a cause for each failure that has none. Returns whether there was such a failure."""
        before = self.causes.copy()
        while failures := self.new_failures():
            for test, variant in failures:
                causes = self.causes_of(test)
                if not causes.explains(variant):
                    self.causes[test] = add_cause(test, causes, variant, self.runs)
        return self.causes != before

    def new_failures(self) -> list[tuple[str, Variant]]:
        """Returns the failures since the last call, smallest variants first, without tests that fail today."""
        variants = self.runs.variants[self.explained :]
        self.explained += len(variants)
        today = self.runs.failed_tests(TODAY)
        failures = [(test, variant) for variant in variants for test in self.runs.failed_tests(variant)]
        return sorted(
            ((test, variant) for test, variant in failures if test not in today),
            key=lambda failure: len(failure[1].changes),
        )

    def confirm(self) -> None:
        for test in self.runs.tests:
            self.causes[test] = confirm(test, self.causes_of(test), self.runs)
