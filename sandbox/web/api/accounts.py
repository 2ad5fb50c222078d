"""Views of account information: accounts, an account, its transactions in pages (service 4.9, 4.10; choice 8).

A compartment is the part of an account that holds one currency.
"""

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from datetime import date
from functools import partial
from typing import Any, NamedTuple, NoReturn

import orjson
from marshmallow import Schema, ValidationError, fields
from orjson import Fragment

from sandbox.bank import consents, statements, tokens
from sandbox.bank.ledger import AccountLine
from sandbox.bank.mint import Mint
from sandbox.bank.records import Grant
from sandbox.bank.state import Bank
from sandbox.bank.statements import Query
from sandbox.banking.money import Money, is_currency
from sandbox.contract.errors import Error, Refusal, make_invalid
from sandbox.web.api.body_schemas import DateField
from sandbox.web.api.call import Answer, Call
from sandbox.web.api.failures import ADDRESS_IN_TEXT
from sandbox.web.api.replies import ReplyContent, make_links_schema

PAGE_SIZE_MAX = 50  # service 4.10
LISTED = "service 4.10"  # the query parameters
OLD = f"more than {consents.HISTORY_DAYS} days of history need a fresh authentication"
DAY = DateField()
SEAL = 16  # bytes of the key of a next page


class Number(fields.Decimal):
    """A JSON number with as many decimals as its currency has: `12.50` for EUR, `12` for JPY."""


SelfLink = make_links_schema("SelfLink", "self")
AccountLinks = make_links_schema("AccountLinks", "self", "transactions")


class AccountRow(Schema):
    """An account of a consent, as it is shown in the list of accounts."""

    iban = fields.String()
    logical_id = fields.String()
    currency = fields.String()
    _links = fields.Nested(SelfLink)


class CompartmentSchema(Schema):
    currency = fields.String()
    balance = Number()


class AccountReply(Schema):
    """The reply with one account (service 2.7)."""

    type = fields.String()
    iban = fields.String()
    currency = fields.String()
    balance = Number()
    multicurrency = fields.Boolean()
    other_compartments = fields.List(fields.Nested(CompartmentSchema))
    _links = fields.Nested(AccountLinks)


def write_number(money: Money) -> Fragment:
    return Fragment(money.text())


def make_item(line: AccountLine) -> dict[str, Any]:
    """Returns a booked transaction as a JSON object. Uses no schema, because that would be slower and a page has up to
    50 transactions."""
    posting, entry = line.posting, line.entry
    return {
        "transaction_ref": entry.reference,
        "amount": write_number(posting.amount),
        "currency": posting.amount.currency,
        "execution_date": line.on,
        "value_date": entry.value_on,
        "counterparty_account": posting.counterparty_account,
        "counterparty_info": posting.counterparty_name,
        "communication": entry.communication,
        "communication_type": "STRUCTURED" if entry.structured else "FREETEXT",
        "remittance_info": entry.remark,
    }


def make_pending_item(bank: Bank, line: AccountLine) -> dict[str, Any]:
    """Returns a payment that is not booked yet as a JSON object. Its status is PDNG. If the axis `pending_lines` is
    `nearly_empty`, the object has no value date."""
    item = make_item(line) | {"status": "PDNG"}
    if bank.decisions.pending_lines == "nearly_empty":
        del item["value_date"]
    return item


class TransactionQuery(NamedTuple):
    """The query parameters of a call for transactions (service 4.10)."""

    date_from: date | None
    date_to: date | None
    psu_involved: bool
    pagesize: int | None
    next: str | None
    currency: str | None


def accounts(bank: Bank, call: Call) -> Answer:
    consent = statements.demand_consent(bank, call.token_grant)
    rows = [
        {
            "iban": account.iban,
            "logical_id": logical_id,
            "currency": account.first_currency,
            "_links": {"self": call.link(f"/accounts/{logical_id}")},
        }
        for logical_id, account in statements.open_accounts(bank, consent)
    ]
    return ReplyContent({"_embedded": {"accounts": rows}, "_links": {"self": call.link("/accounts")}})


def account(bank: Bank, call: Call) -> Answer:
    grant = call.token_grant
    account_read = statements.demand_granted_account(bank, grant, call.path["logical_id"])
    if statements.is_sca_due(bank, grant) and call.decisions.balance_after_90_days == "401":
        return partial(demand_sca, call, describe_old_authentication(bank))
    first, path = account_read.first_currency, f"/accounts/{call.path['logical_id']}"
    other_currencies = [name for name in account_read.currencies if name != first]
    content = {
        "type": account_read.type,
        "iban": account_read.iban,
        "currency": first,
        "balance": write_number(statements.sum_in_euro(bank, account_read)),
        "multicurrency": bool(other_currencies),
        "other_compartments": [
            {"currency": name, "balance": write_number(statements.read_balance(bank, account_read.iban, name))}
            for name in other_currencies
        ],
        "_links": {"self": call.link(path), "transactions": call.link(f"{path}/transactions")},
    }
    if call.decisions.account_holder == "present":
        content["account_holder"] = ", ".join(bank.customers[owner].name for owner in account_read.owners)
    return ReplyContent(content)


