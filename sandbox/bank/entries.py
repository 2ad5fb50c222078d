"""Ledger entries of payments and batches: debits, returns, and credits of beneficiaries in this bank (choice 5, choice
7)."""

from collections.abc import Iterator
from datetime import date

from sandbox.bank.accounts import convert_at_fixed_rate, is_closed
from sandbox.bank.fees import find_paid_service
from sandbox.bank.ledger import EXCHANGE, OUTSIDE, LedgerEntry, Posting
from sandbox.bank.records import Batch, Payment, Refund
from sandbox.bank.state import Bank
from sandbox.banking.calendar import find_following_banking_day
from sandbox.banking.money import Money
from sandbox.banking.remittance import read_structured
from sandbox.contract.products import PRODUCTS
from sandbox.contract.reasons import Reason


def debit(bank: Bank, payment: Payment) -> None:
    """Books the debit of a payment when its settlement begins. If the payment has a fee, books it in a second
    transaction."""
    bank.ledger.post(debit_entry(bank, payment, bank.clock.today))
    payment.debited = True
    _charge(bank, payment)


def debit_entry(bank: Bank, payment: Payment, on: date) -> LedgerEntry:
    """Returns the ledger entry that debits a payment on the day `on`. Books nothing."""
    ours, order = make_debtor_posting(payment), payment.order
    out = ours._replace(amount=-ours.amount)
    return _make_entry(
        bank, payment, debit_reference(payment.id), out, order.amount, PRODUCTS[order.product].remark, on
    )


def make_debtor_posting(payment: Payment) -> Posting:
    """Returns the posting that gives the debited amount back to the account that paid. A return books this posting. The
    debit books it with a negative amount."""
    assert payment.debtor is not None
    order, debited = payment.order, convert_at_fixed_rate(payment.order.amount, payment.debtor.currency)
    theirs = order.creditor.iban or order.creditor.bban
    return Posting(payment.debtor.iban, debited, theirs, order.creditor_name)


def _charge(bank: Bank, payment: Payment) -> None:
    """Books the fee of a payment, if it has one, as a separate transaction. A return of the payment does not return the
    fee (service 2.1 rule 6)."""
    if payment.fee is None:
        return
    assert payment.debtor is not None
    order, today = payment.order, bank.clock.today
    debited = convert_at_fixed_rate(payment.fee, payment.debtor.currency)
    sides = (Posting(payment.debtor.iban, -debited), *make_opposite_postings(debited, Posting(OUTSIDE, payment.fee)))
    text = f"Fee {find_paid_service(order)} transfer {order.endtoend_identification}"
    bank.ledger.post(LedgerEntry(f"{payment.id}-F", today, today, sides, text, remark="FEE"))


def debit_reference(payment_id: str) -> str:
    """Returns the reference of the transaction that debits a payment."""
    return f"{payment_id}-D"


def give_back(bank: Bank, payment: Payment) -> None:
    """Books the return of a payment that was debited and then rejected before its settlement. The money goes back to
    the account that paid, in a transaction of its own."""
    remark = f"RETURN {payment.reason or ''}".strip()
    _post(bank, payment, "R", make_debtor_posting(payment), -payment.order.amount, remark)
    payment.debited = False


def send_back(bank: Bank, payment: Payment, back: str, reason: str | None) -> None:
    """Books the return of a settled payment: credits the account that paid, and debits the beneficiary's account if it
    is in this bank. `back` is the kind of the return, such as `recall`."""
    amount, remark = payment.order.amount, f"{back.upper()} {reason or ''}".strip()
    _post(bank, payment, "B", make_debtor_posting(payment), -amount, remark)
    for theirs in _credit_lines(bank, payment):
        _post(bank, payment, "T", theirs._replace(amount=-theirs.amount), amount, remark)


def credit(bank: Bank, payment: Payment) -> None:
    """Books the credit to the beneficiary if the beneficiary's account is in this bank. Otherwise books nothing."""
    order = payment.order
    for theirs in _credit_lines(bank, payment):
        _post(bank, payment, "C", theirs, -order.amount, PRODUCTS[order.product].remark)


