"""Registering TPPs (choice 10), as acts of the bank."""

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
    """Changes the given fields of a client."""
    old = bank.clients.get(client_id)
    if old is None:
        raise Refusal(Error.NOT_FOUND, input="client")
    bank.clients[client_id] = replace(old, **dict(changes))  # type: ignore[arg-type]
    return bank.clients[client_id]
