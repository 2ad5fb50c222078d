"""Rules about calls that are alike: what is made, sent or tried a second time (service 2.1, 3.4, 4.0, 7; choice 4)."""

from collections.abc import Iterator
from dataclasses import replace

from sandbox.bank.records import PaymentRequest
from sandbox.bank.subjects import UNSIGNED
from sandbox.contract.moves import Status, Trigger
from sandbox.extensions.referee.observations import (
    MENDED_BY_PSU,
    PSU_RETURNS,
    CallKind,
    Observation,
    answered,
    apart,
    refused_as,
)
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

DOUBT_SECONDS = 3600.0  # after a lost reply; later a like payment is an order of its own
SAME_MAX = 3  # payments in a row with one reference
NO_REFERENCE = "NOTPROVIDED"
ALIVE = (Status.RCVD, Status.PATC, Status.PDNG, Status.ACSP, Status.ACWP)
FAILED = (408, 500)
AGAIN_MAX = 3  # failed tries without a pause
PAUSE = 1.0  # seconds
REFUSED_MAX, REFUSED_WITHIN = 5, 3600.0  # refusals in a row, and seconds between two
NOT_FOUND_MAX, NOT_FOUND_WITHIN = 3, 86_400.0
BY_REFERENCE_MAX = 10  # so a client learns whether a lost initiation was made
ABOUT_HEADERS = ("HEADER_MISSING", "HEADER_INVALID")


@rule("payment-again-after-doubt", ERROR, "service 4.0", PAYMENTS)
def again_after_doubt(event: Observation, own: RuleState) -> str | Proof | None:
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
def again_while_recycled(event: Observation, own: RuleState) -> str | Proof | None:
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


def alike(order: PaymentRequest) -> tuple[object, ...]:
    """What makes two orders the same payment to a person."""
    return order.product, order.creditor.iban or order.creditor.bban, order.amount, order.structured, order.unstructured


def differences(earlier: PaymentRequest, later: PaymentRequest) -> Iterator[str]:
    """The fields that differ, each with both values."""
    if earlier == replace(later, endtoend_identification=earlier.endtoend_identification):
        names: tuple[str, ...] = ("endtoend_identification",)
    else:
        names = ("endtoend_identification", "creditor_name", "execution_date")
    for name in names:
        before, after = getattr(earlier, name), getattr(later, name)
        if before != after:
            yield f"{name}: {before} -> {after}"


@rule("reference-constant", WARNING, "service 2.1", PAYMENTS, refused=False)
def constant(event: Observation, own: RuleState) -> str | None:
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


def is_about_body(kind: CallKind) -> bool:
    return kind.status in (400, 403) and kind.error not in (*ABOUT_HEADERS, *MENDED_BY_PSU)


@rule("refused-body-again", WARNING, "service 7.1", PAYMENTS, only=is_about_body)
def body_again(event: Observation, own: RuleState) -> str | None:
    """The same refused body is sent again.

    Read error_code and error_description; a body that was refused stays refused until it is changed.
    """
    key = (event.client, event.operation, event.product, event.body, event.error)
    first = own.replace(key, (event.at, event.ended, event.exchange.request_id))
    if first is None or apart(event, first[0], first[1]) > 3600:
        return None
    return f"it was refused with the same error in call {first[2]}"


@rule("refused-for-psu-again", WARNING, "service 7.5", PAYMENTS, only=refused_as(*MENDED_BY_PSU))
def for_psu_again(event: Observation, own: RuleState) -> str | None:
    """The same order is refused again and again for what only the customer can change.

    Stop after a few tries, and tell the customer: funds, limits and the channel are theirs to change.
    """
    order = event.likeness.order if event.likeness is not None else event.body
    times = own.streak((event.client, order, event.error), event, REFUSED_WITHIN)
    return f"{times} times in a row" if times == REFUSED_MAX else None