def _credit_lines(bank: Bank, payment: Payment) -> Iterator[Posting]:
    """Yields the posting that credits the beneficiary's account in this bank, in the currency of the compartment that
    receives the money. Yields nothing if the account is in another bank."""
    assert payment.debtor is not None
    order = payment.order
    account = bank.accounts.get(order.creditor.iban or "")
    if account is None:
        return
    compartment = order.creditor.currency or order.amount.currency
    currency = compartment if compartment in account.currencies else account.currencies[0]
    credited = convert_at_fixed_rate(order.amount, currency)
    name = bank.customers[payment.customer].name if payment.customer else None
    yield Posting(account.iban, credited, payment.debtor.iban, name)


def make_opposite_postings(inner: Money, outer: Posting) -> tuple[Posting, ...]:
    """Returns the postings that balance a posting on a customer's account. `inner` is the amount of that posting with
    the opposite sign. `outer` is the posting on the other party's account.

    Returns `outer` alone if both amounts have the same currency. Otherwise two postings of the bank's exchange desk
    come before `outer`. They convert `inner` into the currency of `outer`.
    """
    if inner.currency == outer.amount.currency:
        return (outer,)
    return Posting(EXCHANGE, inner), Posting(EXCHANGE, -outer.amount), outer


def _post(bank: Bank, payment: Payment, side: str, posting: Posting, outer: Money, remark: str) -> None:
    """Books a posting on a customer's account, and the opposite posting on OUTSIDE, which stands for all other banks.
    `outer` is the amount of the opposite posting. `side` is the last letter of the entry's reference."""
    bank.ledger.post(_make_entry(bank, payment, f"{payment.id}-{side}", posting, outer, remark, bank.clock.today))


def _make_entry(
    bank: Bank, payment: Payment, reference: str, posting: Posting, outer: Money, remark: str, on: date
) -> LedgerEntry:
    order = payment.order
    structured = read_structured(order.structured) if order.structured else None
    same_day = order.urgent or PRODUCTS[order.product].instant or bank.decisions.value_date == "same_day"
    return LedgerEntry(
        reference,
        on,
        on if same_day else find_following_banking_day(on),
        (posting, *make_opposite_postings(-posting.amount, Posting(OUTSIDE, outer))),
        structured or order.unstructured or "",
        structured is not None,
        f"{remark} {order.endtoend_identification}",
    )


REMARK = "BULK CREDIT TRANSFER"


def book(bank: Bank, part: Batch) -> dict[str, Refund]:
    """Books a batch: debits it in one line or in a line for each transfer, and credits each beneficiary that has an
    open account in this bank. Returns the refunds of transfers to closed accounts, each under the reference of its
    transfer (choice 10)."""
    refunds = {}
    batch, today = part.paying, bank.clock.today
    # One line for the bulk, or one for each transaction (service 2.3); else as the file asks.
    together = {"one_line": True, "each": False}.get(bank.decisions.batch_booking, batch.batch_booking)
    if together:
        total = Money(batch.control_sum, batch.debtor_currency)
        sides = (Posting(batch.debtor_iban, -total), Posting(OUTSIDE, total))
        text = f"{batch.payment_information_id} ({batch.number_of_transactions})"
        bank.ledger.post(LedgerEntry(part.id, today, today, sides, text, remark=REMARK))
    debtor = bank.customers[bank.accounts[batch.debtor_iban].owners[0]].name
    for number, transfer in enumerate(batch.transfers, 1):
        amount, iban = transfer.amount, transfer.creditor_iban
        if together and iban not in bank.accounts:  # outside on both sides
            continue
        closed = is_closed(bank, iban)
        paid = Posting(batch.debtor_iban, -amount, iban, transfer.creditor_name)
        # If the sum was booked in one line, the debtor has paid already, so the transfer comes from OUTSIDE.
        out = Posting(OUTSIDE, -amount) if together else paid
        into = Posting(OUTSIDE, amount)
        if iban in bank.accounts and not closed:
            into = Posting(iban, amount, batch.debtor_iban, debtor)
        if out.account == into.account:
            continue
        text = transfer.structured or transfer.unstructured or ""
        remark = f"{REMARK} {transfer.endtoend_identification}"
        reference = f"{part.id}/{number}"
        entry = LedgerEntry(reference, today, today, (out, into), text, transfer.structured is not None, remark)
        bank.ledger.post(entry)
        if closed:
            refunds[reference] = Refund(entry._replace(postings=(paid,)), "return", Reason.ACCOUNT_CLOSED.code)
    return refunds
