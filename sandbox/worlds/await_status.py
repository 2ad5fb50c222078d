"""Waiting for a status: bank time goes from event to event until it holds, or it is told why it never can."""

from datetime import datetime, timedelta

from sandbox.bank import timeline
from sandbox.bank.records import Fact
from sandbox.bank.state import Bank
from sandbox.banking.durations import LAST_MOMENT, write_duration, write_instant
from sandbox.contract import moves
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.moves import Status
from sandbox.storage.bank_copy import copy_bank, release_bank
from sandbox.storage.long_work import while_waited_for
from sandbox.worlds import files_ahead
from sandbox.worlds.world import World

INSTEAD_MAX = 6  # moves named in a refusal
MOMENTS_AT_ONCE = 100  # between two pauses


def foresee(world: World, subject_id: str, target: Status, within: timedelta) -> datetime:
    """The moment at which the status will hold. It is tried on a copy of the bank, for which no call waits."""
    for _ in range(files_ahead.MOST):
        unread = world.ask(lambda bank: files_ahead.first_unread(bank, bank.clock.now + within))
        if unread is None:
            break
        files_ahead.read(unread)

    now, ahead = world.ask(now_and_copy, subject_id, target)
    if ahead is None:
        return now
    try:
        return moment_of(ahead, subject_id, target, within)
    finally:
        release_bank(ahead)


def now_and_copy(bank: Bank, subject_id: str, target: Status) -> tuple[datetime, Bank | None]:
    """Bank time, and a copy on which the wait is tried unless the status holds now: a wait that fails moves nothing."""
    found = bank.initiation(subject_id)
    if found is None:
        raise Refusal(Error.NOT_FOUND, input="payment_id")
    if found.status is target:
        return bank.clock.now, None
    if target not in moves.reachable(found.path, found.status):
        raise Refusal(Error.NEVER, why=f"it is {found.status.value}, and nothing leads on from there to {target.value}")
    return bank.clock.now, copy_bank(bank)


def moment_of(bank: Bank, subject_id: str, target: Status, within: timedelta) -> datetime:
    """Moves this bank on to the moment at which the status holds."""
    now = bank.clock.now
    until = min(now + within, LAST_MOMENT)
    for _ in while_waited_for(range(bank.decisions.due_events_max), MOMENTS_AT_ONCE):
        due = bank.agenda.next_at
        if due is None or due > until:
            break
        timeline.advance(bank, due)
        subject = bank.subject(subject_id)
        if subject.status is target or any(
            fact.target is target and fact.at >= due for fact in reversed(subject.history[-8:])
        ):
            return due
    subject = bank.subject(subject_id)
    instead = [fact for fact in subject.history if fact.at > now and fact.source is not fact.target]
    status, span = subject.status, write_duration(within)
    why = f"within {span} it does not become {target.value}: it is {status.value} then and waits for "
    raise Refusal(Error.NEVER, why=why + moves.STATUS_STYLES[status].waits_for + _instead(instead))


def _instead(facts: list[Fact]) -> str:
    """What will happen instead, move by move."""
    shown = [
        f"{fact.target.value}{f' ({fact.reason})' if fact.reason else ''} at {write_instant(fact.at)}"
        for fact in facts[:INSTEAD_MAX]
        if fact.target is not None
    ]
    return f"; instead it becomes {', '.join(shown)}" if shown else ""
