"""The pytest options `--bank-referee` (fails tests with findings), `--bank-waive` (waives a rule) and `--bank-coverage`
(prints the coverage of all tests)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pytest

from sandbox.pytest_plugin import BANK

if TYPE_CHECKING:
    from sandbox.testing.bank import BankFixture
    from sandbox.testing.start import Start

COVERED: pytest.StashKey[list[dict[str, Any]]] = pytest.StashKey()
LEVELS = ("error", "warning", "advice")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("bank")
    about = "A test fails when the referee finds something as grave as this at its clients."
    group.addoption("--bank-referee", choices=LEVELS, default=None, help=about)
    about = "RULE:REASON; waves a rule's findings off in every test. May be repeated."
    group.addoption("--bank-waive", action="append", default=[], metavar="RULE:REASON", help=about)
    about = "Says at the end what of the bank the tests have met, and what to try next."
    group.addoption("--bank-coverage", action="store_true", help=about)


def pytest_configure(config: pytest.Config) -> None:
    config.stash[COVERED] = []
    if waives := config.getoption("--bank-waive"):
        from sandbox.extensions.referee.report import read_waive

        try:
            dict(map(read_waive, waives))
        except ValueError as wrong:
            raise pytest.UsageError(f"--bank-waive: {wrong}") from None


def pytest_bank_ends(item: pytest.Item, bank: "BankFixture", start: "Start") -> None:
    if item.config.getoption("--bank-coverage"):
        item.config.stash[COVERED].append(bank.coverage)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Any:
    """With `--bank-referee LEVEL`, fails a test that would pass if the referee has a finding of this level or graver
    about the test's client. Findings that are waived do not count. Changes nothing without the option, or if the test
    uses no bank."""
    outcome = yield
    bank, level = item.stash.get(BANK, None), item.config.getoption("--bank-referee")
    if bank is not None and level is not None:
        findings = render_findings(bank.findings, level, item.config.getoption("--bank-waive"))
        if findings:
            pytest.fail(findings, pytrace=False)
    return outcome


def render_findings(findings: Sequence[dict[str, Any]], level: str, waives: Sequence[str]) -> str:
    """Returns a text with the findings that are at or above the level and not waived, or an empty text if there are
    none."""
    waived = {text.partition(":")[0].strip() for text in waives}
    lines = []
    for row in findings:
        if row["waved_off"] or row["rule"] in waived or LEVELS.index(row["severity"]) > LEVELS.index(level):
            continue
        call = row["call"]
        lines += [
            f"  {row['severity']} {row['rule']} ({row['clause']}): {row['title']}: {row['what']}",
            f"    {call['method']} {call['path']} {call['request_id']} at {call['at']}",
            f"    {row['instead']}",
        ]
    return "\n".join(["the referee found:", *lines]) if lines else ""


def pytest_sessionfinish(session: pytest.Session) -> None:
    """In a worker of xdist, sends the coverage of its tests to the main process. Does nothing in the main process."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None and session.config.stash[COVERED]:
        from sandbox.extensions.referee.coverage import merge_coverage

        parts: list[dict[str, Any]] = session.config.stash[COVERED]
        output["bank_coverage"] = merge_coverage(parts)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    coverage = getattr(node, "workeroutput", {}).get("bank_coverage")
    if coverage is not None:
        node.config.stash[COVERED].append(coverage)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if parts := config.stash[COVERED]:
        terminalreporter.section("what of the bank was met")
        terminalreporter.write_line(render_coverage(parts))


def render_coverage(parts: Sequence[dict[str, Any]]) -> str:
    """Returns the coverage of all tests as text. `parts` are the coverages of single tests or of workers."""
    from sandbox.extensions.referee.coverage import describe_cell, merge_coverage

    merged = merge_coverage(parts)
    rows = [f"{row['kind']:10} {row['met']:4} of {row['all']:4}  {row['percent']:5} %" for row in merged["table"]]
    missing = [f"  {describe_cell(cell)}" for cell in merged["most_useful_not_met"]]
    return "\n".join([*rows, f"{merged['percent']} % of everything; not met yet, most useful first:", *missing])
