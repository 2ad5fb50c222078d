"""A sandbox that runs, for the commands that drive one."""

from collections.abc import Iterator

import pytest

from sandbox.assembly import assemble, first_beginning
from sandbox.machine import machine_time
from sandbox.register import Worlds
from sandbox.rules.durations import read_instant
from sandbox.serving import in_background


@pytest.fixture
def url() -> Iterator[str]:
    beginning = first_beginning(seed=7, at=read_instant("2027-03-01T09:00:00+01:00"), rate=0.0)
    with in_background(assemble(Worlds(beginning, machine_time))) as address:
        yield address
