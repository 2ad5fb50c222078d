"""A sandbox that runs, for what drives one: commands, and the tools of agents."""

from collections.abc import Iterator

import pytest

from sandbox.app import assemble, make_first_beginning
from sandbox.banking.durations import read_instant
from sandbox.machine import machine_time
from sandbox.server.server import serve_in_background
from sandbox.web.controls.lock import Lock
from sandbox.worlds.registry import WorldRegistry

KEY = "a-key-for-the-team"


def frozen_worlds() -> WorldRegistry:
    return WorldRegistry(
        make_first_beginning(seed=7, at=read_instant("2027-03-01T09:00:00+01:00"), rate=0.0), machine_time
    )


@pytest.fixture
def url() -> Iterator[str]:
    with serve_in_background(assemble(frozen_worlds())) as address:
        yield address


@pytest.fixture
def locked_url() -> Iterator[str]:
    """A sandbox whose controls want KEY."""
    with serve_in_background(assemble(frozen_worlds(), lock=Lock(KEY))) as address:
        yield address
