"""The fixture `bank`: one server for a whole run, a world of its own for each test (choice 12).

Every pytest run where the sandbox is installed imports this module. To keep such runs fast, most other modules are
imported only when a test asks for a bank.
"""

import os
import re
from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from sandbox.testing import BankFixture, Start

# Name, what it says.
OPTIONS = (
    ("url", "The address of a server elsewhere (default: SANDBOX_URL); without, one is started on a free port."),
    ("key", "The key of that server's controls (default: SANDBOX_KEY)."),
    ("scenario", "A shipped scenario by its name, or a file."),
    ("seed", "Same seed, same bytes (default: the scenario's, or 1)."),
    ("at", "Where the bank's clock begins (default: the scenario's, or 2027-03-01T09:00); now for the machine's time."),
    ("frozen", "Whether the clock stands until it is moved: yes or no (default: the scenario's, or yes)."),
)
IN_ENVIRONMENT = {"url": "SANDBOX_URL", "key": "SANDBOX_KEY"}  # as for the commands, and as `vary` and `ready` set them
NAMES = ("scenario", "seed", "at", "frozen", "settings")
WORDS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
MARKER = "bank(scenario=..., seed=..., at=..., frozen=..., settings={...}): how this test's bank begins."
TEST_NAME_MAX = 40
BANK: pytest.StashKey["BankFixture"] = pytest.StashKey()
RUN: pytest.StashKey[str] = pytest.StashKey()


class BankHooks:
    """The hooks of the fixture `bank`. Extensions implement them in their modules for pytest."""

    @pytest.hookspec(firstresult=True)
    def pytest_bank_start(self, item: pytest.Item, start: "Start") -> "Start | None":
        """Returns the options with which the bank of a test starts, in place of `start`, which are the options that the
        test asks for. Returns None to keep `start`."""

    def pytest_bank_variants(self, item: pytest.Item, start: "Start") -> Mapping[str, str]:  # type: ignore[empty-body]
        """Returns, by name, values of axes (points on which banks may differ) for the bank of a test. They replace the
        values that the test itself sets."""

    def pytest_bank_extensions(self, item: pytest.Item, start: "Start") -> Sequence[str]:  # type: ignore[empty-body]
        """Returns lines `name: value` that are added to the bank's setting `extensions`. Each line gives a value to a
        setting of an extension."""

    def pytest_bank_begins(self, item: pytest.Item, bank: "BankFixture", start: "Start") -> None:
        """Is called after the world of a test was made and before the test uses it."""

    def pytest_bank_ends(self, item: pytest.Item, bank: "BankFixture", start: "Start") -> None:
        """Is called before the world of a test is dropped, even if the test failed."""


def plugins_of_extensions() -> list[str]:
    """Returns the modules of extensions that have hooks and options for pytest. Raises UsageError if an extension
    cannot be used."""
    from sandbox.extension_registry import ExtensionError, load_installed

    try:
        return [extension.pytest for extension in load_installed() if extension.pytest]
    except ExtensionError as error:
        raise pytest.UsageError(str(error)) from None


pytest_plugins = plugins_of_extensions()


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.add_hookspecs(BankHooks)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("bank", "a sandbox of one bank for each test")
    for name, options in OPTIONS:
        group.addoption(f"--bank-{name}", default=None, metavar=name.upper(), help=options)
        parser.addini(f"bank_{name}", options, default="")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)
    worker = getattr(config, "workerinput", {}).get("workerid", "main")
    # At a server that others use too, the names of worlds are this run's own.
    config.stash[RUN] = f"{worker}-{token_hex(4)}" if chosen(config, "url") else worker


def chosen(config: pytest.Config, name: str) -> str | None:
    """Returns the value of an option from the command line, else from the environment (`url` and `key` only), else from
    the ini file. Returns None if none of them sets the option."""
    option: str | None = config.getoption(f"--bank-{name}")
    if option is None and name in IN_ENVIRONMENT:
        option = os.environ.get(IN_ENVIRONMENT[name]) or None
    return option if option is not None else config.getini(f"bank_{name}") or None


