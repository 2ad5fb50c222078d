"""A sandbox that runs, and the tools for it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from sandbox.extensions.agents.bank_link import BankLink
from sandbox.extensions.agents.toolbox import Toolbox
from tests.running import locked_url, url

__all__ = ["locked_url", "url"]
Call = Callable[..., Any]


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
