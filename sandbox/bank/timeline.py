"""Moves bank time forward. Scheduled events run in order, each at its own time."""

from collections.abc import Iterator
from datetime import datetime
from heapq import merge
from operator import attrgetter

from sandbox.bank import execution, returns
from sandbox.bank.behaviours import find_effect, force
from sandbox.bank.clock import Promise
from sandbox.bank.psu_actions import act_as_customer, attribute_moves_to_rule
from sandbox.bank.records import UNSIGNED, Batch, Payment, Subject
from sandbox.bank.rules import RuleEffect
from sandbox.bank.state import Bank
from sandbox.contract.moves import Trigger

# A rule about the same status replaces these triggers. It does not replace the executions of a standing order.
DEFAULTS = (
    Trigger.CHECKED,
    Trigger.UNSIGNED_TOO_LONG,
    Trigger.EXECUTED,
    Trigger.SETTLED,
    Trigger.ACTIVATED,
    Trigger.VALIDATED,
)


def run_event(bank: Bank, subject_id: str, trigger: Trigger) -> None:
    """Runs a due event. A return of money, an act of a simulated customer and a move of a rule each have a function of
    their own. Any other event is skipped if the table of moves no longer allows its trigger. If a rule of the scenario
    delays such an event, schedules it again for the later time."""
    if trigger is Trigger.RETURNED:
        returns.book(bank, subject_id)
        return
    if trigger is Trigger.PSU_ACTS:
        owner = bank.consent_addresses.get(subject_id) or bank.find_initiation(subject_id)
        if owner is not None:  # a consent address may be forgotten since
            act_as_customer(bank, owner)
        return
    subject = bank.demand_subject(subject_id)
    if trigger is Trigger.RULED:
        _move_by_rule(bank, subject)
    elif bank.can(subject, trigger):
        until = find_rule_delay(bank, subject, trigger)
        if until is not None:
            bank.agenda.add(until, subject_id, trigger)
            return
        due = find_effect(subject, trigger).due
        assert due is not None, f"no {trigger} is promised to {subject_id}"
        due(bank, subject)


def find_rule_moves(bank: Bank, subject: Subject) -> dict[datetime, RuleEffect]:
    """Returns the effects that a rule demands after the present status of an initiation, as a dict from the time at
    which each is due. If two are due at the same time, the dict has only the first one."""
    if subject.rule is None:
        return {}
    reached = next(fact.at for fact in reversed(subject.history) if fact.source is not fact.target)
    moves = [then for then in bank.rulebook.rules[subject.rule].then if then.on is subject.status]
    return {then.compute_due_time(reached): then for then in reversed(moves)}


def find_rule_delay(bank: Bank, subject: Subject, trigger: Trigger) -> datetime | None:
    """Returns the time until which a rule delays an event that the bank scheduled by itself. Returns None if no rule
    delays it. A rule delays an event of DEFAULTS if the rule moves the initiation from its present status at a later
    time. For a batch, the rule is that of its file."""
    if isinstance(subject, Batch):
        subject = bank.bulks[subject.bulk_id]
    if subject.rule is None or trigger not in DEFAULTS:
        return None
    moves = (at for at, then in find_rule_moves(bank, subject).items() if not then.back)
    return max((at for at in moves if at > bank.clock.now), default=None)


def _move_by_rule(bank: Bank, subject: Subject) -> None:
    """Performs the effect that a rule has scheduled for now: a move, or a return of money. Does nothing if the status
    has changed since the effect was scheduled."""
    then = find_rule_moves(bank, subject).get(bank.clock.now)
    if then is None:
        return
    with attribute_moves_to_rule(bank, subject):
        if then.back:
            returns.send_back(bank, subject, then.back, then.reason)
        else:
            force(bank, subject.id, then.move, then.reason)


def list_coming(bank: Bank) -> Iterator[Promise]:
    """Yields the scheduled events that will have an effect, and the next occurrence of each habit, soonest first."""
    promises = (promise for promise in bank.agenda.walk_in_order() if has_effect(bank, promise))
    habits = (Promise(next.at, 0, name, Trigger.HABIT) for next, name in bank.habits.list_coming())
    return merge(habits, promises, key=attrgetter("at"))


def has_effect(bank: Bank, promise: Promise) -> bool:
    """Whether a scheduled event would still change something."""
    if promise.trigger is Trigger.RETURNED:
        return promise.subject_id in bank.refunds
    subject = bank.find_subject(promise.subject_id)
    if subject is None:
        address = bank.consent_addresses.get(promise.subject_id)
        return address is not None and address.token not in bank.answered and promise.at < address.until
    if promise.trigger is Trigger.RULED:
        return promise.at in find_rule_moves(bank, subject)
    if promise.trigger is Trigger.PSU_ACTS:
        return subject.status in UNSIGNED
    if promise.trigger is Trigger.EXECUTED:
        assert isinstance(subject, Payment | Batch)
        if promise.at < execution.compute_due_time(subject, promise.at):  # postponed since
            return False
    return bank.can(subject, promise.trigger)


def pass_time(bank: Bank) -> None:
    """Does nothing. An entry of this verb in the log means that all events due by its time have run."""


def advance(bank: Bank, until: datetime) -> None:
    """Moves bank time to `until`, and runs all events that are due up to then. One call has the same result as several
    calls that reach the same time. Raises AssertionError if the events do not end within `due_events_max` events."""
    if not advance_some(bank, until, bank.decisions.due_events_max):
        raise AssertionError("the agenda never empties")


def advance_some(bank: Bank, until: datetime, most: int) -> bool:
    """Moves bank time towards `until`, but stops after `most` events. It never stops between events of the same time,
    so it can run some more events than `most`. Returns True if time reached `until`, else False."""
    has_life = bank.habits.since is not None
    for number in range(bank.decisions.due_events_max):
        if number >= most and (bank.next_at or until) > bank.clock.now:
            return False
        if has_life and _perform_due_habit(bank, until):
            continue
        promise = bank.agenda.pop_due(until)
        if promise is None:
            bank.clock.set(until)
            return True
        bank.clock.set(promise.at)
        run_event(bank, promise.subject_id, promise.trigger)
    return False


def _perform_due_habit(bank: Bank, until: datetime) -> bool:
    """Performs the next habit if it is due no later than `until` and no later than the next event. Returns whether a
    habit was performed."""
    at = bank.habits.next_at
    promised = bank.agenda.next_at
    if at is None or at > until or (promised is not None and promised < at):
        return False
    bank.clock.set(at)
    bank.habits.perform_next(bank)
    return True