@pytest.fixture(scope="session")
def bank_server(pytestconfig: pytest.Config) -> "Iterator[BankFixture]":
    """The server of this run, as a `BankFixture` of its world `default`. It is the running server at --bank-url if this
    option is given, else a new server (with xdist one for each worker)."""
    import sandbox
    from sandbox.testing.report import find_unreachable_reason
    from sandbox.testing.start import attach_to_server

    url = chosen(pytestconfig, "url")
    opened = sandbox.running(at="now") if url is None else attach_to_server(url, chosen(pytestconfig, "key"))
    with opened as server:
        if url is not None and (silence := find_unreachable_reason(server)):
            pytest.fail(f"--bank-url or SANDBOX_URL: {silence}", pytrace=False)
        yield server


@pytest.fixture
def bank(request: pytest.FixtureRequest, bank_server: "BankFixture") -> "Iterator[BankFixture]":
    """A bank for this test alone. It has base_url, clock, psu, tpp, faults and await_, and lists such as payments."""
    from sandbox.client import Refused
    from sandbox.reader.tree import ScenarioErrors
    from sandbox.testing.start import world_of

    item = request.node
    test = re.sub(r"[^A-Za-z0-9_.-]+", "-", item.name)[:TEST_NAME_MAX]
    with ExitStack() as ends:
        try:
            start = read_start(item)
            start = item.ihook.pytest_bank_start(item=item, start=start) or start
            variants = dict(ChainMap(*item.ihook.pytest_bank_variants(item=item, start=start)))
            lines_by_extension = item.ihook.pytest_bank_extensions(item=item, start=start)
            lines = [line for of_extension in lines_by_extension for line in of_extension]
            world = ends.enter_context(
                world_of(bank_server, f"{item.config.stash[RUN]}-{test}", start, variants, lines)
            )
        except (pytest.UsageError, ScenarioErrors, Refused) as wrong:
            raise pytest.fail.Exception(f"this test's bank cannot begin: {wrong}", pytrace=False) from None
        item.stash[BANK] = world
        try:
            item.ihook.pytest_bank_begins(item=item, bank=world, start=start)
            yield world
        finally:
            del item.stash[BANK]
            item.ihook.pytest_bank_ends(item=item, bank=world, start=start)


def read_start(item: pytest.Item) -> "Start":
    """Returns the options with which a test's bank starts. A marker at the test wins over one at its class or module,
    any marker over the command line, and the command line over the ini file. `settings` has the settings of all
    markers, each from the marker that wins. Raises UsageError if a marker or an option is wrong."""
    from sandbox.testing import Start

    config = item.config
    options: dict[str, Any] = {"settings": {}}
    for mark in item.iter_markers("bank"):
        unknown = sorted(mark.kwargs.keys() - set(NAMES))
        if mark.args or unknown:
            wrong = ", ".join(unknown) or "a value without a name"
            raise pytest.UsageError(f"@pytest.mark.bank does not know {wrong}; it is {MARKER}")
        options = {**mark.kwargs, **options, "settings": {**mark.kwargs.get("settings", {}), **options["settings"]}}
    for name, read in (("scenario", str), ("seed", read_number), ("at", str), ("frozen", read_word)):
        text = chosen(config, name)
        if text is not None and name not in options:
            options[name] = read(text)
    if isinstance(options.get("scenario"), str):
        options["scenario"] = path_of_scenario(options["scenario"], config)
    return Start(**options)


def path_of_scenario(scenario: str, config: pytest.Config) -> str:
    """Returns the path of a scenario file. The file is looked for in the root folder of the tests, then in the current
    folder. If neither has it, returns the path in the root folder. A text that does not end in .yaml or .yml is the
    name of a shipped scenario, and is returned unchanged."""
    if Path(scenario).suffix not in (".yaml", ".yml"):
        return scenario
    places = [folder / scenario for folder in (config.rootpath, config.invocation_params.dir)]
    return str(next((place for place in places if place.exists()), places[0]))


def read_number(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise pytest.UsageError(f"bank_seed is a whole number, not {text!r}")
    return int(text)


def read_word(text: str) -> bool:
    if text.lower() not in WORDS:
        raise pytest.UsageError(f"bank_frozen is yes or no, not {text!r}")
    return WORDS[text.lower()]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Any:
    """Adds a description of the test's bank to the report of a test that failed, unless it failed in its teardown or
    has no bank."""
    report = yield
    bank = item.stash.get(BANK, None)
    if report.failed and report.when != "teardown" and bank is not None:
        from sandbox.testing.report import render_bank

        report.sections.append(("bank", render_bank(bank)))
    return report
