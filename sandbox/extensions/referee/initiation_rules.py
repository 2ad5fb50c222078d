"""Rules about initiations that a client repeats or cancels by mistake (service 2, 3.3, 3.4, 4.0, 7; choice 7).

Paying twice is the worst mistake of a client. The bank cannot refuse it, because a customer may really want two equal
payments. Only the earlier calls show whether the second payment is a mistake. So these rules look for two orders that a
person would take for the same payment (`Likeness`), although their references differ. The second order is a mistake if
the client did not know how the first one ended: its reply was lost, it waits for funds, or it is still open. After the
first order is settled, an equal order is a new order.
"""

from collections.abc import Iterator
from dataclasses import replace

from sandbox.bank.records import UNSIGNED, PaymentRequest
from sandbox.contract.moves import Status, Trigger
from sandbox.extensions.referee.observations import MENDED_BY_PSU, PSU_RETURNS, Observation
from sandbox.extensions.referee.rule import (
    CANCELLATIONS,
    ERROR,
    INITIATIONS,
    PAYMENTS,
    STATUSES,
    WARNING,
    Proof,
    RuleState,
    rule,
)
from sandbox.worlds.calls import Exchange

DOUBT_SECONDS = 3600.0  # after a lost reply; a like payment that is made later is a new order
SAME_MAX = 3  # payments in a row with one reference
NO_REFERENCE = "NOTPROVIDED"
OPEN = (Status.RCVD, Status.PATC, Status.PDNG, Status.ACSP, Status.ACWP)
REFUSED_MAX, REFUSED_WITHIN = 5, 3600.0  # refusals in a row, and seconds between two
ABOUT_HEADERS = ("HEADER_MISSING", "HEADER_INVALID")
LOST = "lost"  # the reply of a cancellation
PERMITTED = "permitted"  # the last status that the client was told permits a cancellation


@rule("payment-again-after-doubt", ERROR, "service 4.0", PAYMENTS)
def again_after_doubt(event: Observation, memory: RuleState) -> str | Proof | None:
    """A payment whose reply was lost is initiated again under a new reference.

    Send the identical call with its Request-ID. The bank then gives the first reply again, and pays once.
    """
    if event.likeness is None:
        return None
    order, reference = event.likeness
    if event.is_lost:
        memory[event.client, order] = event.exchange, reference, event.ended
        return None
    lost, lost_reference, ended = memory.pop((event.client, order), (None, "", 0.0))
    if lost is None or not event.accepted or event.seconds_since(lost.at, ended) > DOUBT_SECONDS:
        return None
    if reference == lost_reference or lost.request_id == event.exchange.request_id:
        return None
    changed = f"endtoend_identification: {lost_reference} -> {reference}"
    return Proof(f"call {lost.request_id} may have made it already", (lost,), (changed,))


@rule("payment-again-while-recycled", ERROR, "service 3.3", (PSU_RETURNS,))
def again_while_recycled(event: Observation, memory: RuleState) -> str | Proof | None:
    """A payment that waits for funds is initiated again.

    Wait for the status. The bank itself tries a payment that waits for funds (ACSP or PDNG) again.
    """
    payment = event.bank.payments.get(event.subject or "")
    if payment is None or event.is_psu_refusal or not payment.signatures:
        return None
    order = payment.order
    payee = order.creditor.iban or order.creditor.bban
    same = order.product, payee, order.amount, order.structured, order.unstructured
    key = (event.client, payment.customer, payment.debtor, same)
    before: tuple[str, Exchange] | None = memory.replace(key, (payment.id, event.exchange))
    earlier = event.bank.payments.get(before[0]) if before is not None else None
    if before is None or earlier is None or earlier.id == payment.id:
        return None
    if earlier.tries == 0 or earlier.status not in (Status.PDNG, Status.ACSP):
        return None
    proof_text = (
        f"{earlier.id} of the same customer, beneficiary and amount is {earlier.status.value} and is tried again"
    )
    return Proof(proof_text, (before[1],), tuple(find_differences(earlier.order, order)))


def find_differences(earlier: PaymentRequest, later: PaymentRequest) -> Iterator[str]:
    """Yields `field: earlier value -> later value` for each of the fields reference, creditor name and execution date
    in which two payments differ."""
    names = ["endtoend_identification"]
    if earlier != replace(later, endtoend_identification=earlier.endtoend_identification):
        names += ["creditor_name", "execution_date"]
    for name in names:
        before, after = getattr(earlier, name), getattr(later, name)
        if before != after:
            yield f"{name}: {before} -> {after}"


@rule("initiation-doubled", ERROR, "service 2.1", INITIATIONS, refused=False)
def initiation_doubled(event: Observation, memory: RuleState) -> str | None:
    """A new initiation has the same reference as an open initiation.

    To get a lost reply again, send the identical call with its Request-ID. Give a new payment a new reference.
    """
    initiation = event.bank.find_initiation(event.subject) if event.subject else None
    if initiation is None:
        return None
    reference = getattr(getattr(initiation, "order", None), "endtoend_identification", None)
    key = (event.client, initiation.reference_group, reference or event.body)
    earlier = event.bank.find_initiation(memory.replace(key, initiation.id) or "")
    if earlier is None or earlier.id == initiation.id or earlier.status not in OPEN:
        return None
    address = event.bank.sca_addresses.get(earlier.sca_token or "")
    if earlier.status in UNSIGNED and address is not None and event.at >= address.until:
        return None  # a client asks for a fresh address in this way (service 4.6 rule 3)
    return f"{earlier.id} has the same reference and is {earlier.status.value}"


