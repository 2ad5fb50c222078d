"""The options `--bank-vary` and `--bank-variants`. Their modules are imported only if one of them is given."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from sandbox.testing.bank import BankFixture
    from sandbox.testing.start import Start

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
    "ready": {
        "nargs": "?",
        "const": "ready",
        "metavar": "FOLDER",
        "help": "Say whether the client may go live, by axes, lies, a gateway that fails and nights for each test; "
        "writes ready.json, ready.html and ready.svg (default: into ready).",
    },
    "ready-accept": {"metavar": "FILE", "help": "With --bank-ready: accepted findings (default: ready.yaml)."},
    "vary-allow-lies": {"metavar": "FILE", "help": "With --lies: a file of lies that a test may believe."},
    "variants": {"metavar": "AXIS=VALUE,...", "help": "How the bank of every test differs."},
}


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("bank")
    for name, more in VARY_OPTIONS.items():
        group.addoption(f"--bank-{name}", **{"default": None, **more})
    about = "With --bank-vary: tell each test the lies that it can meet, and say which nobody notices."
    group.addoption("--lies", "--bank-lies", action="store_true", dest="bank_lies", help=about)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(args: list[str]) -> None:
    """Gives the options an explicit default value. Otherwise argparse would read the next word as the value of an
    option."""
    defaults = {"--bank-vary": "--bank-vary=2", "--bank-ready": "--bank-ready=ready"}
    args[:] = [defaults.get(word, word) for word in args]


def pytest_configure(config: pytest.Config) -> None:
    if any(config.getoption(name) is not None for name in ("--bank-vary", "--bank-ready")):
        from sandbox.extensions.vary.pytest_runs import read_option

        config.pluginmanager.register(read_option(config), "bank-vary")
    elif config.getoption("bank_lies"):
        raise pytest.UsageError("--lies needs --bank-vary")


def is_varied(item: pytest.Item) -> bool:
    return any(item.config.getoption(f"--bank-{name}") is not None for name in ("vary", "variants", "ready"))


def pytest_bank_start(item: pytest.Item, start: "Start") -> "Start | None":
    if not is_varied(item):
        return None
    from sandbox.extensions.vary.pytest_runs import set_clock_to_night

    return set_clock_to_night(item, start)


def pytest_bank_variants(item: pytest.Item, start: "Start") -> Mapping[str, str]:
    if not is_varied(item):
        return {}
    from sandbox.extensions.vary.pytest_runs import find_variant

    return find_variant(item, start)


def pytest_bank_extensions(item: pytest.Item, start: "Start") -> Sequence[str]:
    if not is_varied(item):
        return ()
    from sandbox.extensions.vary.pytest_runs import list_lines

    return list_lines(item)


def pytest_bank_begins(item: pytest.Item, bank: "BankFixture", start: "Start") -> None:
    if is_varied(item):
        from sandbox.extensions.vary.pytest_runs import add_faults

        add_faults(item, bank)


def pytest_bank_ends(item: pytest.Item, bank: "BankFixture", start: "Start") -> None:
    if is_varied(item):
        from sandbox.extensions.vary.pytest_runs import note_met_axes

        note_met_axes(item, bank, start)
