"""Rules about following an initiation by its status (service 1, 3, 4.3, 4.6, 6.2)."""

from collections.abc import Iterator

from sandbox.bank.state import Bank
from sandbox.banking.calendar import BRUSSELS
from sandbox.contract.moves import Status, Trigger, is_final
from sandbox.extensions.referee.observations import PSU_OPENS, PSU_RETURNS, Observation
from sandbox.extensions.referee.rule import (
    ADVICE,
    CANCELLATIONS,
    PAYMENTS,
    STATUSES,
    WARNING,
    Check,
    FindOpen,
    OpenMatter,
    RuleState,
    open_entries,
    rule,
)

PAUSE = 1.0  # seconds between two status calls
FAST_MAX = 3  # faster ones in a row
BULK_PAUSE, BULK_FAST_MAX = 2.0, 2  # the same for a file
EARLY_MAX = 24  # status calls in a day on which nothing can change
LONG_PAUSE, LONG_MAX = 2.0, 60  # seconds between two calls, and calls in a row with the same status
FINAL_MAX = 3  # calls in a row for a final status
DETAILS_MAX = 4
POLLED_WITHIN = 3600.0  # seconds between two calls; after a longer pause a client reconciles
EVERY_STATUS = (*STATUSES, "bulk_status")
DETAILS = ("payment_details", "standing_order_details")
RETURNED = (PSU_RETURNS, *EVERY_STATUS, *DETAILS, *CANCELLATIONS)  # a callback, and the calls that may follow it
UNDER_WAY = ("PDNG", "ACSP")
PERHAPS_FINAL = ("ACSP", "ACSC", "RJCT", "CANC")
FAILED = (Status.RJCT, Status.CANC)
BY_CUSTOMER = (Trigger.CANCELLED, Trigger.REFUSED)


def make_polling_check(pause: float, most: int, text: str) -> Check:
    """Returns a check that counts calls about one initiation, as long as each comes less than `pause` seconds after the
    call before. The check returns `text` as the finding at every `most`th call after the first."""

    def check(event: Observation, memory: RuleState) -> str | None:
        faster = memory.extend_streak((event.client, event.subject), event, pause) - 1
        return text if faster > 0 and faster % most == 0 else None

    return check


rule("status-too-fast", WARNING, "service 6.2", STATUSES, refused=False).says(
    make_polling_check(PAUSE, FAST_MAX, f"{FAST_MAX + 1} calls, each within a second of the one before"),
    "A status is polled faster than once a second.",
    "Wait a second or more between two status calls, and longer as time goes on.",
)

rule("bulk-polled-fast", WARNING, "service 4.6", ("bulk_status",), refused=False, states=(Status.RCVD,)).says(
    make_polling_check(BULK_PAUSE, BULK_FAST_MAX, f"{BULK_FAST_MAX + 1} calls within two seconds of each other"),
    "A file that is being validated is polled without a pause.",
    "Ask again a few seconds later: validation takes up to several minutes.",
)


@rule("status-polled-long", ADVICE, "service 6.2", EVERY_STATUS, refused=False)
def polled_long(event: Observation, memory: RuleState) -> str | None:
    """A client asks every second for a long time for a status that does not change.

    Wait longer from call to call: 1 second, 2, 5, then a minute. A payment may wait for days.
    """
    times = memory.extend_streak((event.client, event.subject, event.state), event, LONG_PAUSE)
    return f"{times} calls in a row, less than {LONG_PAUSE:.0f} seconds apart" if times == LONG_MAX else None


@rule("status-after-final", ADVICE, "service 3.1", EVERY_STATUS, refused=False, states=PERHAPS_FINAL)
def after_final(event: Observation, memory: RuleState) -> str | None:
    """A final status is polled.

    Stop at RJCT, CANC or the settled status. To reconcile, ask again a day later.
    """
    subject = event.bank.find_subject(event.subject or "")
    if subject is None or not (subject.settled or is_final(subject.path, subject.status)):
        return None
    times = memory.extend_streak((event.client, event.subject), event, POLLED_WITHIN)
    return f"{subject.status.value} was told {times} times" if times >= FINAL_MAX else None


@rule("status-never-asked", WARNING, "service 1", RETURNED, find_open=open_entries)
def never_asked(event: Observation, memory: RuleState) -> str | None:
    """A client takes a signed payment for credited: it never requests the status after the callback.

    Ask for the status after the callback, until it is final. A signature does not guarantee a credit.
    """
    if event.operation != PSU_RETURNS:
        memory.pop(event.subject, None)
    elif event.subject is not None and not event.is_psu_refusal:
        memory[event.subject] = event.exchange, f"the PSU signed {event.subject}, and its status was never asked for"
    return None  # `find_open` makes the findings, from what is left in `memory`


@rule("final-by-callback", ADVICE, "service 5.3", RETURNED, find_open=open_entries)
def final_by_callback(event: Observation, memory: RuleState) -> str | None:
    """A client takes a callback with an error for the end of a payment.

    Ask for the status after every callback, because only the status tells how a payment ended.
    """
    if event.operation == PSU_RETURNS and event.is_psu_refusal and event.subject is not None:
        proof_text = f"the callback of {event.subject} said error, and its status was never asked for"
        memory[event.subject] = event.exchange, proof_text
    else:
        memory.pop(event.subject, None)
    return None  # `find_open` makes the findings, from what is left in `memory`


