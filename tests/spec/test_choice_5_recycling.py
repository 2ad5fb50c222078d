"""service 3.4, choice 5: a payment whose funds are missing is tried again, and then given up."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask

from sandbox.banking.durations import read_instant
from sandbox.contract.decisions import Decisions
from sandbox.worlds.registry import WorldRegistry
from tests.conftest import MORNING
from tests.payer import (
    Begun,
    clock_to,
    history,
    signed,
    status,
    told,
)
from tests.spec.bodies import POOR
from tests.tpp import SCT, XB, Tpp

SLOW = (SCT, XB)


def at(tpp: Tpp, begun: Begun, name: str) -> Any:
    """When a status was reached last."""
    return [when for found, when in history(tpp, begun) if found == name][-1]


def world(worlds: WorldRegistry, app: Flask, opening: str = MORNING, **settings: Any) -> Tpp:
    """A bank with settings, or a first morning, of its own."""
    worlds.make("own", replace(worlds.beginning, at=read_instant(opening), settings=Decisions(**settings)))
    return Tpp(app, "own")


def short_of_funds(tpp: Tpp, day: str = "2027-03-25", product: str = SCT) -> Begun:
    return signed(
        tpp,
        product,
        "poor",
        debtor_account__iban=POOR,
        requested_execution_date=day,
        instructed_amount__amount="5000.00",
    )


TRIES = [
    "2027-03-25T06:00:00+01:00",  # a Thursday, the execution date's own
    "2027-03-30T06:00:00+02:00",  # over Easter and the beginning of summer time
    "2027-03-31T06:00:00+02:00",
    "2027-04-01T06:00:00+02:00",
]


def fund(tpp: Tpp, amount: str = "6000.00") -> None:
    reply = tpp.control(
        "POST", f"/accounts/{POOR}/transactions", amount=amount, currency="EUR", communication="At last"
    )
    assert reply.status_code < 300, reply.text


@pytest.mark.parametrize("product", SLOW)
def test_without_funds_it_is_tried_on_three_more_banking_days_and_then_rejected(tpp: Tpp, product: str) -> None:
    begun = short_of_funds(tpp, product=product)
    for number, moment in enumerate(TRIES):
        clock_to(tpp, (read_instant(moment) - timedelta(seconds=1)).isoformat())
        assert told(tpp, begun) == ("PDNG", None)
        tpp.advance("1s")
        assert told(tpp, begun) == (("RJCT", "AM04") if number == 3 else ("PDNG", None))
    assert [when for name, when in history(tpp, begun) if name in ("PDNG", "RJCT")][1:] == list(
        map(read_instant, TRIES)
    )
    tpp.advance("4w")
    assert told(tpp, begun) == ("RJCT", "AM04")


@pytest.mark.parametrize("number", (0, 1, 2, 3))
def test_it_is_executed_on_the_first_try_that_finds_funds(tpp: Tpp, number: int) -> None:
    begun = short_of_funds(tpp)
    clock_to(tpp, (read_instant(TRIES[number]) - timedelta(seconds=1)).isoformat())
    fund(tpp)
    assert status(tpp, begun) == "PDNG"
    tpp.advance("1s")
    assert told(tpp, begun) == ("ACSP", None)
    tpp.advance("1m")
    assert told(tpp, begun) == ("ACSC", None)
    assert at(tpp, begun, "ACSP") == read_instant(TRIES[number])


def test_funds_that_come_after_six_wait_for_the_next_banking_day(tpp: Tpp) -> None:
    begun = short_of_funds(tpp)
    clock_to(tpp, "2027-03-25T06:00:01+01:00")
    fund(tpp)
    clock_to(tpp, "2027-03-30T05:59:59+02:00")
    assert status(tpp, begun) == "PDNG"
    tpp.advance("1s")
    assert status(tpp, begun) == "ACSP"


def test_the_number_of_tries_is_a_setting(worlds: WorldRegistry, app: Flask) -> None:
    tpp = world(worlds, app, recycling_tries=0)
    begun = short_of_funds(tpp)
    clock_to(tpp, TRIES[0])
    assert told(tpp, begun) == ("RJCT", "AM04")


def test_a_direct_payment_whose_funds_left_meanwhile_is_recycled_too(tpp: Tpp) -> None:
    begun = signed(tpp, SCT, "poor", debtor_account__iban=POOR, instructed_amount__amount="12.50")
    fund(tpp, "-5.00")
    tpp.advance("5s")
    assert [name for name, _ in history(tpp, begun)][2:] == ["PDNG", "PDNG"]
    fund(tpp, "5.00")
    clock_to(tpp, "2027-03-02T06:00:00+01:00")
    assert status(tpp, begun) == "ACSP"
