"""Customers and accounts: made and changed while the bank runs (choice 10)."""

from typing import Any

from flask import Response

from sandbox.bank import customers
from sandbox.bank.records import Account, Customer
from sandbox.contract.errors import Error, Refusal
from sandbox.web.api.replies import json_response
from sandbox.web.controls.registers import account_shown, customer_shown
from sandbox.world.world import World


def change_customer(world: World, body: dict[str, Any], customer: str) -> dict[str, Any]:
    """Fields that are left out stay as they are."""
    world.act(customers.amend_customer, customer, _changes(body))
    return world.ask(customer_shown, customer)


def add_customer(world: World, body: dict[str, Any]) -> Response:
    row = {"name": body["customer"], "kind": "private", "language": "fr"}
    given = {name: value for name, value in body.items() if name != "customer"}
    made = Customer(body["customer"], **(row | given))
    world.act(customers.register_customer, made)
    return json_response(world.ask(customer_shown, made.id), 201)


def change_account(world: World, body: dict[str, Any], iban: str) -> dict[str, Any]:
    """Fields that are left out stay as they are."""
    world.act(customers.amend_account, iban, _changes(body))
    return world.ask(account_shown, iban)


def add_account(world: World, body: dict[str, Any]) -> Response:
    given = {"iban": "", "type": "current-account"} | body
    owner, balance = given.pop("customer"), given.pop("balance", None)
    if balance is not None and "EUR" not in given.get("currencies", ("EUR",)):
        raise Refusal(
            Error.CONTROL_INVALID, input="balance", why="it is in EUR, and the account has no such compartment"
        )
    made = world.act(customers.register_account, Account(owners=(owner,), **given), balance)
    return json_response(world.ask(account_shown, made.iban), 201)


def _changes(body: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    if not body:
        raise Refusal(Error.CONTROL_INVALID, input="body", why="nothing is to be changed")
    return tuple(body.items())
