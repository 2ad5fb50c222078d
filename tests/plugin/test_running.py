"""A bank in one's own process, without pytest: choice 12."""

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

import sandbox
from sandbox.client import Client, Controls
from sandbox.scenarios import ScenarioErrors
from sandbox.testing import BankFixture

ORDER: Any = {"creditor_iban": "BE68539007547034", "creditor_name": "Jan Peeters", "amount": "12.50"}


@pytest.fixture(scope="module")
def shared() -> Iterator[BankFixture]:
    with sandbox.running() as bank:
        yield bank


def test_it_serves_while_the_block_runs_and_then_no_more() -> None:
    threads = threading.active_count()
    with sandbox.running() as bank:
        payment = bank.tpp.pay(**ORDER)
        bank.psu.approve(payment.sca_address or "", customer="alice")
        assert bank.await_(payment, "ACSC").waited == timedelta(seconds=60)
        assert str(bank) == f"<bank default at {bank.base_url}>"
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{bank.base_url}/_sandbox/health", trust_env=False)
    assert threading.active_count() <= threads


def test_an_error_in_the_block_ends_it_too() -> None:
    threads = threading.active_count()
    with pytest.raises(LookupError), sandbox.running() as bank:
        bank.account("none")
    assert threading.active_count() <= threads


def test_two_run_beside_each_other_and_each_can_wait(shared: BankFixture) -> None:
    with sandbox.running() as other:
        for bank in (shared, other):
            bank.faults.add(when={"operation": "payment_initiation"}, delay="0.01s")
            bank.tpp.pay(**ORDER)
        other.reset()
        assert (len(shared.payments), other.payments) == (1, [])
    shared.reset()


def test_without_a_word_it_is_a_frozen_monday_morning(shared: BankFixture) -> None:
    face = shared.clock.get()
    assert (face.now.isoformat(), face.mode) == ("2027-03-01T09:00:00+01:00", "frozen")


def test_what_is_said_wins_over_the_scenario(tmp_path: Path) -> None:
    file = tmp_path / "monday.yaml"
    file.write_text("seed: 5\nclock: {at: 2028-05-01T08:00, rate: 60}\nsettings: {unsigned_after: 20m}\n")
    with sandbox.running(str(file)) as bank:
        face = bank.clock.get()
        assert (face.now.year, face.rate, bank.settings()["unsigned_after"]) == (2028, 60, "20m")
    at = datetime(2029, 1, 1, tzinfo=UTC)
    with sandbox.running(str(file), seed=3, at=at, frozen=True, settings={"unsigned_after": "21m"}) as bank:
        assert (bank.clock.get().now, bank.clock.get().mode) == (at, "frozen")
        assert bank.settings()["unsigned_after"] == "21m"
        assert bank.controls.listed("worlds")[0]["seed"] == 3


def test_now_is_the_machines_time_and_it_may_run() -> None:
    with sandbox.running(at="now", frozen=False) as bank:
        assert abs(bank.clock.get().now - datetime.now(UTC)) < timedelta(minutes=1)
        assert bank.clock.get().mode == "running"


@pytest.mark.parametrize("scenario", ["deflaut", "absent.yaml", {"settings": {"page_sise": 3}}])
def test_a_scenario_that_cannot_be_read_starts_nothing(scenario: str) -> None:
    threads = threading.active_count()
    with pytest.raises(ScenarioErrors), sandbox.running(scenario):
        pass
    assert threading.active_count() <= threads


def test_a_setting_may_be_a_timedelta(shared: BankFixture) -> None:
    assert shared.settings(code_life=timedelta(minutes=3))["code_life"] == "3m"
    shared.reset()


def test_a_wait_may_be_a_timedelta(shared: BankFixture) -> None:
    payment = shared.tpp.pay(**ORDER)
    assert shared.await_(payment, "PATC", timedelta(seconds=1)).waited == timedelta(seconds=1)
    shared.reset()


def test_the_plain_application_answers_in_the_process_without_a_port() -> None:
    transport = httpx.WSGITransport(app=sandbox.create_app())
    with httpx.Client(transport=transport) as http:
        controls, tpp = Controls("http://bank.test", http), Client("http://bank.test", http=http)
        controls.clock.freeze()
        payment = tpp.pay(**ORDER)
        assert payment.sca_address is not None and payment.sca_address.startswith("http://bank.test/psu/")
        controls.psu.approve(payment.sca_address, customer="alice")
        controls.clock.advance("1m")
        assert tpp.status(payment).status == "ACSC"
