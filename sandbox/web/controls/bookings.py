"""Transactions made by hand, so that a test can have an incoming salary (choice 10)."""

from datetime import date
from typing import Any

from flask import Request, Response
from marshmallow import ValidationError

from sandbox.bank import statements
from sandbox.banking.iban import is_iban
from sandbox.banking.money import Money, is_currency
from sandbox.banking.remittance import is_free_text, read_structured
from sandbox.web.api.account_replies import item_of
from sandbox.web.api.body_fields import Day
from sandbox.web.api.replies import json_response
from sandbox.web.controls.psu import optional, required
from sandbox.web.controls.request_bodies import body_of, refuse, value_of
from sandbox.world.world import World

DAY = Day()
YEARS_BACK = 10  # as far as the full history reaches (service 4.10)


def book(world: World, request: Request, iban: str) -> Response:
    content = body_of(request, "amount", "currency", "date", "counterparty", "communication")
    required(content, "amount")
    currency = optional(content, "currency") or "EUR"
    if not is_currency(currency):
        raise refuse("currency", "it is no currency code")
    amount = value_of(content, "amount", lambda text: _money(text, currency))
    today = world.ask(lambda bank: bank.clock.today)
    on = value_of(content, "date", lambda text: _day(text, today)) if "date" in content else today
    account, name = counterparty_of(content)
    text, structured = _communication(optional(content, "communication"))
    line = world.act(statements.book_by_hand, iban, amount, on, account, name, text, structured)
    return json_response(item_of(line), 201)


def counterparty_of(content: dict[str, Any]) -> tuple[str | None, str | None]:
    """A name, or an object of iban and name."""
    given = content.get("counterparty")
    if not isinstance(given, dict):
        return None, optional(content, "counterparty")
    if not set(given) <= {"iban", "name"}:
        raise refuse("counterparty", "it is a name, or an object of iban and name")
    parts = {f"counterparty.{name}": value for name, value in given.items()}
    iban = optional(parts, "counterparty.iban")
    if iban is not None and not is_iban(iban):
        raise refuse("counterparty.iban", "it is no valid IBAN")
    return iban, optional(parts, "counterparty.name")


def _money(text: Any, currency: str) -> Money:
    try:
        money = Money.read(text, currency)
    except (ValueError, TypeError):
        raise ValueError("it must be a decimal string such as -12.50") from None
    if not money.number:
        raise ValueError("it must not be 0")
    return money


def _day(text: Any, today: date) -> date:
    try:
        day: Any = DAY.deserialize(text)
    except ValidationError as error:
        raise ValueError(str(error.messages[0])) from None
    assert isinstance(day, date)
    if today.year - day.year > YEARS_BACK:
        raise ValueError(f"it lies over {YEARS_BACK} years back")
    return day


def _communication(text: str | None) -> tuple[str, bool]:
    if text is None:
        return "", False
    structured = read_structured(text) if text.startswith("+++") else None
    if structured is None and not is_free_text(text):
        raise refuse("communication", "it must be 1 to 140 characters without control characters")
    return structured or text, structured is not None
