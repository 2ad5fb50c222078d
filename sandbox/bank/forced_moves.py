"""Moves forced by a tester: legal ones, with their effects (choice 10)."""

from collections.abc import Callable

from sandbox.bank import bulk_checks, bulks, execution, standing_orders
from sandbox.bank.bulk_records import Bulk
from sandbox.bank.records import Payment
from sandbox.bank.standing_order_records import StandingOrder
from sandbox.bank.state import Bank
from sandbox.bank.subjects import Subject
from sandbox.contract import moves
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.moves import Status, Trigger


def _signed(bank: Bank, payment: Payment, reason: str | None) -> None:
    """By all who may sign; without an account there is nobody to sign."""
    if payment.debtor is None or payment.debtor.iban not in bank.accounts:
        raise Refusal(Error.MOVE_ILLEGAL, subject="a payment without a debtor account", status="PATC", target="signed")
    account = bank.accounts[payment.debtor.iban]
    payment.customer = payment.customer or account.owners[0]
    payment.signatures = payment.signatures or account.may_sign[: account.signatures_required]
    execution.complete(bank, payment)


def _contract_signed(bank: Bank, order: StandingOrder, reason: str | None) -> None:
    if order.debtor is None:
        raise Refusal(Error.MOVE_ILLEGAL, subject="an order without a debtor account", status="PATC", target="signed")
    order.customer = order.customer or bank.accounts[order.debtor.iban].owners[0]
    order.signatures = (order.customer,)
    standing_orders.complete(bank, order)


def _plain(trigger: Trigger) -> Callable[[Bank, Subject, str | None], None]:
    return lambda bank, subject, reason: bank.move(subject, trigger, reason)


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


CONTRACT_EFFECTS: dict[Trigger, Callable[[Bank, StandingOrder, str | None], None]] = {
    Trigger.REFUSED: _plain(Trigger.REFUSED),
    Trigger.SIGNED: _contract_signed,
    Trigger.ACTIVATED: standing_orders.activate,
    Trigger.ENDED: _plain(Trigger.ENDED),
    Trigger.CANCELLED: _plain(Trigger.CANCELLED),
}


def _file_signed(bank: Bank, bulk: Bulk, reason: str | None) -> None:
    """By all who are needed."""
    signers = bulk_checks.signers(bank, bulk)
    bulk.customer = bulk.customer or signers[0]
    bulk.signatures = bulk.signatures or signers[: bulk_checks.signatures_required(bank, bulk)]
    bulks.complete(bank, bulk)


# A file is validated and executed by the clock alone: what comes of that is in the file.
FILE_EFFECTS: dict[Trigger, Callable[[Bank, Bulk, str | None], None]] = {
    Trigger.REFUSED: bulks.refuse,
    Trigger.SIGNED: _file_signed,
    Trigger.REJECTED: bulks.reject,
    Trigger.CANCELLED: bulks.cancel,
}


def force(bank: Bank, subject_id: str, target: Status, reason: str | None) -> None:
    """Forces the first move of the table that leads to the status."""
    subject = bank.known(subject_id)
    if subject is None:
        raise Refusal(Error.NOT_FOUND, input="payment")
    for row in moves.rows_to(subject.path, subject.status, target):
        if not bank.can(subject, row.trigger):
            continue
        if isinstance(subject, StandingOrder) and row.trigger in CONTRACT_EFFECTS:
            CONTRACT_EFFECTS[row.trigger](bank, subject, reason)
            return
        if isinstance(subject, Bulk) and row.trigger in FILE_EFFECTS:
            FILE_EFFECTS[row.trigger](bank, subject, reason)
            return
        if isinstance(subject, Payment) and row.trigger in EFFECTS:
            EFFECTS[row.trigger](bank, subject, reason)
            return
    raise Refusal(Error.MOVE_ILLEGAL, subject=subject.id, status=subject.status.value, target=target.value)
