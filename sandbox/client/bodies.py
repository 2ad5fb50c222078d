"""Valid bodies of initiations, made from named arguments (service 2.1, 2.2). An argument that is None leaves its field
out of the body."""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from difflib import get_close_matches
from typing import Any, Required, TypedDict
from uuid import uuid4

from sandbox.contract.field_rows import BodyRow, make_body
from sandbox.contract.fields import PAYMENT, STANDING_ORDER, VERSION_1, find_usual_charges

Amount = str | int | Decimal


class InitiationFields(TypedDict, total=False):
    """The fields that payments and standing orders have in common. An account is given by its IBAN, in `creditor_iban`
    or `debtor_iban`."""

    creditor_name: Required[str]
    creditor_iban: str
    debtor_iban: str | None
    endtoend_identification: str | None
    remittance_information_unstructured: str | None
    remittance_information_structured: str | None


class PaymentOrder(InitiationFields, total=False):
    """The fields of a single payment of version 3. `creditor_account` has further fields of the creditor's account:
    bban, bic, country, currency or bank_national_id."""

    amount: Required[Amount]
    currency: str
    debtor_currency: str | None
    requested_execution_date: date | str | None
    instruction_priority: str | None  # HIGH or NORM
    charge_bearer: str | None
    purpose_code: str | None
    creditor_account: Mapping[str, str] | None
    creditor_address: Mapping[str, str] | None


class EarlierOrder(InitiationFields, total=False):
    """The fields of a single payment of version 1."""

    amount: Required[Amount]
    currency: str
    creditor_bic: str | None
    requested_execution_date: date | str | None
    instruction_priority: str | None  # HIGH or NORM


class RegularOrder(InitiationFields, total=False):
    """The fields of a standing order. A standing order of the type FIXED has `amount`. One of the type VARIABLE has
    `minimal_amount`, the balance that stays on the account, and `maximal_amount`, the most that is paid."""

    start_date: Required[date | str]
    frequency: str  # WEEKLY, MONTHLY, TWO_MONTHLY, QUARTERLY, HALF_YEARLY or YEARLY
    amount: Amount | None
    minimal_amount: Amount | None
    maximal_amount: Amount | None
    end_date: date | str | None
    execution_date: date | str | None


# Short names for fields. The types above do not have them, and the functions below accept them too.
SHORT = {
    "reference": "endtoend_identification",
    "text": "remittance_information_unstructured",
    "structured": "remittance_information_structured",
    "on": "requested_execution_date",
    "start": "start_date",
    "end": "end_date",
    "first": "execution_date",
    "keep": "minimal_amount",
    "at_most": "maximal_amount",
}


AMOUNTS = ("amount", "minimal_amount", "maximal_amount")
SCT = "sepa-credit-transfers"


def own_reference() -> str:
    """Returns a new endtoend_identification: 32 letters and digits."""
    return uuid4().hex


def amount_text(amount: Amount) -> str:
    return f"{amount:f}" if isinstance(amount, Decimal) else str(amount)


def values_of(body: BodyRow, order: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the fields of an order under the names that scenarios use, with dates as text. Accepts these names, those
    of the API, and the short names in SHORT. Raises TypeError for any other name. If there is no
    endtoend_identification, adds a new one."""
    words = {"debtor_iban": "debtor", "instruction_priority": "instruction_priority"}
    words |= {path: word for word, path in PAYMENT.paths.items() if word in body.paths and "." not in path}
    words |= {name: word for word, path in body.paths.items() for name in (path, word)}
    fields: dict[str, Any] = {"endtoend_identification": own_reference()}
    for name, value in order.items():
        word = words.get(name) or words.get(SHORT.get(name, name))
        if word is None:
            close = get_close_matches(name, words, 1)
            hint = f", did you mean {close[0]!r}?" if close else f"; there are {', '.join(sorted(words))}"
            raise TypeError(f"{name!r} is no field of {body.request}{hint}")
        fields[word] = day(value)
    return fields


def day(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else value


def read_short(order: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the fields under the names of the API. Replaces the short names in SHORT, leaves out None, and turns
    `urgent` into an instruction_priority."""
    fields = {SHORT.get(name, name): value for name, value in order.items() if name != "urgent" and value is not None}
    if order.get("urgent"):
        fields["instruction_priority"] = "HIGH"
    return fields


def payment_body(product: str = SCT, **order: Any) -> dict[str, Any]:
    """Returns the body of a payment of version 3, from the fields of PaymentOrder."""
    fields = read_short(order)
    account, address = fields.pop("creditor_account", None), fields.pop("creditor_address", None)
    values = values_of(PAYMENT, {"currency": "EUR"} | find_usual_charges(product) | fields)
    values |= {"amount": amount_text(values["amount"]), "creditor_address": dict(address) if address else None}
    body = make_body(PAYMENT, values)
    if account:
        body["creditor_account"] = body.get("creditor_account", {}) | account
    return body


def earlier_payment_body(**order: Any) -> dict[str, Any]:
    """Returns the body of a payment of version 1. Its payment_id is the TPP's own reference (choice 5)."""
    fields = read_short(order)
    urgent = fields.pop("instruction_priority", None) == "HIGH"
    values = values_of(VERSION_1, {"currency": "EUR"} | fields)
    body = make_body(VERSION_1, values | {"amount": amount_text(values["amount"])})
    if "communication" in body:
        body["communication_type"] = "STRUCTURED" if "remittance_information_structured" in fields else "FREETEXT"
    return body | {"payment_treatment_type": "URGENT" if urgent else "NORMAL"}


def standing_order_body(**order: Any) -> dict[str, Any]:
    """Returns the body of a standing order: FIXED if it has an amount, else VARIABLE (service 2.2)."""
    fields = read_short(order)
    kind = "FIXED" if "amount" in fields else "VARIABLE"
    defaults = {"currency": "EUR", "frequency": "MONTHLY", "type": kind}
    values = values_of(STANDING_ORDER, defaults | fields)
    return make_body(STANDING_ORDER, values | {name: amount_text(values[name]) for name in AMOUNTS if name in values})