@rule("status-before-its-day", ADVICE, "service 3.3", STATUSES, refused=False, states=UNDER_WAY)
def before_its_day(event: Observation, memory: RuleState) -> str | None:
    """A client asks for a status long before the payment can settle.

    Ask rarely until the execution day. Before 06:00 of that day, only a cancellation changes the status.
    """
    payment = event.bank.payments.get(event.subject or "")
    today = event.at.astimezone(BRUSSELS).date()
    if payment is None or payment.executes_on is None or payment.executes_on <= today:
        return None
    times = memory.count((event.client, payment.id, today))
    return f"{times} calls in a day; it executes on {payment.executes_on}" if times == EARLY_MAX else None


def find_failed(memory: RuleState, bank: Bank) -> Iterator[OpenMatter]:
    for name, (exchange, status) in memory.items():
        subject = bank.find_subject(name)
        if subject is not None and subject.status in FAILED and subject.history[-1].trigger not in BY_CUSTOMER:
            yield exchange, f"{name} was last seen as {status}, and is {subject.status.value} ({subject.reason})"


@rule("outcome-unseen", WARNING, "service 1", (*EVERY_STATUS, *CANCELLATIONS), refused=False, find_open=find_failed)
def outcome_unseen(event: Observation, memory: RuleState) -> str | None:
    """A payment failed after the client's last status call.

    Ask for the status until it is final: PDNG and ACSP may still become RJCT or CANC.
    """
    if event.state in UNDER_WAY and event.operation in EVERY_STATUS:
        memory[event.subject] = event.exchange, event.state
    else:
        memory.pop(event.subject, None)
    return None  # `find_open` makes the findings, from what is left in `memory`


def find_expired_addresses(and_then: str, *statuses: Status) -> FindOpen:
    """Returns a function that finds expired addresses whose initiation nobody has signed. It skips addresses that are
    stored without a call, because the PSU opened them in time. If `statuses` are given, the initiation must also have
    one of them. `and_then` is appended to the text of the finding."""

    def find_open(memory: RuleState, bank: Bank) -> Iterator[OpenMatter]:
        for name, (exchange, until) in memory.items():
            initiation = bank.find_initiation(name)
            if exchange is None or initiation is None or initiation.signatures or bank.clock.now < until:
                continue
            if not statuses or initiation.status in statuses:
                yield exchange, f"the address of {name} outlived its use{and_then}"

    return find_open


@rule(
    "sca-lost",
    ADVICE,
    "service 4.6",
    (*PAYMENTS, *STATUSES, *CANCELLATIONS, PSU_OPENS),
    find_open=find_expired_addresses(", and nothing was asked or done since"),
)
def address_abandoned(event: Observation, memory: RuleState) -> str | None:
    """An address expired unused, and the client abandoned its initiation.

    Ask for the status, cancel the initiation, or initiate again to get a new address.
    """
    if event.operation in PAYMENTS:
        if event.accepted:
            store_address(event, memory)
    elif event.subject in memory and (event.operation not in STATUSES or event.at >= memory[event.subject][1]):
        del memory[event.subject]
    return None  # `find_open` makes the findings, from what is left in `memory`


def store_address(event: Observation, memory: RuleState) -> None:
    """Stores when the address of the call's initiation expires, unless the initiation is already signed or has no
    address. Removes the entry of an earlier initiation with the same reference."""
    assert event.subject is not None
    initiation = event.bank.find_initiation(event.subject)
    if initiation is None:  # the world began again before this call was judged
        return
    address = event.bank.sca_addresses.get(initiation.sca_token or "")
    reference = getattr(getattr(initiation, "order", None), "endtoend_identification", "")
    newest_first = reversed(event.bank.references.get((event.client, initiation.reference_group, reference), ()))
    if initiation.id in newest_first:  # skips those that were made between this call and its judgement
        memory.pop(next(newest_first, ""), None)
    if address is not None and not initiation.signatures:
        memory[initiation.id] = event.exchange, address.until


@rule(
    "bulk-address-unused",
    WARNING,
    "service 4.6",
    ("bulk_status", "bulk_cancellation", PSU_OPENS, PSU_RETURNS, "bulk_initiation"),
    find_open=find_expired_addresses("; the file still waits for a signature", Status.PATC),
)
def bulk_address_unused(event: Observation, memory: RuleState) -> str | None:
    """The address of a file expired unused, and the client requested no new address.

    Ask for the status again when the PSU is there. The reply has a new address.
    """
    if event.operation == PSU_OPENS and event.status == 410:
        return None
    bulk = event.bank.bulks.get(event.subject or "")
    address = None if bulk is None else event.bank.sca_addresses.get(bulk.sca_token or "")
    exchange, until = memory.pop(event.subject, (event.exchange, None))
    if address is not None and event.operation in ("bulk_status", PSU_OPENS):
        # A customer who opened an address in time may leave it unsigned: that is no mistake of the client.
        was_opened = event.operation == PSU_OPENS or (exchange is None and until == address.until)
        memory[event.subject] = (None if was_opened else event.exchange), address.until
    return None  # `find_open` makes the findings, from what is left in `memory`


@rule("details-polled", ADVICE, "service 4.3", (*DETAILS, *EVERY_STATUS), refused=False)
def details_polled(event: Observation, memory: RuleState) -> str | None:
    """A client asks for details again and again to follow an initiation.

    Ask for the status instead. That call needs no token, and its reply has everything that can change.
    """
    key = (event.client, event.subject)
    if event.operation in EVERY_STATUS:
        memory.pop(key, None)
        return None
    times = memory.extend_streak(key, event, POLLED_WITHIN)
    return f"{times} times without a status call between" if times % DETAILS_MAX == 0 else None
