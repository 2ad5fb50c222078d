"""Rules about following an initiation by its status (service 3, 4.3)."""

from collections.abc import Iterator

from sandbox.bank.state import Bank
from sandbox.banking.calendar import BRUSSELS
from sandbox.contract.moves import Status, is_final
from sandbox.referee.observations import NEVER, PSU_OPENS, PSU_RETURNS, Observation, apart, called, in_state
from sandbox.referee.rule import ADVICE, CANCELLATIONS, PAYMENTS, STATUSES, WARNING, Close, Open, Own, See, rule

PAUSE = 1.0  # seconds between two status calls
FAST_MAX = 3  # faster ones in a row
TOO_FAST = f"{FAST_MAX + 1} calls, each within a second of the one before"
EARLY_MAX = 24  # status calls in a day on which nothing can change
FINAL_MAX = 3  # times that a final status is asked for
DETAILS_MAX = 4
EVERY_STATUS = (*STATUSES, "bulk_status")
DETAILS = ("payment_details", "standing_order_details")
RETURNED = (PSU_RETURNS, *EVERY_STATUS, *DETAILS)  # a callback, and all that tells the client more
UNDER_WAY = ("PDNG", "ACSP")
PERHAPS_FINAL = ("ACSP", "ACSC", "RJCT", "CANC")
FAILED = (Status.RJCT, Status.CANC)


def polled_fast(pause: float, most: int, what: str) -> See:
    """Finds so many calls for one subject in a row, each within the pause after the one before."""

    def see(event: Observation, own: Own) -> str | None:
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


@rule("status-after-final", ADVICE, "service 3.1", EVERY_STATUS, refused=False, only=in_state(*PERHAPS_FINAL))
def after_final(event: Observation, own: Own) -> str | None:
    """A final status is polled.

    Stop at RJCT, CANC or the settled status: it does not change any more.
    """
    found = event.bank.find_subject(event.subject or "")
    if found is None or not (found.settled or is_final(found.path, found.status)):
        return None
    times = own.count((event.client, event.subject))
    return f"{found.status.value} was told {times} times" if times >= FINAL_MAX else None


def _unasked(begin: str) -> Close:
    def close(own: Own, bank: Bank) -> Iterator[Open]:
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
def never_asked(event: Observation, own: Own) -> str | None:
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
    (*RETURNED, *CANCELLATIONS),
    close=_unasked("the callback of {} said error"),
    begins=called(PSU_RETURNS),
)
def final_by_callback(event: Observation, own: Own) -> str | None:
    """A callback with an error is taken for the end of a payment.

    Ask for the status after every callback: only the status tells how a payment ended.
    """
    if event.operation == PSU_RETURNS and event.refused and event.subject is not None:
        own[event.subject] = event.exchange
    else:
        own.pop(event.subject, None)
    return None


@rule("status-before-its-day", ADVICE, "service 3.3", STATUSES, refused=False, only=in_state(*UNDER_WAY))
def before_its_day(event: Observation, own: Own) -> str | None:
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


def _unseen(own: Own, bank: Bank) -> Iterator[Open]:
    for subject, (exchange, status) in own.items():
        found = bank.find_subject(subject)
        if found is not None and found.status in FAILED:
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
def outcome_unseen(event: Observation, own: Own) -> str | None:
    """A payment failed after the client's last status call.

    Ask for the status until it is final: PDNG and ACSP may still become RJCT or CANC.
    """
    if event.state in UNDER_WAY and event.operation in EVERY_STATUS:
        own[event.subject] = event.exchange, event.state
    else:
        own.pop(event.subject, None)
    return None


def _outlived(and_then: str, *statuses: Status) -> Close:
    def close(own: Own, bank: Bank) -> Iterator[Open]:
        for subject, (exchange, until) in own.items():
            found = bank.initiation(subject)
            is_open = found is not None and not found.signatures and (not statuses or found.status in statuses)
            if is_open and bank.clock.now >= until:
                yield exchange, f"the address of {subject} outlived its use{and_then}"

    return close


@rule(
    "sca-lost",
    ADVICE,
    "service 4.6",
    (*PAYMENTS, *STATUSES, *CANCELLATIONS, PSU_OPENS),
    close=_outlived(", and nothing was asked or done since"),
    begins=called(*PAYMENTS),
)
def lost(event: Observation, own: Own) -> str | None:
    """An address expired unused, and its initiation was abandoned.

    Ask for the status, cancel it, or initiate again to have a fresh address.
    """
    if event.operation in PAYMENTS:
        if event.accepted:
            _note_address(event, own)
    elif event.subject in own and (event.operation not in STATUSES or event.at >= own[event.subject][1]):
        del own[event.subject]
    return None


def _note_address(event: Observation, own: Own) -> None:
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
def details_polled(event: Observation, own: Own) -> str | None:
    """Details are polled.

    Follow an initiation by its status: that call needs no token and says all that changes.
    """
    key = (event.client, event.subject)
    if event.operation in EVERY_STATUS:
        own.pop(key, None)
        return None
    times = own.count(key)
    own[key] = times % DETAILS_MAX
    return f"{times} times without a status call between" if times >= DETAILS_MAX else None


# Files have a pace of their own.

BULK_PAUSE = 2.0
BULK_FAST_MAX = 2
BULK_TOO_FAST = f"{BULK_FAST_MAX + 1} calls within two seconds of each other"


rule("bulk-polled-fast", WARNING, "service 4.6", ("bulk_status",), refused=False, only=in_state(Status.RCVD)).says(
    polled_fast(BULK_PAUSE, BULK_FAST_MAX, BULK_TOO_FAST),
    "A file that is being validated is polled without a pause.",
    "Ask again a few seconds later: validation takes up to several minutes.",
)


@rule("bulk-file-again", WARNING, "choice 7", ("bulk_initiation",))
def file_again(event: Observation, own: Own) -> str | None:
    """A file that was refused is sent again unchanged.

    Correct the errors of the status reply, and send it with a new MsgId.
    """
    if event.body is None or (not event.accepted and event.status != 400):
        return None
    earlier = own.replace((event.client, event.body), event.subject if event.accepted else "")
    if earlier is None or earlier == event.subject:
        return None
    found = event.bank.bulks.get(earlier)
    if earlier and (found is None or found.status is not Status.RJCT):
        return None
    return f"it was {'rejected as ' + earlier if earlier else 'refused at once'} before"


@rule(
    "bulk-address-unused",
    WARNING,
    "service 4.6",
    ("bulk_status", "bulk_cancellation", PSU_RETURNS, "bulk_initiation"),
    close=_outlived("; the file still waits for a signature", Status.PATC),
)
def bulk_unused(event: Observation, own: Own) -> str | None:
    """The address of a file expired unused, and no new one was requested.

    Ask for the status again when the PSU is there: it brings a fresh address.
    """
    found = event.bank.bulks.get(event.subject or "")
    own.pop(event.subject, None)
    address = None if found is None else event.bank.sca_addresses.get(found.sca_token or "")
    if event.operation == "bulk_status" and address is not None:
        own[event.subject] = event.exchange, address.until
    return None
