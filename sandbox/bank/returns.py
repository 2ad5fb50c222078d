"""Money that comes back after the settlement: returns and recalls of payments, refunds of direct debits (choice 5)."""

from datetime import datetime

from sandbox.bank import payment_entries
from sandbox.bank.ledger import OUTSIDE, Entry, Posting
from sandbox.bank.records import Payment, Refund
from sandbox.bank.rules import DEBIT, Looks
from sandbox.bank.state import Bank
from sandbox.bank.subjects import Subject
from sandbox.banking.calendar import at_brussels, brussels_date, is_banking_day, next_banking_day
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.moves import Trigger

BOOKED_AT = 5  # hour in Brussels of a refund that would fall on a closed day


def send_back(bank: Bank, payment: Subject, back: str, reason: str | None) -> None:
    """A settled payment comes back once; its status stays, and the journal says what happened."""
    if not isinstance(payment, Payment) or not payment.settled or payment.returned:
        raise Refusal(Error.MOVE_ILLEGAL, subject=payment.id, status=payment.status.value, target=back)
    payment_entries.send_back(bank, payment, back, reason)
    payment.returned = True
    bank.note(payment, Trigger.RETURNED, reason)


def meet_debit(bank: Bank, entry: Entry) -> None:
    """A direct debit was booked: the first rule that fits says whether its money comes back, and when."""
    ours = entry.postings[0]
    account = bank.accounts[ours.account]
    looks = Looks(
        DEBIT,
        "",
        customer=account.owners[0],
        debtor=account.iban,
        creditor_iban=ours.counterparty_account,
        creditor_name=ours.counterparty_name,
        amount=-ours.amount.number,
        currency=ours.amount.currency,
    )
    match = bank.rulebook.first(looks, bank.clock.now)
    bank.rulebook.met |= match.counted
    rule = None if match.number is None else bank.rulebook.rules[match.number]
    then = None if rule is None else next((then for then in rule.then if then.back), None)
    if then is None:
        return
    bank.refunds[entry.reference] = Refund(entry, then.back, then.reason)
    bank.agenda.add(_open_at(bank.clock.now + then.after), entry.reference, Trigger.RETURNED)


def refund(bank: Bank, reference: str) -> None:
    """The same money comes back, as a second transaction."""
    found = bank.refunds.pop(reference)
    ours, today = found.entry.postings[0], bank.clock.today
    postings = (ours._replace(amount=-ours.amount), Posting(OUTSIDE, ours.amount, ours.account))
    remark = f"{found.back.upper()} {found.reason or ''}".strip()
    entry = found.entry._replace(reference=f"{reference}R", on=today, value_on=today, postings=postings, remark=remark)
    bank.ledger.post(entry)


def _open_at(at: datetime) -> datetime:
    """The instant itself on a banking day, else the morning of the next one."""
    day = brussels_date(at)
    return at if is_banking_day(day) else at_brussels(next_banking_day(day), BOOKED_AT)
