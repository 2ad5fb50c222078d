"""service 3.2, 3.4, 1 and choice 6: what a standing order goes through, and which accounts may have one."""

from dataclasses import replace

import pytest

from sandbox.bank.records import StandingOrder
from sandbox.contract import moves
from sandbox.contract.errors import Refusal
from sandbox.contract.moves import Status, Trigger
from sandbox.worlds.registry import WorldRegistry
from tests.contracts import ALICE, active, ask, bearer, contract, order, ordered, signed, status, until, variable
from tests.tpp import BELGIAN, FRENCH, Tpp, refused

NOT_CANCELLABLE, PROFILE = "SBX-0403-000002", "B14821ZZ-2101-000000"
NOTARIS = "BE06539100006222"  # needs two signatures
BLOCKED, COUNTER, LIMITED = "BE53539100009353", "BE33539100008646", "BE91539100011676"


def test_it_waits_for_its_signature_is_accepted_and_becomes_active_a_second_later(tpp: Tpp) -> None:
    payment_id = signed(tpp, contract())
    assert status(tpp, payment_id) == ("PDNG", None)
    tpp.advance("0.9s")
    assert status(tpp, payment_id) == ("PDNG", None)
    tpp.advance("0.1s")
    assert status(tpp, payment_id) == ("ACWP", None)
    told = [(row["trigger"], row["from"], row["to"]) for row in tpp.listed("journal") if row["subject"] == payment_id]
    assert told == [("received", None, "PATC"), ("signed", "PATC", "PDNG"), ("activated", "PDNG", "ACWP")]


def test_after_the_last_execution_the_contract_has_ended(tpp: Tpp) -> None:
    payment_id = active(tpp, contract(end_date="2027-05-01"))
    until(tpp, "2027-05-03T05:59:59+02:00")
    assert status(tpp, payment_id) == ("ACWP", None)
    tpp.advance("1s")
    assert status(tpp, payment_id) == ("CANC", "CONTRACT_ENDED")
    tpp.advance("100w")
    assert len(tpp.control("GET", f"/standing-orders/{payment_id}").get_json()["occurrences"]) == 2


def test_the_psu_may_refuse_it(tpp: Tpp) -> None:
    reply = order(tpp, contract())
    tpp.control("POST", "/psu/refuse", address=reply.headers["Location"])
    assert status(tpp, reply.get_json()["payment_id"]) == ("CANC", "PSU_REFUSED")


def test_an_unsigned_one_has_no_time_out_but_its_address_has(tpp: Tpp) -> None:
    reply = order(tpp, contract(debtor_account={"iban": ALICE}))
    tpp.advance("299s")
    tpp.advance("1s")
    late = tpp.control("POST", "/psu/approve", address=reply.headers["Location"])
    assert late.status_code == 410
    tpp.advance("104w")
    assert status(tpp, reply.get_json()["payment_id"]) == ("PATC", None)
    assert tpp.control("GET", "/clock").get_json()["due_next"] is None


def test_a_signature_is_taken_up_to_the_last_second_of_the_address(tpp: Tpp) -> None:
    reply = order(tpp, contract())
    tpp.advance("299s")
    tpp.signed(reply, "alice")
    assert status(tpp, reply.get_json()["payment_id"]) == ("PDNG", None)


# Cancellation (service 3.4, 4.5)


def cancelled(tpp: Tpp, payment_id: str) -> bool:
    reply = ask(tpp, "DELETE", payment_id, **bearer(tpp))
    return (reply.status_code, reply.data, "Content-Type" in reply.headers) == (204, b"", False)


def test_an_unsigned_one_is_cancelled(tpp: Tpp) -> None:
    payment_id = ordered(tpp, contract())
    assert cancelled(tpp, payment_id)
    assert status(tpp, payment_id) == ("CANC", None)


def test_an_accepted_one_is_cancelled_and_never_becomes_active(tpp: Tpp) -> None:
    payment_id = signed(tpp, contract())
    assert cancelled(tpp, payment_id)
    tpp.advance("60w")
    assert status(tpp, payment_id) == ("CANC", None)
    assert tpp.control("GET", f"/standing-orders/{payment_id}").get_json()["occurrences"] == []


def test_an_active_one_is_cancelled_from_its_next_occurrence_on(tpp: Tpp) -> None:
    payment_id = active(tpp, contract())
    until(tpp, "2027-04-01T06:00:00+02:00")
    assert cancelled(tpp, payment_id)
    assert status(tpp, payment_id) == ("CANC", None)
    until(tpp, "2028-04-01T06:00:00+02:00")
    rows = tpp.control("GET", f"/standing-orders/{payment_id}").get_json()["occurrences"]
    assert [(row["planned"], row["state"], row["amount"]) for row in rows] == [("2027-04-01", "executed", "12.50")]


