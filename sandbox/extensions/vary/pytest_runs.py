"""`pytest --bank-vary`: runs each test again with other values of the axes that its calls met, and gives a verdict on
each test."""

import pickle
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from _pytest.runner import runtestprotocol

from sandbox.extensions.vary.allow_file import Allowed
from sandbox.extensions.vary.call_comparison import RunCalls
from sandbox.extensions.vary.conditions import FAULT, GATEWAY_FAULTS, NIGHT, NIGHTS
from sandbox.extensions.vary.lie_verdict import (
    LieVerdict,
    allow_lies,
    judge_lies,
    merge_lies,
    read_allowed_lies,
)
from sandbox.extensions.vary.readiness import (
    Acceptance,
    ConditionRun,
    Evidence,
    describe_document,
    find_accepted,
    make_document,
    run_condition,
)
from sandbox.extensions.vary.ready_page import write_files
from sandbox.extensions.vary.ready_worlds import WORLDS_MAX, write_worlds
from sandbox.extensions.vary.report import (
    describe_break,
    describe_details,
    describe_rest,
    read_report_path,
    write_report,
)
from sandbox.extensions.vary.run_banks import Looks, WorldNotes, look_at
from sandbox.extensions.vary.runs import FAILURE_MAX, FailsByDefault, NothingMet, Reference, Result, Runs, VariantRun
from sandbox.extensions.vary.space import DEFAULT_BANK, LISTING, Space, Variant, make_space, read_variant, split_names
from sandbox.extensions.vary.verdict import (
    Verdict,
    allow,
    judge,
    merge,
    read_allowed,
)
from sandbox.reader.tree import ScenarioErrors
from sandbox.testing.bank import BankFixture
from sandbox.testing.start import SEED

if TYPE_CHECKING:
    from sandbox.testing.start import Start

STRENGTHS = ("1", "2", "3")
VARIANT: pytest.StashKey[Variant] = pytest.StashKey()
MET: pytest.StashKey[tuple[WorldNotes, str]] = pytest.StashKey()
REFERENCE: pytest.StashKey[Reference] = pytest.StashKey()
OUTPUT = "bank_verdicts"
AGAIN = "--bank-variants"
READY_STRENGTH = "1"


def read_option(config: pytest.Config) -> "VaryPlugin":
    """Returns the plugin for --bank-vary or --bank-ready. Raises UsageError if an option is wrong, or if a file that an
    option names cannot be read or is wrong."""
    option = config.getoption
    try:
        folder = option("--bank-ready")
        strength = option("--bank-vary") or (READY_STRENGTH if folder is not None else None)
        if strength not in STRENGTHS:
            raise ValueError(f"--bank-vary is 1, 2 or 3, not {strength!r:.60}")
        ready = None if folder is None else ReadySession(Path(folder), find_accepted(option("--bank-ready-accept")))
        space = make_space(split_names(option("--bank-vary-axes")), split_names(option("--bank-vary-only")))
        allowed = read_allowed(read_text_if_named(option("--bank-vary-allow")))
        lies = option("bank_lies") or ready is not None
        allowed_lies = read_allowed_lies(read_text_if_named(option("--bank-vary-allow-lies")))
        reports = list(map(read_report_path, option("--bank-vary-report")))
    except (ValueError, OSError, ScenarioErrors) as wrong:
        raise pytest.UsageError(str(wrong)) from None
    return VaryPlugin(space, int(strength), allowed, reports, lies, allowed_lies, ready)


def read_text_if_named(path: str | None) -> str:
    return "" if path is None else Path(path).read_text(encoding="utf-8-sig")


def pytest_bank_variants(item: pytest.Item, start: "Start") -> Mapping[str, str]:
    """Returns the values of axes by which the bank of the test differs from the default bank in the present run. Leaves
    out axes that the test sets by itself."""
    changes = compose_variant(item).axes
    return {axis: value for axis, value in changes.items() if axis not in find_pinned_axes(start)}


