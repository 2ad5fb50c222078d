"""A tester's own freezegun moves a running bank, and nothing else does (choice 10)."""

from datetime import UTC, datetime, timedelta

import pytest
from flask import Flask
from freezegun import freeze_time

from sandbox.app import assemble, make_first_beginning
from sandbox.banking.durations import read_instant
from sandbox.machine import machine_time
from sandbox.storage.state_hash import hash_state
from sandbox.worlds.registry import WorldRegistry
from tests.conftest import MORNING
from tests.tpp import Tpp

MACHINE = "2031-05-05T12:00:00"


def running(rate: float = 1.0, at: datetime | None = None) -> Tpp:
    return Tpp(assemble(WorldRegistry(make_first_beginning(7, at, rate), machine_time)))


def now(tpp: Tpp) -> datetime:
    return datetime.fromisoformat(tpp.control("GET", "/clock").get_json()["now"])


def test_with_the_machine_frozen_a_running_bank_stands_still() -> None:
    with freeze_time(MACHINE):
        tpp = running()
        payment_id = tpp.initiated()
        for _ in range(20):
            assert now(tpp) == datetime.fromisoformat(MACHINE).replace(tzinfo=UTC)
            assert tpp.status(payment_id).get_json()["status"] == "RCVD"


def test_when_the_machine_moves_the_bank_moves() -> None:
    with freeze_time(MACHINE) as machine:
        tpp = running()
        payment_id = tpp.initiated()
        machine.tick(1)
        assert tpp.status(payment_id).get_json()["status"] == "PATC"
        machine.tick(timedelta(minutes=59, seconds=58))
        assert tpp.status(payment_id).get_json()["status"] == "PATC"
        machine.tick(1)
        assert tpp.status(payment_id).get_json()["status"] == "CANC"
        machine.move_to("2031-05-07T00:00:00")
        assert now(tpp) == datetime(2031, 5, 7, tzinfo=UTC)


@pytest.mark.parametrize("rate", [0.5, 1, 60, 86_400])
def test_it_moves_as_much_times_its_rate(rate: float) -> None:
    start = read_instant(MORNING)
    with freeze_time(MACHINE) as machine:
        tpp = running(rate, start)
        machine.tick(10)
        assert now(tpp) == start + timedelta(seconds=10 * rate)
        machine.move_to("2031-05-05T12:01:00")
        assert now(tpp) == start + timedelta(seconds=60 * rate)


def test_a_new_rate_counts_from_where_the_bank_stands() -> None:
    start = read_instant(MORNING)
    with freeze_time(MACHINE) as machine:
        tpp = running(1, start)
        machine.tick(10)
        tpp.control("POST", "/clock", mode="running", rate=60)
        machine.tick(10)
        assert now(tpp) == start + timedelta(seconds=610)
        tpp.control("POST", "/clock", mode="frozen")
        machine.tick(10)
        assert now(tpp) == start + timedelta(seconds=610)


def test_a_frozen_bank_does_not_feel_the_machine(app: Flask, worlds: WorldRegistry) -> None:
    with freeze_time(MACHINE) as machine:
        tpp = Tpp(app)
        payment_id = tpp.initiated()
        before = hash_state(worlds.get("default").bank)
        machine.tick(timedelta(days=400))
        assert tpp.status(payment_id).get_json()["status"] == "RCVD"
        assert hash_state(worlds.get("default").bank) == before


def test_no_other_clock_of_the_machine_is_read() -> None:
    """Two banks begun at one instant and led alike are the same, whatever year the machine has."""
    states = []
    for year in ("2001-01-01", "2099-12-31"):
        with freeze_time(year):
            worlds = WorldRegistry(make_first_beginning(7, read_instant(MORNING), 0), machine_time)
            tpp = Tpp(assemble(worlds))
            tpp.initiate(request_id="7d3c5e0a-3a4e-4f7b-9d7e-0a1b2c3d4e5f")
            tpp.advance("2d")
            lists = [tpp.control("GET", f"/{name}").data for name in ("accounts", "payments", "journal", "requests")]
            states.append((hash_state(worlds.get("default").bank), lists))
    assert states[0] == states[1]
