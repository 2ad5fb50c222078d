"""The fields of the bodies of initiations. Each row has the field's path, its kind of value, the products that use it,
and its names elsewhere.

Readers, writers, schemas, the reference, the client and the scenario steps are made from these rows."""

from dataclasses import replace
from enum import StrEnum
from typing import Any

from sandbox.contract.field_rows import (
    EUR,
    IBAN,
    AmountKind,
    BodyRow,
    ChoiceKind,
    DateKind,
    Field,
    ObjectKind,
    TextKind,
    Use,
)
from sandbox.contract.products import PRODUCTS, Product


class Frequency(StrEnum):
    """How often a standing order is executed (choice 6)."""

    WEEKLY = "WEEKLY"
    MONTHLY = "MONTHLY"
    TWO_MONTHLY = "TWO_MONTHLY"
    QUARTERLY = "QUARTERLY"
    HALF_YEARLY = "HALF_YEARLY"
    YEARLY = "YEARLY"


BIC = TextKind(11)
NAME = TextKind(70)
FREE_TEXT = TextKind(140)
COUNTRY = TextKind(2, "[A-Z]{2}", "it must be two upper-case letters")
CURRENCY = TextKind(3, "[A-Z]{3}", "it must be three upper-case letters")
PURPOSE = TextKind(4, "[A-Z]{4}", "it must be four upper-case letters")
REFERENCE = TextKind(35, "[A-Za-z0-9-]+", "only letters, digits and - are allowed")
ACCOUNT_NUMBER = TextKind(34, "[A-Za-z0-9]+", "only letters and digits are allowed")
IBAN_NOTE = "Upper case, without blanks; length, shape and check digits must be right."

# The table of service 2.1, with a column for each of PRODUCTS. Fields that it calls "default" or "conditional" are
# optional here. The conditions are checked in banking/creditors.
PAYMENT = BodyRow(
    "PaymentBody",
    "PaymentDetailsReply",
    tuple(PRODUCTS),
    (
        Field(
            "debtor_account", ObjectKind("DebtorBody", "DebtorRow"), "",
            "The account that pays. Left out, the customer picks one at the bank.", "service 2.1.2",
        ),
        Field("debtor_account.iban", IBAN, "ooo", IBAN_NOTE, "service 2.1.1", called=("debtor",), demanded=True),
        Field(
            "debtor_account.currency", CURRENCY, "ooo",
            "The compartment to use; EUR where left out, and always EUR within SEPA.", "service 2.1.1", default=EUR,
        ),
        Field(
            "charge_bearer", ChoiceKind(("SHAR", "DEBT", "CRED")), "--r",
            "Who pays the charges: shared, the debtor, or the creditor.", label="charges",
        ),
        Field("creditor_account", ObjectKind("CreditorBody", "CreditorRow", always=True), clause="service 2.1.3"),
        Field("creditor_account.iban", IBAN, "rro", IBAN_NOTE, "service 2.1.3"),
        Field(
            "creditor_account.bban", ACCOUNT_NUMBER, "--o",
            "An account number of a country without IBAN; with country and bank_national_id, never with bic.",
        ),
        Field("creditor_account.bic", BIC, "ooo", "Must be of the IBAN's country; needed for an IBAN outside SEPA."),
        Field(
            "creditor_account.bank_national_id", TextKind(35), "--o",
            "The bank's number in its country's clearing; goes with a bban.",
            called=("bank_national_id",),
        ),
        Field("creditor_account.country", COUNTRY, "ooo", "Two upper-case letters, ISO 3166.", "service 2.1.3"),
        Field(
            "creditor_account.currency", CURRENCY, "--o", "The compartment of the beneficiary's account.",
            "service 2.1.3",
        ),
        Field("creditor_name", NAME, "rrr", "1 to 70 characters, no control characters."),
        Field(
            "creditor_address", ObjectKind("AddressBody", "AddressRow"), "--o",
            "Needed, with city and country, for a beneficiary outside the EEA.",
        ),
        Field("creditor_address.street", NAME),
        Field("creditor_address.building_number", NAME),
        Field("creditor_address.postcode", NAME),
        Field("creditor_address.city", NAME),
        Field("creditor_address.country", COUNTRY, note="Two upper-case letters, ISO 3166."),
        Field("endtoend_identification", REFERENCE, "rrr", "Your own reference: 1 to 35 letters, digits or -."),
        Field("instructed_amount", ObjectKind("AmountBody", "MoneyRow", always=True), clause="service 2.1.4"),
        Field(
            "instructed_amount.amount", AmountKind(), "rrr",
            "A decimal string above 0, with no more decimals than the currency has; a JSON number is refused.",
            "service 2.1.4", "amount", demanded=True,
        ),
        Field(
            "instructed_amount.currency", CURRENCY, "oor",
            "EUR within SEPA, and EUR where left out there; required for cross-border.", "service 2.1.4",
            "amount.currency", called=("currency",), default=EUR,
        ),
        Field(
            "instruction_priority", ChoiceKind(("NORM", "HIGH")), "o-o",
            "HIGH is urgent, for professional accounts only; NORM where left out.", attribute="priority",
            called=("instruction_priority",),
        ),
        Field(
            "purpose_code", PURPOSE, "--o", "Four letters of the ISO 20022 list; some countries demand one.",
            label="purpose",
        ),
        Field(
            "remittance_information_structured", FREE_TEXT, "oo-",
            "Belgian form, +++ddd/dddd/ddddd+++ or twelve digits, with its check digits; "
            "not beside an unstructured one.",
            "service 2.1.5", "structured",
        ),
        Field(
            "remittance_information_unstructured", FREE_TEXT, "ooo", "Free text, up to 140 characters.",
            attribute="unstructured",
        ),
        Field(
            "requested_execution_date", DateKind(), "o-o",
            "From today to 365 days ahead; today means direct execution.",
            attribute="execution_date", called=("on",),
        ),
    ),
    "service 2.1",
)  # fmt: skip


