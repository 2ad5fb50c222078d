"""Rules about bulk files (service 2.3, 4.6; choice 7)."""

from sandbox.contract.moves import Status
from sandbox.extensions.referee.likeness_rules import ALIVE
from sandbox.extensions.referee.observations import PSU_OPENS, PSU_RETURNS, Observation, in_state
from sandbox.extensions.referee.rule import ERROR, WARNING, Proof, RuleState, rule
from sandbox.extensions.referee.status_rules import outlived, polled_fast

BULK_PAUSE = 2.0
BULK_FAST_MAX = 2
BULK_TOO_FAST = f"{BULK_FAST_MAX + 1} calls within two seconds of each other"


rule("bulk-polled-fast", WARNING, "service 4.6", ("bulk_status",), refused=False, only=in_state(Status.RCVD)).says(
    polled_fast(BULK_PAUSE, BULK_FAST_MAX, BULK_TOO_FAST),
    "A file that is being validated is polled without a pause.",
    "Ask again a few seconds later: validation takes up to several minutes.",
)


@rule("bulk-file-again", WARNING, "choice 7", ("bulk_initiation",))
def file_again(event: Observation, own: RuleState) -> str | None:
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
    ("bulk_status", "bulk_cancellation", PSU_OPENS, PSU_RETURNS, "bulk_initiation"),
    close=outlived("; the file still waits for a signature", Status.PATC),
)
def bulk_unused(event: Observation, own: RuleState) -> str | None:
    """The address of a file expired unused, and no new one was requested.

    Ask for the status again when the PSU is there: it brings a fresh address.
    """
    if event.operation == PSU_OPENS and event.status == 410:
        return None
    found = event.bank.bulks.get(event.subject or "")
    address = None if found is None else event.bank.sca_addresses.get(found.sca_token or "")
    exchange, until = own.pop(event.subject, (event.exchange, None))
    if address is not None and event.operation in ("bulk_status", PSU_OPENS):
        # A customer who opened an address in time may leave it unsigned: that is no mistake of the client.
        was_opened = event.operation == PSU_OPENS or (exchange is None and until == address.until)
        own[event.subject] = (None if was_opened else event.exchange), address.until
    return None


@rule("bulk-file-doubled", ERROR, "choice 7", ("bulk_initiation",), refused=False)
def file_doubled(event: Observation, own: RuleState) -> str | Proof | None:
    """A file with the payments and references of an earlier file is sent.

    Ask for the status of the first file: under a new MsgId, or as csv, it is another file, and all of it is paid twice.
    """
    first = own.replace((event.client, event.payments), (event.subject, event.body, event.exchange))
    if first is None or first[0] == event.subject:
        return None
    earlier, found = event.bank.bulks.get(first[0]), event.bank.bulks.get(event.subject or "")
    if earlier is None or found is None or earlier.status not in (*ALIVE, Status.ACSC):
        return None
    is_open = earlier.status in ALIVE and earlier.reference == found.reference
    if first[1] == event.body and (earlier.format != "csv" or is_open):
        return None  # the bank refuses a MsgId that it has; initiation-doubled finds what is open
    return Proof(f"{earlier.id} has the same payments and is {earlier.status.value}", (first[2],))
