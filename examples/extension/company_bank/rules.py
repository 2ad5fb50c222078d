"""A rule of the referee: our payments name their invoice."""

import re

from sandbox.contract.added_settings import AddedSetting, value_of
from sandbox.extensions.referee.observations import Observation
from sandbox.extensions.referee.rule import WARNING, RuleState, rule

INVOICE = re.compile(r"INV-[0-9]{6}")
SETTINGS = (AddedSetting("company_invoices", ("required", "optional"), "Whether they are named.", "our handbook 4.2"),)


@rule("company-invoice", WARNING, "our handbook 4.2", on=("payment_initiation",), refused=False)
def names_no_invoice(event: Observation, memory: RuleState) -> str | None:
    """A payment names no invoice.

    Begin the communication with the invoice, such as INV-000123.
    """
    if value_of(event.bank.settings, "company_invoices") == "optional":
        return None
    text = event.bank.payments[str(event.subject)].order.unstructured or ""
    return None if INVOICE.match(text) else f"its communication is {text!r}"
