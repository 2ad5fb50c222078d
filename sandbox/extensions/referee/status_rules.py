"""Rules about following an initiation by its status (service 3, 4.3)."""

from collections.abc import Iterator

from sandbox.bank.state import Bank
from sandbox.banking.calendar import BRUSSELS
from sandbox.contract.moves import Status, Trigger, is_final
from sandbox.extensions.referee.observations import NEVER, PSU_OPENS, PSU_RETURNS, Observation, apart, called, in_state
from sandbox.extensions.referee.rule import (
    ADVICE,
    CANCELLATIONS,
    PAYMENTS,
    STATUSES,
    WARNING,
    Close,
    Open,
    RuleState,
    See,
    rule,
)

PAUSE = 1.0  # seconds between two status calls
FAST_MAX = 3  # faster ones in a row
TOO_FAST = f"{FAST_MAX + 1} calls, each within a second of the one before"
EARLY_MAX = 24  # status calls in a day on which nothing can change
LONG_PAUSE, LONG_MAX = 2.0, 60  # seconds between two calls, and so many in a row that told the same status
FINAL_MAX = 3  # times in a row that a final status is asked for
DETAILS_MAX = 4
POLLED_WITHIN = 3600.0  # seconds between two calls; who comes back later reconciles
EVERY_STATUS = (*STATUSES, "bulk_status")
DETAILS = ("payment_details", "standing_order_details")
RETURNED = (PSU_RETURNS, *EVERY_STATUS, *DETAILS, *CANCELLATIONS)  # a callback, and all that tells the client more
UNDER_WAY = ("PDNG", "ACSP")
PERHAPS_FINAL = ("ACSP", "ACSC", "RJCT", "CANC")
FAILED = (Status.RJCT, Status.CANC)
BY_CUSTOMER = (Trigger.CANCELLED, Trigger.REFUSED)  # where the client did not do it


def polled_fast(pause: float, most: int, what: str) -> See:
    """Finds so many calls for one subject in a row, each within the pause after the one before."""

    def see(event: Observation, own: RuleState) -> str | None:
        key = f"{event.subject} {event.client}"
        at, ended, fast = own.get(key, NEVER)
        fast = fast + 1 if event.began - ended < pause and apart(event, at, ended) < pause else 0
        own[key] = event.exchange.at, event.ended, fast % most
        return what if fast >= most else None

    return see


rule("status-too-fast", WARNING, "service 6.2", STATUSES, refused=False).says(
    polled_fast(PAUSE, FAST_MAX, TOO_FAST),
    "A status is polled faster than once a second.",
    "Wait a second or more between two status calls, and longer as time goes on.",
)


@rule("status-polled-long", ADVICE, "service 6.2", EVERY_STATUS, refused=False)
def polled_long(event: Observation, own: RuleState) -> str | None:
    """A status that does not change is polled every second for long.

    Wait longer from call to call: 1 second, 2, 5, then a minute; a payment may wait for days.
    """
    times = own.streak((event.client, event.subject, event.state), event, LONG_PAUSE)
    return f"{times} calls in a row, less than {LONG_PAUSE:.0f} seconds apart" if times == LONG_MAX else None


@rule("status-after-final", ADVICE, "service 3.1", EVERY_STATUS, refused=False, only=in_state(*PERHAPS_FINAL))
def after_final(event: Observation, own: RuleState) -> str | None:
    """A final status is polled.

    Stop at RJCT, CANC or the settled status. To reconcile, ask again a day later.
    """
    found = event.bank.find_subject(event.subject or "")
    if found is None or not (found.settled or is_final(found.path, found.status)):
        return None
    times = own.streak((event.client, event.subject), event, POLLED_WITHIN)
    return f"{found.status.value} was told {times} times" if times >= FINAL_MAX else None


def _unasked(begin: str) -> Close:
    def close(own: RuleState, bank: Bank) -> Iterator[Open]:
        for subject, exchange in own.items():
            yield exchange, f"{begin.format(subject)}, and its status was never asked for"

    return close


@rule(
    "status-never-asked",
    WARNING,
    "service 1",
    RETURNED,
    close=_unasked("the PSU signed {}"),
    begins=called(PSU_RETURNS),
)
def never_asked(event: Observation, own: RuleState) -> str | None:
    """A signed payment is taken for credited: the status is never requested after the callback.

    Ask for the status after the callback, until it is final: a signature does not guarantee a credit.
    """
    if event.operation != PSU_RETURNS:
        own.pop(event.subject, None)
    elif event.subject is not None and not event.refused:
        own[event.subject] = event.exchange
    return None


