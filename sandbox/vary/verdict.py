"""The verdict on a client: what breaks it, what it withstands, and what it never met."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from sandbox.vary.causes import Break
from sandbox.vary.runs import Run, Runs
from sandbox.vary.search import Search, Spread
from sandbox.vary.space import TODAY, Space


class FailsToday(Exception):
    """The tests fail against today's bank already, so no axis can be blamed."""

    def __init__(self, run: Run) -> None:
        super().__init__(", ".join(run.failed))
        self.run = run


class NothingMet(Exception):
    """No call of the tests met an axis, so no variant can make a difference."""


@dataclass(frozen=True)
class Verdict:
    """All findings of a run."""

    space: Space  # the axes that were asked for
    strength: int
    tests: tuple[str, ...]
    met: frozenset[str]
    breaks: tuple[Break, ...] = ()
    flaky: Mapping[str, str] = field(default_factory=dict)
    variants: int = 0  # of the covering set, today's bank not counted
    runs: int = 0
    again: str = "--variants"  # the option that runs a variant again
    ended: tuple[str, ...] = ()  # lines of allowed breaks that broke no longer

    @property
    def never_met(self) -> tuple[str, ...]:
        return tuple(name for name in self.space.axes if name not in self.met)

    @property
    def blamed(self) -> frozenset[str]:
        """Axes that break a test, alone or with others."""
        return frozenset(axis for one in self.breaks for axis, _ in one.variant.changes)

    @property
    def withstood(self) -> tuple[str, ...]:
        """None where every test is flaky: then nothing is known."""
        if self.flaky.keys() >= set(self.tests):
            return ()
        return tuple(name for name in self.space.axes if name in self.met - self.blamed)

    @property
    def new_breaks(self) -> tuple[Break, ...]:
        return tuple(one for one in self.breaks if one.allowed is None)

    @property
    def score(self) -> str:
        met = len(self.met)
        return f"{len(self.withstood)} of {met} axes withstood" + (
            f" ({100 * len(self.withstood) // met} %)" if met else ""
        )


def judge(runs: Runs, space: Space, strength: int, seed: int, spread: Spread = map) -> Verdict:
    """Runs a covering set of the axes that the tests meet, and finds the causes of every failure."""
    today = runs.of(TODAY)
    if today.failed:
        raise FailsToday(today)
    if not today.met & space.axes.keys():
        raise NothingMet
    search = Search(runs, space, strength, Random(seed), spread)
    search.go()
    breaks = tuple(found for causes in search.found.values() for found in causes.found)
    flaky = {test: causes.flaky for test, causes in search.found.items() if causes.flaky}
    return Verdict(space, strength, search.tests, search.met, breaks, flaky, len(search.rows), runs.count)


def merge(verdicts: Sequence[Verdict]) -> Verdict:
    """One verdict of several, each on tests of its own."""
    first = verdicts[0]
    return replace(
        first,
        tests=tuple(name for one in verdicts for name in one.tests),
        met=frozenset().union(*(one.met for one in verdicts)),
        breaks=tuple(found for one in verdicts for found in one.breaks),
        flaky={name: text for one in verdicts for name, text in one.flaky.items()},
        variants=sum(one.variants for one in verdicts),
        runs=sum(one.runs for one in verdicts),
    )