@rule("not-found-again", WARNING, "choice 4", only=refused_as("NOT_FOUND"))
def not_found_again(event: Observation, own: RuleState) -> str | None:
    """An id that was not found is asked for again and again.

    Stop at the 404: the id is of another client, product or bank, or was never given.
    """
    exchange, query = event.exchange, tuple(sorted(event.query.items()))
    times = own.streak((event.client, exchange.method, exchange.path, query), event, NOT_FOUND_WITHIN)
    by_reference = "EXTERNAL" in (event.query.get("paymentIdType"), event.query.get("paymentFileIdType"))
    most = BY_REFERENCE_MAX if by_reference else NOT_FOUND_MAX
    return f"it was not found {times} times" if times == most else None


@rule("retry-after-ignored", ERROR, "choice 4", begins=answered(429, 503))
def retry_after(event: Observation, own: RuleState) -> str | None:
    """Retry-After is ignored.

    Wait as many seconds as Retry-After says before the next call.
    """
    delay = own.pop((event.client, event.operation), None)
    if event.retry_after is not None:
        own[event.client, event.operation] = event.at, event.ended, event.retry_after
    if delay is None or (waited := apart(event, delay[0], delay[1])) >= delay[2]:
        return None
    return f"the next call came after {waited:.1f} s; {delay[2]} s were asked for"


@rule("retried-without-pause", WARNING, "service 7.2", begins=answered(*FAILED))
def without_pause(event: Observation, own: RuleState) -> str | None:
    """A call that failed at the bank is tried again without a pause.

    Wait longer before every further try, and give up after a few.
    """
    key = (event.client, event.exchange.method, event.exchange.path)
    if event.status not in FAILED:
        own.pop(key, None)
        return None
    tries = own.streak(key, event, PAUSE)
    return f"{tries} tries within a second of each other" if tries >= AGAIN_MAX else None


@rule("initiation-doubled", ERROR, "service 2.1", INITIATIONS, refused=False)
def doubled(event: Observation, own: RuleState) -> str | None:
    """A second initiation has the reference of an open initiation.

    To get a lost reply again, send the identical call with its Request-ID; give a new payment a new reference.
    """
    found = event.bank.initiation(event.subject) if event.subject else None
    if found is None:
        return None
    reference = getattr(getattr(found, "order", None), "endtoend_identification", None)
    key = (event.client, found.reference_group, reference or event.body)
    earlier = event.bank.initiation(own.replace(key, found.id) or "")
    if earlier is None or earlier.id == found.id or earlier.status not in ALIVE:
        return None
    address = event.bank.sca_addresses.get(earlier.sca_token or "")
    if earlier.status in UNSIGNED and address is not None and event.at >= address.until:
        return None  # service 4.6 rule 3: that is how a fresh address is had
    return f"{earlier.id} has the same reference and is {earlier.status.value}"


TOLD = (*CANCELLATIONS, *INITIATIONS, *STATUSES, "bulk_status", PSU_RETURNS)


def tells_permission(event: Observation) -> bool:
    """Whether the call told the client a status that permits a cancellation; a callback tells of a change alone."""
    found = event.bank.initiation(event.subject or "")
    return event.operation != PSU_RETURNS and found is not None and event.bank.can(found, Trigger.CANCELLED)


LOST = "lost"  # the reply of a cancellation
PERMITTED = "permitted"  # by the status that the client was told last


@rule("cancel-impossible", WARNING, "service 3.4", TOLD)
def cancel_impossible(event: Observation, own: RuleState) -> str | None:
    """A cancellation is requested where none is possible.

    Look at the product and the status first: service 3.4 says which may be cancelled.
    """
    key = (event.client, event.subject)
    if event.operation not in CANCELLATIONS:
        if event.accepted:
            own[key] = PERMITTED if tells_permission(event) else ""
        return None
    before = own.pop(key, "")
    if event.lost:
        own[key] = LOST
        return None
    if before == LOST and event.facts.get("status") == Status.CANC:
        return None  # the first DELETE did it, and its reply was lost
    if event.error == "NOT_CANCELLABLE":
        if before == PERMITTED:
            return None  # the customer signed or cancelled it since
        return f"its status was {event.facts.get('status')}"
    return f"{event.product} has no cancellation" if event.error == "METHOD_NOT_ALLOWED" else None
