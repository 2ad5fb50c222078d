"""The types of subjects: everything that has a status."""

from sandbox.bank.bulk_records import Bulk, Part
from sandbox.bank.records import Payment
from sandbox.bank.standing_order_records import StandingOrder
from sandbox.contract.moves import cancellable

Initiation = Payment | StandingOrder | Bulk
Subject = Initiation | Part


def cancellation_facts(subject: Subject) -> dict[str, object]:
    """What decides whether a DELETE may be: the status, since when, and the statuses that permit it (service 3.4)."""
    return {
        "status": subject.status.value,
        "since": subject.history[-1].at if subject.history else None,
        "cancellable_while": list(cancellable(subject.path)),
    }
