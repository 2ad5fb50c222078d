"""A payment as a customer reads it: lines of a label and a text, in one language."""

from collections.abc import Iterator

from sandbox.bank.records import Address, Creditor
from sandbox.pages.sights import Sight
from sandbox.pages.words import say
from sandbox.pages.writing import account, amount, country, long_date
from sandbox.rules.iban import country_of
from sandbox.rules.products import PRODUCTS
from sandbox.rules.remittance import read_structured

Line = tuple[str, str]


def lines(language: str, sight: Sight) -> list[Line]:
    """Everything that the customer signs for; what was not given has no line."""
    return [(say(language, f"review.{key}"), text) for key, text in _texts(language, sight) if text]


def _texts(language: str, sight: Sight) -> Iterator[Line]:
    order = sight.payment.order
    yield "creditor", order.creditor_name
    yield "creditor_account", account(order.creditor.iban or order.creditor.bban or "")
    yield "creditor_bank", _bank(language, order.creditor)
    yield "creditor_address", _address(language, order.creditor_address)
    yield "debtor", _debtor(sight)
    yield "taken", amount(language, sight.taken) if sight.taken else ""
    yield "communication", _communication(language, order.structured, order.unstructured)
    yield "date", _execution(language, sight)
    kind = say(language, order.product)
    yield "kind", say(language, "urgent", kind=kind) if order.urgent else kind
    yield "charges", say(language, order.charge_bearer) if order.charge_bearer else ""
    yield "purpose", order.purpose_code or ""
    yield "reference", order.endtoend_identification
    yield "tpp", sight.tpp
    yield "signed", ", ".join(sight.signers)


def _bank(language: str, creditor: Creditor) -> str:
    """Its identifiers, and its country where the account leads abroad."""
    place = creditor.country or (country_of(creditor.iban) if creditor.iban else "")
    where = country(language, place) if place and place != "BE" else ""
    return ", ".join(filter(None, (creditor.bic, creditor.bank_national_id, where)))


def _address(language: str, address: Address | None) -> str:
    if address is None:
        return ""
    street = " ".join(filter(None, (address.street, address.building_number)))
    town = " ".join(filter(None, (address.postcode, address.city)))
    return ", ".join(filter(None, (street, town, country(language, address.country or ""))))


def _debtor(sight: Sight) -> str:
    debtor = sight.session.debtor or sight.payment.debtor
    if debtor is None:
        return ""
    compartment = "" if debtor.currency == "EUR" else f" {debtor.currency}"
    return f"{account(debtor.iban)}{compartment}, {sight.debtor_name}"


def _communication(language: str, structured: str | None, unstructured: str | None) -> str:
    if structured:
        return read_structured(structured) or structured
    return unstructured or say(language, "review.none")


def _execution(language: str, sight: Sight) -> str:
    if PRODUCTS[sight.payment.order.product].instant:
        return say(language, "review.instant")
    key = "review.at_once" if sight.due == sight.today else "review.on"
    return say(language, key, date=long_date(language, sight.due))
