"""What the pages of the bank's own channel show."""

from typing import Any

from sandbox.bank import accounts, consents, signing, signing_sessions
from sandbox.bank.grants import Consent, Session
from sandbox.bank.records import Customer
from sandbox.bank.state import Bank
from sandbox.banking.calendar import brussels_date
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.moves import Status
from sandbox.contract.reasons import Reason
from sandbox.web.psu.initiation_views import listed_view
from sandbox.web.psu.sights import SigningPage, choices_of, sight_of, tpp_name

LISTS = ("orders", "payments")


def folder(bank: Bank, session_id: str, pages: dict[str, int]) -> dict[str, Any]:
    """A customer's own channel: balances, what waits for their signature, what leaves, and who reads.

    `pages` are the numbers of the pages of its lists."""
    session = signing_sessions.session_of(bank, session_id, signing_sessions.CHANNEL)
    who = session.customer
    if who is None or is_blocked(bank, who):
        return {"customers": list(bank.customers.values()), "customer": None}
    return {
        "customer": bank.customers[who],
        "waiting": [sight_of(bank, session, found) for found in signing.to_sign(bank, who)],
        "allowed": [allowed_by(bank, consent) for consent in consents.valid_consents(bank, who)],
        "held": choices_of(bank, who),
        "own": [_own_page(bank, who, name, pages.get(name, 1)) for name in LISTS],
    }


def is_blocked(bank: Bank, customer: str) -> bool:
    try:
        accounts.demand_unblocked(bank, customer)
    except Refusal:
        return True
    return False


def in_channel(bank: Bank, session_id: str, subject_id: str) -> SigningPage:
    """What waits for a further signature of the customer who logged in."""
    session = _session(bank, session_id)
    for found in signing.to_sign(bank, session.customer) if session.customer else ():
        if found.id == subject_id:
            return sight_of(bank, session, found)
    raise Refusal(Error.NOT_FOUND, input="payment")


def standing_one(bank: Bank, session_id: str, consent_id: str) -> tuple[Customer, dict[str, Any]]:
    """A consent that the customer in the channel may withdraw."""
    found = consents.find_valid(bank, _session(bank, session_id).customer, consent_id)
    return bank.customers[found.customer], allowed_by(bank, found)


def _session(bank: Bank, session_id: str) -> Session:
    session = signing_sessions.session_of(bank, session_id, signing_sessions.CHANNEL)
    if session.customer is not None:
        accounts.demand_unblocked(bank, session.customer)
    return session


def allowed_by(bank: Bank, consent: Consent) -> dict[str, Any]:
    """A consent that stands: who may read what, since when and until when."""
    return {
        "id": consent.id,
        "tpp": tpp_name(bank, consent.client_id),
        "scope": consent.scope,
        "accounts": [bank.accounts[iban] for iban in consent.logical_ids.values()],
        "given": brussels_date(consent.given),
        "until": brussels_date(consent.until),
    }


def answer_of(bank: Bank, session_id: str, subject_id: str) -> str:
    """The news about what the page waited for, once it was answered; empty before that."""
    session, found = bank.sessions.get(session_id), bank.initiation(subject_id)
    if session is None or found is None or session.subject != subject_id:
        return ""
    if session.customer in found.signatures:
        return "waiting" if found.status is Status.PATC else "signed"
    return "refused" if found.reason == Reason.PSU_REFUSED.code else ""


def _own_page(bank: Bank, customer: str, name: str, number: int) -> dict[str, Any]:
    """Initiations that leave from the customer's accounts, and the numbers of the pages with newer and older ones."""
    found, more = signing_sessions.own_initiations(bank, customer, name, number)
    lines = [
        {
            "id": one.id,
            "view": listed_view(bank, one),
            "tpp": tpp_name(bank, one.origin.client_id),
            "status": one.status,
            "may_cancel": signing_sessions.may_cancel(bank, one, customer),
            "kind": one.kind.words,
        }
        for one in found
    ]
    return {"name": name, "lines": lines, "newer": number - 1, "older": number + 1 if more else 0}
