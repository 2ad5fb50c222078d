"""What all screens ask of the bank."""

from copy import copy

from sandbox.bank.grants import Session
from sandbox.bank.state import Bank


def session_at(bank: Bank, session_id: str, address: str) -> Session | None:
    """The session as it stands, if it is one of that address."""
    session = bank.sessions.get(session_id)
    return copy(session) if session is not None and session.address == address else None


def tpp_name(bank: Bank, client_id: str) -> str:
    client = bank.clients.get(client_id)
    return client.name if client else client_id