@rule("reference-constant", WARNING, "service 2.1", PAYMENTS, refused=False)
def reference_constant(event: Observation, memory: RuleState) -> str | None:
    """Different payments have the same reference.

    Give every payment a different reference, because replies, statuses and statements are found by it.
    """
    if event.likeness is None or not event.likeness.reference:
        return None
    reference = event.likeness.reference
    last_reference, subject, times = memory.get(event.client, ("", None, 0))
    if subject == event.subject:
        return None
    times = times + 1 if reference == last_reference else 1
    memory[event.client] = reference, event.subject, times
    if times == (2 if reference == NO_REFERENCE else SAME_MAX):
        return f"{times} payments in a row have {reference[:40]}"
    return None


def is_about_body(event: Observation) -> bool:
    return event.status in (400, 403) and event.error not in (*ABOUT_HEADERS, *MENDED_BY_PSU)


@rule("refused-body-again", WARNING, "service 7.1", PAYMENTS, only=is_about_body)
def body_again(event: Observation, memory: RuleState) -> str | None:
    """A body that was refused is sent again unchanged.

    Read error_code and error_description. The bank refuses the body until it is changed.
    """
    key = (event.client, event.operation, event.product, event.body, event.error)
    first = memory.replace(key, (event.at, event.ended, event.exchange.request_id))
    if first is None or event.seconds_since(first[0], first[1]) > 3600:
        return None
    return f"it was refused with the same error in call {first[2]}"


@rule("refused-for-psu-again", WARNING, "service 7.5", PAYMENTS, errors=MENDED_BY_PSU)
def for_psu_again(event: Observation, memory: RuleState) -> str | None:
    """An order is sent again and again, although only the customer can remove the reason of its refusal.

    Stop after a few tries and tell the customer, who can change funds, limits and the channel.
    """
    order = event.likeness.order if event.likeness is not None else event.body
    times = memory.extend_streak((event.client, order, event.error), event, REFUSED_WITHIN)
    return f"{times} times in a row" if times == REFUSED_MAX else None


@rule(
    "cancel-impossible", WARNING, "service 3.4", (*CANCELLATIONS, *INITIATIONS, *STATUSES, "bulk_status", PSU_RETURNS)
)
def cancel_impossible(event: Observation, memory: RuleState) -> str | None:
    """A client requests the cancellation of something that cannot be cancelled.

    Look at the product and the status first. Service 3.4 says which initiations may be cancelled.
    """
    key = (event.client, event.subject)
    if event.operation not in CANCELLATIONS:
        if event.accepted:
            initiation = None if event.operation == PSU_RETURNS else event.bank.find_initiation(event.subject or "")
            is_permitted = initiation is not None and event.bank.can(initiation, Trigger.CANCELLED)
            memory[key] = PERMITTED if is_permitted else ""  # a callback brings no status
        return None
    before = memory.pop(key, "")
    if event.is_lost:
        memory[key] = LOST
        return None
    if before == LOST and event.facts.get("status") == Status.CANC:
        return None  # the first DELETE cancelled it, and its reply was lost
    if event.error == "NOT_CANCELLABLE":
        if before == PERMITTED:
            return None  # the customer signed or cancelled it since
        return f"its status was {event.facts.get('status')}"
    return f"{event.product} has no cancellation" if event.error == "METHOD_NOT_ALLOWED" else None


@rule("bulk-file-again", WARNING, "choice 7", ("bulk_initiation",))
def file_again(event: Observation, memory: RuleState) -> str | None:
    """A file that was refused is sent again unchanged.

    Correct the errors of the status reply, and send it with a new MsgId.
    """
    if event.body is None or (not event.accepted and event.status != 400):
        return None
    earlier = memory.replace((event.client, event.body), event.subject if event.accepted else "")
    if earlier is None or earlier == event.subject:
        return None
    bulk = event.bank.bulks.get(earlier)
    if earlier and (bulk is None or bulk.status is not Status.RJCT):
        return None
    return f"it was {'rejected as ' + earlier if earlier else 'refused at once'} before"


@rule("bulk-file-doubled", ERROR, "choice 7", ("bulk_initiation",), refused=False)
def file_doubled(event: Observation, memory: RuleState) -> str | Proof | None:
    """A file has the same payments and references as an earlier file.

    Ask for the status of the first file. A file with a new MsgId, or as csv, counts as another file, and everything is
    paid twice.
    """
    first = memory.replace((event.client, event.file_payments), (event.subject, event.body, event.exchange))
    if first is None or first[0] == event.subject:
        return None
    earlier, bulk = event.bank.bulks.get(first[0]), event.bank.bulks.get(event.subject or "")
    if earlier is None or bulk is None or earlier.status not in (*OPEN, Status.ACSC):
        return None
    is_open = earlier.status in OPEN and earlier.reference == bulk.reference
    if first[1] == event.body and (earlier.format != "csv" or is_open):
        return None  # the bank refuses a MsgId that it has; initiation-doubled finds open files
    return Proof(f"{earlier.id} has the same payments and is {earlier.status.value}", (first[2],))
