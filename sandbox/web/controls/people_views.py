"""Customers, accounts and TPPs: made and changed while the bank runs; transactions made by hand (choice 10)."""

from typing import Any

from sandbox.bank import customers, statements
from sandbox.bank.records import Account, Client, Customer
from sandbox.banking.money import Money
from sandbox.web.api.account_replies import item_of
from sandbox.web.controls import registers
from sandbox.web.controls.request_bodies import refuse
from sandbox.world.world import World


def change_customer(world: World, body: dict[str, Any], customer: str) -> dict[str, Any]:
    """Fields that are left out stay as they are."""
    world.act(customers.amend_customer, customer, _changes(body))
    return world.ask(registers.customer, customer)


def add_customer(world: World, body: dict[str, Any]) -> dict[str, Any]:
    customer = body.pop("customer")
    row = {"name": customer, "kind": "private", "language": "fr"}
    world.act(customers.register_customer, Customer(customer, **(row | body)))
    return world.ask(registers.customer, customer)


def change_account(world: World, body: dict[str, Any], iban: str) -> dict[str, Any]:
    """Fields that are left out stay as they are."""
    world.act(customers.amend_account, iban, _changes(body))
    return world.ask(registers.account, iban)


def add_account(world: World, body: dict[str, Any]) -> dict[str, Any]:
    given = {"iban": "", "type": "current-account"} | body
    owner, balance = given.pop("customer"), given.pop("balance", None)
    if balance is not None and "EUR" not in given.get("currencies", ("EUR",)):
        raise refuse("balance", "it is in EUR, and the account has no such compartment")
    made = world.act(customers.register_account, Account(owners=(owner,), **given), balance)
    return world.ask(registers.account, made.iban)


def _changes(body: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    if not body:
        raise refuse("body", "nothing is to be changed")
    return tuple(body.items())


def add_client(world: World, body: dict[str, Any]) -> dict[str, Any]:
    """client_id and secret are needed; the rest has a default."""
    client_id = body.pop("client_id")
    client = Client(client_id, **{"name": client_id} | body)
    world.act(customers.register_client, client)
    return registers.client_shown(client)


def change_client(world: World, body: dict[str, Any], client_id: str) -> dict[str, Any]:
    """Fields that are left out stay as they are."""
    if body.pop("client_id", client_id) != client_id:
        raise refuse("client_id", "it is not that of the path")
    return registers.client_shown(world.act(customers.amend_client, client_id, tuple(sorted(body.items()))))


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
