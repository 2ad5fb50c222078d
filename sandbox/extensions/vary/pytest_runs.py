"""`pytest --bank-vary`: runs each test again under variants of the axes that it met, and judges each."""

import pickle
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from _pytest.runner import runtestprotocol

from sandbox.extensions.vary.call_comparison import RunCalls, axes_met
from sandbox.extensions.vary.lie_verdict import (
    AllowedLies,
    LieVerdict,
    allow_lies,
    judge_lies,
    merge_lies,
    read_allowed_lies,
)
from sandbox.extensions.vary.report import (
    describe_break,
    describe_details,
    describe_rest,
    read_report_path,
    write_report,
)
from sandbox.extensions.vary.runs import FAILURE_MAX, FailsToday, NothingMet, Reference, Result, Runs, VariantRun
from sandbox.extensions.vary.space import TODAY, Space, Variant, read_variant, space_of, split_names
from sandbox.extensions.vary.verdict import (
    AllowedBreak,
    Verdict,
    allow,
    judge,
    merge,
    read_allowed,
)
from sandbox.testing.bank import BankFixture

if TYPE_CHECKING:
    from sandbox.testing.start import Start

STRENGTHS = ("1", "2", "3")
VARIANT: pytest.StashKey[Variant] = pytest.StashKey()
MET: pytest.StashKey[tuple[frozenset[str], str, Sequence[Mapping[str, Any]]]] = pytest.StashKey()
REFERENCE: pytest.StashKey[Reference] = pytest.StashKey()
OUTPUT = "bank_verdicts"
AGAIN = "--bank-variants"


def read_option(config: pytest.Config) -> "VaryPlugin":
    """Reads the options of --bank-vary. Raises UsageError."""
    given = config.getoption
    try:
        if given("--bank-vary") not in STRENGTHS:
            raise ValueError(f"--bank-vary is 1, 2 or 3, not {given('--bank-vary')!r:.60}")
        space = space_of(split_names(given("--bank-vary-axes")), split_names(given("--bank-vary-only")))
        path = given("--bank-vary-allow")
        text = "" if path is None else Path(path).read_text(encoding="utf-8-sig")
        allowed = read_allowed(text)
        lies = given("bank_lies")
        path = given("--bank-vary-allow-lies")
        allowed_lies = read_allowed_lies("" if path is None else Path(path).read_text(encoding="utf-8-sig"))
        reports = list(map(read_report_path, given("--bank-vary-report")))
    except (ValueError, OSError) as wrong:
        raise pytest.UsageError(str(wrong)) from None
    return VaryPlugin(space, int(given("--bank-vary")), allowed, reports, lies, allowed_lies)


def variant_of(item: pytest.Item, start: "Start") -> Mapping[str, str]:
    """Returns the variant of a test's world, from the run or the command line, without axes that the test sets."""
    changes = whole_variant(item).axes
    return {axis: value for axis, value in changes.items() if axis not in pinned_axes(start)}


def whole_variant(item: pytest.Item) -> Variant:
    """Returns the variant of the command line with that of the run, which may have a lie."""
    given = item.config.getoption("--bank-variants")
    try:
        asked = read_variant(given) if given else TODAY
    except ValueError as wrong:
        raise pytest.UsageError(f"--bank-variants: {wrong}") from None
    return Variant((*asked.changes, *item.stash.get(VARIANT, TODAY).changes))


def lines_of(item: pytest.Item) -> list[str]:
    return whole_variant(item).extensions


def pinned_axes(start: "Start") -> frozenset[str]:
    """Returns the axes that a test sets by itself. They are not varied."""
    return frozenset(start.settings.get("variants", ()))


def note_met_axes(item: pytest.Item, bank: BankFixture, start: "Start") -> None:
    """Notes the axes that the test met and its last call, before its world is dropped."""
    if VARIANT in item.stash:
        rows = bank.controls.listed("requests")
        calls = RunCalls(bank.controls, rows, item.stash[VARIANT], item.stash.get(REFERENCE, ()))
        item.stash[REFERENCE] = calls.reference
        told = bank.controls.listed("lies") if item.stash[VARIANT].extensions else []
        item.stash[MET] = axes_met(bank.controls, rows) - pinned_axes(start), calls.describe_last(), told


class NextTestOfModule:
    """A next test in the same class and module. So teardown keeps the fixtures of class and module."""

    def __init__(self, item: pytest.Item) -> None:
        self._item = item

    def listchain(self) -> list[Any]:
        return [*self._item.listchain()[:-1], self]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._item, name)


