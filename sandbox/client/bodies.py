"""Valid bodies of initiations, from named arguments (service 2.1, 2.2). None leaves a field out."""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import uuid4

from sandbox.contract.field_rows import Body, fill
from sandbox.contract.fields import PAYMENT, STANDING_ORDER, VERSION_1

Amount = str | int | Decimal
SCT = "sepa-credit-transfers"
XB = "cross-border-credit-transfers"


def own_reference() -> str:
    """A fresh endtoend_identification: 32 letters and digits."""
    return uuid4().hex


def amount_text(amount: Amount) -> str:
    return f"{amount:f}" if isinstance(amount, Decimal) else str(amount)


def known(body: Body, more: Mapping[str, Any]) -> dict[str, Any]:
    """Fields by their scenario words; a word that the body does not have is a mistake of the caller."""
    for word in more:
        if word not in body.paths:
            raise TypeError(f"{word!r} is no field of {body.request}; the others are {', '.join(body.paths)}")
    return {word: day(value) for word, value in more.items()}


def day(value: Any) -> Any:
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
    **more: Any,
) -> dict[str, Any]:
    """Version 3. `creditor_account` adds bban, bic, country, currency or bank_national_id to the IBAN.

    `more` takes any other field by the word that a scenario step has for it."""
    body = fill(
        PAYMENT,
        known(PAYMENT, more)
        | {
            "debtor": debtor_iban,
            "debtor_currency": debtor_currency,
            "creditor_iban": creditor_iban,
            "creditor_name": creditor_name,
            "creditor_address": dict(creditor_address) if creditor_address else None,
            "endtoend_identification": reference or own_reference(),
            "amount": amount_text(amount),
            "currency": currency,
            "charge_bearer": charge_bearer or ("SHAR" if product == XB else None),
            "instruction_priority": "HIGH" if urgent else None,
            "purpose_code": purpose_code,
            "structured": structured,
            "unstructured": text,
            "on": day(on),
        },
    )
    if creditor_account:
        body["creditor_account"] = body.get("creditor_account", {}) | creditor_account
    return body


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
    body = fill(
        VERSION_1,
        {
            "debtor": debtor_iban,
            "creditor_iban": creditor_iban,
            "creditor_name": creditor_name,
            "creditor_bic": creditor_bic,
            "amount": amount_text(amount),
            "currency": currency,
            "unstructured": text if structured is None else structured,
            "on": day(on),
            "endtoend_identification": reference or own_reference(),
        },
    )
    if "communication" in body:
        body["communication_type"] = "FREETEXT" if structured is None else "STRUCTURED"
    return body | {"payment_treatment_type": "URGENT" if urgent else "NORMAL"}


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
    **more: Any,
) -> dict[str, Any]:
    """FIXED with an amount; VARIABLE without: `keep` stays on the account, `at_most` goes (service 2.2)."""
    amounts = {"amount": amount, "minimal_amount": keep, "maximal_amount": at_most}
    return fill(
        STANDING_ORDER,
        known(STANDING_ORDER, more)
        | {name: None if value is None else amount_text(value) for name, value in amounts.items()}
        | {
            "debtor": debtor_iban,
            "creditor_iban": creditor_iban,
            "creditor_name": creditor_name,
            "endtoend_identification": reference or own_reference(),
            "type": "VARIABLE" if amount is None else "FIXED",
            "currency": "EUR",
            "start_date": day(start),
            "end_date": day(end),
            "execution_date": day(first),
            "frequency": frequency,
            "structured": structured,
            "unstructured": text,
        },
    )
