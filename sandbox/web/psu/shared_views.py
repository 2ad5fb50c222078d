"""What all screens ask of the bank."""

import math
from copy import copy
from datetime import datetime

from sandbox.bank.grants import Session
from sandbox.bank.state import Bank


def session_at(bank: Bank, session_id: str, address: str) -> Session | None:
    """The session as it stands, if it is one of that address."""
    session = bank.sessions.get(session_id)
    return copy(session) if session is not None and session.address == address else None


def seconds_until(bank: Bank, end: datetime) -> int:
    """Bank time that is left, in whole seconds; 0 when the end has passed."""
    return max(0, math.ceil((end - bank.clock.now).total_seconds()))


def language_of(bank: Bank, customer: str | None) -> str | None:
    known = bank.customers.get(customer or "")
    return known.language if known else None


def tpp_name(bank: Bank, client_id: str) -> str:
    client = bank.clients.get(client_id)
    return client.name if client else client_id
