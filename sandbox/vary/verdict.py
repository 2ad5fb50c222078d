"""The verdict on a client: what breaks it, what it withstands, and what it never met."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

from sandbox.vary.causes import Causes, find_causes
from sandbox.vary.cover import find_cover
from sandbox.vary.runs import Result, Run, Runs
from sandbox.vary.space import TODAY, Space, Variant

T = TypeVar("T")
R = TypeVar("R")


class Spread(Protocol):
    """Does the same work with each thing, in order or at once."""

    def __call__(self, work: Callable[[T], R], things: Iterable[T], /) -> Iterable[R]: ...


class FailsToday(Exception):
    """The tests fail against today's bank already, so no axis can be blamed."""

    def __init__(self, run: Run) -> None:
        super().__init__(", ".join(run.failed))
        self.run = run


class NothingMet(Exception):
    """No call of the tests met an axis, so no variant can make a difference."""


@dataclass(frozen=True, slots=True)
class Break:
    """A test that fails under a variant of few axes. `allowed` is the reason why that is known and let pass."""

    test: str
    variant: Variant
    result: Result
    allowed: str | None = None


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
    met = today.met & space.axes.keys()
    if not met:
        raise NothingMet
    rows, met = cover_met(runs, space, strength, seed, spread)
    found = explain_failures(runs, rows, spread)
    breaks = [Break(test, one.variant, one.result) for test, causes in found.items() for one in causes.found]
    flaky = {test: causes.flaky for test, causes in found.items() if causes.flaky}
    return Verdict(space, strength, tests_of(runs), met, tuple(breaks), flaky, len(rows) - 1, runs.count)


def tests_of(runs: Runs) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for row in runs.variants for name in runs.of(row).tests))


def explain_failures(runs: Runs, rows: Sequence[Variant], spread: Spread = map) -> dict[str, Causes]:
    """The causes of each test that failed in a row, or later in a run that was made for another test."""
    causes_found: list[Variant] = []
    found: dict[str, Causes] = {}

    def causes_of(todo: tuple[str, Sequence[Variant]]) -> Causes:
        return find_causes(*todo, runs, causes_found, found.get(todo[0], Causes()))

    while todo := [(test, failed) for test in tests_of(runs) if (failed := _open(test, rows, runs, found.get(test)))]:
        found |= dict(zip([test for test, _ in todo], spread(causes_of, todo), strict=True))
    return found


def _open(test: str, rows: Sequence[Variant], runs: Runs, causes: Causes | None) -> list[Variant]:
    """The failing variants to look at: first those of the covering set, then what no cause explains so far."""
    if causes is None:
        return [row for row in rows if not runs.of(row).result(test).passed] or _open(test, rows, runs, Causes())
    if causes.complete:
        return []
    explained = [cause.variant for cause in causes.found]
    failed = [row for row in runs.variants if not runs.of(row).result(test).passed]
    return [row for row in failed if row.changes and not any(row.holds(one) for one in explained)]


def cover_met(
    runs: Runs, space: Space, strength: int, seed: int, spread: Spread = map
) -> tuple[Sequence[Variant], frozenset[str]]:
    """The covering set of the axes that were met, and these axes.

    Axes that no call met cannot make a difference. A variant may lead the tests to calls that meet more of them; these
    are covered in a further round, in which the earlier variants count.
    """
    rows: list[Variant] = [TODAY]
    met: frozenset[str] = frozenset()
    while more := (frozenset(axis for row in rows for axis in runs.of(row).met) & space.axes.keys()) - met:
        met |= more
        cover = find_cover(space.only(met), strength, seed, rows)
        new = [one for one in cover.variants if one not in rows]
        runs.expected += len(new)
        list(spread(runs.of, new))
        rows += new
    return rows, met


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
