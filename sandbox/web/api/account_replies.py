"""Writers of account information (service 2.7, 2.8; choice 8)."""

from collections.abc import Callable, Iterable
from typing import Any

from flask import Response
from marshmallow import Schema, fields
from orjson import Fragment

from sandbox.bank.ledger import Line
from sandbox.bank.records import Account
from sandbox.banking.money import Money
from sandbox.web.api.replies import Link, json_response

Balance = Callable[[str, str], Money]
Linker = Callable[[str], dict[str, Any]]


class Number(fields.Decimal):
    """A JSON number with the decimals of its currency, written as they are."""

    def _serialize(self, value: Any, attr: str | None, obj: Any, **more: Any) -> Any:
        return Fragment(value.text())


class SelfLink(Schema):
    self = fields.Nested(Link)


class AccountRow(Schema):
    """An enrolled account; a name that begins with _ is given by its key."""

    iban = fields.String()
    logical_id = fields.String()
    currency = fields.String()
    _links = fields.Nested(SelfLink)


class Compartment(Schema):
    currency = fields.String()
    balance = Number()


class AccountLinks(Schema):
    self = fields.Nested(Link)
    transactions = fields.Nested(Link)


class AccountReply(Schema):
    """service 2.7"""

    type = fields.String()
    iban = fields.String()
    currency = fields.String()
    balance = Number()
    multicurrency = fields.Boolean()
    other_compartments = fields.List(fields.Nested(Compartment))
    _links = fields.Nested(AccountLinks)


ROW = AccountRow()
ACCOUNT = AccountReply()


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
    return json_response({"_embedded": {"accounts": ROW.dump(rows, many=True)}, "_links": {"self": link("/accounts")}})


def account_content(logical_id: str, account: Account, shown: Money, balance: Balance, link: Linker) -> dict[str, Any]:
    """Of several currencies `balance` is the euro compartment or all of them, as the account's parameter says."""
    first = account.first_currency
    others = [name for name in account.currencies if name != first]
    content = {
        "type": account.type,
        "iban": account.iban,
        "currency": first,
        "balance": shown,
        "multicurrency": bool(others),
        "other_compartments": [{"currency": name, "balance": balance(account.iban, name)} for name in others],
        "_links": {
            "self": link(f"/accounts/{logical_id}"),
            "transactions": link(f"/accounts/{logical_id}/transactions"),
        },
    }
    found: dict[str, Any] = ACCOUNT.dump(content)
    return found


def item_of(line: Line) -> dict[str, Any]:
    """A transaction as its account shows it; written by hand, for a page holds fifty."""
    posting, entry = line.posting, line.entry
    return {
        "transaction_ref": entry.reference,
        "amount": Fragment(posting.amount.text()),
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
