"""Views that list, register and change customers, accounts and clients (TPPs), and that book a transaction by hand
(choice 10).

A change keeps every field that its body does not name.
"""

from typing import Any

from orjson import Fragment

from sandbox.bank import customers as changes
from sandbox.bank import statements
from sandbox.bank.records import Account, Customer, RegisteredClient
from sandbox.bank.state import Bank
from sandbox.banking.iban import BANK_BIC
from sandbox.banking.money import Money
from sandbox.web.api.accounts import make_item
from sandbox.web.controls.request_bodies import refuse
from sandbox.worlds.world import World

YEARS_BACK = 10  # as far as the full history reaches (service 4.10)


def list_customers(bank: Bank) -> list[dict[str, Any]]:
    owned: dict[str, list[str]] = {name: [] for name in bank.customers}
    for account in bank.accounts.values():
        for owner in account.owners:
            owned[owner].append(account.iban)
    return [_make_customer_row(customer, owned[customer.id]) for customer in bank.customers.values()]


def _make_customer_row(customer: Customer, owned: list[str]) -> dict[str, Any]:
    return {"customer": customer.id} | _write_fields(customer, "name", "language", "kind") | {"accounts": owned}


def _write_fields(record: Customer | Account | RegisteredClient, *names: str) -> dict[str, Any]:
    return {name: getattr(record, name) for name in names}


def show_customer(bank: Bank, customer: str) -> dict[str, Any]:
    record = changes.find_named("customer", customer, bank.customers)
    owned = [account.iban for account in changes.list_accounts_of(bank, customer)]
    limits = bank.accounts[owned[0]] if owned else record  # a customer's limits are stored with each account
    return _make_customer_row(record, owned) | {
        "channel_blocked": record.channel_blocked,
        "limit_day": limits.limit_day and limits.limit_day.text(),
        "limit_week": limits.limit_week and limits.limit_week.text(),
        "countries": limits.countries,
        "methods": record.methods,
        "payee_check_of_files": record.payee_check_of_files,
    }


def add_customer(world: World, body: dict[str, Any]) -> dict[str, Any]:
    customer = body.pop("customer")
    fields = {"name": customer, "kind": "private", "language": "fr"} | body
    world.act(changes.register_customer, Customer(customer, **fields))
    return world.ask(show_customer, customer)


def change_customer(world: World, body: dict[str, Any], customer: str) -> dict[str, Any]:
    world.act(changes.amend_customer, customer, _read_changes(body))
    return world.ask(show_customer, customer)


def _read_changes(body: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    if not body:
        raise refuse("body", "nothing is to be changed")
    return tuple(body.items())


def list_accounts(bank: Bank) -> list[dict[str, Any]]:
    return [_make_account_row(bank, account) for account in bank.accounts.values()]


def _make_account_row(bank: Bank, account: Account) -> dict[str, Any]:
    balances = [bank.ledger.read_balance(account.iban, currency) for currency in account.currencies]
    return {
        "iban": account.iban,
        "bic": BANK_BIC,
        "type": account.type,
        "customer": account.owners[0],
        "balances": [{"currency": money.currency, "balance": Fragment(money.text())} for money in balances],
        "signatures_required": account.signatures_required,
    }


def show_account(bank: Bank, iban: str) -> dict[str, Any]:
    account = changes.find_named("account", iban, bank.accounts)
    return _make_account_row(bank, account) | {
        "closed": account.closed,
        "overdraft": account.overdraft and account.overdraft.text(),
        "balance_shown": account.balance_shown,
        "owners": account.owners,
        "signers": account.may_sign,
    }


def add_account(world: World, body: dict[str, Any]) -> dict[str, Any]:
    fields = {"iban": "", "type": "current-account"} | body
    owner, balance, balances = fields.pop("customer"), fields.pop("balance", None), fields.pop("balances", ())
    if balance is not None and balances:
        raise refuse("balances", "send balance or balances, not both")
    currencies = fields.setdefault("currencies", tuple(money.currency for money in balances) or ("EUR",))
    if balance is not None and "EUR" not in currencies:
        raise refuse("balance", "it is in EUR, and the account has no such compartment")
    for money in balances:
        if money.currency not in currencies:
            raise refuse("balances", f"the account has no compartment in {money.currency}")
    account = world.act(changes.register_account, Account(owners=(owner,), **fields), balance, balances)
    return world.ask(show_account, account.iban)


def change_account(world: World, body: dict[str, Any], iban: str) -> dict[str, Any]:
    world.act(changes.amend_account, iban, _read_changes(body))
    return world.ask(show_account, iban)


def book(world: World, body: dict[str, Any], iban: str) -> dict[str, Any]:
    try:
        amount = Money.read(body["amount"], body.get("currency", "EUR"))
    except ValueError:
        raise refuse("amount", "it must be a decimal string such as -12.50") from None
    if not amount.number:
        raise refuse("amount", "it must not be 0")
    today = world.ask(lambda bank: bank.clock.today)
    on = body.get("date", today)
    if today.year - on.year > YEARS_BACK:
        raise refuse("date", f"it lies over {YEARS_BACK} years back")
    account, name = body.get("counterparty", (None, None))
    text, is_structured = body.get("communication", ("", False))
    return make_item(world.act(statements.book_by_hand, iban, amount, on, account, name, text, is_structured))


def list_clients(bank: Bank) -> list[dict[str, Any]]:
    return [_make_client_row(client) for client in bank.clients.values()]


def _make_client_row(client: RegisteredClient) -> dict[str, Any]:
    return {"client_id": client.id} | _write_fields(client, "name", "roles", "active", "redirect_uris")


def add_client(world: World, body: dict[str, Any]) -> dict[str, Any]:
    client_id = body.pop("client_id")
    client = RegisteredClient(client_id, **{"name": client_id} | body)
    world.act(changes.register_client, client)
    return _make_client_row(client)


def change_client(world: World, body: dict[str, Any], client_id: str) -> dict[str, Any]:
    if body.pop("client_id", client_id) != client_id:
        raise refuse("client_id", "it is not that of the path")
    return _make_client_row(world.act(changes.amend_client, client_id, tuple(sorted(body.items()))))
