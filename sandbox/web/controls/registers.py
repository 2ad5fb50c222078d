"""Lists of what a world contains. Nothing here changes the bank."""

from typing import Any

from flask import Response
from orjson import Fragment

from sandbox.bank import customers as customer_changes
from sandbox.bank.records import Account, Client, Customer, Fact
from sandbox.bank.state import Bank
from sandbox.banking.countries import published
from sandbox.banking.durations import write_instant
from sandbox.referee.report import call_of
from sandbox.web.api.call_lines import error_of
from sandbox.web.controls.long_lists import list_reply, pieces_of
from sandbox.world.world import World


def countries() -> dict[str, Any]:
    return published()


def customers(bank: Bank) -> list[dict[str, Any]]:
    owned: dict[str, list[str]] = {name: [] for name in bank.customers}
    for account in bank.accounts.values():
        for owner in account.owners:
            owned[owner].append(account.iban)
    return [_customer(customer, owned[customer.id]) for customer in bank.customers.values()]


def _customer(customer: Customer, owned: list[str]) -> dict[str, Any]:
    return {
        "customer": customer.id,
        "name": customer.name,
        "language": customer.language,
        "kind": customer.kind,
        "accounts": owned,
    }


def customer(bank: Bank, customer: str) -> dict[str, Any]:
    """A customer with all that a tester may change."""
    found = customer_changes.find_named("customer", customer, bank.customers)
    owned = [account.iban for account in customer_changes.owned_by(bank, customer)]
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


def client_shown(client: Client) -> dict[str, Any]:
    return {
        "client_id": client.id,
        "name": client.name,
        "roles": client.roles,
        "active": client.active,
        "redirect_uris": client.redirect_uris,
    }


def accounts(bank: Bank) -> list[dict[str, Any]]:
    return [_account(bank, account) for account in bank.accounts.values()]


def account(bank: Bank, iban: str) -> dict[str, Any]:
    """An account with all that a tester may change."""
    found = customer_changes.find_named("account", iban, bank.accounts)
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
        "type": account.type,
        "customer": account.owners[0],
        "balances": [{"currency": money.currency, "balance": Fragment(money.text())} for money in balances],
        "signatures_required": account.signatures_required,
    }


def journal(world: World, query: dict[str, Any]) -> Response:
    since = query.get("since", 0)
    bank, count = world.ask(lambda bank: (bank, len(bank.journal)))  # it only grows, so its lines are not copied
    return list_reply("journal", pieces=pieces_of(fact_row(bank.journal[place]) for place in range(since, count)))


def fact_row(fact: Fact) -> dict[str, Any]:
    return {
        "seq": fact.seq,
        "at": write_instant(fact.at),
        "subject": fact.subject,
        "trigger": fact.trigger.value,
        "from": fact.source and fact.source.value,
        "to": fact.target and fact.target.value,
        "reason": fact.reason,
        "rule": fact.rule,
    }


def requests(world: World, query: dict[str, Any]) -> list[dict[str, Any]]:
    exchanges = world.calls_after(query.get("since", 0))
    return [call_of(one) | error_of(one) | {"rule": one.rule} for one in exchanges]
