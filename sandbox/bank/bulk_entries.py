"""The entries of a bulk: one debit, or one per transaction (choice 7)."""

from sandbox.bank.accounts import is_closed
from sandbox.bank.ledger import OUTSIDE, Entry, Posting
from sandbox.bank.state import Bank
from sandbox.bank.subjects import Part
from sandbox.banking.money import Money
from sandbox.files.report import Transfer

REMARK = "BULK CREDIT TRANSFER"


def book(bank: Bank, part: Part) -> None:
    """Books a bulk; beneficiaries in this bank are credited at once, each with the text of its transfer."""
    batch, today = part.paying, bank.clock.today
    together = is_booked_together(bank, part)
    if together:
        total = Money(batch.control_sum, batch.debtor_currency)
        sides = (Posting(batch.debtor_iban, -total), Posting(OUTSIDE, total))
        text = f"{batch.payment_information_id} ({batch.number_of_transactions})"
        bank.ledger.post(Entry(part.id, today, today, sides, text, remark=REMARK))
    for number, transfer in enumerate(batch.transfers, 1):
        if together and transfer.creditor_iban not in bank.accounts:  # outside on both sides
            continue
        out, into = _debit(part, transfer, together), _credit(bank, part, transfer)
        if out.account == into.account:
            continue
        text = transfer.structured or transfer.unstructured or ""
        remark = f"{REMARK} {transfer.endtoend_identification}"
        reference = f"{part.id}/{number}"
        entry = Entry(reference, today, today, (out, into), text, transfer.structured is not None, remark)
        bank.ledger.post(entry)
        if is_closed(bank, transfer.creditor_iban):  # the beneficiary's account takes nothing (choice 10)
            _return(bank, part, transfer, entry)


def _return(bank: Bank, part: Part, transfer: Transfer, entry: Entry) -> None:
    """The money of one transfer comes back, as a line of its own with its reason."""
    back = Posting(part.paying.debtor_iban, transfer.amount, transfer.creditor_iban, transfer.creditor_name)
    postings = (back, Posting(OUTSIDE, -transfer.amount))
    bank.ledger.post(entry._replace(reference=f"{entry.reference}R", postings=postings, remark="RETURN AC04"))


def is_booked_together(bank: Bank, part: Part) -> bool:
    """One line for the bulk, or one for each transaction (service 2.3)."""
    match bank.variant("batch_booking"):
        case "one_line":
            return True
        case "each":
            return False
        case _:
            return part.paying.batch_booking


def _debit(part: Part, transfer: Transfer, together: bool) -> Posting:
    """Booked as a batch, the sum left the debtor at once, so that what comes back in comes from outside."""
    if together:
        return Posting(OUTSIDE, -transfer.amount)
    return Posting(part.paying.debtor_iban, -transfer.amount, transfer.creditor_iban, transfer.creditor_name)


def _credit(bank: Bank, part: Part, transfer: Transfer) -> Posting:
    if transfer.creditor_iban not in bank.accounts or is_closed(bank, transfer.creditor_iban):
        return Posting(OUTSIDE, transfer.amount)
    owner = bank.accounts[part.paying.debtor_iban].owners[0]
    return Posting(transfer.creditor_iban, transfer.amount, part.paying.debtor_iban, bank.customers[owner].name)
