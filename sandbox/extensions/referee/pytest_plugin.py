"""The options `--bank-referee`, `--bank-waive` and `--bank-coverage`."""

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
    options = "A test fails when the referee finds something as grave as this at its clients."
    group.addoption("--bank-referee", choices=LEVELS, default=None, help=options)
    options = "RULE:REASON; waves a rule's findings off in every test. May be repeated."
    group.addoption("--bank-waive", action="append", default=[], metavar="RULE:REASON", help=options)
    options = "Says at the end what of the bank the tests have met, and what to try next."
    group.addoption("--bank-coverage", action="store_true", help=options)


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
    """A test that held fails all the same where its client was found at fault (--bank-referee)."""
    outcome = yield
    bank, level = item.stash.get(BANK, None), item.config.getoption("--bank-referee")
    if bank is not None and level is not None:
        from sandbox.extensions.referee.failed_tests import render_findings

        if options := render_findings(bank, level, item.config.getoption("--bank-waive")):
            pytest.fail(options, pytrace=False)
    return outcome


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker of xdist hands on what its tests have met."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None and session.config.stash[COVERED]:
        from sandbox.extensions.referee.coverage import merge_coverage

        parts: list[dict[str, Any]] = session.config.stash[COVERED]
        output["bank_coverage"] = merge_coverage(parts)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """What a worker has met is added to the others'."""
    found = getattr(node, "workeroutput", {}).get("bank_coverage")
    if found is not None:
        node.config.stash[COVERED].append(found)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    parts: list[dict[str, Any]] = config.stash[COVERED]
    if parts:
        from sandbox.extensions.referee.failed_tests import render_coverage

        terminalreporter.section("what of the bank was met")
        terminalreporter.write_line(render_coverage(parts))
