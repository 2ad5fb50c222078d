"""How time passes: what falls due happens in order, each at its own instant."""

from collections.abc import Callable, Iterator
from datetime import datetime

from sandbox.bank import bulk_checks, bulks, execution, standing_orders, unattended
from sandbox.bank.bulk_records import Bulk, Part
from sandbox.bank.clock import Promise
from sandbox.bank.contracts import StandingOrder
from sandbox.bank.records import Payment
from sandbox.bank.state import Bank
from sandbox.bank.subjects import Subject
from sandbox.rules.calendar import at_brussels
from sandbox.rules.lifecycle import Trigger

TIME_OUT = "TIME_OUT"

Happening = Callable[[Bank, Subject], None]


def _checked(bank: Bank, subject: Subject) -> None:
    bank.move(subject, Trigger.CHECKED)


def _timed_out(bank: Bank, subject: Subject) -> None:
    bank.move(subject, Trigger.UNSIGNED_TOO_LONG, TIME_OUT)


def _executed(bank: Bank, payment: Subject) -> None:
    """What was put off since rings for nothing."""
    assert isinstance(payment, Payment | Part)
    if payment.executes_on is None or bank.clock.now >= at_brussels(payment.executes_on, execution.AT_SIX):
        if isinstance(payment, Part):
            bulks.execute(bank, payment)
        else:
            execution.execute(bank, payment)


def _settled(bank: Bank, payment: Subject) -> None:
    assert isinstance(payment, Payment)
    execution.settle(bank, payment)


def _activated(bank: Bank, order: Subject) -> None:
    assert isinstance(order, StandingOrder)
    standing_orders.activate(bank, order)


def _occurred(bank: Bank, order: Subject) -> None:
    assert isinstance(order, StandingOrder)
    standing_orders.run(bank, order)


def _validated(bank: Bank, bulk: Subject) -> None:
    assert isinstance(bulk, Bulk)
    bulk_checks.validate(bank, bulk)


# What a promise does when it rings.
HAPPENINGS: dict[Trigger, Happening] = {
    Trigger.CHECKED: _checked,
    Trigger.UNSIGNED_TOO_LONG: _timed_out,
    Trigger.EXECUTED: _executed,
    Trigger.SETTLED: _settled,
    Trigger.VALIDATED: _validated,
    Trigger.ACTIVATED: _activated,
    Trigger.OCCURRED: _occurred,
}


# What a scenario lets happen; each looks for itself whether it still matters.
UNATTENDED: dict[Trigger, Happening] = {
    Trigger.RULED: unattended.by_rule,
    Trigger.PSU_ACTS: unattended.customer_acts,
}


def happen(bank: Bank, subject_id: str, trigger: Trigger) -> None:
    """The table is asked whether the trigger still matters; what no longer does is dropped."""
    if trigger is Trigger.PSU_ACTS and subject_id in bank.consent_addresses:
        unattended.consents(bank, subject_id)
        return
    subject = bank.subject(subject_id)
    if trigger in UNATTENDED:
        UNATTENDED[trigger](bank, subject)
        return
    if bank.can(subject, trigger):
        HAPPENINGS[trigger](bank, subject)


def coming(bank: Bank) -> Iterator[Promise]:
    """What will still happen as things stand, soonest first."""
    return (promise for promise in bank.agenda.in_order() if matters(bank, promise))


def matters(bank: Bank, promise: Promise) -> bool:
    """Whether the table would still let it happen."""
    subject = bank.known(promise.subject_id)
    if subject is None:
        return promise.subject_id in bank.consent_addresses and promise.subject_id not in bank.answered
    return promise.trigger in UNATTENDED or bank.can(subject, promise.trigger)


def advance(bank: Bank, until: datetime) -> None:
    """Advancing by a and then by b equals advancing by a + b."""
    for _ in range(bank.settings.due_events_max):
        promise = bank.agenda.pop_due(until)
        if promise is None:
            bank.clock.set(until)
            return
        bank.clock.set(promise.at)
        happen(bank, promise.subject_id, promise.trigger)
    raise AssertionError("the agenda never empties")
