"""A sandbox that runs, and the tools for it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from sandbox.app import assemble, first_beginning
from sandbox.banking.durations import read_instant
from sandbox.extensions.agents.bank_link import BankLink
from sandbox.extensions.agents.toolbox import Toolbox
from sandbox.machine import machine_time
from sandbox.server.server import in_background
from sandbox.web.controls.lock import Lock
from sandbox.worlds.registry import WorldRegistry

KEY = "a-key-for-the-team"
Call = Callable[..., Any]


def frozen_worlds() -> WorldRegistry:
    return WorldRegistry(first_beginning(seed=7, at=read_instant("2027-03-01T09:00:00+01:00"), rate=0.0), machine_time)


@pytest.fixture
def url() -> Iterator[str]:
    with in_background(assemble(frozen_worlds())) as address:
        yield address


@pytest.fixture
def locked_url() -> Iterator[str]:
    with in_background(assemble(frozen_worlds(), lock=Lock(KEY))) as address:
        yield address


@pytest.fixture
def toolbox_of() -> Iterator[Callable[..., Toolbox]]:
    """Makes the tools for an address, with a key."""
    with ExitStack() as links:
        yield lambda url, key=None: Toolbox(links.enter_context(BankLink(url, key=key)))


@pytest.fixture
def toolbox(toolbox_of: Call, url: str) -> Toolbox:
    made: Toolbox = toolbox_of(url)
    return made


@pytest.fixture
def use(toolbox: Toolbox) -> Call:
    """Calls a tool, which does what it is asked for; the answer is its result."""

    def used(name: str, /, **arguments: Any) -> Any:
        answer = toolbox.call(name, arguments)
        assert not answer.is_error, answer.content
        return answer.content["result"]

    return used


@pytest.fixture
def refused(toolbox: Toolbox) -> Call:
    """Calls a tool, which cannot do it; the answer is its sentence."""

    def used(name: str, /, **arguments: Any) -> Any:
        answer = toolbox.call(name, arguments)
        assert answer.is_error, answer.content
        return answer.content["error"]

    return used
