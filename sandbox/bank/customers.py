"""Acts that change customers, accounts and TPPs while the bank runs (choice 10)."""

from dataclasses import replace
from typing import Any, TypeVar

from sandbox.bank.ledger import OUTSIDE, LedgerEntry, Posting
from sandbox.bank.records import Account, Customer, RegisteredClient
from sandbox.bank.state import Bank
from sandbox.banking.iban import BANK_CODE, make_belgian
from sandbox.banking.money import Money
from sandbox.banking.names import find_nearest
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.moves import Trigger

SECURITY = ("limit_day", "limit_week", "countries")  # a customer's own settings; they count for each account of theirs
NUMBERS_FROM = 2_000_000  # of new accounts, above those of the fixtures

Record = TypeVar("Record")
Changes = tuple[tuple[str, Any], ...]


def find_named(kind: str, name: str, register: dict[str, Record]) -> Record:
    """Returns the customer or account with this name. Raises a Refusal for an unknown name, with the nearest known name
    as a hint."""
    record = register.get(name)
    if record is None:
        near = find_nearest(name, register)
        hint = f" (did you mean '{near}'?)" if near else ""
        raise Refusal(Error.NOT_FOUND, input=f"{kind} {name[:100]}", hint=hint)
    return record


def list_accounts_of(bank: Bank, customer: str) -> list[Account]:
    return [account for account in bank.accounts.values() if customer in account.owners]


def amend_customer(bank: Bank, customer: str, changes: Changes) -> Customer:
    """Changes fields of a customer, and writes the changes to the journal. A change of a limit or of the accepted
    countries also changes each account that the customer owns. Refuses an unknown customer, and a private customer who
    would opt out of the payee check of files."""
    before, accounts = find_named("customer", customer, bank.customers), list_accounts_of(bank, customer)
    security = {name: value for name, value in changes if name in SECURITY}
    changed = replace(before, **dict(changes))
    _demand_check_of_files(changed)
    bank.customers[customer] = changed
    for account in accounts if security else ():
        bank.accounts[account.iban] = replace(account, **security)
    _note(bank, customer, changes, before, *accounts)
    return bank.customers[customer]


def _demand_check_of_files(customer: Customer) -> None:
    if customer.kind != "business" and not customer.payee_check_of_files:
        reason = f"only a business customer may opt out, and {customer.id} is {customer.kind}"
        raise Refusal(Error.CONTROL_INVALID, input="payee_check_of_files", why=reason)


def amend_account(bank: Bank, iban: str, changes: Changes) -> Account:
    """Changes fields of an account, and writes the changes to the journal. Refuses an unknown account, and an unknown
    owner or signer."""
    before = find_named("account", iban, bank.accounts)
    changed = replace(before, **dict(changes))
    _demand_people(bank, changed)
    bank.accounts[iban] = changed
    _note(bank, iban, changes, before)
    return changed


def register_customer(bank: Bank, customer: Customer) -> None:
    """Registers a customer without an account. Refuses an id that is taken, and a private customer who has opted out of
    the payee check of files."""
    if customer.id in bank.customers:
        raise Refusal(Error.NAME_TAKEN, kind="customer", input=customer.id)
    _demand_check_of_files(customer)
    bank.customers[customer.id] = customer
    bank.note_change(customer.id, Trigger.ADDED, None)


def register_account(bank: Bank, account: Account, balance: Money | None, balances: tuple[Money, ...] = ()) -> Account:
    """Registers an account and returns it. `balance` is the opening balance. If `balance` is None, `balances` has the
    opening balances, one for each currency. An account without an IBAN gets the next free IBAN. If the first owner has
    limits or accepted countries, they replace those of the account. Refuses an IBAN that is taken, and an unknown owner
    or signer."""
    if account.iban in bank.accounts:
        raise Refusal(Error.NAME_TAKEN, kind="account", input=account.iban)
    _demand_people(bank, account)
    holder = bank.customers[account.owners[0]]
    own = {name: value for name in SECURITY if (value := getattr(holder, name)) is not None}
    account = replace(account, iban=account.iban or _free_iban(bank), **own)
    bank.accounts[account.iban] = account
    today = bank.clock.today
    for money in balances if balance is None else (balance,):
        if money.number:
            sides = (Posting(account.iban, money), Posting(OUTSIDE, -money))
            bank.ledger.post(
                LedgerEntry(bank.mint.draw_id(), today, today, sides, "", remark="BALANCE BROUGHT FORWARD")
            )
    bank.note_change(account.iban, Trigger.ADDED, None)
    return account


def _demand_people(bank: Bank, account: Account) -> None:
    for name in (*account.owners, *account.signers):
        find_named("customer", name, bank.customers)


def _free_iban(bank: Bank) -> str:
    number = NUMBERS_FROM + len(bank.accounts)
    while (iban := make_belgian(BANK_CODE, number)) in bank.accounts:
        number += 1
    return iban


def _note(bank: Bank, name: str, changes: Changes, *before: Customer | Account) -> None:
    """Writes to the journal which fields changed and their new values, such as `closed=true, overdraft=500.00`. Writes
    nothing if no value changed."""
    changed = (
        (field, value) for field, value in changes if any(getattr(record, field, value) != value for record in before)
    )
    differing = ", ".join(f"{field}={_write_value(value)}" for field, value in changed)
    if differing:
        bank.note_change(name, Trigger.CHANGED, differing)


def _write_value(value: Any) -> str:
    if isinstance(value, Money):
        return value.text()
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return " ".join(value)
    return "none" if value is None else str(value)


def register_client(bank: Bank, client: RegisteredClient) -> None:
    """Registers a TPP. Refuses a name that is taken."""
    if client.id in bank.clients:
        raise Refusal(Error.CLIENT_TAKEN, input=client.id)
    bank.clients[client.id] = client


def amend_client(bank: Bank, client_id: str, changes: Changes) -> RegisteredClient:
    old = bank.clients.get(client_id)
    if old is None:
        raise Refusal(Error.NOT_FOUND, input="client")
    bank.clients[client_id] = replace(old, **dict(changes))
    return bank.clients[client_id]
