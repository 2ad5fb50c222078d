"""service 1 and choice 5: what the debtor's account must allow, when the initiation names it."""

from dataclasses import replace
from typing import Any

import pytest
from werkzeug.test import TestResponse

from sandbox.banking.iban import make_belgian
from sandbox.worlds.registry import WorldRegistry
from tests.spec.bodies import ALICE, BAKKERIJ, BLOCKED, BRAM, COUNTER, LIMITED, POOR, to_america
from tests.tpp import BELGIAN, FRENCH, ISCT, SCT, XB, Tpp, payment, refused, version

PRODUCTS = (SCT, ISCT, XB)
FOREIGN = "B14800ZZ-3002-000000"
CHANNEL = "B14800ZZ-3007-000000"
NON_SEPA = "B14821ZZ-2121-000000"
PROFILE = "B14821ZZ-2101-000000"
FUNDS = "SBX-0403-000001"
LATER = "2027-04-01"


def from_account(tpp: Tpp, iban: str, product: str = SCT, **changes: Any) -> TestResponse:
    return tpp.initiate(product, payment(product, debtor_account={"iban": iban}, **changes))


def paying(tpp: Tpp, iban: str, amount: str, product: str = SCT, **changes: Any) -> TestResponse:
    return from_account(tpp, iban, product, instructed_amount__amount=amount, **changes)


def change_account(worlds: WorldRegistry, iban: str, **changes: Any) -> None:
    accounts = worlds.get("default").bank.accounts
    accounts[iban] = replace(accounts[iban], **changes)


# The account


@pytest.mark.parametrize("product", PRODUCTS)
@pytest.mark.parametrize("iban", (ALICE, BRAM, BAKKERIJ))
def test_an_account_of_this_bank_may_pay(tpp: Tpp, product: str, iban: str) -> None:
    assert from_account(tpp, iban, product).status_code == 201


@pytest.mark.parametrize("product", PRODUCTS)
@pytest.mark.parametrize("iban", (BELGIAN, FRENCH))
def test_an_account_of_another_bank_may_not(tpp: Tpp, product: str, iban: str) -> None:
    reply = from_account(tpp, iban, product)
    assert refused(reply, 403, FOREIGN, "'debtor_account.iban'")
    assert reply.get_json()["error"] == "INVALID_ACCOUNT"


SAVINGS = make_belgian("539", 1000024)  # alice's second account


@pytest.mark.parametrize("product", PRODUCTS)
def test_a_savings_account_is_no_payment_account(tpp: Tpp, product: str) -> None:
    reply = from_account(tpp, SAVINGS, product)
    assert refused(reply, 403, FOREIGN, "'debtor_account.iban' is a savings account")
    assert reply.get_json()["error"] == "INVALID_ACCOUNT"
    picked = tpp.initiate(product)
    assert picked.status_code == 201
    chosen = {"address": picked.headers["Location"], "customer": "alice", "account": SAVINGS}
    assert refused(tpp.control("POST", "/psu/approve", **chosen), 403, FOREIGN)


def test_no_standing_order_leaves_a_savings_account(tpp: Tpp) -> None:
    body = {"debtor_account": {"iban": SAVINGS}, "creditor_account": {"iban": BELGIAN}, "creditor_name": "Jan"}
    more = {"endtoend_identification": "RENT-1", "start_date": LATER, "frequency": "MONTHLY"}
    order = body | more | {"instructed_amount": {"amount": "10.00"}}
    sent: dict[str, Any] = {"accept": version(2), "json": order}
    assert refused(tpp.call("POST", f"/periodic-payments/{SCT}", **sent), 403, FOREIGN)
    sent["json"] = order | {"debtor_account": {"iban": ALICE}}
    assert tpp.call("POST", f"/periodic-payments/{SCT}", **sent).status_code == 201  # also without a currency


@pytest.mark.parametrize("product", PRODUCTS)
@pytest.mark.parametrize("iban", (BLOCKED, COUNTER), ids=("blocked by its customer", "in no channel"))
def test_an_account_outside_the_electronic_channels_may_not(tpp: Tpp, product: str, iban: str) -> None:
    reply = from_account(tpp, iban, product)
    assert refused(reply, 403, CHANNEL, "'debtor_account.iban'")
    assert reply.get_json()["error"] == "CHANNEL_NOT_PERMITTED"


