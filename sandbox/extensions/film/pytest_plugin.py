"""The option `--bank-film`: writes a film, an HTML file that replays the bank's calls, for each failed test."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sandbox.pytest_plugin import BANK

if TYPE_CHECKING:
    from sandbox.testing.bank import BankFixture

NAME_MAX = 120  # characters of a film's file


def pytest_addoption(parser: pytest.Parser) -> None:
    about = "Writes the film of each failed test's bank, an HTML file, into this folder."
    parser.getgroup("bank").addoption("--bank-film", metavar="FOLDER", default=None, help=about)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Any:
    report = yield
    bank, folder = item.stash.get(BANK, None), item.config.getoption("--bank-film")
    if report.failed and report.when != "teardown" and bank is not None and folder is not None:
        report.sections.append(("film", write_film(bank, item.config.invocation_params.dir / folder, item.nodeid)))
    return report


def write_film(bank: "BankFixture", folder: Path, test: str) -> str:
    """Writes the film of a test's bank into the folder. Returns a line for the test's report: the path of the file, or
    the reason why it could not be written."""
    from sandbox.extensions.film.page import render_film
    from sandbox.testing.report import NO_ANSWER

    file = folder / f"{re.sub(r'[^A-Za-z0-9_.-]+', '-', test)[-NAME_MAX:]}.html"
    try:
        text = render_film(bank.controls, test)
        folder.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    except NO_ANSWER as error:
        return f"{bank.base_url} cannot be asked: {error}"
    except OSError as error:
        return f"{file} cannot be written: {error.strerror}"
    return f"{file}: open it in a browser"
