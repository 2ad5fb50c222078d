"""Standing orders as a tester and a TPP see them: past and coming days, late beginnings, calls off, transactions."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import httpx
import pytest
from flask import Flask

from sandbox.client import Client, Controls
from sandbox.storage.state_hash import hash_state
from sandbox.worlds.registry import WorldRegistry
from sandbox.worlds.snapshot import replay
from tests.contracts import ALICE, SAVINGS, active, ask, bearer, contract, occurrences, signed, status, until, variable
from tests.tpp import BELGIAN, Tpp

HERE = "http://127.0.0.1:8080"


# What the controls list


def test_past_and_coming_occurrences_are_listed_with_their_days_and_why(tpp: Tpp) -> None:
    payment_id = active(tpp, contract(start_date="2027-03-26", end_date="2027-08-01"))
    until(tpp, "2027-04-26T06:00:00+02:00")
    rows = [{**row, "at": row.get("at"), "amount": row.get("amount")} for row in occurrences(tpp, payment_id)]
    assert [tuple(row[name] for name in ("number", "planned", "on", "shifted", "state")) for row in rows] == [
        (1, "2027-03-26", "2027-03-30", "good friday; next banking day", "executed"),
        (2, "2027-04-26", "2027-04-26", None, "executed"),
        (3, "2027-05-26", "2027-05-26", None, "coming"),
        (4, "2027-06-26", "2027-06-28", "saturday; next banking day", "coming"),
        (5, "2027-07-26", "2027-07-26", None, "coming"),
        (6, "2027-08-26", "2027-08-26", None, "coming"),
    ]
    assert [(row["at"], row["amount"]) for row in rows] == [
        ("2027-03-30T06:00:00+02:00", "12.50"),
        ("2027-04-26T06:00:00+02:00", "12.50"),
        *[(None, None)] * 4,
    ]


INSIDE = ", to stay inside the year"


@pytest.mark.parametrize(
    "body, this_time, next_time",
    [
        (variable(start_date="2027-03-29"), "easter monday; previous banking day", None),
        (contract(start_date="2027-03-26"), "good friday; next banking day", "sunday; next banking day"),
        (contract(start_date="2027-05-01"), "labour day; next banking day", "labour day; next banking day"),
        (contract(start_date="2027-12-25"), "christmas day; next banking day", "christmas day; next banking day"),
        (variable(start_date="2027-12-26"), "26 december; previous banking day", "26 december; previous banking day"),
        (contract(start_date="2027-12-31"), None, f"sunday; previous banking day{INSIDE}"),
        (
            variable(start_date="2028-01-01"),
            f"new year's day; next banking day{INSIDE}",
            f"new year's day; next banking day{INSIDE}",
        ),
    ],
)
def test_why_a_day_was_shifted(tpp: Tpp, body: dict[str, object], this_time: str | None, next_time: str | None) -> None:
    rows = occurrences(tpp, signed(tpp, body | {"frequency": "YEARLY"}), "coming")
    assert len(rows) == 12
    assert [row["shifted"] for row in rows[:2]] == [this_time, next_time]
    assert all((row["planned"] == row["on"]) == (row["shifted"] is None) for row in rows)


def test_a_failed_execution_is_listed_and_the_contract_lives_on(tpp: Tpp) -> None:
    payment_id = active(tpp, contract(instructed_amount__amount="9999999.00"))
    until(tpp, "2027-05-15T00:00:00+02:00")
    (failed, *_) = rows = occurrences(tpp, payment_id, "failed")
    assert [(row["planned"], row["amount"]) for row in rows] == [("2027-04-01", None), ("2027-05-01", None)]
    assert failed["at"] == "2027-04-01T06:00:00+02:00"
    assert status(tpp, payment_id)[0] == "ACWP"


# Active late: nothing that is still to come is lost


def test_a_variable_one_whose_banking_day_has_begun_runs_on_the_following_one(tpp: Tpp) -> None:
    until(tpp, "2027-03-05T10:00:00+01:00")  # a Friday
    payment_id = active(tpp, variable(start_date="2027-03-06", instructed_amount__maximal_amount="10.00"))
    (first, second, *_) = occurrences(tpp, payment_id, "coming")
    assert first["on"] == "2027-03-08" and second["on"] == "2027-04-06"
    assert first["shifted"] == (
        "saturday; previous banking day, passed before the contract was active; following banking day"
    )
    assert tpp.control("GET", "/clock").get_json()["due_next"] == "2027-03-08T06:00:00+01:00"
    until(tpp, "2027-04-30T12:00:00+02:00")
    assert [row["at"][:16] for row in occurrences(tpp, payment_id, "executed")] == [
        "2027-03-08T06:00",
        "2027-04-06T06:00",
    ]


def test_one_that_is_active_before_six_runs_on_that_day(tpp: Tpp) -> None:
    until(tpp, "2027-03-05T05:59:58+01:00")
    payment_id = active(tpp, variable(start_date="2027-03-06", instructed_amount__maximal_amount="10.00"))
    tpp.advance("1s")
    assert [row["on"] for row in occurrences(tpp, payment_id, "executed")] == ["2027-03-05"]


@pytest.mark.parametrize(
    "ordered_at, body, on",
    [
        ("2027-03-25T06:00:00+01:00", variable(start_date="2027-03-29"), "2027-03-30"),  # Easter
        ("2027-12-24T12:00:00+01:00", variable(start_date="2027-12-25"), "2027-12-27"),
        ("2028-12-30T12:00:00+01:00", variable(start_date="2028-12-31"), "2029-01-02"),  # no open day left in the year
        ("2028-12-30T12:00:00+01:00", contract(start_date="2028-12-31"), "2029-01-02"),
    ],
)
def test_late_ones_follow_on_the_next_open_day(tpp: Tpp, ordered_at: str, body: dict[str, object], on: str) -> None:
    until(tpp, ordered_at)
    payment_id = active(tpp, body)
    tpp.advance("10d")
    assert [row["at"][:13] for row in occurrences(tpp, payment_id, "executed")] == [f"{on}T06"]


def slow_world(worlds: WorldRegistry, app: Flask, days: int) -> Tpp:
    """A world in which a signed contract takes days to become active."""
    beginning = worlds.beginning
    slow = replace(beginning.settings, contract_activation=timedelta(days=days))
    worlds.make("slow", replace(beginning, settings=slow))
    return Tpp(app, "slow")


def test_a_fixed_one_whose_banking_day_is_still_ahead_runs_on_it(worlds: WorldRegistry, app: Flask) -> None:
    tpp = slow_world(worlds, app, 2)
    until(tpp, "2027-03-05T10:00:00+01:00")
    payment_id = signed(tpp, contract(start_date="2027-03-06"))
    until(tpp, "2027-03-08T06:00:00+01:00")  # active since Sunday
    assert [row["planned"] for row in occurrences(tpp, payment_id, "executed")] == ["2027-03-06"]


def test_what_was_due_on_days_before_it_was_active_is_passed_over(worlds: WorldRegistry, app: Flask) -> None:
    tpp = slow_world(worlds, app, 60)
    payment_id = signed(tpp, contract(start_date="2027-03-10", end_date="2027-05-31"))
    until(tpp, "2027-06-01T00:00:00+02:00")
    assert [(row["planned"], row["state"]) for row in occurrences(tpp, payment_id)] == [
        ("2027-03-10", "passed over"),
        ("2027-04-10", "passed over"),
        ("2027-05-10", "executed"),
    ]
    assert status(tpp, payment_id) == ("CANC", "CONTRACT_ENDED")


# Called off


def test_what_runs_is_not_touched_by_a_cancellation(tpp: Tpp) -> None:
    payment_id = active(tpp, contract(creditor_account={"iban": SAVINGS}))
    before = balances(tpp)
    until(tpp, "2027-04-01T06:00:00+02:00")
    token = bearer(tpp)
    assert ask(tpp, "DELETE", payment_id, **token).status_code == 204
    tpp.advance("100d")
    after = balances(tpp)
    assert after[SAVINGS] - before[SAVINGS] == Decimal("12.50")
    assert [row["state"] for row in occurrences(tpp, payment_id)] == ["executed"]


def test_one_that_is_called_off_a_second_before_six_does_not_run(tpp: Tpp) -> None:
    payment_id = active(tpp, contract(creditor_account={"iban": SAVINGS}))
    until(tpp, "2027-04-01T05:59:59+02:00")
    before = balances(tpp)
    assert ask(tpp, "DELETE", payment_id, **bearer(tpp)).status_code == 204
    tpp.advance("100d")
    assert balances(tpp)[SAVINGS] == before[SAVINGS]
    assert occurrences(tpp, payment_id) == []


def balances(tpp: Tpp) -> dict[str, Decimal]:
    rows = tpp.listed("accounts")
    return {row["iban"]: Decimal(str(row["balances"][0]["balance"])) for row in rows}


# Among the account's transactions


def test_executions_appear_among_the_accounts_transactions(tpp: Tpp, app: Flask) -> None:
    body = contract(creditor_account={"iban": SAVINGS}, remittance_information_structured="+++090/9337/55493+++")
    active(tpp, body)
    active(tpp, contract(creditor_name="A landlord", remittance_information_unstructured="Rent"))
    until(tpp, "2027-05-31T12:00:00+02:00")
    with httpx.Client(transport=httpx.WSGITransport(app=app)) as line:
        reader, controls = Client(HERE, http=line), Controls(HERE, line)
        consent = reader.consent_addresses()
        tokens = reader.tokens_from(controls.psu.approve(consent.address, customer="alice"), consent.flow)
        names = {row.iban: row.logical_id for row in reader.accounts(tokens)}
        found = {iban: list(reader.all_transactions(names[iban], tokens))[:4] for iban in (ALICE, SAVINGS)}
    told = [(str(row.execution_date), row.amount, row.counterparty_account) for row in found[ALICE]]
    assert told == [
        ("2027-05-03", Decimal("-12.50"), BELGIAN),
        ("2027-05-03", Decimal("-12.50"), SAVINGS),
        ("2027-04-01", Decimal("-12.50"), BELGIAN),
        ("2027-04-01", Decimal("-12.50"), SAVINGS),
    ]
    assert [(row.communication, row.counterparty_info) for row in found[ALICE][:2]] == [
        ("Rent", "A landlord"),
        ("+++090/9337/55493+++", "Jan Peeters"),
    ]
    saved = [(str(row.execution_date), row.amount, row.counterparty_info) for row in found[SAVINGS][:2]]
    assert saved == [(day, Decimal("12.50"), "Alice Delvigne") for day in ("2027-05-03", "2027-04-01")]


def test_a_log_gives_the_same_standing_orders_again(tpp: Tpp, worlds: WorldRegistry) -> None:
    active(tpp, variable(start_date="2027-03-06", frequency="WEEKLY", instructed_amount__maximal_amount="10.00"))
    until(tpp, "2027-07-01T00:00:00+02:00")
    ended = active(tpp, contract(start_date="2027-07-31"))
    until(tpp, "2028-01-01T00:00:00+01:00")
    assert ask(tpp, "DELETE", ended, **bearer(tpp)).status_code == 204
    tpp.advance("52w")
    world = worlds.get("default")
    assert hash_state(replay(world.beginning, world.log, world.bank.clock.now)) == hash_state(world.bank)
