"""The demo shop withstands what the bank could have decided otherwise, and refuses what comes from a forger."""

from collections.abc import Iterator
from contextlib import suppress

import pytest
from werkzeug.test import TestResponse

import sandbox
from sandbox.client import NoCallback
from sandbox.contract.axis import Axis, Value
from sandbox.contract.variants import AXES
from sandbox.testing import Bank, Start
from sandbox.testing.server import world_of
from tests.shop.guest import seen
from tests.vary.flows import Flow, breaks_of, verdict_on
from tests.vary.shopping import JOURNEYS, Customer

FORGED = [(axis, value) for axis in AXES.values() for value in axis.values if not value.within]


@pytest.fixture(scope="module")
def server() -> Iterator[Bank]:
    with sandbox.running() as bank:
        yield bank


@pytest.mark.parametrize("journey", JOURNEYS.values(), ids=JOURNEYS)
def test_it_withstands_every_value_of_every_axis_that_it_meets(server: Bank, journey: Flow) -> None:
    verdict = verdict_on(server, journey, 1)
    assert breaks_of(verdict) == []
    assert len(verdict.withstood) > 50


@pytest.mark.parametrize("axis, value", FORGED, ids=lambda one: one.name)
def test_a_callback_that_is_forged_gives_no_access_and_pays_no_order(server: Bank, axis: Axis, value: Value) -> None:
    with world_of(server, f"shop-{axis.name}-{value.name}", Start(), {axis.name: value.name}) as bank:
        customer = Customer(bank)
        for _ in "12":  # the second callback may bring what belongs to the first
            address = customer.goes("/accounts/connect")
            came = come_back(customer, address)
            customer.post("/accounts/disconnect")
        assert came is None or came.status_code in (303, 400, 502)
        assert "Connect your bank" in customer.page("/accounts")
        (one, first), (other, second) = customer.buys(), customer.buys()
        for address in (first, second):
            came = come_back(customer, address)
            assert came is None or came.status_code in (303, 400, 502), seen(came)
        assert "The money is here" not in customer.page(other)
        for path in (one, other):
            customer.waits_for(path, "The money is here")  # the bank, not the browser, says that it is paid


def come_back(customer: Customer, address: str) -> TestResponse | None:
    with suppress(NoCallback):
        return customer.sign(address)
    return None
