"""The fixture `bank`: one server for a whole run, a world of its own for each test (choice 12).

Every pytest run where the sandbox is installed imports this, so all else is imported when a test asks for a bank.
"""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from sandbox.testing import Bank, Start

# Name, what it says.
OPTIONS = (
    ("url", "The address of a server elsewhere; without, one is started on a free port."),
    ("key", "The key of that server's controls."),
    ("scenario", "A shipped scenario by its name, or a file."),
    ("seed", "Same seed, same bytes (default: the scenario's, or 1)."),
    ("at", "Where the bank's clock begins (default: the scenario's, or 2027-03-01T09:00); now for the machine's time."),
    ("frozen", "Whether the clock stands until it is moved: yes or no (default: the scenario's, or yes)."),
)
VARY_OPTIONS: dict[str, dict[str, Any]] = {
    "vary": {
        "nargs": "?",
        "const": "2",
        "metavar": "STRENGTH",
        "help": "Run each test again in worlds that differ, in every combination of so many axes (1 to 3; default 2).",
    },
    "vary-axes": {"metavar": "A,B", "help": "With --bank-vary: only these axes."},
    "vary-only": {"metavar": "TOPIC", "help": "With --bank-vary: only the axes of these topics, such as money."},
    "vary-allow": {"metavar": "FILE", "help": "With --bank-vary: a file of known breaks, which fail no test."},
    "vary-report": {
        "action": "append",
        "default": [],
        "metavar": "FILE",
        "help": "With --bank-vary: write the verdict to FILE.html, .xml (JUnit), .sarif or .json. May be repeated.",
    },
    "variants": {"metavar": "AXIS=VALUE,...", "help": "How the bank of every test differs."},
}
NAMES = ("scenario", "seed", "at", "frozen", "settings")
WORDS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
MARKER = "bank(scenario=..., seed=..., at=..., frozen=..., settings={...}): how this test's bank begins."
TEST_NAME_MAX = 40
BANK: pytest.StashKey["Bank"] = pytest.StashKey()
RUN: pytest.StashKey[str] = pytest.StashKey()
COVERED: pytest.StashKey[list[dict[str, Any]]] = pytest.StashKey()
LEVELS = ("error", "warning", "advice")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("bank", "a sandbox of one bank for each test")
    for name, options in OPTIONS:
        group.addoption(f"--bank-{name}", default=None, metavar=name.upper(), help=options)
        parser.addini(f"bank_{name}", options, default="")
    options = "A test fails when the referee finds something as grave as this at its clients."
    group.addoption("--bank-referee", choices=LEVELS, default=None, help=options)
    options = "RULE:REASON; waves a rule's findings off in every test. May be repeated."
    group.addoption("--bank-waive", action="append", default=[], metavar="RULE:REASON", help=options)
    options = "Says at the end what of the bank the tests have met, and what to try next."
    group.addoption("--bank-coverage", action="store_true", help=options)
    options = "Writes the film of each failed test's bank, an HTML file, into this folder."
    group.addoption("--bank-film", metavar="FOLDER", default=None, help=options)
    for name, more in VARY_OPTIONS.items():
        group.addoption(f"--bank-{name}", **{"default": None, **more})


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(args: list[str]) -> None:
    """Without a strength of its own `--bank-vary` would take the next word for one."""
    args[:] = ["--bank-vary=2" if word == "--bank-vary" else word for word in args]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)
    config.stash[COVERED] = []
    if waives := config.getoption("--bank-waive"):
        from sandbox.extensions.referee.report import read_waive

        try:
            dict(map(read_waive, waives))
        except ValueError as wrong:
            raise pytest.UsageError(f"--bank-waive: {wrong}") from None
    if config.getoption("--bank-vary") is not None:
        from sandbox.testing.varying import read_option

        config.pluginmanager.register(read_option(config), "bank-vary")
    worker = getattr(config, "workerinput", {}).get("workerid", "main")
    # At a server that others use too, the names of worlds are this run's own.
    config.stash[RUN] = f"{worker}-{token_hex(4)}" if chosen(config, "url") else worker


def chosen(config: pytest.Config, name: str) -> str | None:
    """By the option, else by the ini file."""
    option: str | None = config.getoption(f"--bank-{name}")
    return option if option is not None else config.getini(f"bank_{name}") or None


