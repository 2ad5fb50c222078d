"""Transactions made by hand, so that a test can have an incoming salary (choice 10)."""

from datetime import date
from typing import Any

from flask import Response
from marshmallow import ValidationError

from sandbox.bank import statements
from sandbox.banking.iban import is_iban
from sandbox.banking.money import Money
from sandbox.banking.remittance import is_free_text, read_structured
from sandbox.web.api.account_replies import item_of
from sandbox.web.api.body_fields import Day
from sandbox.web.api.replies import json_response
from sandbox.web.controls.body_readers import text as read_text
from sandbox.web.controls.request_bodies import refuse, value_of
from sandbox.world.world import World

DAY = Day()
YEARS_BACK = 10  # as far as the full history reaches (service 4.10)


def book(world: World, body: dict[str, Any], iban: str) -> Response:
    currency = body.get("currency", "EUR")
    amount = value_of(body, "amount", lambda text: _money(text, currency))
    today = world.ask(lambda bank: bank.clock.today)
    on = value_of(body, "date", lambda text: _day(text, today)) if "date" in body else today
    account, name = counterparty_of(body)
    text, structured = _communication(optional(body, "communication"))
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


def optional(content: dict[str, Any], name: str) -> str | None:
    return value_of(content, name, read_text) if content.get(name) is not None else None


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
