"""A payment as a customer reads it: lines of a label and a text, in one language."""

from collections.abc import Iterator

from sandbox.bank import bulks, signing
from sandbox.bank.bulk_records import Bulk
from sandbox.bank.contracts import Contract, StandingOrder
from sandbox.bank.records import Address, Creditor, Order, Payment
from sandbox.pages.sights import Sight
from sandbox.pages.words import say
from sandbox.pages.writing import account, amount, country, long_date
from sandbox.rules.iban import country_of
from sandbox.rules.money import Money
from sandbox.rules.products import PRODUCTS
from sandbox.rules.remittance import read_structured

Line = tuple[str, str]


def lines(language: str, sight: Sight) -> list[Line]:
    """Everything that the customer signs for; what was not given has no line."""
    return [(say(language, f"review.{key}"), text) for key, text in _texts(language, sight) if text]


def headline(language: str, sight: Sight) -> Line:
    """The amount, and to whom."""
    match sight.payment:
        case Payment(order=order):
            return amount(language, order.amount), order.creditor_name
        case StandingOrder(order=contract):
            largest = amount(language, contract.amount) if contract.amount else say(language, "review.variable")
            return largest, contract.creditor_name
        case Bulk() as bulk:
            count = sum(len(part.paying.transfers) for part in bulk.living)
            return amount(language, Money(bulks.total(bulk), "EUR")), say(language, "review.transfers", count=count)


def _texts(language: str, sight: Sight) -> Iterator[Line]:
    match sight.payment:
        case Payment(order=order):
            yield from _payment(language, sight, order)
        case StandingOrder(order=contract):
            yield from _standing_order(language, sight, contract)
        case Bulk() as bulk:
            yield from _bulk(language, bulk)
    yield "tpp", sight.tpp
    yield "signed", ", ".join(sight.signers)


def _standing_order(language: str, sight: Sight, contract: Contract) -> Iterator[Line]:
    yield "creditor", contract.creditor_name
    yield "creditor_account", account(contract.creditor_iban)
    yield "debtor", _debtor(sight)
    yield "maximal", amount(language, contract.maximal) if contract.maximal else ""
    yield "minimal", amount(language, contract.minimal) if contract.minimal else ""
    yield "communication", _communication(language, contract.structured, contract.unstructured)
    yield "frequency", say(language, contract.frequency)
    yield "first", long_date(language, contract.first)
    yield "end", long_date(language, contract.end_date) if contract.end_date else ""
    yield "reference", contract.endtoend_identification


def _bulk(language: str, bulk: Bulk) -> Iterator[Line]:
    for part in bulk.living:
        sum_of = amount(language, Money(part.paying.control_sum, part.paying.debtor_currency))
        yield "debtor", f"{account(part.paying.debtor_iban)}, {sum_of}"
        yield "date", long_date(language, part.paying.execution_date)
    yield "reference", bulk.message_id or ""


def _payment(language: str, sight: Sight, order: Order) -> Iterator[Line]:
    yield "creditor", order.creditor_name
    yield "creditor_account", account(order.creditor.iban or order.creditor.bban or "")
    yield "creditor_bank", _bank(language, order.creditor)
    yield "creditor_address", _address(language, order.creditor_address)
    yield "debtor", _debtor(sight)
    yield "taken", amount(language, sight.taken) if sight.taken else ""
    yield "communication", _communication(language, order.structured, order.unstructured)
    yield "date", _execution(language, sight, order)
    kind = say(language, order.product)
    yield "kind", say(language, "urgent", product=kind) if order.urgent else kind
    yield "charges", say(language, order.charge_bearer) if order.charge_bearer else ""
    yield "purpose", order.purpose_code or ""
    yield "reference", order.endtoend_identification


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
    debtor = sight.session.debtor or signing.debtor_of(sight.payment)
    if debtor is None:
        return ""
    compartment = "" if debtor.currency == "EUR" else f" {debtor.currency}"
    return f"{account(debtor.iban)}{compartment}, {sight.debtor_name}"


def _communication(language: str, structured: str | None, unstructured: str | None) -> str:
    if structured:
        return read_structured(structured) or structured
    return unstructured or say(language, "review.none")


def _execution(language: str, sight: Sight, order: Order) -> str:
    if PRODUCTS[order.product].instant:
        return say(language, "review.instant")
    key = "review.at_once" if sight.due == sight.today else "review.on"
    return say(language, key, date=long_date(language, sight.due))