@pytest.fixture(scope="session")
def bank_server(pytestconfig: pytest.Config) -> "Iterator[Bank]":
    """The server of this run (of each worker, with xdist), or the one elsewhere; its own world is the default one."""
    import sandbox
    from sandbox.testing.report import unreachable_reason
    from sandbox.testing.start import at_server

    url = chosen(pytestconfig, "url")
    opened = sandbox.running(at="now") if url is None else at_server(url, chosen(pytestconfig, "key"))
    with opened as server:
        if url is not None and (silence := unreachable_reason(server)):
            pytest.fail(f"--bank-url: {silence}", pytrace=False)
        yield server


@pytest.fixture
def bank(request: pytest.FixtureRequest, bank_server: "Bank") -> "Iterator[Bank]":
    """A bank of this test's own: base_url, clock, psu, tpp, faults, await_, and what it holds."""
    from sandbox.client import Refused
    from sandbox.reader.tree import ScenarioErrors
    from sandbox.testing.start import world_of
    from sandbox.testing.varying import note_meeting, variant_of

    item = request.node
    test = re.sub(r"[^A-Za-z0-9_.-]+", "-", item.name)[:TEST_NAME_MAX]
    with ExitStack() as ends:
        try:
            start = start_of(item)
            variants = variant_of(item, start)
            world = ends.enter_context(world_of(bank_server, f"{item.config.stash[RUN]}-{test}", start, variants))
        except (pytest.UsageError, ScenarioErrors, Refused) as wrong:
            raise pytest.fail.Exception(f"this test's bank cannot begin: {wrong}", pytrace=False) from None
        item.stash[BANK] = world
        try:
            yield world
        finally:
            del item.stash[BANK]
            note_meeting(item, world, start)
            if item.config.getoption("--bank-coverage"):
                item.config.stash[COVERED].append(world.coverage)


def start_of(item: pytest.Item) -> "Start":
    """The marker nearest to the test says first, then those around it, then the command line, then the ini file."""
    from sandbox.testing import Start

    config = item.config
    options: dict[str, Any] = {"settings": {}}
    for mark in item.iter_markers("bank"):
        unknown = sorted(mark.kwargs.keys() - set(NAMES))
        if mark.args or unknown:
            wrong = ", ".join(unknown) or "a value without a name"
            raise pytest.UsageError(f"@pytest.mark.bank does not know {wrong}; it is {MARKER}")
        options = {**mark.kwargs, **options, "settings": {**mark.kwargs.get("settings", {}), **options["settings"]}}
    for name, read in (("scenario", str), ("seed", number_of), ("at", str), ("frozen", word_of)):
        text = chosen(config, name)
        if text is not None and name not in options:
            options[name] = read(text)
    if isinstance(options.get("scenario"), str):
        options["scenario"] = found(options["scenario"], config)
    return Start(**options)


def found(scenario: str, config: pytest.Config) -> str:
    """A file is looked for below the root of the tests, then where pytest was called."""
    if Path(scenario).suffix not in (".yaml", ".yml"):
        return scenario
    places = [folder / scenario for folder in (config.rootpath, config.invocation_params.dir)]
    return str(next((place for place in places if place.exists()), places[0]))


def number_of(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise pytest.UsageError(f"bank_seed is a whole number, not {text!r}")
    return int(text)


def word_of(text: str) -> bool:
    if text.lower() not in WORDS:
        raise pytest.UsageError(f"bank_frozen is yes or no, not {text!r}")
    return WORDS[text.lower()]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Any:
    """A test that held fails all the same where its client was found at fault (--bank-referee)."""
    outcome = yield
    bank, level = item.stash.get(BANK, None), item.config.getoption("--bank-referee")
    if bank is not None and level is not None:
        from sandbox.testing.report import render_findings

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
        from sandbox.testing.report import render_coverage

        terminalreporter.section("what of the bank was met")
        terminalreporter.write_line(render_coverage(parts))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Any:
    """A failed test shows what its bank saw."""
    report = yield
    bank = item.stash.get(BANK, None)
    if report.failed and report.when != "teardown" and bank is not None:
        from sandbox.testing.report import render_bank

        report.sections.append(("bank", render_bank(bank)))
        folder = item.config.getoption("--bank-film")
        if folder is not None:
            from sandbox.testing.report import write_film

            report.sections.append(("film", write_film(bank, item.config.invocation_params.dir / folder, item.nodeid)))
    return report
