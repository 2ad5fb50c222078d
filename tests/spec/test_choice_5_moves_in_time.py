"""service 3.1, 3.3, choice 5: each move of a single payment at its own instant of bank time."""

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
    approve,
    begin,
    cancel,
    clock_to,
    cosign,
    history,
    refuse,
    signed,
    status,
    tokens,
    told,
)
from tests.spec.bodies import ALICE, BAKKERIJ, POOR
from tests.tpp import ISCT, SCT, XB, Tpp, payment, refused

NOW = read_instant(MORNING)
SLOW = (SCT, XB)


def after(seconds: float) -> Any:
    return NOW + timedelta(seconds=seconds)


def at(tpp: Tpp, begun: Begun, name: str) -> Any:
    """When a status was reached last."""
    return [when for found, when in history(tpp, begun) if found == name][-1]


def world(worlds: WorldRegistry, app: Flask, opening: str = MORNING, **settings: Any) -> Tpp:
    """A bank with settings, or a first morning, of its own."""
    worlds.make("own", replace(worlds.beginning, at=read_instant(opening), settings=Decisions(**settings)))
    return Tpp(app, "own")


# At once


@pytest.mark.parametrize("product", SLOW)
def test_direct_execution_settles_within_a_minute(tpp: Tpp, product: str) -> None:
    begun = signed(tpp, product)
    seen = []
    for span in ("0s", "4.999s", "0.001s", "54.999s", "0.001s"):
        tpp.advance(span)
        seen.append(status(tpp, begun))
    assert seen == ["PDNG", "PDNG", "ACSP", "ACSP", "ACSC"]
    assert history(tpp, begun) == [
        ("RCVD", NOW),
        ("PATC", NOW),
        ("PDNG", NOW),
        ("ACSP", after(5)),
        ("ACSC", after(60)),
    ]


@pytest.mark.parametrize("product", SLOW)
def test_an_urgent_payment_has_the_same_instants(tpp: Tpp, product: str) -> None:
    begun = signed(tpp, product, "bakkerij", instruction_priority="HIGH")
    tpp.advance("1h")
    assert history(tpp, begun)[2:] == [("PDNG", NOW), ("ACSP", after(5)), ("ACSC", after(60))]


def test_an_instant_payment_is_never_PDNG_and_settles_after_three_seconds(tpp: Tpp) -> None:
    begun = signed(tpp, ISCT)
    seen = []
    for span in ("0s", "2.999s", "0.001s"):
        tpp.advance(span)
        seen.append(status(tpp, begun))
    assert seen == ["ACSP", "ACSP", "ACSC"]
    assert history(tpp, begun) == [("RCVD", NOW), ("PATC", NOW), ("ACSP", NOW), ("ACSC", after(3))]


@pytest.mark.parametrize("opening", ("2027-12-25T23:59:59+01:00", "2027-03-28T01:59:59+01:00", "2027-05-01T12:00:00Z"))
def test_an_instant_payment_takes_under_ten_seconds_at_any_time_of_the_year(
    worlds: WorldRegistry, app: Flask, opening: str
) -> None:
    tpp = world(worlds, app, opening, closed_days="respect")
    begun = signed(tpp, ISCT)
    tpp.advance("10s")
    (*_, (first, sent), (last, done)) = history(tpp, begun)
    assert (first, last) == ("ACSP", "ACSC")
    assert done - sent <= timedelta(seconds=10)


def test_today_s_date_is_direct_execution(tpp: Tpp) -> None:
    begun = signed(tpp, requested_execution_date="2027-03-01")
    tpp.advance("1m")
    assert status(tpp, begun) == "ACSC"


def test_a_date_that_came_while_the_psu_thought_is_direct_execution(worlds: WorldRegistry, app: Flask) -> None:
    tpp = world(worlds, app, "2027-03-01T23:58:00+01:00")
    begun = begin(tpp, requested_execution_date="2027-03-02")
    tpp.advance("4m")
    approve(tpp, begun.address, "alice")
    tpp.advance("1m")
    assert status(tpp, begun) == "ACSC"


# From RCVD to PATC


