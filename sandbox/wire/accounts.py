"""Views of account information: accounts, an account, its transactions (service 4.9, 4.10; choice 8)."""

from datetime import date
from typing import Any

from flask import Response
from marshmallow import ValidationError

from sandbox.bank import consents, statements
from sandbox.bank.grants import Grant
from sandbox.bank.state import Bank
from sandbox.bank.statements import Page, Query
from sandbox.errors import Error, Refusal
from sandbox.rules.money import is_currency
from sandbox.wire import statements as replies
from sandbox.wire.fields import Day
from sandbox.wire.gate import Call
from sandbox.wire.paging import read_key, write_key

PAGE_SIZE_MAX = 50  # service 4.10
DAY = Day()


def accounts(call: Call) -> Response:
    return call.world.ask(_accounts, grant_of(call))


def _accounts(bank: Bank, grant: Grant) -> Response:
    consent = statements.consent_of(bank, grant)
    held = [(logical_id, bank.accounts[iban]) for logical_id, iban in consent.logical_ids.items()]
    return replies.accounts_reply(held)


def account(call: Call) -> Response:
    return call.world.ask(_account, grant_of(call), call.path["logical_id"])


def _account(bank: Bank, grant: Grant, logical_id: str) -> Response:
    found = statements.account_of(bank, grant, logical_id)
    return replies.account_reply(logical_id, found, bank.ledger.balance)


def transactions(call: Call) -> Response:
    """A page; where the PSU must authenticate again, the no makes a fresh address, so that goes by the other door."""
    outcome = call.world.ask(_transactions, call, grant_of(call), call.path["logical_id"])
    if isinstance(outcome, str):
        consent_id = grant_of(call).consent_id
        assert consent_id is not None
        call.world.act(consents.demand_sca, consent_id, call.redirect_uri, call.language, outcome)
    assert isinstance(outcome, Response)
    return outcome


def _transactions(bank: Bank, call: Call, grant: Grant, logical_id: str) -> Response | str:
    """The page, or why the PSU must authenticate again."""
    found = statements.account_of(bank, grant, logical_id)
    query, involved = read_query(call, bank, grant, found.iban)
    fresh = statements.has_sca(bank, grant, call.header("SCA-Token"))
    if statements.sca_is_due(bank, grant):
        return "the last authentication is over 90 days old"
    if involved and not fresh and statements.asks_for_old(bank, query):
        return "more than 90 days of history need a fresh authentication"
    oldest = None if fresh else statements.oldest_day(bank)
    page = statements.page(bank, query, oldest)
    return replies.transactions_reply(logical_id, page.lines, next_key(bank, grant, query, page))


def next_key(bank: Bank, grant: Grant, query: Query, page: Page) -> str | None:
    if page.next_before is None:
        return None
    return write_key(bank.mint.seed, grant.consent_id, query, page.next_before)


def grant_of(call: Call) -> Grant:
    assert call.grant is not None
    return call.grant


def read_query(call: Call, bank: Bank, grant: Grant, iban: str) -> tuple[Query, bool]:
    """`next` alone is enough; beside it the other parameters are read for faults and then left alone."""
    date_from, date_to = _day(call, "date_from"), _day(call, "date_to")
    if date_from is not None and date_to is not None and date_to < date_from:
        raise _bad("date_to", "it lies before date_from")
    involved = call.query("psu_involved") or "false"
    if involved not in ("true", "false"):
        raise _bad("psu_involved", "it must be true or false")
    currency = call.query("currency") or "EUR"
    if not is_currency(currency):
        raise _bad("currency", "it is no currency code")
    size = _page_size(call.query("pagesize"), bank.settings.page_size)
    key = call.query("next")
    if key is not None:
        return read_key(bank.mint.seed, grant.consent_id, iban, key), involved == "true"
    return Query(iban, currency, date_from, date_to, size), involved == "true"


def _page_size(text: str | None, default: int) -> int:
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= 4 and 1 <= int(text) <= PAGE_SIZE_MAX):
        raise _bad("pagesize", f"it must be a whole number from 1 to {PAGE_SIZE_MAX}")
    return int(text)


def _day(call: Call, name: str) -> date | None:
    text = call.query(name)
    if text is None:
        return None
    try:
        day: Any = DAY.deserialize(text)
    except ValidationError as error:
        raise _bad(name, str(error.messages[0])) from None
    assert isinstance(day, date)
    return day


def _bad(name: str, why: str) -> Refusal:
    return Refusal(Error.INPUT_INVALID, input=name, why=why)
