"""The bank of a run: all worlds of it differ, also those that the suite makes, and what they met is noted."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from sandbox.client import Controls, Reference, Refused
from sandbox.extensions.vary.run_banks import LocalBanks, Looks, RemoteBanks, start_local_banks
from sandbox.extensions.vary.space import read_variant
from sandbox.machine import machine_time
from sandbox.testing import BankFixture

ORDER: dict[str, Any] = {"creditor_iban": "BE68539007547034", "creditor_name": "Jan Peeters", "amount": "12.50"}
NOBODY = Reference("sepa-credit-transfers", "00000000-0000-4000-8000-000000000000")
LOOKS = Looks(lies=True, replies=True)


@pytest.fixture(scope="module")
def banks() -> Iterator[LocalBanks]:
    with start_local_banks(machine_time, 2, 1) as banks:
        yield banks


@pytest.fixture
def http() -> Iterator[httpx.Client]:
    with httpx.Client() as http:
        yield http


def bank_at(url: str, http: httpx.Client) -> BankFixture:
    return BankFixture(Controls(url, http), "default")


def test_a_reset_loses_no_call_no_axis_and_no_lie(banks: LocalBanks, http: httpx.Client) -> None:
    run = banks.begin("reset", {}, read_variant("final_status=ACSP,lie=initiation_settled"), LOOKS)
    bank = bank_at(run.url, http)
    for _ in range(2):
        assert bank.tpp.pay(**ORDER).status == "ACSC"
        bank.controls.reset()
    notes = run.read_notes(LOOKS)
    assert [row["operation"] for row in notes.rows] == ["payment_initiation"] * 2
    assert "final_status" in notes.met and len(notes.told) == 2
    assert all(row["explanation"]["content"]["reply"]["body"] for row in notes.rows)
    run.end()


def test_worlds_that_a_suite_makes_differ_too_and_count_after_they_were_dropped(
    banks: LocalBanks, http: httpx.Client
) -> None:
    run = banks.begin("own", {}, read_variant("final_status=ACSP,lie=initiation_settled"), LOOKS)
    suite = Controls(run.url, http)
    for name in ("first", "second"):
        bank = BankFixture(suite.make_world(name, scenario={"extends": "default"}), "default")
        assert bank.settings()["variants"] == {"final_status": "ACSP"}
        payment = bank.tpp.pay(**ORDER)
        assert payment.status == "ACSC" and f"/worlds/own/worlds/{name}/psu/sign/" in (payment.sca_address or "")
        bank.psu.approve(payment.sca_address or "", customer="alice")
        suite.drop_world(name)
    notes = run.read_notes(LOOKS)
    assert len(notes.rows) == 2 and len(notes.told) == 2 and "final_status" in notes.met
    run.end()


def test_what_a_suite_sets_by_itself_stays(banks: LocalBanks, http: httpx.Client) -> None:
    run = banks.begin("pinned", {}, read_variant("final_status=ACSP,page_size=10"), LOOKS)
    scenario = {"extends": "default", "settings": {"variants": {"page_size": "50"}, "settled_status": "ACSC"}}
    controls = Controls(run.url, http).make_world("own", scenario=scenario, variants={"details_amount": "number"})
    found = BankFixture(controls, "default").settings()["variants"]
    assert found["details_amount"] == "number"
    run.end()


def test_runs_share_no_world_and_a_run_that_ended_leaves_nothing(banks: LocalBanks, http: httpx.Client) -> None:
    one = banks.begin("one", {}, read_variant("final_status=ACSP"), LOOKS)
    other = banks.begin("other", {}, read_variant("lie=listed"), LOOKS)
    for run in (one, other):
        Controls(run.url, http).make_world("same")
    assert BankFixture(Controls(one.url, http).world("same"), "default").settings()["variants"] == {
        "final_status": "ACSP"
    }
    assert BankFixture(Controls(other.url, http).world("same"), "default").settings()["variants"] == {}
    one.end()
    again = banks.begin("again", {}, read_variant("lie=listed"), LOOKS)
    assert [row["name"] for row in Controls(again.url, http).listed("worlds")] == ["default"]
    assert again.read_notes(LOOKS).rows == []
    other.end()
    again.end()


def test_a_probe_fails_each_reply_whose_call_met_its_axis_and_no_other(banks: LocalBanks, http: httpx.Client) -> None:
    run = banks.begin("probe", {}, read_variant("final_status=ACSP,signatures=strict").add_probe("signatures"), LOOKS)
    bank = bank_at(run.url, http)
    for call, status in ((lambda: bank.tpp.pay(**ORDER), 500), (lambda: bank.tpp.status(NOBODY), 404)):
        with pytest.raises(Refused) as refused:
            call()
        assert refused.value.status == status
    run.end()


def test_a_night_and_the_faults_of_a_gateway_are_those_of_the_run(banks: LocalBanks, http: httpx.Client) -> None:
    run = banks.begin("night", {"clock": {"frozen": True}}, read_variant("night=leap_day,fault=later_503"), LOOKS)
    bank = bank_at(run.url, http)
    assert bank.clock.get().now.isoformat() == "2028-02-28T23:30:00+01:00" and bank.clock.get().mode == "frozen"
    assert len(bank.faults.all()) == 16
    run.end()


def test_at_a_server_elsewhere_a_run_has_one_world(banks: LocalBanks, http: httpx.Client) -> None:
    server = Controls(banks.url, http)
    run = RemoteBanks(server).begin("far", {}, read_variant("lie=initiation_settled"), LOOKS)
    assert bank_at(run.url, http).tpp.pay(**ORDER).status == "ACSC"
    assert len(run.read_notes(LOOKS).told) == 1
    run.end()
    assert "far" not in [row["name"] for row in server.listed("worlds")]


@pytest.mark.parametrize("text, told", [("night=leapday", "leap_day"), ("fault=502", "later_502"), ("lie=x", "lie")])
def test_an_unknown_condition_is_refused_with_the_nearest_name(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        read_variant(text)
