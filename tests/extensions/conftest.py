"""A Python that has imported the libraries, and nothing of the sandbox: the tests say where that is."""

from collections.abc import Iterator

import pytest

from tests.extensions.copies import Run, runner
from tests.warm import LIBRARIES, warm


@pytest.fixture(scope="session")
def run_in() -> Iterator[Run]:
    with warm(*LIBRARIES) as python:
        yield runner(python)