def test_the_technical_checks_take_a_second_and_the_opened_address_takes_none(tpp: Tpp) -> None:
    left, opened = begin(tpp), signed(tpp)
    tpp.advance("1s")
    assert history(tpp, left) == [("RCVD", NOW), ("PATC", after(1))]
    assert history(tpp, opened)[:2] == [("RCVD", NOW), ("PATC", NOW)]


# Future-dated: 06:00 in Brussels on a banking day


@pytest.mark.parametrize(
    "asked, executed",
    [
        ("2027-03-02", "2027-03-02T06:00:00+01:00"),  # tomorrow
        ("2027-03-06", "2027-03-08T06:00:00+01:00"),  # a Saturday
        ("2027-03-26", "2027-03-30T06:00:00+02:00"),  # Good Friday; summer time begins before Easter Monday
        ("2027-03-27", "2027-03-30T06:00:00+02:00"),
        ("2027-03-29", "2027-03-30T06:00:00+02:00"),  # Easter Monday
        ("2027-05-01", "2027-05-03T06:00:00+02:00"),  # labour day, a Saturday
        ("2027-07-21", "2027-07-21T06:00:00+02:00"),  # a Belgian holiday on which TARGET2 is open
        ("2027-10-29", "2027-10-29T06:00:00+02:00"),  # the last day of summer time on which banks work
        ("2027-10-31", "2027-11-01T06:00:00+01:00"),  # the Sunday on which summer time ends
        ("2027-12-25", "2027-12-27T06:00:00+01:00"),
        ("2028-01-01", "2028-01-03T06:00:00+01:00"),
        ("2028-02-29", "2028-02-29T06:00:00+01:00"),  # 365 days ahead, and a leap day
    ],
)
@pytest.mark.parametrize("product", SLOW)
def test_a_future_dated_payment_waits_for_six_in_the_morning_of_a_banking_day(
    tpp: Tpp, product: str, asked: str, executed: str
) -> None:
    begun = signed(tpp, product, requested_execution_date=asked)
    when = read_instant(executed)
    clock_to(tpp, (when - timedelta(milliseconds=1)).isoformat())
    assert status(tpp, begun) == "PDNG"
    tpp.advance("0.001s")
    assert status(tpp, begun) == "ACSP"
    tpp.advance("1m")
    assert status(tpp, begun) == "ACSC"
    assert at(tpp, begun, "ACSP") == when
    assert at(tpp, begun, "ACSC") - when <= timedelta(minutes=1)


def test_an_instant_payment_has_no_date(tpp: Tpp) -> None:
    reply = tpp.initiate(ISCT, payment(ISCT, requested_execution_date="2027-03-02"))
    assert refused(reply, 400, "GEN-1202-100002", "requested_execution_date")


# Closed days


@pytest.mark.parametrize("opening", ("2027-03-06T12:00:00+01:00", "2027-03-26T12:00:00+01:00"))
@pytest.mark.parametrize("product", SLOW)
def test_closed_days_do_not_delay_direct_execution_by_default(
    worlds: WorldRegistry, app: Flask, opening: str, product: str
) -> None:
    tpp = world(worlds, app, opening)
    begun = signed(tpp, product)
    tpp.advance("1m")
    assert status(tpp, begun) == "ACSC"


@pytest.mark.parametrize(
    "opening, executed",
    [
        ("2027-03-06T12:00:00+01:00", "2027-03-08T06:00:00+01:00"),
        ("2027-03-26T12:00:00+01:00", "2027-03-30T06:00:00+02:00"),
        ("2027-03-07T23:59:59+01:00", "2027-03-08T06:00:00+01:00"),
    ],
)
@pytest.mark.parametrize("product", SLOW)
def test_respected_closed_days_delay_it_to_the_next_banking_day(
    worlds: WorldRegistry, app: Flask, opening: str, executed: str, product: str
) -> None:
    tpp = world(worlds, app, opening, closed_days="respect")
    begun = signed(tpp, product)
    tpp.advance("5d")
    assert at(tpp, begun, "ACSP") == read_instant(executed)
    assert status(tpp, begun) == "ACSC"


