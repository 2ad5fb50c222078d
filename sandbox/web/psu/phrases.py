"""Small phrases that several papers share."""

from sandbox.banking.remittance import read_structured
from sandbox.web.psu.formats import account, count
from sandbox.web.psu.initiation_views import Source
from sandbox.web.psu.words import say

Line = tuple[str, str]


def source(paying: Source | None) -> str:
    """The account that pays, and whose it is; nothing until one is known."""
    if paying is None:
        return ""
    compartment = "" if paying.debtor.currency == "EUR" else f" {paying.debtor.currency}"
    return f"{account(paying.debtor.iban)}{compartment}, {paying.owners}"


def communication(language: str, structured: str | None, unstructured: str | None) -> str:
    if structured:
        return read_structured(structured) or structured
    return unstructured or say(language, "review.none")


def counted(language: str, key: str, number: int) -> str:
    """`1 virement`, `2 virements`."""
    return say(language, key, "one" if number == 1 else "", count=count(language, number))
