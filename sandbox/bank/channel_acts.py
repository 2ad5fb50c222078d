"""A customer's own initiations in the bank's channel: listed, and cancelled where service 3.4 permits it."""

from collections.abc import Iterator
from itertools import islice

from sandbox.bank import bulks, execution, standing_orders
from sandbox.bank.behaviours import behaviour_of
from sandbox.bank.records import Payment
from sandbox.bank.signing_sessions import logged_in
from sandbox.bank.state import Bank
from sandbox.bank.subjects import UNSIGNED, Bulk, Initiation, Part
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.moves import Status, Trigger

SHOWN = 20  # on a page


def own_initiations(bank: Bank, customer: str, list_name: str, page: int) -> tuple[list[Initiation], bool]:
    """A page of what leaves from the customer's accounts, the newest first, and whether there are older ones."""
    found = list(islice(_own(bank, customer, list_name), (page - 1) * SHOWN, page * SHOWN + 1))
    return found[:SHOWN], len(found) > SHOWN


def _own(bank: Bank, customer: str, list_name: str) -> Iterator[Initiation]:
    """The customer's initiations, newest first, without those that ended unsigned: no customer ordered them."""
    for name in reversed(bank.leaving_from.get((customer, list_name), ())):
        found = bank.initiation(name)
        if found is not None and (found.signatures or found.status in UNSIGNED):
            yield found


def may_cancel(bank: Bank, found: Initiation, customer: str) -> bool:
    return bank.can(found, Trigger.CANCELLED) and _is_theirs(bank, found, customer)


def _is_theirs(bank: Bank, found: Initiation, customer: str | None) -> bool:
    """Whether the customer signed it or may sign it."""
    has_debtor = found.debtor is not None or isinstance(found, Bulk)
    return customer in found.signatures or (has_debtor and customer in behaviour_of(found).may_sign(bank, found))


def cancel_in_channel(bank: Bank, session_id: str, subject_id: str) -> Status:
    """The same move as DELETE."""
    (_, customer), found = logged_in(bank, session_id), bank.find_subject(subject_id)
    if found is None or isinstance(found, Part) or not _is_theirs(bank, found, customer):
        raise Refusal(Error.NOT_FOUND, input="payment")
    if isinstance(found, Payment):
        execution.cancel(bank, found)
    elif isinstance(found, Bulk):
        bulks.cancel(bank, found)
    else:
        standing_orders.cancel(bank, found)
    return found.status
