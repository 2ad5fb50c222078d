"""How signed bulks are paid, each on its day: choice 7, and choice 5 for banking days and recycling."""

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from sandbox.bank.ledger import AccountLine
from sandbox.contract.decisions import with_changes
from sandbox.storage.state_hash import hash_state
from sandbox.worlds.registry import WorldRegistry
from sandbox.worlds.snapshot import replay
from sandbox.worlds.world import World
from tests.spec import files
from tests.spec.bodies import ALICE
from tests.spec.files import (
    BAKKERIJ,
    FRIDAY,
    RESERVE,
    SATURDAY,
    TODAY,
    TOMORROW,
    bulk,
    csv,
    pain,
    signed,
    status,
    statuses,
)
from tests.tpp import Tpp, payment

MILLION = "999999.00"


@pytest.fixture(autouse=True)
def world(worlds: WorldRegistry) -> Iterator[World]:
    """Whatever a test does: money sums to zero, and the log gives the same bank again."""
    here = worlds.get("default")
    before = here.beginning
    yield here
    assert not any(here.bank.ledger.sum_by_currency().values())
    if here.bank.settings == before.settings:
        assert hash_state(replay(before, here.log, here.bank.clock.now)) == hash_state(here.bank)


def balance(world: World, iban: str) -> Decimal:
    return world.ask(lambda bank: bank.ledger.read_balance(iban, "EUR").number)


def booked(world: World, iban: str) -> list[AccountLine]:
    """What this bank added, without what was before."""
    bank = world.bank
    return list(bank.ledger.list_lines(iban, "EUR"))[len(bank.ledger.past.lines.get((iban, "EUR"), ())) :]


@pytest.mark.parametrize("kind", ["pain.001", "csv"])
def test_a_date_of_today_is_executed_60_seconds_after_the_signature(tpp: Tpp, kind: str) -> None:
    payment_file_id = signed(tpp, pain() if kind == "pain.001" else csv({"requested_execution_date": TODAY}), kind)
    tpp.advance("59s")
    assert statuses(tpp, payment_file_id, kind) == ["PDNG", "PDNG"]
    tpp.advance("1s")
    assert statuses(tpp, payment_file_id, kind) == ["ACSC", "ACSC"]


@pytest.mark.parametrize("day, executed", [(TOMORROW, "2027-03-02"), (FRIDAY, "2027-03-05"), (SATURDAY, "2027-03-08")])
def test_a_later_date_is_executed_at_six_of_a_banking_day(tpp: Tpp, day: str, executed: str) -> None:
    payment_file_id = signed(tpp, pain(bulk(day=day)))
    tpp.control("POST", "/clock", set=f"{executed}T05:59:59+01:00")
    assert statuses(tpp, payment_file_id) == ["PDNG", "PDNG"]
    tpp.advance("1s")
    assert statuses(tpp, payment_file_id) == ["ACSC", "ACSC"]


def test_bulks_are_paid_one_by_one_and_the_file_when_all_are(tpp: Tpp, world: World) -> None:
    payment_file_id = signed(tpp, pain(bulk("10.00"), bulk("20.00", day=TOMORROW, name="B"), bulk("0.00", name="C")))
    before = balance(world, BAKKERIJ)
    tpp.advance("60s")
    assert statuses(tpp, payment_file_id) == ["PDNG", "ACSC", "PDNG", "RJCT"]
    assert balance(world, BAKKERIJ) == before - 10
    tpp.advance("1d")
    assert statuses(tpp, payment_file_id) == ["ACSC", "ACSC", "ACSC", "RJCT"]
    assert balance(world, BAKKERIJ) == before - 30


@pytest.mark.parametrize("setting, last", [("ignore", "ACSC"), ("respect", "PDNG")])
def test_closed_days_delay_today_where_they_are_respected(tpp: Tpp, world: World, setting: str, last: str) -> None:
    world.bank.settings = with_changes(world.bank.settings, {"closed_days": setting})
    tpp.control("POST", "/clock", set="2027-03-06T12:00:00+01:00")
    payment_file_id = signed(tpp, pain(bulk(day=SATURDAY)))
    tpp.advance("60s")
    assert status(tpp, payment_file_id)["status"] == last
    tpp.control("POST", "/clock", set="2027-03-08T06:00:00+01:00")
    assert statuses(tpp, payment_file_id) == ["ACSC", "ACSC"]


# Postings


def test_batch_booking_debits_once(tpp: Tpp, world: World) -> None:
    signed(tpp, pain(bulk("10.00", "20.00", "30.50")))
    tpp.advance("60s")
    assert [line.posting.amount.number for line in booked(world, BAKKERIJ)] == [Decimal("-60.50")]


def test_without_it_each_transaction_is_a_debit(tpp: Tpp, world: World) -> None:
    signed(tpp, pain(bulk("10.00", "20.00", "30.50", booking=False)))
    tpp.advance("60s")
    lines = booked(world, BAKKERIJ)
    assert [line.posting.amount.number for line in lines] == [-10, -20, Decimal("-30.50")]
    assert {line.posting.counterparty_name for line in lines} == {"Jan Peeters"}
    assert len({line.entry.reference for line in lines}) == 3


def test_a_csv_has_no_batch_booking(tpp: Tpp, world: World) -> None:
    signed(tpp, csv({"requested_execution_date": TODAY}, {"requested_execution_date": TODAY}), "csv")
    tpp.advance("60s")
    assert len(booked(world, BAKKERIJ)) == 2


