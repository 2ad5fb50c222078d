"""Moves a world's clock to a time that a tester names, and computes the moment at which an initiation will have a
status."""

from collections.abc import Callable
from datetime import datetime, timedelta

from sandbox.bank import timeline
from sandbox.bank.records import Fact
from sandbox.bank.state import Bank
from sandbox.banking.durations import LAST_MOMENT, write_duration, write_instant
from sandbox.contract import moves
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.moves import Status
from sandbox.storage.bank_copy import copy_bank, release_bank
from sandbox.storage.long_work import AbandonedError, is_caller_gone, stop_when_abandoned
from sandbox.worlds import files_ahead
from sandbox.worlds.files_ahead import UnreadFile
from sandbox.worlds.world import World

ClockChange = Callable[[datetime], tuple[datetime, float]]  # of the present bank time; returns the new time and rate
EVENTS_AT_ONCE = 200  # events that a move runs before other calls can enter
INSTEAD_MAX = 6  # moves named in a refusal
MOMENTS_AT_ONCE = 100  # between two pauses


def move_clock(world: World, change: ClockChange) -> None:
    """Moves the clock forward, and sets its rate. `change` gets the present bank time and returns the new time and the
    rate. Raises a Refusal if the new time is earlier than the present time. Large bulk files that fall due on the way
    are read before the move, while other calls enter at the old time.

    One move runs at a time, and the next move starts where it ended. A long move pauses between two instants, so that
    other calls can enter. If its caller has hung up, the move stops there and raises AbandonedError.
    """
    with world.clock.moving:
        for _ in range(files_ahead.MOST):
            base, rate, unread = world.change(lambda bank: _begin_move(world, change, bank))
            if unread is None:
                break
            files_ahead.read(unread)
        begin, moved, has_arrived = world.bank.clock.now, 0, False

        def move_some(bank: Bank) -> bool:
            """Runs some of the due events. Returns whether the bank has reached the new time. A large file that is
            still unread is read at its validation."""
            world.calls.deliver()
            until = max(base, bank.clock.now)
            due = bank.next_at
            if due is not None and due <= until:
                world.note_events()
            if not timeline.advance_some(bank, until, EVENTS_AT_ONCE):
                return False
            world.set_pace(begin, until, rate)
            return True

        while not has_arrived:
            assert moved <= world.decisions.due_events_max, "the agenda never empties"
            moved += EVENTS_AT_ONCE
            has_arrived = world.change(move_some)
            if not has_arrived and is_caller_gone():
                world.change(lambda bank: world.set_pace(begin, bank.clock.now, world.clock.pace.rate))
                raise AbandonedError


def _begin_move(world: World, change: ClockChange, bank: Bank) -> tuple[datetime, float, UnreadFile | None]:
    """Returns the new time and rate of the clock, and the first large bulk file that must be read before the clock
    moves, or None if there is no such file. Raises a Refusal if the new time is earlier than the present time."""
    world.calls.deliver()
    base, rate = change(bank.clock.now)
    if base < bank.clock.now:
        raise Refusal(Error.CONTROL_INVALID, input="set", why="the bank's clock does not go back")
    return base, rate, files_ahead.find_first_unread(bank, base)


def foresee_status(world: World, subject_id: str, target: Status, within: timedelta) -> datetime:
    """Returns the bank time at which an initiation will have the status `target`. Returns the present bank time if it
    has the status already. Computes this on a copy of the bank, so that no other call waits. First reads large bulk
    files that are due in the time `within`. Raises a Refusal if there is no such initiation, or if it will not have the
    status in the time `within`."""
    for _ in range(files_ahead.MOST):
        unread = world.ask(lambda bank: files_ahead.find_first_unread(bank, bank.clock.now + within))
        if unread is None:
            break
        files_ahead.read(unread)

    now, ahead = world.ask(copy_unless_reached, subject_id, target)
    if ahead is None:
        return now
    try:
        return advance_to_status(ahead, subject_id, target, within)
    finally:
        release_bank(ahead)


def copy_unless_reached(bank: Bank, subject_id: str, target: Status) -> tuple[datetime, Bank | None]:
    """Returns bank time and a copy of the bank. The copy is None if the initiation has the status already. Raises a
    Refusal if there is no such initiation, or if it can never have the status."""
    initiation = bank.find_initiation(subject_id)
    if initiation is None:
        raise Refusal(Error.NOT_FOUND, input="payment_id")
    if initiation.status is target:
        return bank.clock.now, None
    if target not in moves.find_reachable(initiation.path, initiation.status):
        raise Refusal(
            Error.NEVER, why=f"it is {initiation.status.value}, and nothing leads on from there to {target.value}"
        )
    return bank.clock.now, copy_bank(bank)


def advance_to_status(bank: Bank, subject_id: str, target: Status, within: timedelta) -> datetime:
    """Moves this bank forward until the initiation has the status, and returns that moment. Raises a Refusal if the
    initiation does not have the status within the time `within`. Raises AbandonedError once the caller has hung up."""
    now = bank.clock.now
    until = min(now + within, LAST_MOMENT)
    for _ in stop_when_abandoned(range(bank.decisions.due_events_max), MOMENTS_AT_ONCE):
        due = bank.agenda.next_at
        if due is None or due > until:
            break
        timeline.advance(bank, due)
        subject = bank.demand_subject(subject_id)
        if subject.status is target or any(
            fact.target is target and fact.at >= due for fact in reversed(subject.history[-8:])
        ):
            return due
    subject = bank.demand_subject(subject_id)
    instead = [fact for fact in subject.history if fact.at > now and fact.source is not fact.target]
    status, span = subject.status, write_duration(within)
    reason = f"within {span} it does not become {target.value}: it is {status.value} then and waits for "
    raise Refusal(Error.NEVER, why=reason + moves.STATUS_STYLES[status].waits_for + _describe_other_moves(instead))


def _describe_other_moves(facts: list[Fact]) -> str:
    """Returns a text about the changes of status that happen instead of the awaited one, such as `; instead it becomes
    RJCT at ...`. Names at most INSTEAD_MAX changes. The text is empty if there are none."""
    changes = [
        f"{fact.target.value}{f' ({fact.reason})' if fact.reason else ''} at {write_instant(fact.at)}"
        for fact in facts[:INSTEAD_MAX]
        if fact.target is not None
    ]
    return f"; instead it becomes {', '.join(changes)}" if changes else ""
