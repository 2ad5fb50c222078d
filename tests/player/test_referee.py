"""What a script may expect of the referee; and the shipped scripts, whose client does wrong only on purpose."""

from dataclasses import replace

import pytest

from sandbox.machine import machine_time
from sandbox.player.running import read_script, run_one
from sandbox.scenario.library import SHIPPED
from sandbox.scenario.model import Step
from tests.player.conftest import Play

PAY = {"pay": {"debtor": "alice", "amount": "25.00"}, "as": "rent"}
SIGN = {"psu": {"approves": "rent"}}
CLEAN = {"expect": {"referee": "clean"}}
UNASKED = "status-never-asked"


def test_a_client_without_fault_is_clean(play: Play) -> None:
    assert all(step.held for step in play(PAY, SIGN, {"status": "rent"}, CLEAN))


def test_a_finding_is_told_where_clean_was_expected(play: Play) -> None:
    *_, failed = play(PAY, SIGN, CLEAN)
    assert not failed.held and f"warning {UNASKED} in POST /payments" in failed.faults[0]


def test_a_finding_may_be_expected(play: Play) -> None:
    *_, held = play(PAY, SIGN, {"expect": {"referee": [UNASKED]}})
    assert held.held


def test_a_finding_that_does_not_come_is_told(play: Play) -> None:
    *_, failed = play(PAY, {"expect": {"referee": [UNASKED]}})
    assert failed.faults == (f"referee: expected {UNASKED}, and it was not found",)


def test_what_is_waved_off_is_clean(play: Play) -> None:
    *_, held = play(PAY, SIGN, CLEAN, settings={"referee_waives": [f"{UNASKED}: this script looks by the controls"]})
    assert held.held


@pytest.mark.parametrize("wanted", [{"referee": "dirty"}, {"referee": "clean", "status": 200}])
def test_anything_else_is_no_expectation(play: Play, wanted: dict[str, object]) -> None:
    *_, failed = play(PAY, {"expect": wanted})
    assert "of the referee one expects" in failed.faults[0]


# What the shipped scripts do on purpose, or leave to the controls to look at. All others are clean.
PROVOKED: dict[str, set[str]] = {
    "a_bulk_file_is_cancelled_in_time": {"cancel-impossible", "status-never-asked"},
    "a_bulk_file_is_refused_in_part": {"status-never-asked"},
    "a_client_without_rights": {"redirect-unregistered", "request-id-wrong", "status-never-asked", "token-foreign"},
    "a_code_that_is_used_twice_kills_its_tokens": {
        "code-late",
        "code-twice",
        "consent-anew",
        "pkce-verifier-wrong",
        "token-replaced",
    },
    "a_future_payment_is_called_off": {"cancel-impossible"},
    "a_payment_between_two_customers_of_the_bank": {"status-never-asked"},
    "a_payment_is_recycled_in_vain": {"status-never-asked"},
    "a_refreshed_pair_replaces_the_old_one": {"token-refresh-reused", "token-replaced"},
    "a_standing_order_ends_with_its_contract": {"status-never-asked"},
    "a_standing_order_is_cancelled": {"cancel-impossible"},
    "a_standing_order_meets_easter": {"status-never-asked"},
    "after_ninety_days_the_customer_authenticates_again": {"paging-stopped", "state-missing"},
    "an_account_is_read_page_by_page": {"paging-stopped"},
    "an_address_grows_old": {"sca-opened-late"},
    "an_instant_payment_is_never_pending": {"cancel-impossible"},
    "an_unsigned_instant_payment_is_withdrawn": {"status-never-asked"},
    "dollars_go_overseas_and_cannot_be_called_back": {"cancel-impossible", "status-never-asked"},
    "foreign_tokens_and_a_slow_bank": {"logical-id-stale"},
    "funds_are_missing_and_the_customer_picks_another_account": {"status-never-asked"},
    "one_account_only_under_the_older_scope": {"scope-wrong"},
    "the_customer_gives_no_consent": {"sca-opened-late"},
    "the_customer_withdraws_the_consent": {"consent-ended-used", "paging-stopped"},
    "the_earlier_version_still_pays": {"version-old"},
    "the_night_of_the_clock_change": {"status-never-asked"},
    "the_same_reference_twice_is_a_conflict": {"initiation-doubled"},
    "too_many_requests": {"paging-stopped"},
    "what_is_executed_can_no_longer_be_cancelled": {"cancel-impossible"},
}


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_script_is_found_at_fault_only_where_it_means_to(url: str, name: str) -> None:
    script = read_script(name)
    expected = sorted(PROVOKED.get(name, ())) or "clean"
    steps = (*script.scenario.steps, Step("expect", {"referee": expected}))
    report = run_one(replace(script, scenario=replace(script.scenario, steps=steps)), url, machine_time)
    assert report.held, [step.faults for step in report.steps if not step.held] or report.trouble


def test_the_table_names_shipped_scripts_only() -> None:
    assert set(PROVOKED) <= set(SHIPPED)
