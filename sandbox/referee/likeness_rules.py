"""Rules about initiations that are alike: the payment that is made a second time (service 2.1, 4.0)."""

from collections.abc import Iterator
from dataclasses import replace

from sandbox.bank.records import Order
from sandbox.contract.moves import Status
from sandbox.referee.kinds import PSU_RETURNS
from sandbox.referee.observations import Observation, apart
from sandbox.referee.rule import ERROR, PAYMENTS, WARNING, Own, Proof, rule
from sandbox.world.calls import Exchange

DOUBT_SECONDS = 3600.0  # after a lost reply; later a like payment is an order of its own
SAME_MAX = 3  # payments in a row with one reference
NO_REFERENCE = "NOTPROVIDED"


@rule("payment-again-after-doubt", ERROR, "service 4.0", PAYMENTS)
def again_after_doubt(event: Observation, own: Own) -> str | Proof | None:
    """A payment whose reply was lost is made again under a new reference.

    Send the identical call with its Request-ID: the bank gives the first reply again, and pays once.
    """
    like = event.likeness
    if like is None:
        return None
    key = (event.client, like.order)
    if event.lost:
        own[key] = event.exchange, like.reference, event.ended
        return None
    first, reference, ended = own.pop(key, (None, "", 0.0))
    if first is None or not event.accepted or apart(event, first.at, ended) > DOUBT_SECONDS:
        return None
    if reference == like.reference or first.request_id == event.exchange.request_id:
        return None
    changed = (f"endtoend_identification: {reference} -> {like.reference}",)
    return Proof(f"call {first.request_id} may have made it already", (first,), changed)


@rule("payment-again-while-recycled", ERROR, "service 3.3", (PSU_RETURNS,))
def again_while_recycled(event: Observation, own: Own) -> str | Proof | None:
    """A payment that waits for funds is made again.

    Wait for the status: a payment that waits for funds (ACSP or PDNG) is tried again by the bank.
    """
    found = event.bank.payments.get(event.subject or "")
    if found is None or event.refused or not found.signatures:
        return None
    key = (event.client, found.customer, found.debtor, alike(found.order))
    before: tuple[str, Exchange] | None = own.replace(key, (found.id, event.exchange))
    earlier = event.bank.payments.get(before[0]) if before is not None else None
    if before is None or earlier is None or earlier.id == found.id:
        return None
    if earlier.tries == 0 or earlier.status not in (Status.PDNG, Status.ACSP):
        return None
    what = f"{earlier.id} of the same customer, beneficiary and amount is {earlier.status.value} and is tried again"
    return Proof(what, (before[1],), tuple(differences(earlier.order, found.order)))


def alike(order: Order) -> tuple[object, ...]:
    """What makes two orders the same payment to a person."""
    return order.product, order.creditor.iban or order.creditor.bban, order.amount


def differences(earlier: Order, later: Order) -> Iterator[str]:
    """The fields that differ, each with both values."""
    if earlier == replace(later, endtoend_identification=earlier.endtoend_identification):
        names: tuple[str, ...] = ("endtoend_identification",)
    else:
        names = ("endtoend_identification", "creditor_name", "unstructured", "structured", "execution_date")
    for name in names:
        before, after = getattr(earlier, name), getattr(later, name)
        if before != after:
            yield f"{name}: {before} -> {after}"


@rule("reference-constant", WARNING, "service 2.1", PAYMENTS, refused=False)
def constant(event: Observation, own: Own) -> str | None:
    """Different payments have one reference.

    Give every payment a reference of its own: replies, statuses and statements are found by it.
    """
    like = event.likeness
    if like is None or not like.reference:
        return None
    reference, subject, times = own.get(event.client, ("", None, 0))
    if subject == event.subject:
        return None
    times = times + 1 if reference == like.reference else 1
    own[event.client] = like.reference, event.subject, times
    if times == (2 if like.reference == NO_REFERENCE else SAME_MAX):
        return f"{times} payments in a row have {like.reference[:40]}"
    return None