@pytest.mark.parametrize("how", ("cancelled", "ended", "refused"))
def test_one_that_is_over_is_not_cancelled_again(tpp: Tpp, how: str) -> None:
    reply = order(tpp, contract(end_date="2027-04-01"))
    payment_id = reply.get_json()["payment_id"]
    if how == "refused":
        tpp.control("POST", "/psu/refuse", address=reply.headers["Location"])
    else:
        tpp.signed(reply, "alice")
    if how == "ended":
        until(tpp, "2027-04-02T00:00:00+02:00")
    elif how == "cancelled":
        assert cancelled(tpp, payment_id)
    before = status(tpp, payment_id)
    again = ask(tpp, "DELETE", payment_id, **bearer(tpp))
    assert refused(again, 403, NOT_CANCELLABLE) and again.get_json()["error"] == "NOT_CANCELLABLE"
    assert status(tpp, payment_id) == before and before[0] == "CANC"


def test_only_the_table_moves_a_standing_order(tpp: Tpp, worlds: WorldRegistry) -> None:
    bank = worlds.get("default").bank
    found = bank.standing_orders[ordered(tpp, contract())]
    rows = {(move.source, move.trigger): move.target for move in moves.MOVES["periodic-payments"]}
    for source in Status:
        for trigger in Trigger:
            subject: StandingOrder = replace(found, status=source, history=())
            if (source, trigger) in rows:
                bank.move(subject, trigger)
            else:
                with pytest.raises(Refusal):
                    bank.move(subject, trigger)
            assert subject.status is rows.get((source, trigger), source)
    assert {move.target for move in moves.MOVES["periodic-payments"]} == {Status.PDNG, Status.ACWP, Status.CANC}


# Which account may pay (service 1, choice 5)


def test_an_account_that_needs_two_signatures_is_refused(tpp: Tpp) -> None:
    reply = order(tpp, contract(debtor_account={"iban": NOTARIS}))
    assert refused(reply, 403, PROFILE, "two signatures") and reply.get_json()["error"] == "FORBIDDEN"


def test_one_that_the_psu_picks_is_refused_too_and_another_may_be_picked(tpp: Tpp) -> None:
    reply = order(tpp, contract())
    address = reply.headers["Location"]
    picked = tpp.control("POST", "/psu/approve", address=address, customer="notaris", account=NOTARIS)
    assert refused(picked, 403, PROFILE, "two signatures")
    assert status(tpp, reply.get_json()["payment_id"]) == ("PATC", None)
    tpp.signed(reply, "alice")
    assert status(tpp, reply.get_json()["payment_id"]) == ("PDNG", None)


@pytest.mark.parametrize(
    "iban, code",
    [
        (FRENCH, "B14800ZZ-3002-000000"),
        (BELGIAN, "B14800ZZ-3002-000000"),
        (BLOCKED, "B14800ZZ-3007-000000"),
        (COUNTER, "B14800ZZ-3007-000000"),
    ],
)
def test_an_account_out_of_reach_is_refused(tpp: Tpp, iban: str, code: str) -> None:
    assert refused(order(tpp, contract(debtor_account={"iban": iban})), 403, code, "'debtor_account.iban'")


def test_the_customers_own_settings_hold_for_standing_orders(tpp: Tpp) -> None:
    mine = {"debtor_account": {"iban": LIMITED}}
    assert order(tpp, contract(**mine, instructed_amount__amount="250.00")).status_code == 201
    assert refused(order(tpp, contract(**mine, instructed_amount__amount="250.01")), 403, PROFILE, "daily limit")
    assert refused(order(tpp, contract(**mine, creditor_account={"iban": FRENCH})), 403, PROFILE, "country FR")


def test_a_compartment_in_another_currency_cannot_be_picked(tpp: Tpp, worlds: WorldRegistry) -> None:
    accounts = worlds.get("default").bank.accounts
    accounts[ALICE] = replace(accounts[ALICE], currencies=("USD",))
    reply = order(tpp, contract())
    picked = tpp.control("POST", "/psu/approve", address=reply.headers["Location"], customer="alice", account=ALICE)
    assert refused(picked, 400, "GEN-1202-100002", "'debtor_account.currency'")
    named = order(tpp, contract(debtor_account={"iban": ALICE}))
    assert refused(named, 400, "GEN-1202-100002", "'debtor_account.currency'")


def test_funds_are_no_question_before_the_execution(tpp: Tpp) -> None:
    body = contract(debtor_account={"iban": ALICE}, instructed_amount__amount="9999999999999.99")
    assert order(tpp, body).status_code == 201
    assert order(tpp, variable(instructed_amount__minimal_amount="9999999999999.99")).status_code == 201
