"""The reference client withstands what the bank could have decided otherwise within the service's word.

`make withstand` takes every pair of values of every two axes. Here each value is taken once, in a flow that feels it,
and each flow meets many values at once.
"""

from collections.abc import Iterator
from itertools import combinations

import pytest

import sandbox
from sandbox.client import CallbackRefused, ForeignCallback, NoCallback, Refused
from sandbox.contract.decision_rows import Axis, Value
from sandbox.contract.decisions import AXES
from sandbox.contract.reference_flows import list_axes
from sandbox.testing import Start
from sandbox.testing.start import world_of
from tests.vary.flows import FLOWS
from tests.vary.flows_of_payments import pays
from tests.vary.line import bank_here
from tests.vary.steps import ORDER
from tests.vary.trying import Stage, every_value_once

BY_THE_BANK = ("foreign", "late", "other_flow")  # codes that the client cannot tell from good ones
CALLBACKS = [(axis, value) for axis in AXES.values() if axis.topic == "callback" for value in axis.values]
ROWS = every_value_once()[1:]
WIRE = {"connection": "closed", "body_pieces": "pieces", "header_case": "lower"}

IDENTITY = (
    "reference_repeats",
    "reference_when_booked",
    "reference_renumbered",
    "text_when_booked",
    "pending_lines",
)


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with bank_here() as (bank, way):
        yield Stage(bank, way)


@pytest.mark.parametrize("name", FLOWS)
def test_it_withstands_every_value_of_the_axes_that_it_shows(stage: Stage, name: str) -> None:
    """What passes differs from that of today, so the value was met, and the flow came to its end."""
    today = stage.play(FLOWS[name], {})
    assert today.result.passed, today.result.failure
    for axis in list_axes(name):
        for value in AXES[axis].values[1:]:
            if value.within:
                found = stage.play(FLOWS[name], {axis: value.name})
                assert found.result.passed, f"{axis}={value.name}: {found.result.failure}"
                assert axis in found.met, f"{axis}={value.name} was not met"
                assert (found.passed != today.passed) == (not value.unfelt), f"{axis}={value.name}"


@pytest.mark.parametrize("number, name", list(enumerate(FLOWS)), ids=FLOWS)
def test_it_withstands_many_values_at_once(stage: Stage, number: int, name: str) -> None:
    """Of the few rows in which every value occurs, each flow takes one."""
    assert stage.breaks(FLOWS[name], [ROWS[number % len(ROWS)]]) == []


@pytest.mark.parametrize("pair", list(combinations(IDENTITY, 2)), ids=" ".join)
def test_its_copy_of_an_account_is_right_at_every_pair_of_values_about_the_identity_of_a_line(
    stage: Stage, pair: tuple[str, str]
) -> None:
    variants = {axis: AXES[axis].names[1] for axis in pair}
    seen = stage.play(FLOWS["keeps_a_copy"], variants)
    assert seen.result.passed, seen.result.failure
    assert seen.met >= set(pair)


def test_its_copy_of_an_account_is_right_where_all_of_them_differ(stage: Stage) -> None:
    for pending in AXES["pending_items"].names:
        variants = {axis: AXES[axis].names[1] for axis in IDENTITY} | {"pending_items": pending}
        seen = stage.play(FLOWS["keeps_a_copy"], variants)
        assert seen.result.passed, seen.result.failure


def test_it_withstands_connections_that_end_and_bodies_in_pieces() -> None:
    """Only sockets have connections."""
    with sandbox.running() as server, world_of(server, "wire", Start(), WIRE) as bank:
        pays(bank)
        answer = server.controls.http.get(f"{bank.base_url}/accounts")
        assert ("connection", "close") in answer.headers.items()
        assert b"response-id" in dict(answer.headers.raw)


@pytest.mark.parametrize("axis, value", CALLBACKS, ids=lambda one: one.name)
def test_it_refuses_exactly_the_callbacks_that_it_must(stage: Stage, axis: Axis, value: Value) -> None:
    """A code of nobody's is refused by the bank; every other forgery by the client, before a call is made."""
    with world_of(stage.bank, f"{axis.name}-{value.name}", Start(), {axis.name: value.name}) as bank:
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
