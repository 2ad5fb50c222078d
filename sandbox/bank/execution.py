"""The execution of a payment after its last signature: reservation, execution and settlement (choice 5)."""

from datetime import date, datetime, timedelta

from sandbox.bank import accounts, entries, fees, initiations, returns
from sandbox.bank.records import Batch, Payment, PaymentRequest, Refund, list_cancellation_facts
from sandbox.bank.state import Bank
from sandbox.banking.calendar import (
    find_following_banking_day,
    find_next_banking_day,
    is_after_cut_off,
    is_banking_day,
    make_brussels_instant,
)
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.moves import Trigger
from sandbox.contract.products import PRODUCTS
from sandbox.contract.reasons import Reason

# An instant payment fails when 10 seconds have passed without an answer, or as soon as the other bank refuses.
INSTANT_TIME_OUT, INSTANT_REFUSAL = timedelta(seconds=10), timedelta(seconds=2)
TIMED_OUT = (Reason.CREDITOR_BANK_SILENT.code, Reason.BANK_SILENT.code, Reason.TOO_LATE.code)


def is_late(bank: Bank, order: PaymentRequest) -> bool:
    """Whether today's cut-off time has passed for this payment. If so, a payment that is signed now waits for the next
    banking day (choice 14). Always False for an instant payment, for a payment of a later day, and if the decision
    `cut_off` is `off`."""
    is_today = order.execution_date is None or order.execution_date <= bank.clock.today
    is_cut_off = is_today and not PRODUCTS[order.product].instant and bank.decisions.cut_off != "off"
    return is_cut_off and is_after_cut_off(bank.clock.now)


def find_day_of_payment(bank: Bank, order: PaymentRequest) -> date | None:
    """Returns the day on which a payment that is signed now is executed. Returns None if it is executed at once."""
    is_today = order.execution_date is None or order.execution_date <= bank.clock.today
    if is_today and PRODUCTS[order.product].instant:
        return None
    if is_late(bank, order):
        return find_following_banking_day(bank.clock.today)
    return find_execution_day(bank, order.execution_date or bank.clock.today)


def find_execution_day(bank: Bank, requested_day: date) -> date | None:
    """Returns the banking day on which the bank executes a payment or a batch that was requested for `requested_day`.
    Returns None if it is executed at once. This is so if `requested_day` is today or earlier, and today is a banking
    day or the decision `closed_days` is not `respect`."""
    today = bank.clock.today
    if requested_day > today or (bank.decisions.closed_days == "respect" and not is_banking_day(today)):
        return find_next_banking_day(max(requested_day, today))
    return None


def compute_execution_time(day: date) -> datetime:
    """Returns 06:00 in Brussels on a day, when the payments of that day are executed."""
    return make_brussels_instant(day, 6)


def compute_due_time(subject: Payment | Batch, promised: datetime) -> datetime:
    """Returns when a payment or a batch is executed: at 06:00 on its planned day, or at `promised` if it has no planned
    day."""
    return promised if subject.executes_on is None else compute_execution_time(subject.executes_on)


def complete(bank: Bank, payment: Payment) -> None:
    """Reserves the funds of a payment after its last signature, and schedules its execution. Debits an instant payment
    at once instead, and schedules its settlement, or its rejection if the decision `instant_outcome` demands that."""
    assert payment.debtor is not None
    now, decisions = bank.clock.now, bank.find_decisions(payment)
    bank.move(payment, Trigger.SIGNED)
    payment.signed_on = bank.clock.today
    payment.counted_on = accounts.limit_day(bank, payment.order)
    payment.fee = fees.find_fee(bank, payment.order, payment.debtor)
    payment.needs = fees.compute_needs(bank, payment.order, payment.debtor)
    _count(bank, payment, +1)
    if PRODUCTS[payment.order.product].instant:
        entries.debit(bank, payment)
        if bank.decisions.instant_outcome == "settles":
            bank.agenda.add(now + decisions.instant_settlement, payment.id, Trigger.SETTLED)
        else:
            payment.fails_with = bank.decisions.instant_outcome
            after = INSTANT_TIME_OUT if payment.fails_with in TIMED_OUT else INSTANT_REFUSAL
            bank.agenda.add(now + after, payment.id, Trigger.REJECTED)
        return
    payment.executes_on = find_day_of_payment(bank, payment.order)
    _reserve(bank, payment, +1)
    bank.agenda.add(compute_due_time(payment, now + decisions.settlement_begins), payment.id, Trigger.EXECUTED)


def execute(bank: Bank, payment: Payment) -> None:
    """Begins the settlement of a payment if the funds suffice. If they do not, schedules another try, or gives the
    payment up after the last try. Gives it up at once if the debtor's account is closed."""
    assert payment.debtor is not None and payment.needs is not None
    if accounts.is_closed(bank, payment.debtor.iban):
        give_up(bank, payment, Reason.ACCOUNT_CLOSED.code)
        return
    funds = accounts.compute_execution_funds(bank, payment.debtor)
    if payment.executes_on is None:
        funds += payment.needs  # its own reservation
    if funds >= payment.needs:
        begin_settlement(bank, payment)
        return
    if payment.tries >= bank.decisions.recycling_tries:
        give_up(bank, payment, Reason.FUNDS_MISSING.code)
    else:
        recycle(bank, payment)


