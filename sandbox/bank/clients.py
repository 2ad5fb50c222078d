"""Registering TPPs (choice 10). Who they are stands in the bank, so it is done by its door."""

from dataclasses import replace

from sandbox.bank.records import Client
from sandbox.bank.state import Bank
from sandbox.contract.errors import Error, Refusal


def register(bank: Bank, client: Client) -> None:
    """A new TPP; a name is given once."""
    if client.id in bank.clients:
        raise Refusal(Error.CLIENT_TAKEN, input=client.id)
    bank.clients[client.id] = client


def amend(bank: Bank, client_id: str, changes: tuple[tuple[str, object], ...]) -> Client:
    """What is named changes, from now on."""
    known = bank.clients.get(client_id)
    if known is None:
        raise Refusal(Error.NOT_FOUND, input="client")
    bank.clients[client_id] = replace(known, **dict(changes))  # type: ignore[arg-type]
    return bank.clients[client_id]
