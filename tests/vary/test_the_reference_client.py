"""The reference client withstands what the bank could have decided otherwise within the service's word.

`make withstand` takes every pair of values of every two axes; here each value is taken once, and a few rows of pairs.
"""

from collections.abc import Iterator
from random import Random

import pytest

import sandbox
from sandbox.client import CallbackRefused, ForeignCallback, NoCallback, Refused
from sandbox.contract.axis import Axis, Value
from sandbox.contract.variants import AXES
from sandbox.testing import Bank, Start
from sandbox.testing.server import world_of
from sandbox.vary.axes import space_of
from sandbox.vary.cover import find_cover
from tests.vary.flows import FLOWS, ORDER, Flow, breaks_of, trial_of, verdict_on

BY_THE_BANK = ("foreign", "late", "other_flow")  # codes that the client cannot tell from good ones
ROWS = 2  # of the covering set of pairs, for each flow
CALLBACKS = [(axis, value) for axis in AXES.values() if axis.topic == "callback" for value in axis.values]


@pytest.fixture(scope="module")
def server() -> Iterator[Bank]:
    with sandbox.running() as bank:
        yield bank


@pytest.mark.parametrize("flow", FLOWS.values(), ids=FLOWS)
def test_it_withstands_every_value_of_every_axis_that_it_meets(server: Bank, flow: Flow) -> None:
    verdict = verdict_on(server, flow, 1)
    assert breaks_of(verdict) == []
    assert len(verdict.withstood) > 30


@pytest.mark.parametrize("flow", FLOWS.values(), ids=FLOWS)
def test_it_withstands_some_rows_of_pairs(server: Bank, flow: Flow) -> None:
    rows = find_cover(space_of(AXES, topics=["money", "tokens", "accounts", "surprises"]), 1).variants
    trial = trial_of(server, flow)
    for row in Random(flow.__name__).sample(rows[1:], ROWS):
        assert trial(row).failed == [], str(row)


@pytest.mark.parametrize("axis, value", CALLBACKS, ids=lambda one: one.name)
def test_it_refuses_exactly_the_callbacks_that_it_must(server: Bank, axis: Axis, value: Value) -> None:
    """A code of nobody's is refused by the bank; every other forgery by the client, before a call is made."""
    with world_of(server, f"{axis.name}-{value.name}", Start(), {axis.name: value.name}) as bank:
        began = [bank.tpp.pay(**ORDER) for _ in "12"]
        refuses = axis.name in ("callback_error", "refusal_callback")
        psu = bank.psu.refuse if refuses else bank.psu.approve
        if value.name in ("none", "never"):
            with pytest.raises(NoCallback):
                psu(str(began[0].sca_address), customer="alice")
            return
        # The second callback is looked at: what it brings may be that of the first.
        _, callback = (psu(str(one.sca_address), customer="alice") for one in began)
        if value.within and not refuses:
            assert bank.tpp.tokens_from(callback, began[1].flow).scope == "PIS"
            return
        with pytest.raises((CallbackRefused, ForeignCallback, Refused)) as refused:
            bank.tpp.tokens_from(callback, began[1].flow)
        by_the_bank = axis.name != "callback_state" and value.name in BY_THE_BANK
        assert isinstance(refused.value, Refused) == by_the_bank
        assert bank.count(operation="token") == by_the_bank
