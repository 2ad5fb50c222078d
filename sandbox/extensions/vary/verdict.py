"""The verdict on a client: the axes that break it, the axes that it withstands, and the axes that none of its calls
met."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random

from sandbox.extensions.vary.allow_file import Allowed, normalize_name, read_allow_file, write_allow_file, write_line
from sandbox.extensions.vary.lie_verdict import LieVerdict, merge_lies
from sandbox.extensions.vary.runs import FailsByDefault, NothingMet, Runs
from sandbox.extensions.vary.search import Break, Search
from sandbox.extensions.vary.space import DEFAULT_BANK, Space, Variant, read_variant

HEAD = "# Breaks that are known: AXIS=VALUE[,AXIS=VALUE]  TEST  # reason. The run fails on any other.\n"


@dataclass(frozen=True)
class Verdict:
    """The results of one session, in which the tests were run against variants of the bank."""

    space: Space  # the axes that were asked for
    strength: int
    tests: tuple[str, ...]
    met: frozenset[str]
    breaks: tuple[Break, ...] = ()
    flaky: Mapping[str, str] = field(default_factory=dict)
    variants: int = 0  # of the covering set, without the default bank
    runs: int = 0
    again: str = "--variants"  # the option that runs a variant again
    ended: tuple[str, ...] = ()  # lines of the --allow file whose test no longer breaks
    lies: LieVerdict | None = None  # if lies were told

    @property
    def varied(self) -> bool:
        """Whether axes were varied. False if the session only tried lies."""
        return bool(self.space.axes)

    @property
    def never_met(self) -> tuple[str, ...]:
        return tuple(name for name in self.space.axes if name not in self.met)

    @property
    def withstood(self) -> tuple[str, ...]:
        """The axes that calls met and that break no test. Empty if every test is flaky, because then nothing is
        known."""
        if self.flaky.keys() >= set(self.tests):
            return ()
        blamed = {axis for broken in self.breaks for axis, _ in broken.variant.changes}
        return tuple(name for name in self.space.axes if name in self.met - blamed)

    @property
    def new_breaks(self) -> tuple[Break, ...]:
        return tuple(broken for broken in self.breaks if broken.allowed is None)

    @property
    def score(self) -> str:
        met_count = len(self.met)
        return f"{len(self.withstood)} of {met_count} axes withstood" + (
            f" ({100 * len(self.withstood) // met_count} %)" if met_count else ""
        )


def judge(runs: Runs, space: Space, strength: int, seed: int) -> Verdict:
    """Runs the tests on banks with different values of the axes that the tests meet. The banks together cover each
    combination of `strength` values. Finds the causes of each failure and returns the verdict.

    Raises FailsByDefault if a test fails on the default bank, and NothingMet if no call meets an axis of the space.
    """
    default_run = runs.find_run(DEFAULT_BANK)
    if default_run.failed:
        raise FailsByDefault(default_run)
    if not default_run.met & space.axes.keys():
        raise NothingMet
    search = Search(runs, space, strength, Random(seed))
    search.cover()
    breaks = tuple(broken for causes in search.causes.values() for broken in causes.breaks)
    flaky = {test: causes.flaky for test, causes in search.causes.items() if causes.flaky}
    return Verdict(space, strength, runs.tests, search.met, breaks, flaky, search.row_count, runs.count)


def merge(verdicts: Sequence[Verdict]) -> Verdict:
    """Joins the verdicts on different tests. What is not about single tests, such as the space and the strength, is
    taken from the first verdict."""
    lies = [verdict.lies for verdict in verdicts if verdict.lies is not None]
    return replace(
        verdicts[0],
        tests=tuple(name for verdict in verdicts for name in verdict.tests),
        met=frozenset[str]().union(*(verdict.met for verdict in verdicts)),
        breaks=tuple(broken for verdict in verdicts for broken in verdict.breaks),
        flaky={name: text for verdict in verdicts for name, text in verdict.flaky.items()},
        variants=sum(verdict.variants for verdict in verdicts),
        runs=sum(verdict.runs for verdict in verdicts),
        lies=merge_lies(lies) if lies else None,
    )


def read_allowed(text: str, space: Space | None = None) -> Allowed[Variant]:
    """Reads the text of an --allow file, which lists the breaks that the user allows. A line may only name axes of the
    space (by default any axis). Raises ValueError with the number of the wrong line."""
    return read_allow_file(
        text, r"[^\s=,]+=\S+", "AXIS=VALUE, the name of a test and", partial(read_variant, space=space)
    )


def allow(verdict: Verdict, allowed: Allowed[Variant]) -> Verdict:
    """Returns the verdict in which each allowed break has the user's reason. `ended` lists the lines of the --allow
    file that are no longer needed: the test ran and the axes were met, but the test did not break. Lines about a flaky
    test are not listed."""
    keys = [(broken.variant, normalize_name(broken.test)) for broken in verdict.breaks]
    breaks = tuple(replace(broken, allowed=allowed.get(key)) for broken, key in zip(verdict.breaks, keys, strict=True))
    steady = set(map(normalize_name, verdict.tests)) - set(map(normalize_name, verdict.flaky))
    ended = tuple(
        write_line(variant, test, reason)
        for (variant, test), reason in allowed.items()
        if (variant, test) not in keys and test in steady and dict(variant.changes).keys() <= verdict.met
    )
    return replace(verdict, breaks=breaks, ended=ended)


def write_allowed(breaks: Sequence[Break]) -> str:
    """Returns the text of an --allow file with these breaks. A break that is allowed already keeps its reason."""
    return write_allow_file(HEAD, {(broken.variant, broken.test): broken.allowed for broken in breaks})