def begin_settlement(bank: Bank, payment: Payment, reason: str | None = None) -> None:
    decisions = bank.find_decisions(payment)
    _reserve(bank, payment, -1)
    bank.move(payment, Trigger.EXECUTED, reason)
    entries.debit(bank, payment)
    settlement_time = max(decisions.settlement_ends - decisions.settlement_begins, timedelta())
    bank.agenda.add(bank.clock.now + settlement_time, payment.id, Trigger.SETTLED)


def recycle(bank: Bank, payment: Payment, reason: str | None = None) -> None:
    """Schedules another try to execute a payment for which funds are missing: at 06:00 on the next banking day."""
    bank.move(payment, Trigger.FUNDS_MISSING, reason)
    _reserve(bank, payment, -1)
    payment.tries += 1
    payment.executes_on = find_following_banking_day(bank.clock.today)
    _reserve(bank, payment, +1)
    bank.agenda.add(compute_execution_time(payment.executes_on), payment.id, Trigger.EXECUTED)


def give_up(bank: Bank, payment: Payment, reason: str | None = None) -> None:
    bank.move(payment, Trigger.GIVEN_UP, reason)
    _let_go(bank, payment)


def settle(bank: Bank, payment: Payment, reason: str | None = None) -> None:
    """Settles a payment. Rejects it instead if the beneficiary's account in this bank is closed (choice 10). Also
    rejects it if the decision `names` is `late` and the beneficiary's name has characters outside the SEPA set."""
    if accounts.is_closed(bank, payment.order.creditor.iban):
        reject(bank, payment, Reason.ACCOUNT_CLOSED.code)
    elif initiations.is_refused_late(bank, payment.order.creditor_name):
        reject(bank, payment, Reason.NAME_UNREADABLE.code)
    else:
        _settle(bank, payment, reason)


def _settle(bank: Bank, payment: Payment, reason: str | None = None) -> None:
    bank.move(payment, Trigger.SETTLED, reason)
    payment.settled = True
    entries.credit(bank, payment)


def reject(bank: Bank, payment: Payment, reason: str | None = None) -> None:
    """Rejects a payment. Books a debited amount back to the debtor, or releases the reservation if nothing was debited.

    If the decision `after_debit` is `return`, a debited payment is settled instead. Its return is booked at once if
    today is a banking day, else on the next banking day.
    """
    if payment.debited and bank.can(payment, Trigger.SETTLED) and bank.decisions.after_debit == "return":
        _settle(bank, payment)
        returns.promise(bank, payment.id, Refund(None, "return", reason))
        return
    bank.move(payment, Trigger.REJECTED, reason)
    if payment.debited:
        entries.give_back(bank, payment)
        _count(bank, payment, -1)
    else:
        _let_go(bank, payment)


def fail(bank: Bank, payment: Payment) -> None:
    """Rejects an instant payment for the reason that was stored when it was signed."""
    reject(bank, payment, payment.fails_with)


def cancel(bank: Bank, payment: Payment, reason: str | None = None) -> None:
    """Cancels a payment. Refuses if the table of moves does not permit it now (service 3.4), or if the decision
    `cancel_cut_off` is `day_before` and the execution day has come. Does nothing if the payment is cancelled already
    and `is_cancelled_again` accepts that."""
    if initiations.is_cancelled_again(bank, payment):
        return
    today = bank.clock.today
    waits = payment.executes_on is not None and payment.tries == 0
    late = waits and bank.decisions.cancel_cut_off == "day_before" and today >= (payment.executes_on or today)
    if late or not bank.can(payment, Trigger.CANCELLED):
        raise Refusal(Error.NOT_CANCELLABLE, status=payment.status.value, decided_by=list_cancellation_facts(payment))
    waiting = payment.signed_on is not None
    bank.move(payment, Trigger.CANCELLED, reason)
    if waiting:
        _let_go(bank, payment)


def _let_go(bank: Bank, payment: Payment) -> None:
    _reserve(bank, payment, -1)
    _count(bank, payment, -1)


def _reserve(bank: Bank, payment: Payment, sign: int) -> None:
    """Reserves the payment's funds until the settlement begins (`sign` 1), or releases them (-1)."""
    assert payment.debtor is not None and payment.needs is not None
    register = bank.reserved if payment.executes_on is None else bank.reserved_later
    accounts.reserve(register, payment.debtor, sign * payment.needs.number)


def _count(bank: Bank, payment: Payment, sign: int) -> None:
    """Adds the amount of a payment to the sum of the day on which it counts for the account's limits. With `sign` -1,
    subtracts the amount from this sum."""
    assert payment.debtor is not None and payment.counted_on is not None
    amount = sign * accounts.convert_at_fixed_rate(payment.order.amount, "EUR").number
    accounts.count_spent(bank, payment.debtor.iban, payment.counted_on, amount)
