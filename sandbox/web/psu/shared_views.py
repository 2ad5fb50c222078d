"""What all screens ask of the bank."""

import math
from copy import copy
from datetime import datetime
from typing import NamedTuple

from sandbox.bank import signing_methods
from sandbox.bank.grants import Session
from sandbox.bank.records import CARD_READER
from sandbox.bank.signing_methods import Offer
from sandbox.bank.state import Bank
from sandbox.bank.subjects import Initiation


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


class Ways(NamedTuple):
    """The methods that concern the customer, the one in use, and the approval that the page waits for."""

    offers: tuple[Offer, ...] = ()  # each with why it is refused
    method: str = CARD_READER  # as the customer chose, else the first that is permitted
    approval: str | None = None
    compare: str | None = None
    seconds_left: int = 0


def ways_of(bank: Bank, session: Session, found: Initiation | None) -> Ways:
    """Methods that are permitted or that a risk refuses; of what the customer does not have no page speaks."""
    if session.customer is None:
        return Ways()
    methods = signing_methods.offers(bank, found, session.customer)
    offers = tuple(offer for offer in methods if offer.cause not in ("inactive", "bank"))
    first = next((offer.method for offer in offers if not offer.cause), CARD_READER)
    if session.subject is not None and (found is None or found.id != session.subject):
        return Ways(offers, first)  # in the channel: what was chosen is about another initiation
    until = session.approval_until
    left = 0 if until is None else seconds_until(bank, until)
    return Ways(offers, session.method or first, session.approval, session.compare, left)
