"""A control: our payments by invoice."""

from marshmallow import fields

from sandbox.bank.state import Bank
from sandbox.web.controls.body_fields import reply
from sandbox.web.controls.control_row import Control, get

PAID = reply("PaidInvoice", invoice=fields.String(), payment_id=fields.String(), status=fields.String())
CONTROLS: tuple[Control, ...] = (
    get("/company/invoices", "company_bank.controls:invoices", "Our payments by invoice.", reply=[PAID]),
)


def invoices(bank: Bank) -> list[dict[str, str]]:
    return [
        {"invoice": text[:10], "payment_id": name, "status": payment.status.value}
        for name, payment in bank.payments.items()
        if (text := payment.order.unstructured or "").startswith("INV-")
    ]
