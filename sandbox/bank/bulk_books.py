"""How a bulk shows in the books: one debit, or one per transaction (choice 7)."""

from sandbox.bank.bulk_records import Part
from sandbox.bank.ledger import OUTSIDE, Entry, Posting
from sandbox.bank.state import Bank
from sandbox.files.report import Transfer
from sandbox.rules.money import Money

REMARK = "BULK CREDIT TRANSFER"


def book(bank: Bank, part: Part) -> None:
    """Beneficiaries in this bank are credited in the same motion."""
    batch, today = part.paying, bank.clock.today
    if batch.batch_booking:
        total = Money(batch.control_sum, batch.debtor_currency)
        out = Posting(batch.debtor_iban, -total)
        credits = tuple(_credit(bank, part, transfer) for transfer in batch.transfers)
        text = f"{batch.payment_information_id} ({batch.number_of_transactions})"
        bank.ledger.post(Entry(part.id, today, today, (out, *credits), text, remark=REMARK))
        return
    for number, transfer in enumerate(batch.transfers, 1):
        out = Posting(batch.debtor_iban, -transfer.amount, transfer.creditor_iban, transfer.creditor_name)
        sides = (out, _credit(bank, part, transfer))
        text = transfer.structured or transfer.unstructured or ""
        remark = f"{REMARK} {transfer.endtoend_identification}"
        reference = f"{part.id}/{number}"
        bank.ledger.post(Entry(reference, today, today, sides, text, transfer.structured is not None, remark))


def _credit(bank: Bank, part: Part, transfer: Transfer) -> Posting:
    if transfer.creditor_iban not in bank.accounts:
        return Posting(OUTSIDE, transfer.amount)
    owner = bank.accounts[part.paying.debtor_iban].owners[0]
    return Posting(transfer.creditor_iban, transfer.amount, part.paying.debtor_iban, bank.customers[owner].name)
