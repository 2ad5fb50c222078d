"""What the pages of the bank's own channel show."""

from typing import NamedTuple

from sandbox.bank import consents, signing, signing_sessions
from sandbox.bank.records import Customer
from sandbox.bank.state import Bank
from sandbox.bank.subjects import Initiation
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.moves import Status
from sandbox.web.psu.consent_views import Allowed, Choice, allowed_by, choices_of, tpp_name
from sandbox.web.psu.initiation_views import InitiationView, listed_view
from sandbox.web.psu.sights import Sight, sight_of

LISTS = ("orders", "payments")


class Own(NamedTuple):
    """An initiation that leaves from one of the customer's accounts."""

    id: str
    view: InitiationView
    tpp: str
    status: Status
    may_cancel: bool
    kind: str  # which words speak of it


class OwnPage(NamedTuple):
    """A page of a list, and the numbers of the pages with newer and older lines."""

    name: str
    lines: list[Own]
    newer: int
    older: int


class Folder(NamedTuple):
    """A customer's own channel: balances, what waits for their signature, what leaves, and who reads."""

    customers: list[Customer]
    customer: Customer | None
    waiting: list[Sight]
    allowed: list[Allowed]
    held: list[Choice]
    own: list[OwnPage]


def folder(bank: Bank, session_id: str, pages: dict[str, int]) -> Folder:
    """`pages` are the numbers of the pages of its lists."""
    session = signing_sessions.session_of(bank, session_id, signing_sessions.CHANNEL)
    customers = list(bank.customers.values())
    if session.customer is None or is_blocked(bank, session.customer):
        return Folder(customers, None, [], [], [], [])
    who = session.customer
    return Folder(
        customers,
        bank.customers[who],
        [sight_of(bank, session, found) for found in signing.to_sign(bank, who)],
        [allowed_by(bank, consent) for consent in consents.valid_consents(bank, who)],
        choices_of(bank, who),
        [_own_page(bank, who, name, pages.get(name, 1)) for name in LISTS],
    )


def is_blocked(bank: Bank, customer: str) -> bool:
    try:
        signing.demand_own_channel(bank, customer)
    except Refusal:
        return True
    return False


def in_channel(bank: Bank, session_id: str, subject_id: str) -> Sight:
    """What waits for a further signature of the customer who logged in."""
    session = signing_sessions.session_of(bank, session_id, signing_sessions.CHANNEL)
    if session.customer is not None:
        signing.demand_own_channel(bank, session.customer)
    for found in signing.to_sign(bank, session.customer) if session.customer else ():
        if found.id == subject_id:
            return sight_of(bank, session, found)
    raise Refusal(Error.NOT_FOUND, input="payment")


def answer_of(bank: Bank, session_id: str, subject_id: str) -> str:
    """The news about what the page waited for, once it was answered; empty before that."""
    session, found = bank.sessions.get(session_id), bank.initiation(subject_id)
    if session is None or found is None or session.subject != subject_id:
        return ""
    if session.customer in found.signatures:
        return "waiting" if found.status is Status.PATC else "signed"
    return "refused" if found.reason == signing.PSU_REFUSED else ""


def _own_page(bank: Bank, customer: str, name: str, number: int) -> OwnPage:
    found, more = signing_sessions.own_initiations(bank, customer, name, number)
    return OwnPage(name, [_own(bank, one, customer) for one in found], number - 1, number + 1 if more else 0)


def _own(bank: Bank, found: Initiation, customer: str) -> Own:
    may_cancel = signing_sessions.may_cancel(bank, found, customer)
    tpp = tpp_name(bank, found.origin.client_id)
    return Own(found.id, listed_view(bank, found), tpp, found.status, may_cancel, found.kind.words)
