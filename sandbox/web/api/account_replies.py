"""Writers of account information (service 2.7, 2.8; choice 8), and what differs in it by the axes of a world
(contract/decisions).
"""

from collections.abc import Callable, Iterable
from datetime import date, datetime, time
from typing import Any

import orjson
from flask import Response
from marshmallow import Schema, fields
from orjson import Fragment

from sandbox.bank.ledger import Line
from sandbox.bank.records import Account
from sandbox.banking.calendar import BRUSSELS
from sandbox.banking.money import Money
from sandbox.web.api.call import Call
from sandbox.web.api.replies import json_response, links

Linker = Callable[[str], dict[str, Any]]

YES = {"boolean": (False, True), "string": ("false", "true"), "Y": ("N", "Y")}
ISO_TYPES = {"current-account": "CACC", "savings-account": "SVGS"}
TEXTS = ("counterparty_account", "counterparty_info", "communication", "remittance_info")
DATES = ("execution_date", "value_date")
RESPELLED = ("transaction_ref", *DATES, *TEXTS[:2], "communication_type", "remittance_info")
CAMEL = {name: name[0] + name.title().replace("_", "")[1:] for name in RESPELLED}


class Number(fields.Decimal):
    """A JSON number with the decimals of its currency, written as they are."""


SelfLink = links("SelfLink", "self")
AccountLinks = links("AccountLinks", "self", "transactions")


class AccountRow(Schema):
    """An enrolled account; a name that begins with _ is given by its key."""

    iban = fields.String()
    logical_id = fields.String()
    currency = fields.String()
    _links = fields.Nested(SelfLink)


class Compartment(Schema):
    currency = fields.String()
    balance = Number()


class AccountReply(Schema):
    """service 2.7"""

    type = fields.String()
    iban = fields.String()
    currency = fields.String()
    balance = Number()
    multicurrency = fields.Boolean()
    other_compartments = fields.List(fields.Nested(Compartment))
    _links = fields.Nested(AccountLinks)


def number_of(money: Money) -> Fragment:
    return Fragment(money.text())


def accounts_reply(held: Iterable[tuple[str, Account]], link: Linker) -> Response:
    rows = [
        {
            "iban": account.iban,
            "logical_id": logical_id,
            "currency": account.first_currency,
            "_links": {"self": link(f"/accounts/{logical_id}")},
        }
        for logical_id, account in held
    ]
    return json_response({"_embedded": {"accounts": rows}, "_links": {"self": link("/accounts")}})


def account_content(call: Call, account: Account, shown: Money, balance: Callable[[str, str], Money]) -> dict[str, Any]:
    """Of several currencies `balance` is the euro compartment or all of them, as the account's parameter says."""
    first, path = account.first_currency, f"/accounts/{call.path['logical_id']}"
    others = [name for name in account.currencies if name != first]
    content = {
        "type": ISO_TYPES[account.type] if call.decisions.account_type == "iso" else account.type,
        "iban": account.iban,
        "currency": first,
        "balance": shown.text() if call.decisions.balances_as == "string" else number_of(shown),
        "multicurrency": YES[call.decisions.multicurrency][bool(others)],
        "other_compartments": [
            {"currency": name, "balance": number_of(balance(account.iban, name))} for name in others
        ],
        "_links": {"self": call.link(path), "transactions": call.link(f"{path}/transactions")},
    }
    if not others and call.decisions.no_compartments == "absent":
        del content["other_compartments"]
    return content


def item_of(line: Line) -> dict[str, Any]:
    """A transaction as its account shows it; written by hand, for a page holds fifty."""
    posting, entry = line.posting, line.entry
    return {
        "transaction_ref": entry.reference,
        "amount": number_of(posting.amount),
        "currency": posting.amount.currency,
        "execution_date": line.on,
        "value_date": entry.value_on,
        "counterparty_account": posting.counterparty_account,
        "counterparty_info": posting.counterparty_name,
        "communication": entry.communication,
        "communication_type": "STRUCTURED" if entry.structured else "FREETEXT",
        "remittance_info": entry.remark,
    }


def transactions_reply(logical_id: str, items: list[dict[str, Any]], next_key: str | None, link: Linker) -> Response:
    embedded: dict[str, Any] = {"transactions": items}
    path = f"/accounts/{logical_id}"
    links = {"self": link(f"{path}/transactions"), "account": link(path)}
    if next_key is not None:
        embedded["next_page_key"] = next_key
        links["next"] = link(f"{path}/transactions?next={next_key}")
    return json_response({"_embedded": embedded, "_links": links})


def text_of(number: Fragment) -> str:
    """The digits of a number that was written already."""
    return orjson.dumps(number).decode()


def vary_items(call: Call, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if not items:
        return items
    if call.decisions.item_sign == "indicator":
        items = [_unsigned(item) for item in items]
    if call.decisions.item_amount == "string":
        items = [item | {"amount": text_of(item["amount"])} for item in items]
    if call.decisions.item_dates == "date_time":
        items = [item | {name: _at_midnight(item[name]) for name in DATES} for item in items]
    match call.decisions.item_blanks:
        case "empty":
            items = [item | {name: item[name] or "" for name in TEXTS} for item in items]
        case "absent":
            items = [{name: value for name, value in item.items() if value or name not in TEXTS} for item in items]
    if call.decisions.item_fields == "camel":
        items = [{CAMEL.get(name, name): value for name, value in item.items()} for item in items]
    return items


def _unsigned(item: dict[str, Any]) -> dict[str, Any]:
    text = text_of(item["amount"])
    indicator = {"credit_debit_indicator": "DBIT" if text.startswith("-") else "CRDT"}
    return item | {"amount": Fragment(text.lstrip("-"))} | indicator


def _at_midnight(day: date) -> str:
    return datetime.combine(day, time(), BRUSSELS).isoformat()
