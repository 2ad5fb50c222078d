"""Signing without the card reader: a page waits while the bank's app approves, or biometrics sign (service 5.7)."""

from sandbox.bank import signing, signing_methods
from sandbox.bank.bounded_registers import forget_oldest
from sandbox.bank.grants import Session
from sandbox.bank.signing_methods import APP, BIOMETRICS
from sandbox.bank.signing_sessions import session_of
from sandbox.bank.state import Bank
from sandbox.bank.subjects import Initiation
from sandbox.contract.errors import Error, Refusal

COMPARE_DIGITS = 4


def choose_method(bank: Bank, session_id: str, token: str, method: str) -> None:
    """The customer's choice on the page; the app gets what it has to approve, with a code to compare."""
    session, found, customer = _ready(bank, session_id, token)
    signing_methods.demand_method(bank, found, customer, method)
    drop_approval(bank, session)
    session.method = method
    if method == APP:
        session.approval, session.compare = bank.mint.secret(), bank.mint.digits(COMPARE_DIGITS)
        session.approval_until = bank.clock.now + bank.settings.app_approval_life
        bank.approvals[session.approval] = session.id
        forget_oldest(bank.approvals, bank.settings.remembered_max, bank.settings.remembered_bytes_max, len)


def confirm_by_biometrics(bank: Bank, session_id: str, token: str) -> str:
    """The finger on the customer's own device; the answer is the callback."""
    session, found, customer = _ready(bank, session_id, token)
    signing_methods.demand_method(bank, found, customer, BIOMETRICS)
    return signing.sign(bank, found, customer, session.debtor, session.state)


def answer_in_app(bank: Bank, approval: str, approves: bool) -> None:
    """The customer approves or refuses in the app; the page that waits then leads back to the TPP."""
    session = session_waiting(bank, approval)
    found = signing.waiting(bank, session.address)
    assert session.customer is not None
    if approves:
        signing_methods.demand_method(bank, found, session.customer, APP)
        callback = signing.sign(bank, found, session.customer, session.debtor, session.state)
    else:
        callback = signing.refuse(bank, found, session.state)
    drop_approval(bank, session)
    session.callback = callback


def session_waiting(bank: Bank, approval: str) -> Session:
    """The session whose page waits for this approval. An answered, replaced or outdated approval is refused."""
    session = bank.sessions.get(bank.approvals.get(approval, ""))
    if session is None or session.approval != approval or session.approval_until is None:
        raise Refusal(Error.NOT_FOUND, input="approval")
    if bank.clock.now >= session.approval_until:
        raise Refusal(Error.ADDRESS_OUTDATED, input="approval")
    return session


def drop_approval(bank: Bank, session: Session) -> None:
    bank.approvals.pop(session.approval or "", None)
    session.approval = session.approval_until = session.compare = None


def _ready(bank: Bank, session_id: str, token: str) -> tuple[Session, Initiation, str]:
    """A session in which all but the signature is done."""
    session = session_of(bank, session_id, token)
    found = signing.waiting(bank, token)
    if session.customer is None or (session.debtor is None and signing.needs_account(found)):
        raise Refusal(Error.CONTROL_INVALID, input="account", why="none was picked")
    return session, found, session.customer
