"""A PSU's session at a consent address: the PSU logs in, and chooses accounts or refuses (choice 8)."""

from sandbox.bank import consents, signing, signing_sessions
from sandbox.bank.records import ConsentAddress, Session
from sandbox.bank.signing_sessions import demand_session
from sandbox.bank.state import Bank
from sandbox.contract.errors import Error, Refusal


def find_waiting_address(bank: Bank, token: str) -> ConsentAddress:
    """Returns the consent address. Raises a Refusal if it is unknown, has expired or was answered, or if the consent to
    be renewed has ended."""
    address = consents.find_open_address(bank, token)
    if address.renews is not None:
        consents.demand_active(bank, address.renews)
    return address


def needs_choice(address: ConsentAddress) -> bool:
    """Whether the customer has to choose accounts. For a consent of the scope CAF, or for a renewal, the accounts are
    known."""
    return address.iban is None and address.renews is None


def enter(bank: Bank, token: str, state: str | None) -> str:
    """Opens a session at a consent address. Returns its id."""
    find_waiting_address(bank, token)
    return signing_sessions.open_session(bank, token, state)


def log_in(bank: Bank, session_id: str, token: str, customer: str) -> str:
    """Logs in a test customer and returns the new session id. Refuses a customer who may not answer this address. For a
    renewal, and for a consent of the scope CAF, also sets the accounts, because the customer has no choice."""
    session = demand_session(bank, session_id, token)
    address = find_waiting_address(bank, token)
    name = signing.demand_customer(bank, customer).id
    consents.demand_customer(bank, address, name)
    if address.renews is not None:
        session.chosen = tuple(bank.consents[address.renews].logical_ids.values())
    else:
        session.chosen = (address.iban,) if address.iban is not None else ()
    signing_sessions.set_customer(bank, session, name)
    return signing_sessions.renew(bank, session_id)


def choose(bank: Bank, session_id: str, token: str, ibans: tuple[str, ...]) -> None:
    """Sets the accounts that the client may read. Refuses an empty choice, an account of another customer, a closed
    account, and an account without online access. Also refuses if nobody logged in, or if the address leaves no
    choice."""
    session = demand_session(bank, session_id, token)
    if session.customer is None or not needs_choice(find_waiting_address(bank, token)):
        raise Refusal(Error.CONTROL_INVALID, input="accounts", why="there is nothing to choose")
    consents.demand_owned(bank, session.customer, ibans)
    session.chosen = ibans


def demand_ready(bank: Bank, session: Session) -> str:
    """Returns the customer of the session. Raises a Refusal if no customer logged in, if no account was chosen, or if
    the consent address can no longer be answered."""
    find_waiting_address(bank, session.address)
    if session.customer is None or not session.chosen:
        raise Refusal(Error.CONTROL_INVALID, input="accounts", why="none was chosen")
    return session.customer


def refuse(bank: Bank, session_id: str, token: str) -> str:
    session = demand_session(bank, session_id, token)
    return consents.decline(bank, token, session.state)


def withdraw(bank: Bank, session_id: str, consent_id: str) -> None:
    """Withdraws a consent of the customer who logged in to the bank's own channel."""
    _, customer = signing_sessions.demand_logged_in(bank, session_id)
    consents.find_valid(bank, customer, consent_id).ended = consents.WITHDRAWN
