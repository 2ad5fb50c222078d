"""Writers of account information (service 2.7, 2.8; choice 8)."""

from collections.abc import Callable, Iterable
from typing import Any

from marshmallow import Schema, fields
from orjson import Fragment

from sandbox.bank.ledger import AccountLine
from sandbox.bank.records import Account
from sandbox.banking.money import Money
from sandbox.web.api.call import Call
from sandbox.web.api.replies import ReplyContent, links

Linker = Callable[[str], dict[str, Any]]


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


class CompartmentSchema(Schema):
    currency = fields.String()
    balance = Number()


class AccountReply(Schema):
    """service 2.7"""

    type = fields.String()
    iban = fields.String()
    currency = fields.String()
    balance = Number()
    multicurrency = fields.Boolean()
    other_compartments = fields.List(fields.Nested(CompartmentSchema))
    _links = fields.Nested(AccountLinks)


def number_of(money: Money) -> Fragment:
    return Fragment(money.text())


def accounts_reply(held: Iterable[tuple[str, Account]], link: Linker) -> ReplyContent:
    rows = [
        {
            "iban": account.iban,
            "logical_id": logical_id,
            "currency": account.first_currency,
            "_links": {"self": link(f"/accounts/{logical_id}")},
        }
        for logical_id, account in held
    ]
    return ReplyContent({"_embedded": {"accounts": rows}, "_links": {"self": link("/accounts")}})


def account_reply(call: Call, account: Account, shown: Money, balance: Callable[[str, str], Money]) -> ReplyContent:
    """Of several currencies `balance` is the euro compartment or all of them, as the account's parameter says."""
    first, path = account.first_currency, f"/accounts/{call.path['logical_id']}"
    others = [name for name in account.currencies if name != first]
    content = {
        "type": account.type,
        "iban": account.iban,
        "currency": first,
        "balance": number_of(shown),
        "multicurrency": bool(others),
        "other_compartments": [
            {"currency": name, "balance": number_of(balance(account.iban, name))} for name in others
        ],
        "_links": {"self": call.link(path), "transactions": call.link(f"{path}/transactions")},
    }
    return ReplyContent(content)


def item_of(line: AccountLine) -> dict[str, Any]:
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


def transactions_reply(
    logical_id: str, items: list[dict[str, Any]], next_key: str | None, link: Linker
) -> ReplyContent:
    embedded: dict[str, Any] = {"transactions": items}
    path = f"/accounts/{logical_id}"
    links = {"self": link(f"{path}/transactions"), "account": link(path)}
    if next_key is not None:
        embedded["next_page_key"] = next_key
        links["next"] = link(f"{path}/transactions?next={next_key}")
    return ReplyContent({"_embedded": embedded, "_links": links})
