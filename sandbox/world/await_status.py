"""Waiting for a status: bank time goes from event to event until it holds, or it is told why it never can."""

from datetime import datetime, timedelta

import orjson

from sandbox.bank import timeline
from sandbox.bank.records import Fact
from sandbox.bank.state import Bank
from sandbox.bank.twin import twin_of
from sandbox.banking.durations import LAST_MOMENT, write_duration, write_instant
from sandbox.contract import moves
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.moves import Status
from sandbox.world import files_ahead
from sandbox.world.log import apart
from sandbox.world.world import World

INSTEAD_MAX = 6  # moves named in a refusal


def foresee(world: World, subject_id: str, target: Status, within: timedelta) -> datetime:
    """The moment at which the status will hold. A large bank is tried out where nobody waits for it."""
    for _ in range(files_ahead.MOST):
        unread = world.ask(lambda bank: files_ahead.first_unread(bank, bank.clock.now + within))
        if unread is None:
            break
        files_ahead.read(unread)

    def write_moment(bank: Bank, write: apart.Write) -> None:
        try:
            write(moment_of(bank, subject_id, target, within).isoformat().encode())
        except Refusal as refusal:
            write(orjson.dumps([refusal.error.name, refusal.facts]))

    content = world.ask(apart.ask, write_moment).whole()
    if not content.startswith(b"["):
        return datetime.fromisoformat(content.decode())
    name, facts = orjson.loads(content)
    raise Refusal(Error[name], **facts)


def moment_of(bank: Bank, subject_id: str, target: Status, within: timedelta) -> datetime:
    """Tried on a second bank, so that a wait that fails moves nothing."""
    found = bank.initiation(subject_id)
    if found is None:
        raise Refusal(Error.NOT_FOUND, input="payment_id")
    now = bank.clock.now
    until = min(now + within, LAST_MOMENT)
    if found.status is target:
        return now
    if target not in moves.reachable(found.path, found.status):
        raise Refusal(Error.NEVER, why=f"it is {found.status.value}, and nothing leads on from there to {target.value}")
    ahead = twin_of(bank)
    for _ in range(ahead.settings.due_events_max):
        due = ahead.agenda.next_at
        if due is None or due > until:
            break
        timeline.advance(ahead, due)
        subject = ahead.subject(subject_id)
        if subject.status is target or any(
            fact.target is target and fact.at >= due for fact in reversed(subject.history[-8:])
        ):
            return due
    subject = ahead.subject(subject_id)
    instead = [fact for fact in subject.history if fact.at > now and fact.source is not fact.target]
    status, span = subject.status, write_duration(within)
    why = f"within {span} it does not become {target.value}: it is {status.value} then and waits for "
    raise Refusal(Error.NEVER, why=why + moves.LOOKS[status].waits_for + _instead(instead))


def _instead(facts: list[Fact]) -> str:
    """What will happen instead, move by move."""
    shown = [
        f"{fact.target.value}{f' ({fact.reason})' if fact.reason else ''} at {write_instant(fact.at)}"
        for fact in facts[:INSTEAD_MAX]
        if fact.target is not None
    ]
    return f"; instead it becomes {', '.join(shown)}" if shown else ""
