"""One server for all the stories; each plays in a world of its own."""

from collections.abc import Iterator

import pytest

from sandbox.machine import machine_time
from sandbox.player.runs import serve_worlds


@pytest.fixture(scope="session")
def url() -> Iterator[str]:
    with serve_worlds(machine_time, jobs=4) as address:
        yield address
