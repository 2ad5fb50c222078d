"""What differs in the replies of account information by the axes of a world (contract/axes_accounts)."""

from datetime import date, datetime, time
from typing import Any

import orjson
from orjson import Fragment

from sandbox.banking.calendar import BRUSSELS
from sandbox.web.api.call import Call

YES = {"string": ("false", "true"), "Y": ("N", "Y")}
ISO_TYPES = {"current-account": "CACC", "savings-account": "SVGS"}
TEXTS = ("counterparty_account", "counterparty_info", "communication", "remittance_info")
DATES = ("execution_date", "value_date")
CAMEL = {
    "transaction_ref": "transactionRef",
    "execution_date": "executionDate",
    "value_date": "valueDate",
    "counterparty_account": "counterpartyAccount",
    "counterparty_info": "counterpartyInfo",
    "communication_type": "communicationType",
    "remittance_info": "remittanceInfo",
}


def text_of(number: Fragment) -> str:
    """The digits of a number that was written already."""
    return orjson.dumps(number).decode()


def vary_account(call: Call, content: dict[str, Any]) -> dict[str, Any]:
    if call.variant("balances_as") == "string":
        content["balance"] = text_of(content["balance"])
    if (indicator := call.variant("multicurrency")) != "boolean":
        content["multicurrency"] = YES[indicator][content["multicurrency"]]
    if call.variant("account_type") == "iso":
        content["type"] = ISO_TYPES[content["type"]]
    if not content["other_compartments"] and call.variant("no_compartments") == "absent":
        del content["other_compartments"]
    return content


def vary_items(call: Call, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if not items:
        return items
    if call.variant("item_sign") == "indicator":
        items = [_unsigned(item) for item in items]
    if call.variant("item_amount") == "string":
        items = [item | {"amount": text_of(item["amount"])} for item in items]
    if call.variant("item_dates") == "date_time":
        items = [item | {name: _at_midnight(item[name]) for name in DATES} for item in items]
    match call.variant("item_blanks"):
        case "empty":
            items = [item | {name: item[name] or "" for name in TEXTS} for item in items]
        case "absent":
            items = [{name: value for name, value in item.items() if value or name not in TEXTS} for item in items]
    if call.variant("item_fields") == "camel":
        items = [{CAMEL.get(name, name): value for name, value in item.items()} for item in items]
    return items


def _unsigned(item: dict[str, Any]) -> dict[str, Any]:
    text = text_of(item["amount"])
    indicator = {"credit_debit_indicator": "DBIT" if text.startswith("-") else "CRDT"}
    return item | {"amount": Fragment(text.lstrip("-"))} | indicator


def _at_midnight(day: date) -> str:
    return datetime.combine(day, time(), BRUSSELS).isoformat()
