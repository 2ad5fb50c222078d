"""Moves time: scheduled events happen in order, each at its own time."""

from collections.abc import Callable, Iterator
from datetime import datetime
from heapq import merge
from operator import attrgetter

from sandbox.bank import execution, rule_actions
from sandbox.bank.clock import Promise
from sandbox.bank.effects import effect_of
from sandbox.bank.records import Payment
from sandbox.bank.state import Bank
from sandbox.bank.subjects import UNSIGNED, Part, Subject
from sandbox.contract.moves import Trigger

Happening = Callable[[Bank, Subject], None]

# What a scenario lets happen; each looks for itself whether it still matters.
UNATTENDED: dict[Trigger, Happening] = {
    Trigger.RULED: rule_actions.by_rule,
    Trigger.PSU_ACTS: rule_actions.customer_acts,
}


def happen(bank: Bank, subject_id: str, trigger: Trigger) -> None:
    """Runs an event, if the table of moves still allows its trigger."""
    if trigger is Trigger.RETURNED:
        execution.refund(bank, subject_id)
        return
    if trigger is Trigger.PSU_ACTS and subject_id in bank.consent_addresses:
        rule_actions.consents(bank, subject_id)
        return
    if trigger is Trigger.PSU_ACTS and bank.find_subject(subject_id) is None:
        return  # at a consent address that was forgotten since
    subject = bank.subject(subject_id)
    if trigger in UNATTENDED:
        UNATTENDED[trigger](bank, subject)
        return
    if not bank.can(subject, trigger):
        return
    until = rule_actions.rule_delay(bank, subject, trigger)
    if until is None:
        due = effect_of(subject, trigger).due
        assert due is not None, f"no {trigger} is promised to {subject_id}"
        due(bank, subject)
    else:
        bank.agenda.add(until, subject_id, trigger)


def coming(bank: Bank) -> Iterator[Promise]:
    """The events still to come, soonest first; of each habit the next occurrence."""
    promises = (promise for promise in bank.agenda.in_order() if matters(bank, promise))
    habits = (Promise(next.at, 0, name, Trigger.HABIT) for next, name in bank.habits.coming())
    return merge(habits, promises, key=attrgetter("at"))


def matters(bank: Bank, promise: Promise) -> bool:
    """Tells whether the event would still have an effect."""
    if promise.trigger is Trigger.RETURNED:
        return promise.subject_id in bank.refunds
    subject = bank.find_subject(promise.subject_id)
    if subject is None:
        address = bank.consent_addresses.get(promise.subject_id)
        return address is not None and address.token not in bank.answered and promise.at < address.until
    if promise.trigger is Trigger.RULED:
        return any(at == promise.at for at in rule_actions.rule_moves(bank, subject))
    if promise.trigger is Trigger.PSU_ACTS:
        return subject.status in UNSIGNED
    return bank.can(subject, promise.trigger) and not _is_postponed(subject, promise)


def _is_postponed(subject: Subject, promise: Promise) -> bool:
    if promise.trigger is not Trigger.EXECUTED:
        return False
    assert isinstance(subject, Payment | Part)
    return promise.at < execution.due_at(subject, promise.at)


def advance(bank: Bank, until: datetime) -> None:
    """Advancing by a and then by b equals advancing by a + b."""
    if not advance_some(bank, until, bank.settings.due_events_max):
        raise AssertionError("the agenda never empties")


def advance_some(bank: Bank, until: datetime, most: int) -> bool:
    """Advances by about as many events, and never to the middle of an instant. Tells whether the time is reached."""
    has_life = bank.habits.since is not None
    for number in range(bank.settings.due_events_max):
        if number >= most and (bank.next_at or until) > bank.clock.now:
            return False
        if has_life and _habit_is_next(bank, until):
            continue
        promise = bank.agenda.pop_due(until)
        if promise is None:
            bank.clock.set(until)
            return True
        bank.clock.set(promise.at)
        happen(bank, promise.subject_id, promise.trigger)
    return False


def _habit_is_next(bank: Bank, until: datetime) -> bool:
    """Lets the soonest habit happen. At one instant habits come first: money that comes in is there for payments."""
    at = bank.habits.next_at
    promised = bank.agenda.next_at
    if at is None or at > until or (promised is not None and promised < at):
        return False
    bank.clock.set(at)
    bank.habits.happen(bank)
    return True