def transactions(bank: Bank, call: Call) -> Answer:
    """Replies with a page of transactions. If the PSU must authenticate again first, refuses the call, usually with a
    new address at which the PSU does this. If the call has an SCA token, and this bank accepts such a token for one
    call only, returns a function that replies, because the use of the token changes the bank."""
    transaction_query, in_header = read_transaction_query(call), call.decisions.sca_token_request == "header"
    sca_token = call.read_header("SCA-Token") if in_header else call.read_query("sca_token")
    if sca_token is not None and call.decisions.sca_token_uses == "one":
        return partial(_use_sca_token, call, transaction_query, sca_token)
    return _read_page(bank, call, transaction_query, sca_token)


def _use_sca_token(call: Call, transaction_query: TransactionQuery, sca_token: str) -> Answer:
    """Replies with a page of transactions to a call with an SCA token, in a bank where such a token is valid for one
    call. If the token was used before, replies as to a call without an SCA token."""
    valid_token = sca_token if call.world.act(tokens.use_sca_token, sca_token) else None
    return call.world.ask(_read_page, call, transaction_query, valid_token)


def demand_sca(call: Call, reason: str) -> NoReturn:
    consent_id = call.token_grant.consent_id
    assert consent_id is not None
    call.world.act(consents.demand_sca, consent_id, call.redirect_uri, call.language, reason)
    raise AssertionError("an act that always refuses")


def demand_sca_in_text(call: Call, reason: str) -> NoReturn:
    """Refuses the call with the status 400, because the PSU must authenticate again. The address for this is in the
    text of the error, not in a link. If `demand_sca` raises another refusal than SCA_REQUIRED, that refusal is raised
    unchanged."""
    try:
        demand_sca(call, reason)
    except Refusal as refusal:
        if refusal.error is not Error.SCA_REQUIRED:
            raise
        facts: dict[str, Any] = {**refusal.facts, ADDRESS_IN_TEXT: True}
        raise Refusal(refusal.error, decided_by=refusal.decided_by, clause=refusal.clause, **facts) from None


def describe_old_authentication(bank: Bank) -> str:
    return f"the last authentication is over {bank.decisions.sca_renewal_after.days} days old"


def _read_page(bank: Bank, call: Call, transaction_query: TransactionQuery, sca_token: str | None) -> Answer:
    """Returns the reply with a page of transactions. If the PSU must authenticate again first, returns a function that
    makes a new address for this and raises the refusal. A new address changes the bank, but `_read_page` may only read
    the bank. Raises every other refusal itself."""
    grant, logical_id = call.token_grant, call.path["logical_id"]
    account_read = statements.demand_granted_account(bank, grant, logical_id)
    query = read_query(bank, grant, account_read.iban, transaction_query)
    fresh = statements.is_fresh(bank, grant, sca_token)
    if statements.is_sca_due(bank, grant):
        return partial(demand_sca, call, describe_old_authentication(bank))
    if (
        not fresh
        and statements.asks_for_old(bank, query)
        and (demand := _choose_refusal_of_old_dates(bank, transaction_query.psu_involved))
    ):
        return partial(demand, call, OLD)
    lacking = query.currency != statements.ALL and query.currency not in account_read.currencies
    if lacking and call.decisions.lacking_compartment == "404":
        raise Refusal(Error.NOT_FOUND, input="currency")
    page = statements.read_page(bank, query, None if fresh else statements.find_oldest_day(bank))
    items = [make_pending_item(bank, line) for line in page.pending] + [make_item(line) for line in page.lines]
    embedded: dict[str, Any] = {"transactions": items}
    path = f"/accounts/{logical_id}"
    links = {"self": call.link(f"{path}/transactions"), "account": call.link(path)}
    if page.following is not None:
        key = embedded["next_page_key"] = write_key(bank.mint, grant.consent_id, page.following)
        links["next"] = call.link(f"{path}/transactions?next={key}")
    return ReplyContent({"_embedded": embedded, "_links": links})


def _choose_refusal_of_old_dates(bank: Bank, psu_involved: bool) -> Callable[[Call, str], NoReturn] | None:
    """Returns the function that refuses a query for transactions of more than 90 days ago. That function also makes an
    address at which the PSU authenticates again.

    Returns None if the bank leaves out such transactions and does not refuse the query. Raises Refusal if the PSU is
    not involved and the axis `old_dates_without_sca` is `403`.
    """
    match "401" if psu_involved else bank.decisions.old_dates_without_sca:
        case "401":
            return demand_sca
        case "400_address":
            return demand_sca_in_text
        case "403":
            raise Refusal(Error.ACCESS_DENIED, input="date_from", why=OLD, clause=LISTED)
        case _:
            return None


