"""The last step of a session: the customer approves by the card reader, the bank's app, biometrics or an identity app
(service 5.7).

The bank's app and the identity app share their steps. The bank's app shows the same code as the signing page, so that
the customer can compare. In the identity app the customer chooses the page's code among several numbers. A wrong number
counts like a wrong code of the card reader.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from sandbox.bank import consent_sessions, consents, payee_checks, signing, signing_methods
from sandbox.bank.bounded_registers import forget_oldest
from sandbox.bank.records import APP, BIOMETRICS, CARD_READER, IDENTITY_APP, Initiation, Session
from sandbox.bank.signing_methods import SigningAttempt
from sandbox.bank.signing_sessions import CHANNEL, accepts, demand_logged_in, demand_session, drop_approval, end_session
from sandbox.bank.state import Bank
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.moves import Status

COMPARE_DIGITS = {APP: 4, IDENTITY_APP: 2}  # of the code on the page, for each method that is answered in an app
NUMBERS_SHOWN = 3  # in the identity app


class ApprovalRequest(NamedTuple):
    """A signature or a consent that a customer can approve or refuse now.

    `approve` and `refuse` return the URL of the callback. In the bank's own channel they return the new status."""

    session: Session
    initiation: Initiation | None  # None at a consent address
    customer: str
    approve: Callable[[], str | Status]
    refuse: Callable[..., str | Status]  # may say why to the TPP

    @property
    def attempt(self) -> SigningAttempt:
        return SigningAttempt(self.customer, self.initiation, self.session.debtor)


def confirm(bank: Bank, session_id: str, token: str, code: str) -> str:
    """Approves the request of a session if the card reader's code is right. After too many wrong codes, refuses the
    request. Returns the URL of the callback in both cases. Raises a Refusal for a wrong code while tries are left."""
    session = demand_session(bank, session_id, token)
    request = make_approval_request(bank, session)
    signing_methods.demand_method(bank, request.attempt, CARD_READER)
    right = accepts(bank, session, code == session.code)
    return str(request.approve() if right else request.refuse(signing.describe_wrong_codes(bank)))


def choose_method(bank: Bank, session_id: str, token: str, method: str) -> None:
    """Sets the signing method of the session. Refuses a method that the customer cannot use now. For a method that is
    answered in an app, also creates an approval (the id under which the app answers) and the code that the page
    shows."""
    _choose(bank, make_approval_request(bank, demand_session(bank, session_id, token)), method)


def choose_method_in_channel(bank: Bank, session_id: str, payment_id: str, method: str) -> None:
    """Sets the method by which a customer gives a second or later signature in the bank's own channel."""
    request = _make_channel_request(bank, session_id, payment_id)
    request.session.subject = payment_id
    _choose(bank, request, method)


def confirm_by_biometrics(bank: Bank, session_id: str, token: str) -> str:
    """Approves the request of a session by biometrics on the customer's device. Returns the URL of the callback."""
    return str(_approve(bank, make_approval_request(bank, demand_session(bank, session_id, token)), BIOMETRICS))


def confirm_in_channel_by_biometrics(bank: Bank, session_id: str, payment_id: str) -> Status:
    """Adds a second or later signature by biometrics, in the bank's own channel. Returns the new status."""
    request = _make_channel_request(bank, session_id, payment_id)
    request.session.subject = payment_id
    return Status(_approve(bank, request, BIOMETRICS))


def answer_in_app(bank: Bank, approval: str, approves: bool, number: str | None = None) -> None:
    """Approves or refuses a request as the customer does in the app. `approval` is the id of the request in the app.
    `number` is the number that the customer chose in the identity app. At an SCA or consent address, stores the URL of
    the callback in the session. The page that waits for the answer then redirects the customer there. The bank's own
    channel has no callback."""
    session = find_waiting_session(bank, approval)
    request = make_approval_request(bank, session)
    answer = _approve_with_number(bank, request, number) if approves else request.refuse()
    drop_approval(bank, session)
    if session.address != CHANNEL:
        session.callback = str(answer)


