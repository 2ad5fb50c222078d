"""The reference client and the demo shop are ready: what `make ready` finds, in short.

Each flow is played once, in one of the nights that hurt. Each lie is told to one flow that notices it.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sandbox.client import CallbackRefused, ForeignCallback
from sandbox.extensions.vary.conditions import NIGHTS
from sandbox.extensions.vary.lies import LIES
from sandbox.extensions.vary.readiness import FAILING, read_accepted
from sandbox.testing import BankFixture, Start
from sandbox.testing.start import world_of
from tests.vary.flows import FLOWS
from tests.vary.line import Way, bank_here
from tests.vary.ready_suite import use_client, use_shop
from tests.vary.shopping import JOURNEYS
from tests.vary.trying import FAILURES

NOTICED = (*FAILURES, CallbackRefused, ForeignCallback, StopIteration)
CLIENT_NOTICES = {
    "pays": (
        "callback_code callback_refused callback_state details_amount details_creditor_iban "
        "details_creditor_name details_currency details_customer details_date details_debtor_iban "
        "details_message details_payment details_reference details_status initiation_payment "
        "initiation_reference initiation_settled paid_as_cancelled paid_as_refused status_payment "
        "status_too_early status_too_late token_scope"
    ),
    "sends_a_bad_file": (
        "accounts_iban file_errors_lost file_paid_as_refused file_refused_as_paid file_sum line_amount "
        "line_doubled line_foreign line_lost line_sign"
    ),
    "looks_at_accounts": "account_currency account_iban accounts_foreign balance_sign compartment_lost",
    "reads": "accounts_lost line_currency line_reference page_ends_early page_repeats",
    "orders": "order_ended order_frequency order_goes_on order_start",
    "is_refused": "callback_accepted cancelled_as_paid status_reason",
    "keeps_a_copy": "line_counterparty line_message",
    "keeps_books": "balance_of_yesterday line_date",
    "sends_a_table": "file_bulk_lost file_too_early",
    "confirms": "token_account",
    "lacks_money_on_the_day": "refused_as_paid",
    "orders_for_a_while": "order_end",
    "renews": "token_lasts",
    "sends": "file_count",
    "sends_without_money": "file_goes_on",
    "waits_as_asked": "token_spent",
}
SHOP_NOTICES = {
    "shows_accounts": (
        "account_currency account_iban accounts_foreign accounts_iban accounts_lost callback_code "
        "callback_refused callback_state compartment_lost line_amount line_counterparty line_currency "
        "line_date line_doubled line_foreign line_lost line_message line_sign page_ends_early page_repeats "
        "token_scope token_spent"
    ),
    "buys": (
        "details_amount details_creditor_iban details_creditor_name details_currency details_customer "
        "details_debtor_iban details_message details_payment details_reference initiation_payment "
        "initiation_reference initiation_settled paid_as_cancelled paid_as_refused status_payment "
        "status_too_early status_too_late"
    ),
    "refuses": "cancelled_as_paid status_reason",
    "shows_balances": "balance_of_yesterday balance_sign",
}
UNSEEN = {"pending_as_booked"}  # today's bank shows no pending lines
SHOP_ACCEPTS = read_accepted(Path(__file__).parent / "ready_shop.yaml")
Use = Callable[[BankFixture, Way, str], None]
PLAYS: list[tuple[Use, str]] = [*((use_client, name) for name in FLOWS), *((use_shop, name) for name in JOURNEYS)]
TOLD = [
    *((use_client, name, lies.split()) for name, lies in CLIENT_NOTICES.items()),
    *((use_shop, name, lies.split()) for name, lies in SHOP_NOTICES.items()),
]


@pytest.fixture(scope="module")
def line() -> Iterator[tuple[BankFixture, Way]]:
    with bank_here() as found:
        yield found


@pytest.mark.parametrize("number", range(len(PLAYS)), ids=[name for _, name in PLAYS])
def test_a_flow_holds_in_a_night_that_hurts_and_the_referee_finds_no_mistake(
    line: tuple[BankFixture, Way], number: int
) -> None:
    (server, way), (use, name) = line, PLAYS[number]
    night = list(NIGHTS.values())[number % len(NIGHTS)]
    with world_of(server, "ready", Start(at=night.at)) as bank:
        use(bank, way, name)
        found = [row for row in bank.findings if row["severity"] in FAILING and not row["waved_off"]]
    assert [(row["rule"], row["what"]) for row in found] == []


@pytest.mark.parametrize("use, name, lies", TOLD, ids=[name for _, name, _ in TOLD])
def test_a_lie_is_noticed(line: tuple[BankFixture, Way], use: Use, name: str, lies: list[str]) -> None:
    server, way = line
    for lie in lies:
        with world_of(server, "ready", Start(), extensions=[f"lie: {lie}"]) as bank, pytest.raises(NOTICED):
            use(bank, way, name)


def test_each_lie_that_today_s_bank_can_tell_is_noticed_by_the_client() -> None:
    noticed = " ".join(CLIENT_NOTICES.values()).split()
    assert len(noticed) == len(set(noticed)) and set(noticed) | UNSEEN == {lie.name for lie in LIES}


def test_what_the_shop_does_not_notice_is_accepted_with_a_reason() -> None:
    noticed = " ".join(SHOP_NOTICES.values()).split()
    accepted = {name.removeprefix("lie/") for name in SHOP_ACCEPTS}
    assert accepted <= {lie.name for lie in LIES} and accepted.isdisjoint(noticed)
