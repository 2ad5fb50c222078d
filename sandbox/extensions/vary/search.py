"""The search for what breaks a test: rows of a covering set, and the causes of what fails there.

A cause that was found is left out of the rows that follow, so that it hides nothing else from the tests that it breaks;
the others meet it all the same. In the end each test passed each combination that holds no cause of its own.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, takewhile
from random import Random
from typing import Any

from sandbox.extensions.vary.causes import LOUD_AXES, Causes, Failure, Suspects, add_cause, doubted, passed_by
from sandbox.extensions.vary.cover import Evidence, find_rows, shortest_rows
from sandbox.extensions.vary.gaps import Numbers
from sandbox.extensions.vary.rows import Wish
from sandbox.extensions.vary.runs import Runs
from sandbox.extensions.vary.space import TODAY, Space, Variant

MOST = 0.5  # of the tests
FEW = 3  # choices; so few were often run because they break another test
ROWS_LOST = 2  # for all tests, or twice as many for half of them
# As `map`: the same work with each thing, in order or at once.
Spread = Callable[..., Iterable[Any]]


def explain_failures(runs: Runs, spread: Spread = map) -> dict[str, Causes]:
    """The causes of each test that fails in a run so far; none where it fails today too."""
    search = Search(runs, Space({}), 1, Random(0), spread)
    search.explain(lambda test: True)
    search.doubt()
    return search.found


class Search:
    """The tests, the axes that they met so far, and the causes that were found."""

    def __init__(self, runs: Runs, space: Space, strength: int, chance: Random, spread: Spread) -> None:
        self.runs = runs
        self.space = space
        self.strength = strength
        self.chance = chance
        self.spread = spread
        self.found: dict[str, Causes] = {}
        self.met: frozenset[str] = frozenset()
        self.rows: list[Variant] = []  # of covering sets, today's bank not counted
        self.evidence = Evidence(Numbers(Space({})), 0, frozenset())
        self.noted = 0  # runs that are in the evidence
        self.failures: dict[str, list[Variant]] = {}  # of each test, which no cause explains so far
        self.looked = 0  # runs whose failures are there
        self.broken: Counter[Variant] = Counter()  # how many tests fail there for no known cause
        self.ripe: dict[tuple[str, Variant, int], bool] = {}
        self.left = 0  # rows that were planned at first

    @property
    def tests(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for row in self.runs.variants for name in self.runs.of(row).tests))

    def go(self) -> None:
        """Runs rows until each test passed all that no cause of its own is in.

        Axes that no call met cannot make a difference. A variant may lead the tests to calls that meet more of them;
        these are asked for from then on."""
        while self.goes_on():
            pass
        self.doubt()

    def doubt(self) -> None:
        for test in self.tests:
            self.found[test] = doubted(test, self.runs, self.causes_of(test))

    def goes_on(self) -> bool:
        """Runs the rows that are planned, until one makes another plan better; gives whether anything was done."""
        rows, some = self.plan(), False
        while batch := list(islice(rows, self.runs.jobs)):
            some = True
            self.ran(batch)
            self.rows += batch
            self.runs.expected = self.runs.count + max(0, self.left - len(self.rows))
            if self.explain(self.is_ripe) or self.met_now() != self.met:
                return True
        return self.explain(lambda test: True) or some

    def ran(self, variants: Sequence[Variant]) -> Sequence[Variant]:
        """The variants, which are run at once."""
        list(self.spread(self.runs.of, variants))
        return variants

    def met_now(self) -> frozenset[str]:
        return frozenset(axis for row in self.runs.variants for axis in self.runs.of(row).met) & self.space.axes.keys()

    def causes_of(self, test: str) -> Causes:
        return self.found.get(test, Causes())

    # Rows

    def plan(self) -> Iterator[Variant]:
        """The rows that are left, as far as one can know."""
        met, today = self.met_now(), frozenset(self.runs.of(TODAY).tests)
        if met != self.met:
            self.met, self.noted = met, 0
            self.evidence = Evidence(Numbers(self.space.only(met)), min(self.strength, len(met)), today)
        for variant in self.runs.variants[self.noted :]:
            self.evidence.note(variant, frozenset(test for test in today if self.runs.passed(variant, test)))
            self.noted += 1
        self.evidence.learn(self.barred(today))
        wishes = [Wish(wish.gaps.copy(), wish.causes) for _, wish in self.evidence.groups]
        if self.left:
            return self.new(find_rows(self.evidence.numbers, wishes, self.chance), today)
        planned = shortest_rows(self.evidence.numbers, wishes, self.chance)
        self.left = len(planned)
        return self.new(planned, today)

    def new(self, rows: Iterable[Sequence[int]], today: frozenset[str]) -> Iterator[Variant]:
        """Rows that were not run yet; a row that was run says nothing more."""
        for row in rows:
            variant = self.space.variant(self.evidence.numbers.row(row))
            if not self.runs.has(variant):
                yield variant
            else:
                self.evidence.note(variant, today)

    def barred(self, tests: frozenset[str]) -> dict[str, frozenset[Variant]]:
        """What breaks each test that is worth a run: its own causes, and those of the command as a whole."""
        whole = frozenset[Variant]().union(*(one.variants for test, one in self.found.items() if test not in tests))
        return {test: self.causes_of(test).variants | whole for test in tests if not self.causes_of(test).complete}

    # Causes

    def explain(self, when: Callable[[str], bool]) -> bool:
        """Finds the causes of tests that failed, in a row or in a run that was made for another test."""
        surprised = False
        while leaders := self.leaders(when):
            width = max(1, self.runs.jobs // len(leaders))
            found = list(self.spread(lambda leader: self.explained(*leader), [(*one, width) for one in leaders]))
            self.found |= {test: causes for (test, _), causes in zip(leaders, found, strict=True)}
            surprised = True
        return surprised

    def leaders(self, when: Callable[[str], bool]) -> list[tuple[str, Variant]]:
        """Tests whose cause is looked for at once, each in another failing variant: what is found for one is mostly
        the cause of the others that fail there."""
        self.look()
        found: dict[Variant, str] = {}
        for test, failed in self.failures.items():
            if failed and failed[0] not in found and when(test):
                found[failed[0]] = test
        return [(test, variant) for variant, test in islice(found.items(), self.runs.jobs)]

    def look(self) -> None:
        """Which variants fail that no known cause explains; of each test the smallest first."""
        fails_today = self.runs.failed(TODAY)
        for variant in self.runs.variants[self.looked :]:
            self.looked += 1
            for test in self.runs.failed(variant):
                if test not in fails_today:
                    self.failures.setdefault(test, []).append(variant)
        self.broken = Counter()
        for test, rows in self.failures.items():
            causes = self.causes_of(test)
            left = [row for row in rows if not any(row.holds(one) for one in causes.variants)]
            self.failures[test] = [] if causes.complete else sorted(left, key=lambda row: len(row.changes))
            self.broken.update(self.failures[test])

    def is_ripe(self, test: str) -> bool:
        """Whether the cause is better looked for now: where it hides what else would fail, or is nearly known.

        Otherwise each further row, which is needed anyway, tells as much as a question would."""
        smallest = self.failures[test][0]
        key = test, smallest, len(self.rows)
        if key not in self.ripe:
            few = len(smallest.changes) <= FEW or Suspects(self.failure_of(test, smallest)).is_nearly_one
            # It hides much where most tests fail as this one does, or rows are lost for many tests in turn.
            share = self.share_broken(smallest)
            lost = list(takewhile(lambda row: not self.runs.passed(row, test), reversed(self.rows)))
            most = share > MOST and len(self.runs.of(TODAY).tests) > 1
            self.ripe[key] = few or most or share * len(lost) >= ROWS_LOST
        return self.ripe[key]

    def share_broken(self, variant: Variant) -> float:
        """The share of tests that fail there for no known cause."""
        return self.broken[variant] / len(self.runs.of(TODAY).tests)

    def failure_of(self, test: str, variant: Variant) -> Failure:
        passed = [row for row in passed_by(test, self.runs) if not row.holds(variant)]
        others = [row for row in self.failures[test] if row != variant]
        return Failure(variant, passed, others, LOUD_AXES if self.share_broken(variant) > MOST else frozenset())

    def explained(self, test: str, failed: Variant, width: int) -> Causes:
        def ask(variants: Sequence[Variant]) -> list[bool]:
            return [not self.runs.result(one, test).passed for one in self.ran(variants)]

        return add_cause(test, self.causes_of(test), self.failure_of(test, failed), self.runs, ask, width)
