"""Moves that a tester forces: legal ones, with all that belongs to them (choice 10)."""

from collections.abc import Callable

from sandbox.bank import execution
from sandbox.bank.records import Payment
from sandbox.bank.state import Bank, verb
from sandbox.errors import Error, Refusal
from sandbox.rules import lifecycle
from sandbox.rules.lifecycle import Status, Trigger


def _signed(bank: Bank, payment: Payment, reason: str | None) -> None:
    """By all who may sign; without an account there is nobody to sign."""
    if payment.debtor is None or payment.debtor.iban not in bank.accounts:
        raise Refusal(Error.MOVE_ILLEGAL, subject="a payment without a debtor account", status="PATC", target="signed")
    account = bank.accounts[payment.debtor.iban]
    payment.customer = payment.customer or account.owners[0]
    payment.signatures = payment.signatures or account.may_sign[: account.signatures_required]
    execution.complete(bank, payment)


def _plain(trigger: Trigger) -> Callable[[Bank, Payment, str | None], None]:
    return lambda bank, payment, reason: bank.move(payment, trigger, reason)


EFFECTS: dict[Trigger, Callable[[Bank, Payment, str | None], None]] = {
    Trigger.CHECKED: _plain(Trigger.CHECKED),
    Trigger.REFUSED: _plain(Trigger.REFUSED),
    Trigger.SIGNED: _signed,
    Trigger.EXECUTED: execution.begin_settlement,
    Trigger.FUNDS_MISSING: execution.recycle,
    Trigger.GIVEN_UP: execution.give_up,
    Trigger.SETTLED: execution.settle,
    Trigger.REJECTED: execution.reject,
    Trigger.CANCELLED: execution.cancel,
}


@verb
def force(bank: Bank, payment_id: str, target: Status, reason: str | None) -> None:
    """The first row of the table that leads there now."""
    payment = bank.payments.get(payment_id)
    if payment is None:
        raise Refusal(Error.NOT_FOUND, input="payment")
    for row in lifecycle.rows_to(payment.path, payment.status, target):
        if row.trigger in EFFECTS and bank.can(payment, row.trigger):
            EFFECTS[row.trigger](bank, payment, reason)
            return
    raise Refusal(Error.MOVE_ILLEGAL, subject=payment.id, status=payment.status.value, target=target.value)
