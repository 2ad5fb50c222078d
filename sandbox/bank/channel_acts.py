"""A customer's own initiations in the bank's channel: listed, and cancelled where service 3.4 permits it."""

from itertools import islice

from sandbox.bank import bulks, execution, standing_orders
from sandbox.bank.bulk_records import Bulk, Part
from sandbox.bank.records import Payment
from sandbox.bank.signing_sessions import CHANNEL, session_of
from sandbox.bank.state import Bank
from sandbox.bank.subjects import Initiation
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.moves import Status, Trigger

SHOWN = 20  # the newest


def signed_by(bank: Bank, customer: str) -> list[Initiation]:
    """The newest initiations that the customer signed, newest first."""
    names = islice(reversed(bank.signed_by.get(customer, ())), SHOWN)
    found = (bank.known(name) for name in names)
    return [one for one in found if one is not None and not isinstance(one, Part)]


def may_cancel(bank: Bank, found: Initiation) -> bool:
    return bank.can(found, Trigger.CANCELLED)


def cancel_in_channel(bank: Bank, session_id: str, subject_id: str) -> Status:
    """The same move as DELETE. A customer may cancel what they signed."""
    session, found = session_of(bank, session_id, CHANNEL), bank.known(subject_id)
    if found is None or isinstance(found, Part) or session.customer not in found.signatures:
        raise Refusal(Error.NOT_FOUND, input="payment")
    if isinstance(found, Payment):
        execution.cancel(bank, found)
    elif isinstance(found, Bulk):
        bulks.cancel(bank, found)
    else:
        standing_orders.cancel(bank, found)
    return found.status
