"""A control: the payments by invoice. Its function gets the bank of the world that is called, and may only read it."""

from marshmallow import fields

from sandbox.bank.state import Bank
from sandbox.web.controls.body_fields import reply
from sandbox.web.controls.control_row import Control, get

PAID = reply("PaidInvoice", invoice=fields.String(), payment_id=fields.String(), status=fields.String())
CONTROLS: tuple[Control, ...] = (
    get("/company/invoices", "company_bank.controls:invoices", "Our payments by invoice.", reply=[PAID]),
)


def invoices(bank: Bank) -> list[dict[str, str]]:
    texts = {payment.id: payment.communication or "" for payment in bank.payments.values()}
    return [
        {"invoice": text[:10], "payment_id": name, "status": bank.payments[name].status.value}
        for name, text in texts.items()
        if text.startswith("INV-")
    ]
