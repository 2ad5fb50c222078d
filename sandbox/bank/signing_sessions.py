"""A PSU's session at an SCA address or in the bank's own channel.

In both, the PSU logs in, signs or refuses. At an SCA address, the PSU can also choose the account that pays. In the
channel, the PSU can also list and cancel initiations.
"""

from itertools import islice

from sandbox.bank import accounts, payee_checks, signing
from sandbox.bank.behaviours import find_behaviour, find_effect
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
    """Opens a session. Returns its id."""
    session = Session(bank.mint.draw_secret(), address, state)
    bank.sessions[session.id] = session
    forget_oldest(bank.sessions, bank.decisions, lambda opened: len(opened.state or ""))
    return session.id


def enter(bank: Bank, token: str, state: str | None) -> str:
    """Opens a session for a PSU who arrives at an SCA address. Returns the id of the session. Also records that the
    initiation was opened, and the outcome of the verification of payee."""
    signing.open_subject(bank, signing.find_waiting_initiation(bank, token))
    return open_session(bank, token, state)


def demand_session(bank: Bank, session_id: str, token: str) -> Session:
    session = bank.sessions.get(session_id)
    if session is None or session.address != token:
        raise Refusal(Error.NOT_FOUND, input="session")
    return session


def log_in(bank: Bank, session_id: str, token: str, customer: str) -> str:
    """Logs in a test customer and returns the new session id. If the account that pays is already known, refuses a
    customer who may not sign for it."""
    session = demand_session(bank, session_id, token)
    payment = signing.find_waiting_initiation(bank, token)
    name = signing.demand_customer(bank, customer).id
    if not signing.needs_account(payment):
        signing.demand_choice(bank, payment, name, payment.debtor)
    session.debtor = payment.debtor
    set_customer(bank, session, name)
    return renew(bank, session_id)


def renew(bank: Bank, session_id: str) -> str:
    """Gives the session a new id at the log-in and returns it. With the old id, an attacker who knew it before the
    log-in could use the customer's session (session fixation)."""
    session = bank.sessions.pop(session_id)
    session.id = bank.mint.draw_secret()
    bank.sessions[session.id] = session
    return session.id


def set_customer(bank: Bank, session: Session, customer: str) -> None:
    """Sets the session's customer, and draws a new code for the card reader. Clears the previous customer's choices,
    and the approval that waits in the previous customer's app."""
    drop_approval(bank, session)
    session.method, session.subject, session.payee_accepted = "", None, False
    session.customer, session.code = customer, bank.mint.draw_digits(CODE_DIGITS)


def drop_approval(bank: Bank, session: Session) -> None:
    bank.approvals.pop(session.approval or "", None)
    session.approval = session.approval_until = session.compare = None
    session.numbers = ()


def pick(bank: Bank, session_id: str, token: str, iban: str, currency: str) -> None:
    """Sets the account that pays. Refuses an account that may not pay this initiation, and the customer may then pick
    another account (service 1). Accepts an account for which `signing.sign` later ends the session with a callback."""
    session = demand_session(bank, session_id, token)
    payment = signing.find_waiting_initiation(bank, token)
    if session.customer is None or not signing.needs_account(payment):
        raise Refusal(Error.CONTROL_INVALID, input="account", why="there is nothing to pick")
    debtor = Debtor(iban, currency)
    signing.demand_choice(bank, payment, session.customer, debtor)
    session.debtor = debtor


def accept_payee(bank: Bank, session_id: str, token: str) -> None:
    """Stores that the customer saw the outcome of the verification of payee and continues. Raises a Refusal if the bank
    does not permit a signature after this outcome."""
    session = demand_session(bank, session_id, token)
    initiation = signing.find_waiting_initiation(bank, token)
    if session.customer is None:
        raise Refusal(Error.CONTROL_INVALID, input="customer", why="nobody logged in")
    payee_checks.refuse_close_match(bank, initiation)
    payee_checks.note_check(bank, initiation)
    session.payee_accepted = True


def refuse(bank: Bank, session_id: str, token: str) -> str:
    session = demand_session(bank, session_id, token)
    return signing.refuse(bank, signing.find_waiting_initiation(bank, token), session.state)


def enter_channel(bank: Bank) -> str:
    """Opens a session in the bank's own channel. Returns its id."""
    return open_session(bank, CHANNEL)


