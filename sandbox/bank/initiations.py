"""What all initiations share: their reply, their references, and who may see them (choice 5)."""

from dataclasses import dataclass

from sandbox.bank import accounts
from sandbox.bank.bulk_records import Part
from sandbox.bank.state import Bank
from sandbox.bank.subjects import Initiation
from sandbox.errors import Error, Refusal
from sandbox.rules.lifecycle import Status


@dataclass(frozen=True, slots=True)
class Initiated:
    """What the caller of an initiation is told; `sca_token` is the end of the address to sign at."""

    payment_id: str
    endtoend_identification: str
    status: Status
    sca_token: str


def register(bank: Bank, subject: Initiation, reference: str) -> None:
    """A life begins: the journal knows it, and its TPP can ask by its own reference."""
    bank.references.setdefault((subject.origin.client_id, subject.kind, reference), []).append(subject.id)
    bank.born(subject)


def find(
    bank: Bank, client_id: str, kind: str, reference: str, *, external: bool, field: str = "payment-id"
) -> Initiation:
    """One of the caller's own initiations of that kind; never another's."""
    if external:
        fitting = bank.references.get((client_id, kind, reference), [])
        if len(fitting) > 1:
            raise Refusal(Error.CONFLICT, input=field)
        reference = fitting[0] if fitting else ""
    subject = bank.known(reference)
    if subject is None or isinstance(subject, Part) or subject.origin.client_id != client_id or subject.kind != kind:
        raise Refusal(Error.NOT_FOUND, input=field)
    return subject


def own(bank: Bank, client_id: str, customer: str, kind: str, reference: str, *, external: bool) -> Initiation:
    """What a token may read and cancel: the initiations of its own client and PSU."""
    subject = find(bank, client_id, kind, reference, external=external)
    if subject.customer is not None and customer != subject.customer and customer not in subject.signatures:
        raise Refusal(Error.ACCESS_DENIED, input="payment-id", why="it is another customer's")
    return subject


def demand_own(bank: Bank, iban: str, customer: str | None) -> None:
    """A token speaks for its own PSU only (choice 2)."""
    account = bank.accounts.get(iban)
    if customer is not None and account is not None and customer not in account.may_sign + account.owners:
        raise Refusal(Error.ACCESS_DENIED, input=accounts.FIELD, why="it belongs to another customer")