def _copy_field(path: str, uses: str, **changes: Any) -> Field:
    """Returns a copy of a payment's field for standing orders. `uses` says whether a standing order requires the
    field."""
    return replace(PAYMENT.by_path[path], uses=uses, label="", **changes)


# The table of service 2.2, with choice 6.
STANDING_ORDER = BodyRow(
    "ContractBody",
    "ContractDetailsReply",
    ("periodic-payments",),
    (
        _copy_field("debtor_account", "", clause="service 2.2"),
        _copy_field("debtor_account.iban", "o", clause="service 2.2"),
        _copy_field("debtor_account.currency", "o", clause="service 2.2"),
        Field("creditor_account", ObjectKind("BeneficiaryBody", "BeneficiaryRow", always=True), clause="service 2.2"),
        _copy_field("creditor_account.iban", "r", attribute="creditor_iban", demanded=True, clause="service 2.2"),
        _copy_field("creditor_name", "r", clause="choice 6"),
        _copy_field("endtoend_identification", "r", clause="choice 6"),
        Field(
            "periodic_payment_type", ChoiceKind(("FIXED", "VARIABLE")), "o",
            "FIXED where left out. VARIABLE pays only to a savings account of this bank.", "service 2.2",
            called=("type",), default="FIXED",
        ),
        Field(
            "instructed_amount", ObjectKind("ContractAmountBody", "ContractMoneyRow", always=True), clause="service 2.2"
        ),
        _copy_field("instructed_amount.currency", "o", note="", attribute="currency", clause="service 2.2"),
        _copy_field(
            "instructed_amount.amount", "o", note="For FIXED, and required there.", clause="service 2.2", demanded=False
        ),
        Field(
            "instructed_amount.minimal_amount", AmountKind(), "o",
            "For VARIABLE: what stays on the ordering account at least.", "service 2.2", "minimal",
            called=("minimal_amount",),
        ),
        Field(
            "instructed_amount.maximal_amount", AmountKind(), "o",
            "For VARIABLE: what is transferred at most.", "service 2.2", "maximal", called=("maximal_amount",),
        ),
        Field(
            "start_date", DateKind(), "r", "After today. Unless weekly, it fixes the day of each execution.", "choice 6"
        ),
        Field("end_date", DateKind(), "o", "Its month is the last one with an execution.", "service 2.2"),
        Field(
            "execution_date", DateKind(), "o",
            "Weekly: the first execution, from start_date to six days later. Else it equals start_date.", "choice 6",
        ),
        Field("frequency", ChoiceKind(tuple(Frequency)), "r", "How often it executes.", "choice 6"),
        _copy_field("remittance_information_structured", "o"),
        _copy_field("remittance_information_unstructured", "o", clause="choice 6"),
    ),
    "",
)  # fmt: skip

# Version 1 of a SEPA credit transfer (service 2.1).
VERSION_1 = BodyRow(
    "EarlierBody",
    "",
    ("version 1",),
    (
        Field("origin_account", ObjectKind("OriginBody"), clause="service 2.1"),
        Field(
            "origin_account.iban", IBAN, "o", IBAN_NOTE, "service 2.1", "debtor.iban", called=("debtor",),
            demanded=True,
        ),
        Field("remote_account", ObjectKind("RemoteBody"), clause="service 2.1", demanded=True),
        Field("remote_account.name", NAME, "r", attribute="creditor_name", demanded=True),
        Field("remote_account.iban", IBAN, "r", IBAN_NOTE, "service 2.1", "creditor.iban", demanded=True),
        Field(
            "remote_account.bic", BIC, "o", "Must be of the IBAN's country; needed for an IBAN outside SEPA.",
            attribute="creditor.bic",
        ),
        Field("amount", AmountKind(number=True), "r", "A number or a decimal string.", demanded=True),
        Field("currency", CURRENCY, "o", attribute="amount.currency", called=("currency",), default=EUR),
        Field("communication", FREE_TEXT, "o", attribute="unstructured", called=("unstructured", "structured")),
        Field("communication_type", ChoiceKind(("FREETEXT", "STRUCTURED")), "o", "FREETEXT where left out.", called=()),
        Field("execution_date", DateKind(), "o", called=("on",)),
        Field(
            "payment_id", REFERENCE, "r", "Your own reference; the bank's comes with the reply.",
            attribute="endtoend_identification",
        ),
        Field(
            "payment_treatment_type", ChoiceKind(("NORMAL", "URGENT")), "o", "URGENT is the HIGH of version 3.",
            attribute="priority", called=(),
        ),
    ),
    "service 2.1",
)  # fmt: skip

BODIES = (PAYMENT, STANDING_ORDER, VERSION_1)
FIELDS = PAYMENT.stated  # the table of service 2.1


def find_use(path: str, product: Product) -> Use:
    """Returns whether the field is required, optional or absent for a payment of that product."""
    return PAYMENT.find_use(FIELDS[path], product.name)


def find_usual_charges(product: str) -> dict[str, str]:
    """Returns the field `charge_bearer` with its usual value if the product requires the field. Otherwise returns an
    empty dictionary."""
    row = PRODUCTS.get(product)
    return {"charge_bearer": "SHAR"} if row and find_use("charge_bearer", row) is Use.REQUIRED else {}
