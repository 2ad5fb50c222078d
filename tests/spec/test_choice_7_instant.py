"""Bulks of instant transfers: service 2.1 rule 7 and choice 5 for what choice 7 takes as LclInstrm INST."""

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from sandbox.storage.state_hash import hash_state
from sandbox.worlds.registry import WorldRegistry
from sandbox.worlds.snapshot import replay
from sandbox.worlds.world import World
from tests.bulkfiles.a_file import Bulk
from tests.spec import files
from tests.spec.bodies import ALICE
from tests.spec.files import BAKKERIJ, TOMORROW, approve, bulk, codes, pain, signed, statuses, validated
from tests.tpp import Tpp, payment

KIND = "<PmtTpInf><LclInstrm><Cd>INST</Cd></LclInstrm></PmtTpInf>"
SATURDAY = "2027-03-06"


@pytest.fixture(autouse=True)
def world(worlds: WorldRegistry) -> Iterator[World]:
    """Whatever a test does: money sums to zero, and the log gives the same bank again."""
    here = worlds.get("default")
    yield here
    assert not any(here.bank.ledger.sum_by_currency().values())
    assert hash_state(replay(here.beginning, here.log, here.bank.clock.now)) == hash_state(here.bank)


def instant(*amounts: str, **more: Any) -> Bulk:
    return replace(bulk(*amounts, **more), kind=KIND)


def left_on(world: World, iban: str) -> Decimal:
    return world.ask(lambda bank: bank.ledger.read_number((iban, "EUR")))


def test_an_instant_bulk_is_executed_as_an_instant_payment_is(tpp: Tpp, world: World) -> None:
    before = left_on(world, BAKKERIJ)
    file = signed(tpp, pain(instant("10.00", "20.00"), bulk("5.00", name="B")))
    tpp.advance("2s")
    assert left_on(world, BAKKERIJ) == before
    tpp.advance("1s")
    assert statuses(tpp, file) == ["PDNG", "ACSC", "PDNG"]
    assert left_on(world, BAKKERIJ) == before - 30
    tpp.advance("57s")
    assert statuses(tpp, file) == ["ACSC", "ACSC", "ACSC"]


def test_a_setting_says_how_long_it_takes(tpp: Tpp) -> None:
    tpp.control("PATCH", "/settings", instant_settlement="10s")
    file = signed(tpp, pain(instant()))
    tpp.advance("9s")
    assert statuses(tpp, file) == ["PDNG", "PDNG"]
    tpp.advance("1s")
    assert statuses(tpp, file) == ["ACSC", "ACSC"]


def test_it_waits_for_no_banking_day(tpp: Tpp) -> None:
    tpp.control("PATCH", "/settings", closed_days="respect")
    tpp.control("POST", "/clock", set=f"{SATURDAY}T12:00:00+01:00")
    file = signed(tpp, pain(instant(day=SATURDAY), bulk(day=SATURDAY, name="B")))
    tpp.advance("60s")
    assert statuses(tpp, file) == ["PDNG", "ACSC", "PDNG"]


def test_a_beneficiary_in_this_bank_has_it_at_once(tpp: Tpp, world: World) -> None:
    before = left_on(world, ALICE)
    signed(tpp, pain(instant("10.00", to=ALICE)))
    tpp.advance("3s")
    assert left_on(world, ALICE) == before + 10


def test_without_funds_the_page_says_so(tpp: Tpp) -> None:
    file = validated(tpp, pain(instant("999999.00")))
    assert approve(tpp, files.address_of(tpp, file)).status_code == 403


def test_without_funds_at_its_execution_it_is_not_tried_again(tpp: Tpp, world: World) -> None:
    whole = left_on(world, BAKKERIJ)
    file = signed(tpp, pain(instant(f"{whole:.2f}")))
    body = payment("instant-sepa-credit-transfers", debtor_account={"iban": BAKKERIJ}, instructed_amount__amount="1.00")
    tpp.signed(tpp.initiate("instant-sepa-credit-transfers", body))
    tpp.advance("3s")
    assert statuses(tpp, file) == ["RJCT", "RJCT"]
    assert files.status(tpp, file)["reason"] == "AM04"


def test_one_for_a_later_day_is_refused_with_its_code(tpp: Tpp) -> None:
    file = validated(tpp, pain(instant(day=TOMORROW), bulk(name="B")))
    assert statuses(tpp, file) == ["PATC", "RJCT", "PATC"]
    assert codes(tpp, file) == ["LOCAL_INSTRUMENT"]


def test_one_that_is_signed_a_day_later_is_executed_at_once(tpp: Tpp) -> None:
    file = validated(tpp, pain(instant()))
    tpp.advance("1d")
    assert approve(tpp, files.address_of(tpp, file)).status_code == 200
    tpp.advance("3s")
    assert statuses(tpp, file) == ["ACSC", "ACSC"]
