"""Accounts and whole bodies that the chapters share."""

from typing import Any

from tests.tpp import XB, payment

ALICE = "BE16539100001774"  # private, EUR
BRAM = "BE56539100003188"  # private, EUR, USD and GBP
BAKKERIJ = "BE63539100004808"  # business
COUNTER = "BE33539100008646"  # griet's second account, in no electronic channel
BLOCKED = "BE53539100009353"  # its customer blocked the channel
POOR = "BE71539100010969"  # 12.50 EUR
LIMITED = "BE91539100011676"  # 250 a day, 500 a week, Belgium only, no payments outside SEPA

TUNISIAN = "TN5910006035183598478831"
EMIRATI = "AE070331234567890123456"
SWISS = "CH9300762011623852957"
BRITISH = "GB33BUKB20201555555555"
STRUCTURED = "+++090/9337/55493+++"


def to_tunisia(**changes: Any) -> dict[str, Any]:
    """Cross-border to an IBAN outside SEPA, which needs a BIC and an address."""
    given = {
        "creditor_account": {"iban": TUNISIAN, "bic": "BIATTNTT"},
        "creditor_address": {"city": "Tunis", "country": "TN"},
    }
    return payment(XB, **given | changes)


def to_america(**changes: Any) -> dict[str, Any]:
    """Cross-border to an account number without IBAN."""
    given = {
        "creditor_account": {"bban": "000123456789", "country": "US", "bank_national_id": "021000021"},
        "creditor_address": {"city": "Boston", "country": "US"},
    }
    return payment(XB, **given | changes)


def to_the_emirates(**changes: Any) -> dict[str, Any]:
    """Cross-border to a country that wants a purpose code."""
    given = {
        "creditor_account": {"iban": EMIRATI, "bic": "EBILAEAD"},
        "creditor_address": {"city": "Dubai", "country": "AE"},
        "purpose_code": "SALA",
    }
    return payment(XB, **given | changes)
