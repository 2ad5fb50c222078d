"""The demo shop withstands what the bank could have decided otherwise, and refuses what comes from a forger."""

from collections.abc import Iterator
from contextlib import suppress

import pytest
from werkzeug.test import TestResponse

from sandbox.client import NoCallback
from sandbox.contract.decision_rows import Axis, Value
from sandbox.contract.decisions import AXES
from sandbox.contract.reference_flows import SHOP, list_axes
from sandbox.testing import Start
from sandbox.testing.start import world_of
from tests.shop.guest import seen
from tests.vary.line import bank_here
from tests.vary.shopping import JOURNEYS, Customer
from tests.vary.trying import Stage, every_value_once

FORGED = [(axis, value) for axis in AXES.values() for value in axis.values if not value.within]


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with bank_here() as (bank, way):
        yield Stage(bank, way)


@pytest.mark.parametrize("name", JOURNEYS)
def test_it_withstands_every_value(stage: Stage, name: str) -> None:
    assert stage.breaks(JOURNEYS[name], every_value_once()) == []


def test_the_table_says_which_axes_it_meets(stage: Stage) -> None:
    """Every call meets the axis of client certificates, and the shop has none."""
    met: set[str] = set()
    for journey in JOURNEYS.values():
        with world_of(stage.bank, "shop", Start()) as bank:
            journey(bank)
            met |= {row["name"] for row in bank.controls.listed("variants") if row["met"]}
    assert met - {"client_certificates"} == set(list_axes(SHOP))


@pytest.mark.parametrize("axis, value", FORGED, ids=lambda one: one.name)
def test_a_callback_that_is_forged_gives_no_access_and_pays_no_order(stage: Stage, axis: Axis, value: Value) -> None:
    with world_of(stage.bank, f"shop-{axis.name}-{value.name}", Start(), {axis.name: value.name}) as bank:
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
