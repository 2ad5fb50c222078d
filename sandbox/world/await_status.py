"""Waiting for a status: bank time goes from event to event until it holds, or it is told why it never can."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sandbox.bank import timeline
from sandbox.bank.bulk_records import Part
from sandbox.bank.state import Bank
from sandbox.bank.twin import twin_of
from sandbox.banking.durations import write_duration
from sandbox.contract import moves
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.moves import Status

WAITS_FOR = {
    Status.RCVD: "the customer, who has not opened the address",
    Status.PATC: "the customer's signature",
    Status.PDNG: "its execution",
    Status.ACSP: "its settlement",
    Status.ACWP: "its next execution or its end",
}


@dataclass(frozen=True, slots=True)
class Held:
    """When it held."""

    at: datetime


def moment_of(bank: Bank, subject_id: str, wanted: Status, within: timedelta) -> Held:
    """Tried on a second bank, so that a wait that fails moves nothing."""
    found = bank.known(subject_id)
    if found is None or isinstance(found, Part):
        raise Refusal(Error.NOT_FOUND, input="payment_id")
    now = bank.clock.now
    if found.status is wanted:
        return Held(now)
    if wanted not in moves.reachable(found.path, found.status):
        raise Refusal(Error.NEVER, why=f"it is {found.status.value}, and nothing leads on from there to {wanted.value}")
    ahead = twin_of(bank)
    for _ in range(ahead.settings.due_events_max):
        due = ahead.agenda.next_at
        if due is None or due > now + within:
            break
        timeline.advance(ahead, due)
        subject = ahead.subject(subject_id)
        if subject.status is wanted or any(
            fact.target is wanted and fact.at >= due for fact in reversed(subject.history[-8:])
        ):
            return Held(due)
    subject = ahead.subject(subject_id)
    raise Refusal(Error.NEVER, why=_why(subject.status, wanted, within))


def _why(status: Status, wanted: Status, within: timedelta) -> str:
    waits = WAITS_FOR.get(status, "nothing any more")
    span = write_duration(within)
    return f"within {span} it does not become {wanted.value}: it is {status.value} then and waits for {waits}"
