"""The bank of each test: at SANDBOX_URL one for all, else the fixture of the plugin. A busy bank is asked again."""

import os
from collections.abc import Iterator
from typing import Any

import pytest

from bench.suite.checkout import Checkout
from sandbox.client import Refused
from sandbox.testing import BankFixture
from sandbox.testing.start import attach_to_server

BUSY = (429, 502, 503, 504)
WAITS = ("61s", "61s", "1h", "1d") * 8

if "SANDBOX_URL" in os.environ:

    @pytest.fixture(scope="session")
    def bank() -> Iterator[BankFixture]:
        with attach_to_server(os.environ["SANDBOX_URL"]) as bank:
            yield bank


@pytest.fixture
def shop(bank: BankFixture) -> Checkout:
    return Checkout(bank)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool:
    """Where the bank is busy or a gateway answers, the customer begins again."""
    given: dict[str, Any] = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    for wait in WAITS:
        try:
            pyfuncitem.obj(**given)
            return True
        except Refused as refused:
            if refused.status not in BUSY:
                raise
            given["shop"].bank.clock.advance(wait)
    raise AssertionError("the bank is busy for ever")