@dataclass(eq=False)
class VaryPlugin:
    """Runs each test that has a bank: against today's bank, then under a covering set of the axes that it met."""

    space: Space
    strength: int
    allowed: list[AllowedBreak]
    reports: list[Path]
    tells_lies: bool = False
    allowed_lies: AllowedLies = field(default_factory=dict)
    verdicts: list[Verdict] = field(default_factory=list)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        if "bank" not in getattr(item, "fixturenames", ()):
            return None
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        first = self.play(item, TODAY)
        runs = Runs(lambda variant: run_of(item, self.play(item, variant)))
        runs.add((TODAY, 0), run_of(item, first))
        try:
            if not any(one.skipped for one in first):
                with suppress(FailsToday, NothingMet):
                    self.judge(item, runs, first)
                with suppress(FailsToday, NothingMet):
                    self.judge_lies(item, runs)
        finally:
            del item.stash[VARIANT]
        for report in [*first, *self.end(item, nextitem)]:
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def play(self, item: pytest.Item, variant: Variant) -> list[pytest.TestReport]:
        item.stash[VARIANT] = variant
        item.stash[MET] = frozenset(), "", ()
        return runtestprotocol(item, log=False, nextitem=NextTestOfModule(item))  # type: ignore[arg-type]

    def end(self, item: pytest.Item, nextitem: pytest.Item | None) -> list[pytest.TestReport]:
        """Tears down the fixtures that the next test does not need. Returns a report if that failed."""
        state = item.session._setupstate
        call = pytest.CallInfo.from_call(lambda: state.teardown_exact(nextitem), "teardown", (KeyboardInterrupt,))
        report: pytest.TestReport = item.ihook.pytest_runtest_makereport(item=item, call=call)
        return [report] if report.failed else []

    def judge(self, item: pytest.Item, runs: Runs, reports: list[pytest.TestReport]) -> None:
        """Judges one test. A break that is not allowed fails it."""
        verdict = allow(judge(runs, self.space, self.strength, 1), self.allowed)
        self.verdicts.append(verdict)
        call = next(one for one in reports if one.when == "call")
        lines = []
        for broken in verdict.breaks:
            text = "\n".join([f"{describe_break(broken)}.", *describe_details(broken, AGAIN)])
            if broken.allowed is None:
                lines.append(text)
            else:
                call.sections.append(("bank, allowed", text))
        if lines:
            call.outcome, call.longrepr = "failed", "\n\n".join(lines)

    def judge_lies(self, item: pytest.Item, runs: Runs) -> None:
        """Tells one test the lies that it can meet. Whether nobody notices a lie is known when all tests were told."""
        if self.tells_lies and not runs.of(TODAY).failed:
            lies = judge_lies(runs)
            self.verdicts.append(Verdict(Space({}), self.strength, (), frozenset(), lies=lies))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """A worker of xdist sends its verdicts to the controller, where a lie that nobody notices fails the session."""
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output[OUTPUT] = pickle.dumps(self.verdicts)
        elif session.exitstatus == pytest.ExitCode.OK and self.lies.believed:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @property
    def lies(self) -> LieVerdict:
        told = (verdict.lies for verdict in self.verdicts if verdict.lies is not None)
        return allow_lies(merge_lies(told), self.allowed_lies)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        output = getattr(node, "workeroutput", {})
        self.verdicts += pickle.loads(output[OUTPUT]) if OUTPUT in output else []

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        terminalreporter.section("banks that this one could have been")
        if not self.verdicts:
            terminalreporter.write_line("No test with the fixture `bank` passed and met an axis.")
            return
        verdict = replace(allow(merge(self.verdicts), self.allowed), space=self.space, again=AGAIN)
        verdict = replace(verdict, lies=self.lies if self.tells_lies else None)
        for line in describe_rest(verdict):
            terminalreporter.write_line(line)
        for path in self.reports:
            write_report(path, verdict)


def run_of(item: pytest.Item, reports: list[pytest.TestReport]) -> VariantRun:
    """Returns the reports of one test as a run."""
    met, call, told = item.stash[MET]
    failed = next((report for report in reports if report.failed), None)
    result = Result(True) if failed is None else Result(False, failure_of(failed), call)
    return VariantRun({item.nodeid: result}, met, told=told)


def failure_of(report: pytest.TestReport) -> str:
    """Returns the error of a failed test in one line."""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = str(crash.message if crash is not None else report.longrepr).strip() or "it failed"
    return " ".join(text.splitlines()[0 if crash is not None else -1].split())[:FAILURE_MAX]
