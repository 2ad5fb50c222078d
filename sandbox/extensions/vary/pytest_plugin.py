"""The options `--bank-vary`, `--bank-ready` and `--bank-variants`. The module with their hooks is imported only if one
of them is given."""

from typing import Any

import pytest

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
    """Replaces `--bank-vary` and `--bank-ready` without a value by the same option with its default value. Otherwise
    argparse would read the next word as the value."""
    defaults = {"--bank-vary": "--bank-vary=2", "--bank-ready": "--bank-ready=ready"}
    args[:] = [defaults.get(word, word) for word in args]


def pytest_configure(config: pytest.Config) -> None:
    is_judged = any(config.getoption(name) is not None for name in ("--bank-vary", "--bank-ready"))
    if is_judged or config.getoption("--bank-variants") is not None:
        from sandbox.extensions.vary import pytest_runs

        config.pluginmanager.register(pytest_runs, "bank-variants")
        if is_judged:
            config.pluginmanager.register(pytest_runs.read_option(config), "bank-vary")
    if config.getoption("bank_lies") and not is_judged:
        raise pytest.UsageError("--lies needs --bank-vary")
