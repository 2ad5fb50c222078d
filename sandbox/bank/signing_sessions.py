"""A PSU's session at an SCA address or in the bank's own channel: log in, pick, sign, refuse, list, cancel."""

from itertools import islice

from sandbox.bank import accounts, payee_checks, signing
from sandbox.bank.behaviours import behaviour_of, effect_of
from sandbox.bank.bounded_registers import forget_oldest
from sandbox.bank.records import CARD_READER, UNSIGNED, BulkFile, Debtor, Initiation, Session
from sandbox.bank.signing_methods import SigningAttempt, demand_method
from sandbox.bank.state import Bank
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.moves import Status, Trigger

CODE_DIGITS = 6
CHANNEL = "channel"  # stands for the address of a session that came by none
SHOWN = 20  # of the customer's own initiations on a page


def open_session(bank: Bank, address: str, state: str | None = None) -> str:
    """The answer is its id."""
    session = Session(bank.mint.secret(), address, state)
    bank.sessions[session.id] = session
    most, weight_max = bank.decisions.remembered_max, bank.decisions.remembered_bytes_max
    forget_oldest(bank.sessions, most, weight_max, lambda one: len(one.state or ""))
    return session.id


def enter(bank: Bank, token: str, state: str | None) -> str:
    """The first page of an address; the answer is the session's id."""
    signing.open_subject(bank, signing.waiting(bank, token))
    return open_session(bank, token, state)


def session_of(bank: Bank, session_id: str, token: str) -> Session:
    session = bank.sessions.get(session_id)
    if session is None or session.address != token:
        raise Refusal(Error.NOT_FOUND, input="session")
    return session


def log_in(bank: Bank, session_id: str, token: str, customer: str) -> str:
    """Logs a test customer in and checks the initiation's debtor account for them; returns the new session id."""
    session = session_of(bank, session_id, token)
    payment = signing.waiting(bank, token)
    name = signing.customer_of(bank, customer).id
    if not signing.needs_account(payment):
        signing.demand_choice(bank, payment, name, payment.debtor)
    session.debtor = payment.debtor
    set_customer(bank, session, name)
    return renew(bank, session_id)


def renew(bank: Bank, session_id: str) -> str:
    """Replaces the session id at log-in, against session fixation."""
    session = bank.sessions.pop(session_id)
    session.id = bank.mint.secret()
    bank.sessions[session.id] = session
    return session.id


def set_customer(bank: Bank, session: Session, customer: str) -> None:
    """What the customer before chose, and what waits in their app, is no matter of the next one."""
    drop_approval(bank, session)
    session.method, session.subject, session.payee_accepted = "", None, False
    session.customer, session.code = customer, bank.mint.digits(CODE_DIGITS)


def drop_approval(bank: Bank, session: Session) -> None:
    bank.approvals.pop(session.approval or "", None)
    session.approval = session.approval_until = session.compare = None
    session.numbers = ()


def pick(bank: Bank, session_id: str, token: str, iban: str, currency: str) -> None:
    """An account; one that may not pay this is refused, and another may be picked (service 1)."""
    session = session_of(bank, session_id, token)
    payment = signing.waiting(bank, token)
    if session.customer is None or not signing.needs_account(payment):
        raise Refusal(Error.CONTROL_INVALID, input="account", why="there is nothing to pick")
    debtor = Debtor(iban, currency)
    signing.demand_choice(bank, payment, session.customer, debtor)
    session.debtor = debtor


def accept_payee(bank: Bank, session_id: str, token: str) -> None:
    """The customer has seen the verification of payee, and goes on where the bank lets them."""
    session = session_of(bank, session_id, token)
    found = signing.waiting(bank, token)
    if session.customer is None:
        raise Refusal(Error.CONTROL_INVALID, input="customer", why="nobody logged in")
    payee_checks.demand_payee(bank, found)
    payee_checks.note_check(bank, found)
    session.payee_accepted = True


def refuse(bank: Bank, session_id: str, token: str) -> str:
    session = session_of(bank, session_id, token)
    return signing.refuse(bank, signing.waiting(bank, token), session.state)