@pytest.mark.parametrize("booking", [True, False])
def test_beneficiaries_of_this_bank_are_credited(tpp: Tpp, world: World, booking: bool) -> None:
    before = balance(world, ALICE)
    signed(tpp, pain(bulk("10.00", "20.00", to=ALICE, booking=booking)))
    tpp.advance("60s")
    lines = booked(world, ALICE)
    assert balance(world, ALICE) == before + 30
    assert [line.posting.amount.number for line in lines] == [10, 20]
    assert {(line.posting.counterparty_account, line.posting.counterparty_name) for line in lines} == {
        (BAKKERIJ, "Bakkerij Zonnegraan")
    }


# Funds


def test_missing_funds_are_tried_again_three_times(tpp: Tpp) -> None:
    payment_file_id = signed(tpp, pain(bulk(MILLION, day=TOMORROW)))
    for day in ("02", "03", "04", "05"):
        assert statuses(tpp, payment_file_id) == ["PDNG", "PDNG"]
        tpp.control("POST", "/clock", set=f"2027-03-{day}T05:59:59+01:00")
        assert statuses(tpp, payment_file_id) == ["PDNG", "PDNG"]
        tpp.advance("1s")
    assert statuses(tpp, payment_file_id) == ["RJCT", "RJCT"]
    found = status(tpp, payment_file_id)
    assert (found["reason"], found["bulks"][0]["reason"]) == ("AM04", "AM04")


def test_a_bulk_is_paid_as_soon_as_there_are_funds(tpp: Tpp) -> None:
    payment_file_id = signed(tpp, pain(bulk(MILLION, day=TOMORROW)))
    tpp.advance("1d")
    tpp.control("POST", f"/accounts/{BAKKERIJ}/transactions", amount=MILLION, counterparty="A lender")
    assert statuses(tpp, payment_file_id) == ["PDNG", "PDNG"]
    tpp.control("POST", "/clock", set="2027-03-03T06:00:00+01:00")
    assert statuses(tpp, payment_file_id) == ["ACSC", "ACSC"]


def test_tries_skip_closed_days(tpp: Tpp) -> None:
    payment_file_id = signed(tpp, pain(bulk(MILLION, day=FRIDAY)))
    tpp.control("POST", "/clock", set="2027-03-10T05:59:59+01:00")  # Friday's own, Monday, Tuesday
    assert statuses(tpp, payment_file_id) == ["PDNG", "PDNG"]
    tpp.advance("1s")
    assert statuses(tpp, payment_file_id) == ["RJCT", "RJCT"]


def test_a_file_is_completed_when_its_last_bulk_is_given_up(tpp: Tpp) -> None:
    payment_file_id = signed(tpp, pain(bulk("10.00"), bulk(MILLION, name="B", of=RESERVE, day=TOMORROW)))
    tpp.advance("60s")
    assert statuses(tpp, payment_file_id) == ["PDNG", "ACSC", "PDNG"]
    tpp.advance("5d")
    assert statuses(tpp, payment_file_id) == ["ACSC", "ACSC", "RJCT"]
    assert "reason" not in status(tpp, payment_file_id)


def test_bulks_are_paid_in_their_order_while_the_money_lasts(tpp: Tpp, world: World) -> None:
    most = balance(world, BAKKERIJ)
    bulks = (bulk(f"{most - 1}"), bulk("1.01", name="B"), bulk("1.00", name="C"))
    payment_file_id = signed(tpp, pain(*(replace(one, day=TOMORROW) for one in bulks)))
    tpp.control("POST", "/clock", set="2027-03-02T06:00:00+01:00")
    assert statuses(tpp, payment_file_id) == ["PDNG", "ACSC", "PDNG", "ACSC"]
    assert balance(world, BAKKERIJ) == 0


def test_a_payment_of_a_far_day_does_not_hold_up_a_bulk(tpp: Tpp, world: World) -> None:
    far: dict[str, Any] = {"debtor_account": {"iban": BAKKERIJ}, "requested_execution_date": "2027-06-01"}
    amount = f"{balance(world, BAKKERIJ) - 5}"
    payment_file_id = signed(tpp, pain(bulk("10.00")))
    tpp.signed(tpp.initiate(body=payment(instructed_amount__amount=amount, **far)))
    tpp.advance("60s")
    assert statuses(tpp, payment_file_id) == ["ACSC", "ACSC"]


def test_account_information_shows_what_was_paid(tpp: Tpp, world: World) -> None:
    payment_file_id = signed(tpp, pain(bulk("10.00", booking=False), bulk("7.00", name="B")))
    tpp.advance("60s")
    first, second = booked(world, BAKKERIJ)
    assert (first.entry.reference, second.entry.reference) == (f"{payment_file_id}/1/1", f"{payment_file_id}/2")
    assert (first.entry.communication, second.entry.communication) == ("Wages", "B (1)")


def test_a_file_of_many_bulks_is_paid_in_no_time(tpp: Tpp, world: World) -> None:
    many = [bulk("0.01", name=f"N{number}") for number in range(1500)]
    payment_file_id = signed(tpp, pain(*many))
    tpp.advance("60s")
    assert set(statuses(tpp, payment_file_id)) == {"ACSC"}
    assert files.delete(tpp, payment_file_id).status_code == 403
