"""What a payment and a standing order may be made of, by the names of the API (service 2.1, 2.2)."""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Required, TypedDict

Amount = str | int | Decimal


class Order(TypedDict, total=False):
    """What both have. The accounts' own fields are flat: creditor_iban, debtor_iban."""

    creditor_name: Required[str]
    creditor_iban: str
    debtor_iban: str | None
    endtoend_identification: str | None
    remittance_information_unstructured: str | None
    remittance_information_structured: str | None


class PaymentOrder(Order, total=False):
    """A single payment of version 3; `creditor_account` adds bban, bic, country, currency or bank_national_id."""

    amount: Required[Amount]
    currency: str
    debtor_currency: str | None
    requested_execution_date: date | str | None
    instruction_priority: str | None  # HIGH or NORM
    charge_bearer: str | None
    purpose_code: str | None
    creditor_account: Mapping[str, str] | None
    creditor_address: Mapping[str, str] | None


class EarlierOrder(Order, total=False):
    """A single payment of version 1."""

    amount: Required[Amount]
    currency: str
    creditor_bic: str | None
    requested_execution_date: date | str | None
    instruction_priority: str | None  # HIGH or NORM


class RegularOrder(Order, total=False):
    """A standing order: FIXED with an amount; VARIABLE without, by what stays and what goes at the most."""

    start_date: Required[date | str]
    frequency: str  # WEEKLY, MONTHLY, TWO_MONTHLY, QUARTERLY, HALF_YEARLY or YEARLY
    amount: Amount | None
    minimal_amount: Amount | None
    maximal_amount: Amount | None
    end_date: date | str | None
    execution_date: date | str | None


# The short words that calls without a type may use as well.
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