# The cut-off (choice 14)


@pytest.mark.parametrize(
    "opening, executed",
    [
        ("2027-03-01T15:00:00+01:00", "2027-03-02T06:00:00+01:00"),
        ("2027-03-05T23:59:59+01:00", "2027-03-08T06:00:00+01:00"),  # a Friday
        ("2027-03-25T16:00:00+01:00", "2027-03-30T06:00:00+02:00"),  # before Easter and the change of the clocks
        ("2026-12-24T12:00:00+01:00", "2026-12-28T06:00:00+01:00"),  # a half day
        ("2026-12-31T12:00:00+01:00", "2027-01-04T06:00:00+01:00"),
    ],
)
@pytest.mark.parametrize("product", SLOW)
def test_after_the_cut_off_a_payment_waits_for_the_next_banking_day(
    worlds: WorldRegistry, app: Flask, opening: str, executed: str, product: str
) -> None:
    tpp = world(worlds, app, opening, cut_off="15:00")
    begun = signed(tpp, product)
    assert status(tpp, begun) == "PDNG"
    tpp.advance("6d")
    assert at(tpp, begun, "ACSP") == read_instant(executed)
    assert status(tpp, begun) == "ACSC"


@pytest.mark.parametrize(
    "opening", ["2027-03-01T14:58:59+01:00", "2026-12-24T11:58:59+01:00", "2027-03-06T18:00:00+01:00"]
)
def test_before_the_cut_off_and_on_closed_days_it_does_not_wait(
    worlds: WorldRegistry, app: Flask, opening: str
) -> None:
    tpp = world(worlds, app, opening, cut_off="15:00")
    begun = signed(tpp)
    tpp.advance("1m")
    assert status(tpp, begun) == "ACSC"


@pytest.mark.parametrize("product, settings", [(ISCT, {"cut_off": "15:00"}), (SCT, {})])
def test_instant_payments_know_no_cut_off_nor_does_the_bank_by_default(
    worlds: WorldRegistry, app: Flask, product: str, settings: dict[str, str]
) -> None:
    tpp = world(worlds, app, "2027-03-01T18:00:00+01:00", **settings)
    begun = signed(tpp, product)
    tpp.advance("1m")
    assert status(tpp, begun) == "ACSC"


def test_what_waits_after_the_cut_off_is_cancelled_as_a_future_dated_payment(worlds: WorldRegistry, app: Flask) -> None:
    tpp = world(worlds, app, "2027-03-01T18:00:00+01:00", cut_off="15:00")
    pair = tokens(tpp)
    begun = signed(tpp)
    tpp.advance("30m")
    assert cancel(tpp, begun, pair).status_code == 204
    assert status(tpp, begun) == "CANC"


def test_respected_closed_days_delay_nothing_on_a_banking_day(worlds: WorldRegistry, app: Flask) -> None:
    tpp = world(worlds, app, closed_days="respect")
    begun = signed(tpp)
    tpp.advance("1m")
    assert status(tpp, begun) == "ACSC"


def test_what_a_closed_day_puts_off_needs_its_funds_on_the_day_of_execution(worlds: WorldRegistry, app: Flask) -> None:
    tpp = world(worlds, app, "2027-03-06T12:00:00+01:00", closed_days="respect")
    begun = signed(tpp, SCT, "poor", debtor_account__iban=POOR, instructed_amount__amount="5000.00")
    clock_to(tpp, "2027-03-08T06:00:00+01:00")
    assert [name for name, _ in history(tpp, begun)] == ["RCVD", "PATC", "PDNG", "PDNG"]
    instant = payment(ISCT, debtor_account__iban=POOR, instructed_amount__amount="5000.00")
    assert refused(tpp.initiate(ISCT, instant), 403, "SBX-0403-000001")


# Unsigned and refused