def enter_channel(bank: Bank) -> str:
    """The first page of the bank's own channel; the answer is the session's id."""
    return open_session(bank, CHANNEL)


def log_in_to_channel(bank: Bank, session_id: str, customer: str) -> str:
    """Logs a test customer in; returns the new session id."""
    session = session_of(bank, session_id, CHANNEL)
    name = signing.customer_of(bank, customer).id
    accounts.demand_unblocked(bank, name)
    set_customer(bank, session, name)
    session.wrong = 0
    return renew(bank, session_id)


def confirm_in_channel(bank: Bank, session_id: str, payment_id: str, code: str) -> Status:
    """A further signature by the card reader."""
    session, customer = logged_in(bank, session_id)
    attempt = SigningAttempt(customer, signing.waiting_for(bank, payment_id, customer))
    demand_method(bank, attempt, CARD_READER)
    if not accepts(bank, session, code == session.code):
        raise end_session(bank, session)
    status = signing.sign_in_channel(bank, payment_id, customer)
    session.code, session.wrong = bank.mint.digits(CODE_DIGITS), 0
    return status


def refuse_in_channel(bank: Bank, session_id: str, payment_id: str) -> Status:
    """A further signer refuses; as at an address, that takes no code."""
    return signing.refuse_in_channel(bank, payment_id, logged_in(bank, session_id)[1])


def logged_in(bank: Bank, session_id: str) -> tuple[Session, str]:
    """A session of the channel, and whose it is."""
    session = session_of(bank, session_id, CHANNEL)
    if session.customer is None:
        raise Refusal(Error.CONTROL_INVALID, input="customer", why="nobody logged in")
    accounts.demand_unblocked(bank, session.customer)
    return session, session.customer


def leave_channel(bank: Bank, session_id: str) -> None:
    del bank.sessions[session_of(bank, session_id, CHANNEL).id]


def own_initiations(bank: Bank, customer: str, list_name: str, page: int) -> tuple[list[Initiation], bool]:
    """A page of what leaves from the customer's accounts, the newest first, and whether there are older ones.

    What ended unsigned is left out: no customer ordered it.
    """
    named = map(bank.initiation, reversed(bank.leaving_from.get((customer, list_name), ())))
    listed = (one for one in named if one is not None and (one.signatures or one.status in UNSIGNED))
    found = list(islice(listed, (page - 1) * SHOWN, page * SHOWN + 1))
    return found[:SHOWN], len(found) > SHOWN


def may_cancel(bank: Bank, found: Initiation, customer: str) -> bool:
    return bank.can(found, Trigger.CANCELLED) and _is_theirs(bank, found, customer)


def _is_theirs(bank: Bank, found: Initiation, customer: str) -> bool:
    """Whether the customer signed it or may sign it."""
    has_debtor = found.debtor is not None or isinstance(found, BulkFile)
    return customer in found.signatures or (has_debtor and customer in behaviour_of(found).may_sign(bank, found))


def cancel_in_channel(bank: Bank, session_id: str, subject_id: str) -> Status:
    """The same move as DELETE, where service 3.4 permits it."""
    (_, customer), found = logged_in(bank, session_id), bank.initiation(subject_id)
    if found is None or not _is_theirs(bank, found, customer):
        raise Refusal(Error.NOT_FOUND, input="payment")
    cancel = effect_of(found, Trigger.CANCELLED).forced
    assert cancel is not None
    cancel(bank, found, None)
    return found.status


def end_session(bank: Bank, session: Session) -> Refusal:
    """Ends a session of the channel after too many wrong codes; what waits for a signature goes on waiting."""
    del bank.sessions[session.id]
    return Refusal(Error.CODE_WRONG, left=0, lasting=True)


def accepts(bank: Bank, session: Session, is_right: bool) -> bool:
    """Whether the code is right; a wrong one is refused while tries are left."""
    if is_right:
        return True
    session.wrong += 1
    left = bank.decisions.wrong_codes_max - session.wrong
    if left > 0:
        raise Refusal(Error.CODE_WRONG, left=left, lasting=True)
    return False