def compose_variant(item: pytest.Item) -> Variant:
    """Returns the variant under which a test runs. It has the choices of `--bank-variants`, and then those of the
    present run of `--bank-vary`. Raises UsageError if `--bank-variants` is wrong."""
    variants = item.config.getoption("--bank-variants")
    try:
        requested_variant = read_variant(variants) if variants else DEFAULT_BANK
    except ValueError as wrong:
        raise pytest.UsageError(f"--bank-variants: {wrong}") from None
    return Variant((*requested_variant.changes, *item.stash.get(VARIANT, DEFAULT_BANK).changes))


def pytest_bank_extensions(item: pytest.Item, start: "Start") -> list[str]:
    return compose_variant(item).extensions


def find_pinned_axes(start: "Start") -> frozenset[str]:
    """Returns the axes that a test sets by itself. They are not varied."""
    return frozenset(start.settings.get("variants", ()))


def pytest_bank_ends(item: pytest.Item, bank: BankFixture, start: "Start") -> None:
    """Stores the facts about the test's world in the item's stash, before the world is dropped. Also stores a text
    about the call at which the test probably failed, if it failed. With --bank-ready, the facts of the run under
    LISTING include the findings of the referee, the coverage and the exported world. Leaves out axes that the test sets
    by itself. Does nothing for tests that VaryPlugin does not run."""
    if VARIANT in item.stash:
        variant = item.stash[VARIANT]
        whole = variant == LISTING and item.config.getoption("--bank-ready") is not None
        notes = look_at(bank.controls, Looks(lies=bool(variant.extensions), referee=whole, export=whole))
        notes.met -= find_pinned_axes(start)
        calls = RunCalls(bank.controls, notes.rows, variant, item.stash.get(REFERENCE, ()))
        item.stash[REFERENCE] = calls.reference
        item.stash[MET] = notes, calls.describe_last()


def pytest_bank_start(item: pytest.Item, start: "Start") -> "Start | None":
    """Returns the options with which a test's world starts: those of `start`, with the clock set to the night under
    which the test runs (see conditions.py). Returns None, so that `start` stays unchanged, if the variant of the test
    has no night, or if a marker of the test sets the time."""
    night = compose_variant(item).night
    sets_time = any("at" in mark.kwargs for mark in item.iter_markers("bank"))
    return None if night is None or sets_time else replace(start, at=night)


def pytest_bank_begins(item: pytest.Item, bank: BankFixture, start: "Start") -> None:
    for fault in compose_variant(item).faults:
        bank.faults.add(**fault)


@dataclass
class ReadySession:
    """The results that `--bank-ready` collects in addition to the verdicts. At the end of the session it writes the
    document, which says whether the client may go live."""

    folder: Path
    accepted: Mapping[str, Acceptance]
    findings: list[Mapping[str, Any]] = field(default_factory=list)
    coverage: list[Mapping[str, Any]] = field(default_factory=list)
    conditions: list[tuple[str, ConditionRun]] = field(default_factory=list)
    exports: list[str] = field(default_factory=list)
    document: Mapping[str, Any] = field(default_factory=dict)

    def add(self, item: pytest.Item, runs: Runs) -> None:
        """Adds the findings, the coverage and the exported worlds of one test, which come from its run under LISTING
        (no lie is told, but the world lists possible lies). Then runs this test under each night and each gateway fault
        (see conditions.py)."""
        listing = runs.find_run(LISTING)
        self.exports += item.stash[MET][0].exports  # of the run that was just made, or of none
        self.findings += listing.findings
        self.coverage += listing.coverage
        for kind, names in ((NIGHT, NIGHTS), (FAULT, GATEWAY_FAULTS)):
            self.conditions += [(kind, run_condition(runs, kind, name)) for name in names]

    def join(self, other: "ReadySession") -> None:
        """Adds what another process (a worker of xdist) has collected."""
        self.findings += other.findings
        self.coverage += other.coverage
        self.conditions += other.conditions
        self.exports += other.exports

    def write(self, verdict: Verdict, command: str, seed: int) -> None:
        nights, faults = (
            [join_runs(name, [run for of, run in self.conditions if of == kind and run.name == name]) for name in names]
            for kind, names in ((NIGHT, NIGHTS), (FAULT, GATEWAY_FAULTS))
        )
        evidence = Evidence(verdict, self.findings, self.coverage, nights, faults, command, seed)
        self.folder.mkdir(parents=True, exist_ok=True)
        worlds = write_worlds(self.folder, [(DEFAULT_BANK, text) for text in self.exports[:WORLDS_MAX]])
        self.document = make_document(evidence, self.accepted, worlds)
        write_files(self.folder, self.document)


