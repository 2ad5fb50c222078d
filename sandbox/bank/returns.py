"""Money that comes back to a customer: returns and recalls of settled payments, and refunds of direct debits (choice 5,
choice 13).

Other banks work on banking days, so on a closed day the money waits for the next banking day. Only `send_back_now`,
which a tester calls, books on any day."""

from sandbox.bank import entries
from sandbox.bank.ledger import OUTSIDE, LedgerEntry, Posting
from sandbox.bank.records import Payment, Refund, Subject
from sandbox.bank.rules import DEBIT, RuleFacts
from sandbox.bank.state import Bank
from sandbox.banking.calendar import move_to_banking_day
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.moves import Trigger


def send_back(bank: Bank, payment: Subject, back: str, reason: str | None) -> None:
    """Books the return of a settled payment and adds a line to the journal. The status does not change. `back` is the
    kind of the return: `return` or `recall`. Refuses a payment that is not settled, or whose money has already come
    back."""
    if not isinstance(payment, Payment) or not payment.settled:
        raise _refuse(payment, back, "{subject} is {status}; only a settled payment can come back by a {target}.")
    if payment.returned:
        raise _refuse(payment, back, "{subject} came back before, so a {target} finds nothing.")
    entries.send_back(bank, payment, back, reason)
    payment.returned = True
    bank.note(payment, Trigger.RETURNED, reason)


def _refuse(payment: Subject, back: str, sentence: str) -> Refusal:
    status = payment.status.value
    return Refusal(Error.MOVE_ILLEGAL, subject=payment.id, status=status, target=back, sentence=sentence)


def send_back_now(bank: Bank, payment_id: str, back: str, reason: str | None) -> None:
    """Books the return of a settled payment for a tester, even on a closed day (choice 10)."""
    payment = bank.payments.get(payment_id)
    if payment is None:
        raise Refusal(Error.NOT_FOUND, input="payment")
    send_back(bank, payment, back, reason)


def promise(bank: Bank, name: str, refund: Refund) -> None:
    """Books a refund at once if today is a banking day. Otherwise schedules it for the next banking day. `name` is the
    id of the payment, or the reference of the booked entry."""
    bank.refunds[name] = refund
    at = move_to_banking_day(bank.clock.now)
    if at == bank.clock.now:
        book(bank, name)
    else:
        bank.agenda.add(at, name, Trigger.RETURNED)


def book(bank: Bank, name: str) -> None:
    """Books the refund that was scheduled under `name`, in a transaction of its own. Does nothing for a payment that a
    tester has already sent back."""
    refund = bank.refunds.pop(name)
    if refund.entry is None:
        if not bank.payments[name].returned:  # a tester may have been faster
            send_back(bank, bank.payments[name], refund.back, refund.reason)
        return
    ours, today = refund.entry.postings[0], bank.clock.today
    postings = (ours._replace(amount=-ours.amount), Posting(OUTSIDE, ours.amount, ours.account))
    remark = f"{refund.back.upper()} {refund.reason or ''}".strip()
    bank.ledger.post(
        refund.entry._replace(reference=f"{name}R", on=today, value_on=today, postings=postings, remark=remark)
    )


def promise_refund_by_rule(bank: Bank, entry: LedgerEntry) -> None:
    """Schedules a refund of a booked direct debit if the first rule that fits the debit demands a refund."""
    ours = entry.postings[0]
    account = bank.accounts[ours.account]
    facts = RuleFacts(
        DEBIT,
        "",
        customer=account.owners[0],
        debtor=account.iban,
        creditor_iban=ours.counterparty_account,
        creditor_name=ours.counterparty_name,
        amount=-ours.amount.number,
        currency=ours.amount.currency,
    )
    number, _ = bank.rulebook.find_first_match(facts, bank.clock.now)
    rule = None if number is None else bank.rulebook.rules[number]
    then = None if rule is None else next((then for then in rule.then if then.back), None)
    if then is None:
        return
    bank.refunds[entry.reference] = Refund(entry, then.back, then.reason)
    bank.agenda.add(then.compute_due_time(bank.clock.now), entry.reference, Trigger.RETURNED)
