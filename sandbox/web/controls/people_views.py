"""Customers, accounts and TPPs: listed, made and changed while the bank runs; transactions made by hand (choice 10)."""

from typing import Any

from orjson import Fragment

from sandbox.bank import customers as changes
from sandbox.bank import statements
from sandbox.bank.records import Account, Customer, RegisteredClient
from sandbox.bank.state import Bank
from sandbox.banking.iban import BANK_BIC
from sandbox.banking.money import Money
from sandbox.web.api.accounts import item_of
from sandbox.web.controls.request_bodies import refuse
from sandbox.worlds.world import World


def customers(bank: Bank) -> list[dict[str, Any]]:
    owned: dict[str, list[str]] = {name: [] for name in bank.customers}
    for account in bank.accounts.values():
        for owner in account.owners:
            owned[owner].append(account.iban)
    return [_customer(customer, owned[customer.id]) for customer in bank.customers.values()]


def _customer(customer: Customer, owned: list[str]) -> dict[str, Any]:
    return {"customer": customer.id} | _fields(customer, "name", "language", "kind") | {"accounts": owned}


def _fields(record: Customer | RegisteredClient, *names: str) -> dict[str, Any]:
    return {name: getattr(record, name) for name in names}


def customer_shown(bank: Bank, customer: str) -> dict[str, Any]:
    """A customer with all that a tester may change."""
    found = changes.find_named("customer", customer, bank.customers)
    owned = [account.iban for account in changes.owned_by(bank, customer)]
    holder = bank.accounts[owned[0]] if owned else found  # limits are kept with each account
    return _customer(found, owned) | {
        "channel_blocked": found.channel_blocked,
        "limit_day": holder.limit_day and holder.limit_day.text(),
        "limit_week": holder.limit_week and holder.limit_week.text(),
        "countries": holder.countries,
        "methods": found.methods,
    }


def clients(bank: Bank) -> list[dict[str, Any]]:
    """Without their secrets."""
    return [client_shown(client) for client in bank.clients.values()]


def client_shown(client: RegisteredClient) -> dict[str, Any]:
    return {"client_id": client.id} | _fields(client, "name", "roles", "active", "redirect_uris")


def accounts(bank: Bank) -> list[dict[str, Any]]:
    return [_account(bank, account) for account in bank.accounts.values()]


def account_shown(bank: Bank, iban: str) -> dict[str, Any]:
    """An account with all that a tester may change."""
    found = changes.find_named("account", iban, bank.accounts)
    return _account(bank, found) | {
        "closed": found.closed,
        "overdraft": found.overdraft and found.overdraft.text(),
        "balance_shown": found.balance_shown,
        "owners": found.owners,
        "signers": found.may_sign,
    }


def _account(bank: Bank, account: Account) -> dict[str, Any]:
    balances = [bank.ledger.balance(account.iban, currency) for currency in account.currencies]
    return {
        "iban": account.iban,
        "bic": BANK_BIC,
        "type": account.type,
        "customer": account.owners[0],
        "balances": [{"currency": money.currency, "balance": Fragment(money.text())} for money in balances],
        "signatures_required": account.signatures_required,
    }


def change_customer(world: World, body: dict[str, Any], customer: str) -> dict[str, Any]:
    """Fields that are left out stay as they are."""
    world.act(changes.amend_customer, customer, _changes(body))
    return world.ask(customer_shown, customer)


def add_customer(world: World, body: dict[str, Any]) -> dict[str, Any]:
    customer = body.pop("customer")
    row = {"name": customer, "kind": "private", "language": "fr"}
    world.act(changes.register_customer, Customer(customer, **(row | body)))
    return world.ask(customer_shown, customer)


def change_account(world: World, body: dict[str, Any], iban: str) -> dict[str, Any]:
    """Fields that are left out stay as they are."""
    world.act(changes.amend_account, iban, _changes(body))
    return world.ask(account_shown, iban)


def add_account(world: World, body: dict[str, Any]) -> dict[str, Any]:
    given = {"iban": "", "type": "current-account"} | body
    owner, balance = given.pop("customer"), given.pop("balance", None)
    if balance is not None and "EUR" not in given.get("currencies", ("EUR",)):
        raise refuse("balance", "it is in EUR, and the account has no such compartment")
    made = world.act(changes.register_account, Account(owners=(owner,), **given), balance)
    return world.ask(account_shown, made.iban)


def _changes(body: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    if not body:
        raise refuse("body", "nothing is to be changed")
    return tuple(body.items())


def add_client(world: World, body: dict[str, Any]) -> dict[str, Any]:
    """client_id and secret are needed; the rest has a default."""
    client_id = body.pop("client_id")
    client = RegisteredClient(client_id, **{"name": client_id} | body)
    world.act(changes.register_client, client)
    return client_shown(client)


def change_client(world: World, body: dict[str, Any], client_id: str) -> dict[str, Any]:
    """Fields that are left out stay as they are."""
    if body.pop("client_id", client_id) != client_id:
        raise refuse("client_id", "it is not that of the path")
    return client_shown(world.act(changes.amend_client, client_id, tuple(sorted(body.items()))))


YEARS_BACK = 10  # as far as the full history reaches (service 4.10)


def book(world: World, body: dict[str, Any], iban: str) -> dict[str, Any]:
    currency = body.get("currency", "EUR")
    amount = _money(body["amount"], currency)
    today = world.ask(lambda bank: bank.clock.today)
    on = body.get("date", today)
    if today.year - on.year > YEARS_BACK:
        raise refuse("date", f"it lies over {YEARS_BACK} years back")
    account, name = body.get("counterparty", (None, None))
    text, structured = body.get("communication", ("", False))
    line = world.act(statements.book_by_hand, iban, amount, on, account, name, text, structured)
    return item_of(line)


def _money(text: str, currency: str) -> Money:
    try:
        money = Money.read(text, currency)
    except ValueError:
        raise refuse("amount", "it must be a decimal string such as -12.50") from None
    if not money.number:
        raise refuse("amount", "it must not be 0")
    return money