def read_transaction_query(call: Call) -> TransactionQuery:
    """Returns the query parameters. Refuses wrong parameters. Looks at the request alone, because the bank refuses a
    wrong parameter before it checks anything about the account (choice 2)."""
    date_from, date_to = _read_day(call, "date_from"), _read_day(call, "date_to")
    if date_from is not None and date_to is not None and date_to < date_from:
        raise make_invalid("date_to", "it lies before date_from", "choice 8", date_from=date_from, date_to=date_to)
    involved = call.read_query("psu_involved")
    if involved not in (None, "true", "false"):
        raise make_invalid("psu_involved", "it must be true or false", LISTED, sent=involved)
    currency = call.read_query("currency")
    if currency is not None and not is_currency(currency):
        raise make_invalid("currency", "it is no currency code", LISTED, sent=currency)
    size = call.read_query("pagesize")
    fits = size is None or (size.isascii() and size.isdigit() and len(size) <= 4 and 1 <= int(size) <= PAGE_SIZE_MAX)
    if not fits:
        reason = f"it must be a whole number from 1 to {PAGE_SIZE_MAX}"
        raise make_invalid("pagesize", reason, LISTED, pagesize=str(size)[:20], least=1, most=PAGE_SIZE_MAX)
    pagesize = None if size is None else int(size)
    return TransactionQuery(date_from, date_to, involved == "true", pagesize, call.read_query("next"), currency)


def read_query(bank: Bank, grant: Grant, iban: str, transaction_query: TransactionQuery) -> Query:
    """Returns the query for a page. Without the parameter `next`, makes the query of a first page from the other
    parameters. With `next`, returns the query that is written in `next` and ignores the other parameters. As an
    exception, under the value `needs_filters` of the axis `next_alone`, refuses `date_from`, `date_to` and `currency`
    if they differ from those of the first page."""
    currency = transaction_query.currency or ("EUR" if bank.decisions.currency_omitted == "EUR" else statements.ALL)
    if transaction_query.next is not None:
        query = read_key(bank.mint, grant.consent_id, iban, transaction_query.next)
        if bank.decisions.next_alone == "needs_filters":
            # The filters of the first page have to stand beside the key again.
            for name, first_value, value in (
                ("date_from", query.date_from, transaction_query.date_from),
                ("date_to", query.date_to, transaction_query.date_to),
                ("currency", query.currency, currency),
            ):
                if first_value != value:
                    raise make_invalid(name, "it is sent with every page, as with the first", LISTED)
        return query
    size = bank.decisions.page_size if transaction_query.pagesize is None else transaction_query.pagesize
    return Query(iban, currency, transaction_query.date_from, transaction_query.date_to, size)


def _read_day(call: Call, name: str) -> date | None:
    text = call.read_query(name)
    if text is None:
        return None
    try:
        day: Any = DAY.deserialize(text)
    except ValidationError as error:
        raise make_invalid(name, str(error.messages[0]), LISTED, sent=text) from None
    assert isinstance(day, date)
    return day


def _seal(mint: Mint, consent_id: str | None, content: bytes) -> bytes:
    return hmac.digest(mint.derive_key("pages"), f"{consent_id}/".encode() + content, "sha256")[:SEAL]


def write_key(mint: Mint, consent_id: str | None, query: Query) -> str:
    """Returns the key of a next page. The key contains the whole query and a checksum. Only this bank can make the
    checksum (choice 8)."""
    assert query.before is not None
    row = (query.iban, query.currency, query.date_from, query.date_to, query.page_size, *query.before, query.newest)
    content = orjson.dumps(row)
    return _encode_key(_seal(mint, consent_id, content) + content)


def _encode_key(key: bytes) -> str:
    return urlsafe_b64encode(key).decode().rstrip("=")


def read_key(mint: Mint, consent_id: str | None, iban: str, text: str) -> Query:
    """Returns the query in the key of a next page. Refuses a forged key, and a key that was made for another consent or
    account."""
    try:
        key = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        key = b""
    seal, content = key[:SEAL], key[SEAL:]
    # base64 reads past letters that it does not know
    if _encode_key(key) != text or not hmac.compare_digest(seal, _seal(mint, consent_id, content)):
        raise make_invalid("next", "it is no key of this list", "choice 8")
    owner, currency, date_from, date_to, page_size, on, number, newest = orjson.loads(content)
    if owner != iban:
        raise make_invalid("next", "it is no key of this list", "choice 8")
    return Query(
        iban, currency, _read_date(date_from), _read_date(date_to), page_size, (date.fromisoformat(on), number), newest
    )


def _read_date(text: str | None) -> date | None:
    return None if text is None else date.fromisoformat(text)