def _approve_with_number(bank: Bank, request: ApprovalRequest, number: str | None) -> str | Status:
    """Approves a request in an app. Returns the URL of the callback, or in the bank's own channel the new status.

    Only the identity app asks for a number. While tries are left, a wrong number raises a Refusal. At the last try, a
    wrong number refuses the request at an SCA or consent address. In the bank's own channel it ends the session and
    raises a Refusal.
    """
    session = request.session
    if session.method != IDENTITY_APP:
        return _approve(bank, request, session.method)
    signing_methods.demand_method(bank, request.attempt, IDENTITY_APP)
    is_right = number == session.compare
    if not is_right:
        drop_approval(bank, session)
    if accepts(bank, session, is_right):
        return request.approve()
    if session.address == CHANNEL:
        raise end_session(bank, session)
    return request.refuse(signing.describe_wrong_codes(bank))


def find_waiting_session(bank: Bank, approval: str) -> Session:
    """Returns the session whose page waits for an answer in the app. Raises a Refusal if the approval is unknown, was
    answered, was replaced by a newer approval of the session, or has expired."""
    session = bank.sessions.get(bank.approvals.get(approval, ""))
    if session is None or session.approval != approval or session.approval_until is None:
        raise Refusal(Error.NOT_FOUND, input="approval")
    if bank.clock.now >= session.approval_until:
        raise Refusal(Error.ADDRESS_OUTDATED, input="approval")
    return session


def make_approval_request(bank: Bank, session: Session) -> ApprovalRequest:
    """Returns what the customer of a session can approve or refuse now. Raises a Refusal if an earlier step is missing,
    such as the log-in."""
    if session.address == CHANNEL:
        return _make_channel_request(bank, session.id, session.subject or "")
    return (
        _make_consent_request(bank, session)
        if session.address in bank.consent_addresses
        else _make_signature_request(bank, session)
    )


def _choose(bank: Bank, request: ApprovalRequest, method: str) -> None:
    session = request.session
    signing_methods.demand_method(bank, request.attempt, method)
    drop_approval(bank, session)
    session.method = method
    if method in COMPARE_DIGITS:
        session.approval, session.compare = bank.mint.draw_secret(), bank.mint.draw_digits(COMPARE_DIGITS[method])
        session.numbers = _draw_numbers_around(bank, session.compare) if method == IDENTITY_APP else ()
        session.approval_until = bank.clock.now + bank.decisions.app_approval_life
        bank.approvals[session.approval] = session.id
        forget_oldest(bank.approvals, bank.decisions, len)


def _draw_numbers_around(bank: Bank, right: str) -> tuple[str, ...]:
    """Returns the right number together with random wrong numbers, in ascending order."""
    numbers = {right}
    while len(numbers) < NUMBERS_SHOWN:
        numbers.add(bank.mint.draw_digits(len(right)))
    return tuple(sorted(numbers))


def _approve(bank: Bank, request: ApprovalRequest, method: str) -> str | Status:
    signing_methods.demand_method(bank, request.attempt, method)
    return request.approve()


def _make_signature_request(bank: Bank, session: Session) -> ApprovalRequest:
    """Returns the approval request of a session at an SCA address. Raises a Refusal if nobody logged in, if no account
    was chosen, or if the customer still has to see the verification of payee."""
    initiation, customer = signing.find_waiting_initiation(bank, session.address), session.customer
    if customer is None or (session.debtor is None and signing.needs_account(initiation)):
        raise Refusal(Error.CONTROL_INVALID, input="account", why="none was picked")
    if payee_checks.must_be_shown(bank, initiation) and not session.payee_accepted:
        raise Refusal(Error.CONTROL_INVALID, input="payee", why="the customer has not seen its verification")
    approve = partial(signing.sign, bank, initiation, customer, session.debtor, session.state)
    return ApprovalRequest(
        session, initiation, customer, approve, partial(signing.refuse, bank, initiation, session.state)
    )


def _make_consent_request(bank: Bank, session: Session) -> ApprovalRequest:
    """Returns the approval request of a session at a consent address."""
    token, customer = session.address, consent_sessions.demand_ready(bank, session)
    approve = partial(consents.agree, bank, token, customer, session.chosen, session.state)
    return ApprovalRequest(session, None, customer, approve, partial(consents.decline, bank, token, session.state))


def _make_channel_request(bank: Bank, session_id: str, payment_id: str) -> ApprovalRequest:
    """Returns the approval request for a second or later signature in the bank's own channel."""
    session, customer = demand_logged_in(bank, session_id)
    initiation = signing.find_waiting_for_signer(bank, payment_id, customer)
    approve = partial(signing.sign_in_channel, bank, initiation.id, customer)
    return ApprovalRequest(
        session, initiation, customer, approve, partial(signing.refuse_in_channel, bank, initiation.id, customer)
    )
