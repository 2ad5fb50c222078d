"""Runs a flow in a world of its own at a bank that differs, and says whether it withstood and what it met."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from sandbox.client import Refused, Unreadable
from sandbox.extensions.vary.call_comparison import list_axes_met
from sandbox.extensions.vary.cover import find_cover
from sandbox.extensions.vary.runs import Result, Runs, VariantRun
from sandbox.extensions.vary.search import Search
from sandbox.extensions.vary.space import DEFAULT_BANK, Space, Variant, make_space
from sandbox.extensions.vary.verdict import Verdict, judge
from sandbox.testing import BankFixture, Start
from sandbox.testing.start import world_of
from tests.vary.flows import IMPATIENT
from tests.vary.line import Way, same_chance
from tests.vary.shopping import JOURNEYS
from tests.vary.steps import Flow, patiently

FAILURES = (AssertionError, LookupError, TypeError, ValueError, Refused, Unreadable)
WORLD = "w"  # the same for each run: what is said of it is part of the replies


class Play(NamedTuple):
    """How a flow ended, the axes that were met, and all that passed between the client and the bank."""

    result: Result
    met: frozenset[str]
    passed: Sequence[str]


@dataclass(frozen=True)
class Stage:
    """A server of worlds in this process, and the way to it."""

    bank: BankFixture
    way: Way

    def play(self, flow: Flow, variants: Mapping[str, str]) -> Play:
        """In a world of its own."""
        name, of_the_shop = flow.__name__, flow in JOURNEYS.values()
        self.way.patient = not of_the_shop and name not in IMPATIENT
        self.way.passed.clear()
        with world_of(self.bank, WORLD, Start(), variants) as bank, same_chance():
            try:
                flow(bank) if of_the_shop else patiently(flow, bank)
                result = Result(True)
            except FAILURES as error:
                result = Result(False, f"{type(error).__name__}: {error}"[:300])
            return Play(result, list_axes_met(bank.controls, bank.requests), tuple(self.way.passed))

    def trial(self, flow: Flow) -> Callable[[Variant], VariantRun]:
        def trial(found: Variant) -> VariantRun:
            seen = self.play(flow, dict(found.changes))
            return VariantRun({flow.__name__: seen.result}, seen.met)

        return trial

    def verdict(self, flow: Flow, strength: int, seed: int = 1) -> Verdict:
        return judge(Runs(self.trial(flow)), make_space(), strength, seed)

    def breaks(self, flow: Flow, rows: Sequence[Variant]) -> list[str]:
        """What breaks the flow in these rows, shrunk to the axes that suffice."""
        runs = Runs(self.trial(flow))
        if all(runs.find_run(row).find_result(flow.__name__).passed for row in rows):
            return []
        search = Search(runs, Space({}), 1, Random(1))
        search.explain_failures()
        search.confirm()
        causes = search.find_causes(flow.__name__)
        found = [f"{cause.variant}: {cause.result.failure}" for cause in causes.breaks]
        return found or [causes.flaky or runs.find_run(DEFAULT_BANK).find_result(flow.__name__).failure]


def every_value_once() -> tuple[Variant, ...]:
    """The bank of today, and few variants in which each value occurs."""
    return find_cover(make_space(), 1).variants