def test_an_account_without_payments_outside_sepa_may_make_none(tpp: Tpp) -> None:
    reply = from_account(tpp, LIMITED, XB)
    assert refused(reply, 403, NON_SEPA, "'debtor_account.iban'")
    assert reply.get_json()["error"] == "INVALID_PAYMENT"


@pytest.mark.parametrize("product", (SCT, ISCT))
def test_an_account_without_payments_outside_sepa_may_pay_within(tpp: Tpp, product: str) -> None:
    assert from_account(tpp, LIMITED, product).status_code == 201


# The customer profile


@pytest.mark.parametrize("product", (SCT, ISCT))
def test_the_daily_limit_may_be_reached_and_not_passed(tpp: Tpp, product: str) -> None:
    assert paying(tpp, LIMITED, "250.00", product).status_code == 201
    reply = paying(tpp, LIMITED, "250.01", product)
    assert refused(reply, 403, PROFILE, "daily")
    assert reply.get_json()["error"] == "FORBIDDEN"


def test_what_was_signed_today_counts_for_the_daily_limit(tpp: Tpp) -> None:
    tpp.signed(paying(tpp, LIMITED, "200.00"))
    assert paying(tpp, LIMITED, "50.00").status_code == 201
    assert refused(paying(tpp, LIMITED, "50.01"), 403, PROFILE, "daily")


def test_what_nobody_signed_does_not_count(tpp: Tpp) -> None:
    assert paying(tpp, LIMITED, "250.00").status_code == 201
    assert paying(tpp, LIMITED, "250.00").status_code == 201


def test_a_new_day_brings_a_new_daily_limit(tpp: Tpp) -> None:
    tpp.signed(paying(tpp, LIMITED, "250.00"))
    assert refused(paying(tpp, LIMITED, "0.01"), 403, PROFILE, "daily")
    tpp.advance("1d")
    assert paying(tpp, LIMITED, "250.00").status_code == 201


def test_seven_days_together_keep_the_weekly_limit(tpp: Tpp) -> None:
    for _ in range(2):
        tpp.signed(paying(tpp, LIMITED, "250.00"))
        tpp.advance("1d")
    assert refused(paying(tpp, LIMITED, "0.01"), 403, PROFILE, "weekly")
    tpp.advance("5d")
    assert paying(tpp, LIMITED, "250.00").status_code == 201


def test_a_future_dated_payment_keeps_the_limits_too(tpp: Tpp) -> None:
    assert refused(paying(tpp, LIMITED, "250.01", requested_execution_date=LATER), 403, PROFILE, "daily")


def test_an_account_without_limits_knows_none(tpp: Tpp) -> None:
    assert paying(tpp, BAKKERIJ, "20000.00").status_code == 201


def test_only_a_country_that_the_customer_accepts_may_be_paid(tpp: Tpp) -> None:
    assert from_account(tpp, LIMITED).status_code == 201
    reply = from_account(tpp, LIMITED, creditor_account={"iban": FRENCH})
    assert refused(reply, 403, PROFILE, "FR")
    assert from_account(tpp, ALICE, creditor_account={"iban": FRENCH}).status_code == 201


def test_the_country_of_a_bban_is_asked_too(tpp: Tpp, worlds: WorldRegistry) -> None:
    change_account(worlds, LIMITED, non_sepa=True)
    body = to_america(debtor_account={"iban": LIMITED})
    assert refused(tpp.initiate(XB, body), 403, PROFILE, "US")


@pytest.mark.parametrize("product", (SCT, XB))
def test_an_urgent_payment_needs_a_professional_account(tpp: Tpp, product: str) -> None:
    assert from_account(tpp, BAKKERIJ, product, instruction_priority="HIGH").status_code == 201
    reply = from_account(tpp, ALICE, product, instruction_priority="HIGH")
    assert refused(reply, 403, PROFILE, "urgent")
    assert from_account(tpp, ALICE, product, instruction_priority="NORM").status_code == 201


# Funds


