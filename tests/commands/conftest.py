"""A sandbox that runs, for the commands that drive one."""

from collections.abc import Iterator

import pytest

from sandbox.app import assemble, first_beginning
from sandbox.banking.durations import read_instant
from sandbox.machine import machine_time
from sandbox.serve.server import in_background
from sandbox.world.registry import Worlds


@pytest.fixture
def url() -> Iterator[str]:
    beginning = first_beginning(seed=7, at=read_instant("2027-03-01T09:00:00+01:00"), rate=0.0)
    with in_background(assemble(Worlds(beginning, machine_time))) as address:
        yield address