def join_runs(name: str, runs: Sequence[ConditionRun]) -> ConditionRun:
    """Joins the runs of different tests under the same condition into one. The condition was met if any run met it."""
    failures = {test: text for run in runs for test, text in run.failures.items()}
    return ConditionRun(name, any(run.was_met for run in runs), failures)


class NextTestOfModule:
    """A made-up next test in the same class and module. Because of it, pytest keeps the fixtures of this class and
    module for the next run of the test."""

    def __init__(self, item: pytest.Item) -> None:
        self._item = item

    def listchain(self) -> list[Any]:
        return [*self._item.listchain()[:-1], self]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._item, name)


@dataclass(eq=False)
class VaryPlugin:
    """Runs each test that uses the fixture `bank` several times. The first run is on the default bank. If the test
    passes there, it runs again under the variants of a covering set of the axes that it met. With `tells_lies`, it also
    runs under each lie that could change a reply to its calls."""

    space: Space
    strength: int
    allowed: Allowed[Variant]
    reports: list[Path]
    tells_lies: bool = False
    allowed_lies: Allowed[str] = field(default_factory=dict)
    ready: ReadySession | None = None
    verdicts: list[Verdict] = field(default_factory=list)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        if "bank" not in getattr(item, "fixturenames", ()):
            return None
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        first = self.play(item, DEFAULT_BANK)
        runs = Runs(lambda variant: make_run(item, self.play(item, variant)))
        runs.add((DEFAULT_BANK, 0), make_run(item, first))
        try:
            if not any(result.skipped for result in first):
                with suppress(FailsByDefault, NothingMet):
                    self.judge(item, runs, first)
                with suppress(FailsByDefault, NothingMet):
                    self.judge_lies(item, runs)
        finally:
            del item.stash[VARIANT]
        for report in [*first, *self.end(item, nextitem)]:
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def play(self, item: pytest.Item, variant: Variant) -> list[pytest.TestReport]:
        item.stash[VARIANT] = variant
        item.stash[MET] = WorldNotes(), ""
        return runtestprotocol(item, log=False, nextitem=NextTestOfModule(item))  # type: ignore[arg-type]

    def end(self, item: pytest.Item, nextitem: pytest.Item | None) -> list[pytest.TestReport]:
        """Tears down the fixtures that the next test does not need. Returns a list with the report on the teardown if
        it failed, else an empty list."""
        state = item.session._setupstate
        call = pytest.CallInfo.from_call(lambda: state.teardown_exact(nextitem), "teardown", (KeyboardInterrupt,))
        report: pytest.TestReport = item.ihook.pytest_runtest_makereport(item=item, call=call)
        return [report] if report.failed else []

    def judge(self, item: pytest.Item, runs: Runs, reports: list[pytest.TestReport]) -> None:
        """Judges one test and adds the verdict to `verdicts`. `reports` are the reports on the test's run on the
        default bank. A break that is not allowed turns the report of the test into a failure, except with --bank-ready.
        A break that is allowed is only mentioned in the report. Raises FailsByDefault if the test fails on the default
        bank, and NothingMet if its calls meet no axis of the space."""
        verdict = allow(judge(runs, self.space, self.strength, 1), self.allowed)
        self.verdicts.append(verdict)
        call = next(report for report in reports if report.when == "call")
        lines = []
        for broken in verdict.breaks:
            text = "\n".join([f"{describe_break(broken)}.", *describe_details(broken, AGAIN)])
            if broken.allowed is None:
                lines.append(text)
            else:
                call.sections.append(("bank, allowed", text))
        if lines and self.ready is None:
            call.outcome, call.longrepr = "failed", "\n\n".join(lines)

    def judge_lies(self, item: pytest.Item, runs: Runs) -> None:
        """Runs one test under each lie that could change a reply to its calls, and adds the verdict. With --bank-ready,
        first adds the findings of the test to the session (see `ReadySession.add`). Does nothing without `tells_lies`,
        or if the test fails on the default bank.

        A lie that this test does not notice does not fail the test, because a later test may notice the lie. Raises
        NothingMet if no lie could change a reply.
        """
        if self.tells_lies and not runs.find_run(DEFAULT_BANK).failed:
            runs.find_run(LISTING)
            if self.ready is not None:
                self.ready.add(item, runs)
            lies = judge_lies(runs)
            self.verdicts.append(Verdict(Space({}), self.strength, (), frozenset(), lies=lies))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """In a worker of xdist, only sends the verdicts to the controller. In any other process, may fail a session
        that has passed so far.

        Without --bank-ready, fails it if a test read a lie that no test notices and that the user does not allow. With
        --bank-ready, writes the document, and fails the session if the client is not ready. Does neither if there are
        no verdicts.
        """
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output[OUTPUT] = pickle.dumps((self.verdicts, self.ready))
            return
        is_bad = bool(self.lies.believed)
        if self.ready is not None and self.verdicts:
            command = f"pytest {' '.join(session.config.args)}"
            self.ready.write(self.compose_verdict(), command, SEED)
            is_bad = not self.ready.document["ready"]
        if session.exitstatus == pytest.ExitCode.OK and is_bad:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def compose_verdict(self) -> Verdict:
        verdict = replace(allow(merge(self.verdicts), self.allowed), space=self.space, again=AGAIN)
        return replace(verdict, lies=self.lies if self.tells_lies else None)

    @property
    def lies(self) -> LieVerdict:
        lies = (verdict.lies for verdict in self.verdicts if verdict.lies is not None)
        return allow_lies(merge_lies(lies), self.allowed_lies)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        output = getattr(node, "workeroutput", {})
        if OUTPUT in output:
            verdicts, ready = pickle.loads(output[OUTPUT])
            self.verdicts += verdicts
            if self.ready is not None:
                self.ready.join(ready)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        terminalreporter.section("banks that this one could have been")
        if not self.verdicts:
            terminalreporter.write_line("No test with the fixture `bank` passed and met an axis.")
            return
        verdict = self.compose_verdict()
        for line in describe_rest(verdict) if self.ready is None else self.describe_readiness(self.ready):
            terminalreporter.write_line(line)
        for path in self.reports:
            write_report(path, verdict)

    def describe_readiness(self, ready: ReadySession) -> Iterator[str]:
        yield from describe_document(ready.document)
        word = "READY" if ready.document["ready"] else "NOT READY"
        yield f"{word}: {ready.folder / 'ready.html'}; digest {ready.document['digest']}"


def make_run(item: pytest.Item, reports: list[pytest.TestReport]) -> VariantRun:
    """Makes a VariantRun from the reports on one run of a test, and from the notes in the item's stash."""
    notes, call = item.stash[MET]
    failed = next((report for report in reports if report.failed), None)
    result = Result(True) if failed is None else Result(False, describe_failure(failed), call)
    return notes.make_run({item.nodeid: result})


def describe_failure(report: pytest.TestReport) -> str:
    """Returns the error of a failed test in one line."""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = str(crash.message if crash is not None else report.longrepr).strip() or "it failed"
    return " ".join(text.splitlines()[0 if crash is not None else -1].split())[:FAILURE_MAX]