@pytest.mark.parametrize("product", (SCT, ISCT))
def test_the_balance_may_be_spent_to_the_last_cent_and_not_beyond(tpp: Tpp, product: str) -> None:
    assert paying(tpp, POOR, "12.50", product).status_code == 201
    reply = paying(tpp, POOR, "12.51", product)
    assert refused(reply, 403, FUNDS, POOR)
    assert reply.get_json()["error"] == "INSUFFICIENT_FUNDS"


def test_today_s_date_is_direct_execution(tpp: Tpp) -> None:
    assert refused(paying(tpp, POOR, "12.51", requested_execution_date="2027-03-01"), 403, FUNDS)


def test_the_funds_of_a_future_dated_payment_are_not_asked_yet(tpp: Tpp) -> None:
    assert paying(tpp, POOR, "9999.00", requested_execution_date="2027-03-02").status_code == 201


def test_what_is_reserved_is_no_longer_there(tpp: Tpp) -> None:
    tpp.signed(paying(tpp, POOR, "12.50"))
    assert refused(paying(tpp, POOR, "0.01"), 403, FUNDS)


# Compartments


def test_a_compartment_of_the_account_may_pay(tpp: Tpp) -> None:
    for currency in ("EUR", "USD", "GBP"):
        body = payment(XB, debtor_account={"iban": BRAM, "currency": currency})
        assert tpp.initiate(XB, body).status_code == 201


def test_a_compartment_that_the_account_lacks_may_not(tpp: Tpp) -> None:
    for iban, currency in ((ALICE, "USD"), (BRAM, "JPY")):
        body = payment(XB, debtor_account={"iban": iban, "currency": currency})
        assert refused(tpp.initiate(XB, body), 400, "GEN-1202-100002", "'debtor_account.currency'")


def test_funds_are_asked_of_the_compartment_that_pays(tpp: Tpp) -> None:
    money = {"amount": "3000.00", "currency": "USD"}  # over the dollars, not over the euros
    dollars, euros = (
        payment(XB, debtor_account={"iban": BRAM, "currency": currency}, instructed_amount=money)
        for currency in ("USD", "EUR")
    )
    assert refused(tpp.initiate(XB, dollars), 403, FUNDS, BRAM)
    assert tpp.initiate(XB, euros).status_code == 201


# Order, and when none of it is asked


def test_the_channel_is_heard_before_payments_outside_sepa(tpp: Tpp, worlds: WorldRegistry) -> None:
    change_account(worlds, BLOCKED, non_sepa=False)
    assert refused(from_account(tpp, BLOCKED, XB), 403, CHANNEL)


def test_payments_outside_sepa_are_heard_before_the_profile(tpp: Tpp) -> None:
    assert refused(paying(tpp, LIMITED, "1000.00", XB), 403, NON_SEPA)


def test_the_profile_is_heard_before_the_funds(tpp: Tpp) -> None:
    assert refused(paying(tpp, LIMITED, "99999.00"), 403, PROFILE)
    assert refused(paying(tpp, POOR, "99999.00", instruction_priority="HIGH"), 403, PROFILE)


@pytest.mark.parametrize("product", PRODUCTS)
def test_without_a_debtor_account_nothing_of_this_is_asked(tpp: Tpp, product: str) -> None:
    amount = {"amount": "9999999999999.99", "currency": "USD" if product == XB else "EUR"}
    urgent = {} if product == ISCT else {"instruction_priority": "HIGH"}
    reply = tpp.initiate(product, payment(product, instructed_amount=amount, **urgent))
    assert reply.status_code == 201, reply.text


REFUSED = ((BELGIAN, "1.00"), (BLOCKED, "1.00"), (COUNTER, "1.00"), (LIMITED, "250.01"), (POOR, "12.51"))


@pytest.mark.parametrize("iban, amount", REFUSED)
def test_a_refused_initiation_leaves_no_trace(tpp: Tpp, iban: str, amount: str) -> None:
    assert paying(tpp, iban, amount).status_code == 403
    assert tpp.listed("payments") == tpp.listed("journal") == []
    assert tpp.control("GET", "/clock").get_json()["due_next"] is None
