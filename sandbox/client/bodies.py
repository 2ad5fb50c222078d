"""Good bodies, of what a person would name (service 2.1, 2.2). What is None is left out."""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import uuid4

Amount = str | int | Decimal
SCT = "sepa-credit-transfers"
XB = "cross-border-credit-transfers"


def own_reference() -> str:
    """A fresh endtoend_identification: 32 letters and digits."""
    return uuid4().hex


def amount_text(amount: Amount) -> str:
    return f"{amount:f}" if isinstance(amount, Decimal) else str(amount)


def filled(**fields: Any) -> dict[str, Any]:
    """The fields that are given; objects that would be empty are none."""
    return {name: value for name, value in fields.items() if value is not None and value != {}}


def day(value: date | str | None) -> str | None:
    return value.isoformat() if isinstance(value, date) else value


def payment_body(
    product: str = SCT,
    *,
    creditor_name: str,
    amount: Amount,
    creditor_iban: str | None = None,
    currency: str = "EUR",
    reference: str | None = None,
    debtor_iban: str | None = None,
    debtor_currency: str | None = None,
    text: str | None = None,
    structured: str | None = None,
    on: date | str | None = None,
    urgent: bool = False,
    charge_bearer: str | None = None,
    purpose_code: str | None = None,
    creditor_account: Mapping[str, str] | None = None,
    creditor_address: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Version 3. `creditor_account` adds bban, bic, country, currency or bank_national_id to the IBAN."""
    return filled(
        debtor_account=filled(iban=debtor_iban, currency=debtor_currency),
        creditor_account=filled(iban=creditor_iban, **(creditor_account or {})),
        creditor_name=creditor_name,
        creditor_address=dict(creditor_address or {}),
        endtoend_identification=reference or own_reference(),
        instructed_amount={"amount": amount_text(amount), "currency": currency},
        charge_bearer=charge_bearer or ("SHAR" if product == XB else None),
        instruction_priority="HIGH" if urgent else None,
        purpose_code=purpose_code,
        remittance_information_structured=structured,
        remittance_information_unstructured=text,
        requested_execution_date=day(on),
    )


def earlier_payment_body(
    *,
    creditor_iban: str,
    creditor_name: str,
    amount: Amount,
    currency: str = "EUR",
    reference: str | None = None,
    debtor_iban: str | None = None,
    creditor_bic: str | None = None,
    text: str | None = None,
    structured: str | None = None,
    on: date | str | None = None,
    urgent: bool = False,
) -> dict[str, Any]:
    """Version 1; its payment_id is the TPP's own reference (choice 5)."""
    kind = "STRUCTURED" if structured is not None else "FREETEXT" if text is not None else None
    return filled(
        origin_account=filled(iban=debtor_iban),
        remote_account=filled(name=creditor_name, iban=creditor_iban, bic=creditor_bic),
        amount=amount_text(amount),
        currency=currency,
        communication=text if structured is None else structured,
        communication_type=kind,
        execution_date=day(on),
        payment_id=reference or own_reference(),
        payment_treatment_type="URGENT" if urgent else "NORMAL",
    )


def standing_order_body(
    *,
    creditor_iban: str,
    creditor_name: str,
    start: date | str,
    frequency: str = "MONTHLY",
    amount: Amount | None = None,
    keep: Amount | None = None,
    at_most: Amount | None = None,
    reference: str | None = None,
    debtor_iban: str | None = None,
    end: date | str | None = None,
    first: date | str | None = None,
    text: str | None = None,
    structured: str | None = None,
) -> dict[str, Any]:
    """FIXED with an amount; VARIABLE without: `keep` stays on the account, `at_most` goes (service 2.2)."""
    amounts = {"amount": amount, "minimal_amount": keep, "maximal_amount": at_most}
    return filled(
        debtor_account=filled(iban=debtor_iban),
        creditor_account={"iban": creditor_iban},
        creditor_name=creditor_name,
        endtoend_identification=reference or own_reference(),
        periodic_payment_type="VARIABLE" if amount is None else "FIXED",
        instructed_amount={
            "currency": "EUR",
            **{name: amount_text(value) for name, value in amounts.items() if value is not None},
        },
        start_date=day(start),
        end_date=day(end),
        execution_date=day(first),
        frequency=frequency,
        remittance_information_structured=structured,
        remittance_information_unstructured=text,
    )
