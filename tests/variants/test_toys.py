"""Toy clients against worlds that differ on one point: each breaks on exactly what its axis brings to light."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

import pytest
from flask import Flask

from sandbox.contract.decisions import AXES
from sandbox.extensions.vary.runs import Result, Runs, VariantRun
from sandbox.extensions.vary.search import Break
from sandbox.extensions.vary.space import Variant, make_space
from sandbox.extensions.vary.verdict import judge
from sandbox.scenarios.reading import read_settings
from sandbox.worlds.registry import WorldRegistry
from tests.tpp import Tpp
from tests.variants import test_headers as headers
from tests.variants import test_initiation as initiation
from tests.variants import toys_calling, toys_filing, toys_paying, toys_reading
from tests.variants.naive import Expects, Toy, Toys
from tests.variants.test_callback import EVERY

TOYS: Toys = {**toys_reading.TOYS, **toys_calling.TOYS, **toys_paying.TOYS, **toys_filing.TOYS}
ELSEWHERE = {"certificate_clock"}  # a toy needs certificates: tests/pki has it
T = TypeVar("T")
BROKEN = (AssertionError, AttributeError, LookupError, TypeError, ValueError)


class Laboratory:
    """Runs a toy client in a fresh world with variants."""

    def __init__(self, app: Flask, register: WorldRegistry) -> None:
        self.app, self.register = app, register

    def breaks(self, toy: Toy, **variants: str) -> str | None:
        """How it breaks; None where it goes on."""
        beginning = self.register.beginning
        settings = read_settings({"variants": variants}, beginning.settings)
        self.register.drop("default")
        self.register.make("default", replace(beginning, settings=settings))
        return breakage(toy, Tpp(self.app))


def breakage(client: Callable[[T], object], given: T) -> str | None:
    try:
        client(given)
    except BROKEN as error:
        return f"{type(error).__name__}: {error}"
    return None


@pytest.fixture
def laboratory(app: Flask, register: WorldRegistry) -> Laboratory:
    return Laboratory(app, register)


def harmful(axis: str) -> set[str]:
    """The values that may break a client that works today."""
    return set(AXES[axis].names[1:]) - set(AXES[axis].lenient)


def clients(axis: str) -> Iterator[tuple[Toy, set[str]]]:
    """The toys of an axis, each with what it breaks on."""
    found = TOYS[axis]
    if callable(found):
        yield found, harmful(axis)
    else:
        yield from ((toy, set(on.split())) for on, toy in found.items())


@pytest.mark.parametrize("axis", TOYS)
def test_a_toy_client_breaks_on_exactly_these_values_of_its_axis(laboratory: Laboratory, axis: str) -> None:
    for toy, on in clients(axis):
        if isinstance(toy, Expects) and axis in EVERY and toy.seen is EVERY[axis].probe:
            seen = {value: breakage(toy.judge, shown) for value, shown in EVERY[axis].values.items()}  # by the probes
        else:
            seen = {value: laboratory.breaks(toy, **{axis: value}) for value in AXES[axis].names}
        assert {value for value, why in seen.items() if why} == on, seen


def test_every_value_that_may_break_a_client_has_one_that_it_breaks() -> None:
    assert set(TOYS) | ELSEWHERE == set(AXES)
    for axis in TOYS:
        assert set().union(*(on for _, on in clients(axis))) == harmful(axis), axis
        assert set(AXES[axis].lenient) <= set(AXES[axis].names[1:]), axis


# The verdict on toys in real worlds

NOISE = ("json_layout", "key_order")
OF_EACH_TOPIC = (
    "error_codes",
    "details_amount",
    "after_debit",
    "day_31",
    "bad_transaction",
    "sca_token_reply",
    "multicurrency",
    "date_tolerance",
    "absent_fields",
    "callback_encoding",
)

OF_ACCOUNTS = (
    "account_holder",
    "counterparty_bic",
    "value_date_field",
    "exchange_details",
    "old_dates_without_sca",
    "reference_repeats",
    "reference_when_booked",
    "reference_renumbered",
    "text_when_booked",
    "pending_lines",
)


def either(*toys: Toy) -> Toy:
    """A client with two ways, which breaks where none of them is left."""

    def toy(tpp: Tpp) -> None:
        for one in toys:
            try:
                one(tpp)
                return
            except BROKEN as error:
                seen = error
        raise seen

    return toy


def toy_of(axis: str, value: str) -> Toy:
    return next(toy for toy, on in clients(axis) if value in on)


def reads_an_address(tpp: Tpp) -> None:
    reply = tpp.initiate()
    assert reply.headers.get("Location") or reply.get_json()["_links"]["sca_redirect"]


def knows_that_funds_are_missing(tpp: Tpp) -> None:
    status, token = headers.without_funds(tpp)
    assert status == 403 or token == "INSUFFICIENT_FUNDS"


PAIRS: dict[str, Toy] = {
    "initiation_field_names=camel,sca_address_in=links": reads_an_address,
    "error_words=lower,insufficient_funds=400": knows_that_funds_are_missing,
    "error_codes=other,error_words=lower": either(toy_of("error_codes", "other"), toy_of("error_words", "lower")),
    "balances_as=string,item_amount=string": either(toy_of("balances_as", "string"), toy_of("item_amount", "string")),
    "payee_check=page,payee_close=stops": Expects(initiation.pays_a_near_name, 200),
    "sca_token_reply=scaToken,token_type_case=bearer": either(
        toy_of("token_type_case", "bearer"), toy_of("sca_token_reply", "scaToken")
    ),
}


def verdict_on(laboratory: Laboratory, toy: Toy, axes: list[str], strength: int) -> tuple[Break, ...]:
    """What is blamed for the failures of a toy among these axes and some more."""
    space = make_space(names=[*axes, *NOISE])

    def trial(found: Variant) -> VariantRun:
        why = laboratory.breaks(toy, **dict(found.changes))
        return VariantRun({"test_toy": Result(why is None, why or "")}, frozenset(space.axes))

    return judge(Runs(trial), space, strength, 1).breaks


def blamed(breaks: tuple[Break, ...]) -> list[str]:
    return sorted(str(one.variant) for one in breaks)


@pytest.mark.parametrize("axis", OF_EACH_TOPIC)
def test_the_verdict_on_a_toy_is_exactly_its_axis(laboratory: Laboratory, axis: str) -> None:
    toy, on = next(clients(axis))
    assert blamed(verdict_on(laboratory, toy, [axis], 1)) == sorted(f"{axis}={one}" for one in on)


@pytest.mark.parametrize("axis", OF_ACCOUNTS)
def test_the_verdict_on_a_toy_that_reads_accounts_names_none_of_the_axes_that_look_alike(
    laboratory: Laboratory, axis: str
) -> None:
    toy, on = next(clients(axis))
    assert blamed(verdict_on(laboratory, toy, list(OF_ACCOUNTS), 2)) == sorted(f"{axis}={one}" for one in on)


def test_one_axis_of_each_topic_is_tried() -> None:
    assert {AXES[axis].topic for axis in OF_EACH_TOPIC} == {axis.topic for axis in AXES.values()}


@pytest.mark.parametrize("pair", PAIRS)
def test_the_verdict_on_a_client_that_falls_back_is_exactly_the_pair(laboratory: Laboratory, pair: str) -> None:
    axes = [one.partition("=")[0] for one in pair.split(",")]
    assert blamed(verdict_on(laboratory, PAIRS[pair], axes, 2)) == [pair]