@rule(
    "final-by-callback",
    ADVICE,
    "service 5.3",
    RETURNED,
    close=_unasked("the callback of {} said error"),
    begins=called(PSU_RETURNS),
)
def final_by_callback(event: Observation, own: RuleState) -> str | None:
    """A callback with an error is taken for the end of a payment.

    Ask for the status after every callback: only the status tells how a payment ended.
    """
    if event.operation == PSU_RETURNS and event.refused and event.subject is not None:
        own[event.subject] = event.exchange
    else:
        own.pop(event.subject, None)
    return None


@rule("status-before-its-day", ADVICE, "service 3.3", STATUSES, refused=False, only=in_state(*UNDER_WAY))
def before_its_day(event: Observation, own: RuleState) -> str | None:
    """A status is polled long before the payment can settle.

    Poll seldom until the execution day: nothing changes before 06:00 of that day but by a cancellation.
    """
    found = event.bank.payments.get(event.subject or "")
    if found is None or found.executes_on is None:
        return None
    today = event.at.astimezone(BRUSSELS).date()
    if found.executes_on <= today:
        return None
    times = own.count((event.client, found.id, today))
    return f"{times} calls in a day; it executes on {found.executes_on}" if times == EARLY_MAX else None


def _unseen(own: RuleState, bank: Bank) -> Iterator[Open]:
    for subject, (exchange, status) in own.items():
        found = bank.find_subject(subject)
        if found is not None and found.status in FAILED and found.history[-1].trigger not in BY_CUSTOMER:
            yield exchange, f"{subject} was last seen as {status}, and is {found.status.value} ({found.reason})"


@rule(
    "outcome-unseen",
    WARNING,
    "service 1",
    (*EVERY_STATUS, *CANCELLATIONS),
    refused=False,
    close=_unseen,
    begins=in_state(*UNDER_WAY),
)
def outcome_unseen(event: Observation, own: RuleState) -> str | None:
    """A payment failed after the client's last status call.

    Ask for the status until it is final: PDNG and ACSP may still become RJCT or CANC.
    """
    if event.state in UNDER_WAY and event.operation in EVERY_STATUS:
        own[event.subject] = event.exchange, event.state
    else:
        own.pop(event.subject, None)
    return None


def outlived(and_then: str, *statuses: Status) -> Close:
    def close(own: RuleState, bank: Bank) -> Iterator[Open]:
        for subject, (exchange, until) in own.items():
            found = bank.initiation(subject)
            is_open = (
                exchange is not None
                and found is not None
                and not found.signatures
                and (not statuses or found.status in statuses)
            )
            if is_open and bank.clock.now >= until:
                yield exchange, f"the address of {subject} outlived its use{and_then}"

    return close


@rule(
    "sca-lost",
    ADVICE,
    "service 4.6",
    (*PAYMENTS, *STATUSES, *CANCELLATIONS, PSU_OPENS),
    close=outlived(", and nothing was asked or done since"),
    begins=called(*PAYMENTS),
)
def lost(event: Observation, own: RuleState) -> str | None:
    """An address expired unused, and its initiation was abandoned.

    Ask for the status, cancel it, or initiate again to have a fresh address.
    """
    if event.operation in PAYMENTS:
        if event.accepted:
            _note_address(event, own)
    elif event.subject in own and (event.operation not in STATUSES or event.at >= own[event.subject][1]):
        del own[event.subject]
    return None


def _note_address(event: Observation, own: RuleState) -> None:
    """Stores the address; it replaces that of an earlier initiation with the same reference."""
    assert event.subject is not None
    found = event.bank.initiation(event.subject)
    if found is None:  # the world began again before this was heard of
        return
    address = event.bank.sca_addresses.get(found.sca_token or "")
    reference = getattr(getattr(found, "order", None), "endtoend_identification", "")
    newest_first = reversed(event.bank.references.get((event.client, found.reference_group, reference), ()))
    if found.id in newest_first:  # later ones may have been made before this call was observed
        own.pop(next(newest_first, ""), None)
    if address is not None and not found.signatures:
        own[found.id] = event.exchange, address.until


@rule("details-polled", ADVICE, "service 4.3", (*DETAILS, *EVERY_STATUS), refused=False, begins=called(*DETAILS))
def details_polled(event: Observation, own: RuleState) -> str | None:
    """Details are polled.

    Follow an initiation by its status: that call needs no token and says all that changes.
    """
    key = (event.client, event.subject)
    if event.operation in EVERY_STATUS:
        own.pop(key, None)
        return None
    times = own.streak(key, event, POLLED_WITHIN)
    return f"{times} times without a status call between" if times % DETAILS_MAX == 0 else None
