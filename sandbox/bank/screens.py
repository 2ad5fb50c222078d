"""A PSU's session at an address: log in, pick, sign with the code of a drawn card reader, or refuse."""

from sandbox.bank import signing
from sandbox.bank.grants import Session
from sandbox.bank.records import Debtor
from sandbox.bank.state import Bank, verb
from sandbox.errors import Error, Refusal

CODE_DIGITS = 6


@verb
def enter(bank: Bank, token: str, state: str | None) -> str:
    """The first page of an address; the answer is the session's id."""
    signing.open_subject(bank, signing.waiting(bank, token))
    session = Session(bank.mint.secret(), token, state)
    bank.sessions[session.id] = session
    return session.id


def session_of(bank: Bank, session_id: str, token: str) -> Session:
    session = bank.sessions.get(session_id)
    if session is None or session.address != token:
        raise Refusal(Error.NOT_FOUND, input="session")
    return session


@verb
def log_in(bank: Bank, session_id: str, token: str, customer: str) -> None:
    """As a test customer; a debtor account that came with the initiation is checked for them."""
    session = session_of(bank, session_id, token)
    payment = signing.waiting(bank, token)
    known = signing.customer_of(bank, customer)
    debtor = signing.debtor_of(payment)
    if not signing.needs_account(payment):
        signing.demand_signer(bank, payment, known.id, debtor)
    session.customer = known.id
    session.debtor = debtor
    session.code = bank.mint.digits(CODE_DIGITS)


@verb
def pick(bank: Bank, session_id: str, token: str, iban: str, currency: str) -> None:
    """An account; one that may not pay this is refused, and another may be picked (service 1)."""
    session = session_of(bank, session_id, token)
    payment = signing.waiting(bank, token)
    if session.customer is None or not signing.needs_account(payment):
        raise Refusal(Error.CONTROL_INVALID, input="account", why="there is nothing to pick")
    debtor = Debtor(iban, currency)
    signing.demand_signer(bank, payment, session.customer, debtor)
    session.debtor = debtor


@verb
def confirm(bank: Bank, session_id: str, token: str, code: str) -> str:
    """The code as the card reader shows it; too many wrong ones refuse the initiation. The answer is the callback."""
    session = session_of(bank, session_id, token)
    payment = signing.waiting(bank, token)
    if session.customer is None or (session.debtor is None and signing.needs_account(payment)):
        raise Refusal(Error.CONTROL_INVALID, input="account", why="none was picked")
    if code != session.code:
        session.wrong += 1
        if session.wrong >= bank.settings.wrong_codes_max:
            return signing.refuse(bank, payment, session.state)
        raise Refusal(Error.CODE_WRONG, left=bank.settings.wrong_codes_max - session.wrong, lasting=True)
    return signing.sign(bank, payment, session.customer, session.debtor, session.state)


@verb
def turn_down(bank: Bank, session_id: str, token: str) -> str:
    """The PSU refuses."""
    session = session_of(bank, session_id, token)
    return signing.refuse(bank, signing.waiting(bank, token), session.state)
