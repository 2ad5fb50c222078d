"""Transactions made by hand, so that a test can have an incoming salary (choice 10)."""

from typing import Any

from flask import Response

from sandbox.bank import statements
from sandbox.banking.money import Money
from sandbox.web.api.account_replies import item_of
from sandbox.web.api.replies import json_response
from sandbox.web.controls.request_bodies import refuse, value_of
from sandbox.world.world import World

YEARS_BACK = 10  # as far as the full history reaches (service 4.10)


def book(world: World, body: dict[str, Any], iban: str) -> Response:
    currency = body.get("currency", "EUR")
    amount = value_of(body, "amount", lambda text: _money(text, currency))
    today = world.ask(lambda bank: bank.clock.today)
    on = body.get("date", today)
    if today.year - on.year > YEARS_BACK:
        raise refuse("date", f"it lies over {YEARS_BACK} years back")
    account, name = body.get("counterparty", (None, None))
    text, structured = body.get("communication", ("", False))
    line = world.act(statements.book_by_hand, iban, amount, on, account, name, text, structured)
    return json_response(item_of(line), 201)


def _money(text: str, currency: str) -> Money:
    try:
        money = Money.read(text, currency)
    except ValueError:
        raise ValueError("it must be a decimal string such as -12.50") from None
    if not money.number:
        raise ValueError("it must not be 0")
    return money