def log_in_to_channel(bank: Bank, session_id: str, customer: str) -> str:
    """Logs in a test customer to the bank's own channel. Returns the new session id. Refuses an unknown customer, and
    one who blocked online access."""
    session = demand_session(bank, session_id, CHANNEL)
    name = signing.demand_customer(bank, customer).id
    accounts.demand_unblocked(bank, name)
    set_customer(bank, session, name)
    session.wrong = 0
    return renew(bank, session_id)


def confirm_in_channel(bank: Bank, session_id: str, payment_id: str, code: str) -> Status:
    """Adds a second or later signature by the card reader, in the bank's own channel. Returns the new status. Raises a
    Refusal for a wrong code, and ends the session after too many wrong codes."""
    session, customer = demand_logged_in(bank, session_id)
    attempt = SigningAttempt(customer, signing.find_waiting_for_signer(bank, payment_id, customer))
    demand_method(bank, attempt, CARD_READER)
    if not accepts(bank, session, code == session.code):
        raise end_session(bank, session)
    status = signing.sign_in_channel(bank, payment_id, customer)
    session.code, session.wrong = bank.mint.draw_digits(CODE_DIGITS), 0
    return status


def refuse_in_channel(bank: Bank, session_id: str, payment_id: str) -> Status:
    """Refuses an initiation that waits for a second or later signature. As at an SCA address, a refusal needs no
    code."""
    return signing.refuse_in_channel(bank, payment_id, demand_logged_in(bank, session_id)[1])


def demand_logged_in(bank: Bank, session_id: str) -> tuple[Session, str]:
    """Returns a session of the channel and its customer. Refuses if nobody logged in, or if the customer blocked online
    access."""
    session = demand_session(bank, session_id, CHANNEL)
    if session.customer is None:
        raise Refusal(Error.CONTROL_INVALID, input="customer", why="nobody logged in")
    accounts.demand_unblocked(bank, session.customer)
    return session, session.customer


def leave_channel(bank: Bank, session_id: str) -> None:
    del bank.sessions[demand_session(bank, session_id, CHANNEL).id]


def list_own_initiations(bank: Bank, customer: str, list_name: str, page: int) -> tuple[list[Initiation], bool]:
    """Returns a page of the initiations from the customer's accounts, newest first, and whether a further page follows.
    `list_name` is `orders` for standing orders, or `payments` for payments and files. `page` counts from 1.

    Initiations that ended without a signature are left out, because no customer ordered them.
    """
    initiations = map(bank.find_initiation, reversed(bank.leaving_from.get((customer, list_name), ())))
    listed = (each for each in initiations if each is not None and (each.signatures or each.status in UNSIGNED))
    page_rows = list(islice(listed, (page - 1) * SHOWN, page * SHOWN + 1))
    return page_rows[:SHOWN], len(page_rows) > SHOWN


def may_cancel(bank: Bank, initiation: Initiation, customer: str) -> bool:
    return bank.can(initiation, Trigger.CANCELLED) and _is_theirs(bank, initiation, customer)


def _is_theirs(bank: Bank, initiation: Initiation, customer: str) -> bool:
    """Whether the customer signed the initiation or may sign it."""
    has_debtor = initiation.debtor is not None or isinstance(initiation, BulkFile)
    return customer in initiation.signatures or (
        has_debtor and customer in find_behaviour(initiation).may_sign(bank, initiation)
    )


def cancel_in_channel(bank: Bank, session_id: str, subject_id: str) -> Status:
    """Cancels an initiation for a customer in the bank's own channel, under the same conditions as DELETE (service
    3.4). Returns the new status. Refuses an initiation that this customer did not sign and may not sign."""
    (_, customer), initiation = demand_logged_in(bank, session_id), bank.find_initiation(subject_id)
    if initiation is None or not _is_theirs(bank, initiation, customer):
        raise Refusal(Error.NOT_FOUND, input="payment")
    cancel = find_effect(initiation, Trigger.CANCELLED).forced
    assert cancel is not None
    cancel(bank, initiation, None)
    return initiation.status


def end_session(bank: Bank, session: Session) -> Refusal:
    """Ends a session of the channel after too many wrong codes. Returns the Refusal for the caller to raise."""
    del bank.sessions[session.id]
    return Refusal(Error.CODE_WRONG, left=0, lasting=True)


def accepts(bank: Bank, session: Session, is_right: bool) -> bool:
    """Returns True for a right code. Counts a wrong code, and then raises a Refusal while tries are left. Returns False
    after the last try."""
    if is_right:
        return True
    session.wrong += 1
    tries_left = bank.decisions.wrong_codes_max - session.wrong
    if tries_left > 0:
        raise Refusal(Error.CODE_WRONG, left=tries_left, lasting=True)
    return False