@pytest.mark.parametrize("product", (SCT, ISCT, XB))
@pytest.mark.parametrize("waits", ("0s", "1s", "4m"))
def test_a_psu_who_refuses_cancels_it(tpp: Tpp, product: str, waits: str) -> None:
    begun = begin(tpp, product)
    tpp.advance(waits)
    assert refuse(tpp, begun.address).status_code == 200
    assert told(tpp, begun) == ("CANC", "PSU_REFUSED")
    tpp.advance("2h")
    assert told(tpp, begun) == ("CANC", "PSU_REFUSED")
    assert history(tpp, begun)[-1][1] - NOW < timedelta(minutes=5)


@pytest.mark.parametrize("customer", (None, "alice"))
def test_a_signed_payment_can_no_longer_be_refused(tpp: Tpp, customer: str | None) -> None:
    begun = signed(tpp, debtor_account__iban=ALICE, customer=customer)
    assert refused(refuse(tpp, begun.address), 409, "SBX-0409-000003", "PDNG")
    assert status(tpp, begun) == "PDNG"


def test_the_hour_is_a_setting(worlds: WorldRegistry, app: Flask) -> None:
    tpp = world(worlds, app, unsigned_after=timedelta(minutes=2))
    begun = begin(tpp)
    tpp.advance("119.999s")
    assert status(tpp, begun) == "PATC"
    tpp.advance("0.001s")
    assert told(tpp, begun) == ("CANC", "TIME_OUT")


# Where settlement ends


@pytest.mark.parametrize("product", (SCT, ISCT, XB))
def test_settlement_ends_at_ACSP_where_the_setting_says_so(worlds: WorldRegistry, app: Flask, product: str) -> None:
    tpp = world(worlds, app, settled_status="ACSP")
    begun = signed(tpp, product)
    tpp.advance("1h")
    names = [name for name, _ in history(tpp, begun)]
    assert status(tpp, begun) == "ACSP" and "ACSC" not in names
    tpp.advance("52w")
    assert [name for name, _ in history(tpp, begun)] == names


@pytest.mark.parametrize("setting, last", [("ACSC", "ACSC"), ("ACSP", "ACSP")])
def test_both_ends_are_final_for_a_tester_too(worlds: WorldRegistry, app: Flask, setting: str, last: str) -> None:
    tpp = world(worlds, app, settled_status=setting)
    begun = signed(tpp)
    tpp.advance("1m")
    for target in ("RJCT", "CANC", "PDNG", "ACSC", "ACSP", "PATC"):
        reply = tpp.control("POST", f"/payments/{begun.id}/move", status=target)
        assert refused(reply, 409, "SBX-0409-000002", target)
    assert status(tpp, begun) == last


# Two signatures


def test_a_second_signature_starts_the_execution_and_not_the_first(tpp: Tpp) -> None:
    begun = begin(tpp, debtor_account__iban=tpp.iban_of("notaris"))
    approve(tpp, begun.address)
    tpp.advance("30m")
    assert status(tpp, begun) == "PATC"
    cosign(tpp, begun.id, "griet")
    tpp.advance("1m")
    assert history(tpp, begun)[-3:] == [("PDNG", after(1800)), ("ACSP", after(1805)), ("ACSC", after(1860))]


def test_the_second_signature_may_come_long_after_the_address_died_and_within_the_hour(tpp: Tpp) -> None:
    begun = begin(tpp, debtor_account__iban=tpp.iban_of("notaris"))
    approve(tpp, begun.address)
    tpp.advance("59m59s")
    assert cosign(tpp, begun.id, "griet").json == {"payment_id": begun.id, "status": "PDNG"}


def test_timings_are_settings(worlds: WorldRegistry, app: Flask) -> None:
    spans: dict[str, Any] = {"settlement_begins": timedelta(minutes=1), "settlement_ends": timedelta(minutes=3)}
    tpp = world(worlds, app, **spans, instant_settlement=timedelta(seconds=9), technical_checks=timedelta(seconds=7))
    slow, quick, left = signed(tpp, SCT, "bakkerij", debtor_account__iban=BAKKERIJ), signed(tpp, ISCT), begin(tpp)
    tpp.advance("10m")
    assert history(tpp, slow)[-2:] == [("ACSP", after(60)), ("ACSC", after(180))]
    assert history(tpp, quick)[-1] == ("ACSC", after(9))
    assert history(tpp, left)[-1] == ("PATC", after(7))
