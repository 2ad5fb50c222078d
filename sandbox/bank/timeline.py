"""How time passes: what falls due happens in order, each at its own instant."""

from collections.abc import Callable
from datetime import datetime

from sandbox.bank import execution
from sandbox.bank.records import Payment
from sandbox.bank.state import Bank
from sandbox.rules.calendar import at_brussels
from sandbox.rules.lifecycle import Trigger

TIME_OUT = "TIME_OUT"

Happening = Callable[[Bank, Payment], None]


def _checked(bank: Bank, payment: Payment) -> None:
    bank.move(payment, Trigger.CHECKED)


def _timed_out(bank: Bank, payment: Payment) -> None:
    bank.move(payment, Trigger.UNSIGNED_TOO_LONG, TIME_OUT)


def _executed(bank: Bank, payment: Payment) -> None:
    """A payment that was put off since rings for nothing."""
    if payment.executes_on is None or bank.clock.now >= at_brussels(payment.executes_on, execution.AT_SIX):
        execution.execute(bank, payment)


# What a promise does when it rings.
HAPPENINGS: dict[Trigger, Happening] = {
    Trigger.CHECKED: _checked,
    Trigger.UNSIGNED_TOO_LONG: _timed_out,
    Trigger.EXECUTED: _executed,
    Trigger.SETTLED: execution.settle,
}


def happen(bank: Bank, subject_id: str, trigger: Trigger) -> None:
    """The table is asked whether the trigger still matters; what no longer does is dropped."""
    subject = bank.subject(subject_id)
    if bank.can(subject, trigger):
        HAPPENINGS[trigger](bank, subject)


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
