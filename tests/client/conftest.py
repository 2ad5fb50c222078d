"""The contract's own server, for every test of the client."""

from collections.abc import Iterator

import pytest

from tests.client.contract import Bank


@pytest.fixture
def bank() -> Iterator[Bank]:
    served = Bank()
    yield served
    assert served.answers == [], "not everything was asked"
