"""Rules about retries after a refusal and about duplicates (service 7, choice 4)."""

from sandbox.bank.subjects import UNSIGNED
from sandbox.contract.moves import Status
from sandbox.referee.kinds import Kind, answered
from sandbox.referee.observations import NEVER, Observation, apart
from sandbox.referee.rule import CANCELLATIONS, ERROR, INITIATIONS, PAYMENTS, WARNING, Own, rule

ALIVE = (Status.RCVD, Status.PATC, Status.PDNG, Status.ACSP, Status.ACWP)
FAILED = (408, 500)
AGAIN_MAX = 3  # failed tries without a pause
PAUSE = 1.0  # seconds
ABOUT_HEADERS = ("HEADER_MISSING", "HEADER_INVALID")


def is_about_body(kind: Kind) -> bool:
    return kind.status in (400, 403) and kind.error not in ABOUT_HEADERS


@rule("refused-body-again", WARNING, "service 7.1", PAYMENTS, only=is_about_body)
def body_again(event: Observation, own: Own) -> str | None:
    """The same refused body is sent again.

    Read error_code and error_description; a body that was refused stays refused until it is changed.
    """
    key = (event.client, event.operation, event.product, event.body, event.error)
    first = own.replace(key, (event.at, event.ended, event.exchange.request_id))
    if first is None or apart(event, first[0], first[1]) > 3600:
        return None
    return f"it was refused with the same error in call {first[2]}"


@rule("retry-after-ignored", ERROR, "choice 4", begins=answered(429, 503))
def retry_after(event: Observation, own: Own) -> str | None:
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
def without_pause(event: Observation, own: Own) -> str | None:
    """A call that failed at the bank is tried again without a pause.

    Wait longer before every further try, and give up after a few.
    """
    key = (event.client, event.exchange.method, event.exchange.path)
    at, ended, tries = own.pop(key, NEVER)
    if event.status not in FAILED:
        return None
    tries = tries + 1 if apart(event, at, ended) < PAUSE else 1
    own[key] = event.at, event.ended, tries
    return f"{tries} tries within a second of each other" if tries >= AGAIN_MAX else None


@rule("initiation-doubled", ERROR, "service 2.1", INITIATIONS, refused=False)
def doubled(event: Observation, own: Own) -> str | None:
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


@rule("cancel-impossible", WARNING, "service 3.4", CANCELLATIONS)
def cancel_impossible(event: Observation, own: Own) -> str | None:
    """A cancellation is requested where none is possible.

    Look at the product and the status first: service 3.4 says which may be cancelled.
    """
    key = (event.client, event.subject)
    if event.lost:
        own[key] = True
        return None
    if own.pop(key, False) and event.facts.get("status") == Status.CANC:
        return None  # the first DELETE did it, and its reply was lost
    if event.error == "NOT_CANCELLABLE":
        return f"its status was {event.facts.get('status')}"
    return f"{event.product} has no cancellation" if event.error == "METHOD_NOT_ALLOWED" else None
