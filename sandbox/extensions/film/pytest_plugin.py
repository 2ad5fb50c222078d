"""The option `--bank-film`."""

from typing import Any

import pytest

from sandbox.pytest_plugin import BANK


def pytest_addoption(parser: pytest.Parser) -> None:
    about = "Writes the film of each failed test's bank, an HTML file, into this folder."
    parser.getgroup("bank").addoption("--bank-film", metavar="FOLDER", default=None, help=about)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Any:
    report = yield
    bank, folder = item.stash.get(BANK, None), item.config.getoption("--bank-film")
    if report.failed and report.when != "teardown" and bank is not None and folder is not None:
        from sandbox.extensions.film.failed_tests import write_film

        report.sections.append(("film", write_film(bank, item.config.invocation_params.dir / folder, item.nodeid)))
    return report
