"""Readers: JSON in, orders out. After these nobody meets a text amount or a number that is none."""

from collections.abc import Mapping
from typing import Any

from marshmallow import RAISE, Schema, ValidationError, fields

from sandbox.bank.records import Address, Creditor, Debtor, Order
from sandbox.banking import countries, creditors
from sandbox.banking.iban import is_iban
from sandbox.banking.money import Money, is_currency
from sandbox.banking.remittance import read_structured
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.products import FIELDS, PRODUCTS, Product, Use, use_of
from sandbox.web.api.body_fields import MISSING, Amount, Choice, Day, Text
from sandbox.web.api.strict_json import read_strict

CURRENCY = Text(3, "[A-Z]{3}", "it must be three upper-case letters")
COUNTRY = Text(2, "[A-Z]{2}", "it must be two upper-case letters")
PURPOSE = Text(4, "[A-Z]{4}", "it must be four upper-case letters")
END_TO_END = Text(35, "[A-Za-z0-9-]+", "only letters, digits and - are allowed")


class Strict(Schema):
    """Unknown fields are refused at every depth (choice 5)."""

    class Meta:
        unknown = RAISE


class DebtorBody(Strict):
    iban = Text(34, required=True)
    currency = CURRENCY


class CreditorBody(Strict):
    iban = Text(34)
    bban = Text(34, "[A-Za-z0-9]+", "only letters and digits are allowed")
    bic = Text(11)
    country = COUNTRY
    currency = CURRENCY
    bank_national_id = Text(35)


class AddressBody(Strict):
    street = Text(70)
    building_number = Text(70)
    postcode = Text(70)
    city = Text(70)
    country = COUNTRY


class AmountBody(Strict):
    amount = Amount(required=True)
    currency = CURRENCY


class PaymentBody(Strict):
    """service 2.1, for every product; which fields belong to which is asked of the product's column."""

    debtor_account = fields.Nested(DebtorBody)
    charge_bearer = Choice("SHAR", "DEBT", "CRED")
    creditor_account = fields.Nested(CreditorBody)
    creditor_name = Text(70)
    creditor_address = fields.Nested(AddressBody)
    endtoend_identification = END_TO_END
    instructed_amount = fields.Nested(AmountBody)
    instruction_priority = Choice("NORM", "HIGH")
    purpose_code = PURPOSE
    remittance_information_structured = Text(140)
    remittance_information_unstructured = Text(140)
    requested_execution_date = Day()


NAMED_MAX = 100  # characters of a name that a caller made up
PAYMENT_BODY = PaymentBody()


def read_json(body: bytes) -> Any:
    """The bytes as JSON; what the strict reader does not take is refused."""
    try:
        return read_strict(body)
    except ValueError as fault:
        raise Refusal(Error.INPUT_INVALID, input="body", why=str(fault)) from None


def load(schema: Schema, content: Any) -> dict[str, Any]:
    """The content by its schema; the first fault is the one the caller hears of."""
    if not isinstance(content, dict):
        raise Refusal(Error.INPUT_INVALID, input="body", why="it must be a JSON object")
    try:
        loaded: dict[str, Any] = schema.load(content)
    except ValidationError as error:
        assert isinstance(error.messages, dict)
        field, why = first_fault(error.messages)
        if why == MISSING:
            raise Refusal(Error.INPUT_MISSING, input=field) from None
        raise Refusal(Error.INPUT_INVALID, input=field[:NAMED_MAX], why=why) from None
    return loaded


def first_fault(messages: Mapping[str, Any]) -> tuple[str, str]:
    """The place of a fault, such as creditor_account.iban, and what is wrong there."""
    place, found = next(iter(messages.items()))
    if isinstance(found, Mapping):
        inner, why = first_fault(found)
        return place if inner == "_schema" else f"{place}.{inner}", why
    return place, str(found[0]).rstrip(".")


# The field table by product: what must be there or must not, with the parts of its path.
DEMANDS = {
    product.name: [
        (use_of(path, product), path, *path.partition(".")[::2])
        for path in FIELDS
        if use_of(path, product) is not Use.OPTIONAL
    ]
    for product in PRODUCTS.values()
}


def demand_fields(content: Mapping[str, Any], product: Product) -> None:
    """The product's column of the field table, both ways."""
    for use, path, outer, inner in DEMANDS[product.name]:
        part = content.get(outer)
        present = part is not None and (not inner or inner in part)
        if present and use is Use.ABSENT:
            raise Refusal(Error.INPUT_INVALID, input=path, why=f"{product.name} has no such field")
        if not present and use is Use.REQUIRED:
            missing = Error.ENDTOEND_MISSING if path == "endtoend_identification" else Error.INPUT_MISSING
            raise Refusal(missing, input=path)


def read_amount(amount: Mapping[str, str], product: Product, within: str = "") -> Money:
    """An amount and its currency; `within` is what their names begin with."""
    currency = amount.get("currency", "EUR")
    demand_currency(f"{within}currency", currency, product)
    try:
        money = Money.read(amount["amount"], currency)
    except ValueError:
        why = f"{currency} has fewer decimals"
        raise Refusal(Error.INPUT_INVALID, input=f"{within}amount", why=why) from None
    if not money.is_positive:
        raise Refusal(Error.AMOUNT_NOT_POSITIVE, input=f"{within}amount")
    return money


def demand_currency(field: str, currency: str, product: Product) -> None:
    """EUR within SEPA (service 2.1 rule 4), else one that the bank deals in."""
    accepted = currency == "EUR" if product.sepa else is_currency(currency) and countries.accepts_currency(currency)
    if not accepted:
        raise Refusal(Error.CURRENCY_NOT_ACCEPTED, input=field, currency=currency)


def read_debtor(debtor: Mapping[str, str], product: Product) -> Debtor:
    if not is_iban(debtor["iban"]):
        raise Refusal(Error.INPUT_INVALID, input="debtor_account.iban", why="it is no valid IBAN")
    currency = debtor.get("currency", "EUR")
    demand_currency("debtor_account.currency", currency, product)
    return Debtor(debtor["iban"], currency)


def demand_remittance(structured: str | None, unstructured: str | None) -> None:
    """Belgian form only (service 2.1 rule 5), and one of the two (choice 5)."""
    if structured is None:
        return
    field = "remittance_information_structured"
    if unstructured is not None:
        raise Refusal(Error.INPUT_INVALID, input=field, why="it cannot go with an unstructured one")
    if read_structured(structured) is None:
        raise Refusal(Error.INPUT_INVALID, input=field, why="it is no Belgian structured communication")


def demand_creditor(creditor: Creditor, address: Address | None, purpose: str | None, money: Money, sepa: bool) -> None:
    """The beneficiary as the product wants it."""
    creditors.demand_bank(creditor.iban, creditor.bic, creditor.country)
    if sepa:
        assert creditor.iban is not None
        creditors.demand_sepa(creditor.iban)
        return
    country = creditors.cross_border_country(
        creditor.iban, creditor.bban, creditor.bic, creditor.country, creditor.bank_national_id
    )
    creditors.demand_not_sepa(country, money.currency)
    creditors.demand_purpose(country, purpose)
    where = address or Address()
    creditors.demand_address(country, where.city, where.country)


def read_payment(content: Any, product: Product) -> Order:
    """The body of version 3."""
    given = load(PAYMENT_BODY, content)
    demand_fields(given, product)
    money = read_amount(given["instructed_amount"], product, "instructed_amount.")
    debtor = read_debtor(given["debtor_account"], product) if "debtor_account" in given else None
    creditor = Creditor(**given["creditor_account"]) if "creditor_account" in given else Creditor()
    if creditor.currency is not None:
        demand_currency("creditor_account.currency", creditor.currency, product)
    address = Address(**given["creditor_address"]) if "creditor_address" in given else None
    if address is not None and address.country is not None and not countries.is_country(address.country):
        raise Refusal(Error.INPUT_INVALID, input="creditor_address.country", why="it is no country code")
    structured = given.get("remittance_information_structured")
    unstructured = given.get("remittance_information_unstructured")
    demand_remittance(structured, unstructured)
    demand_creditor(creditor, address, given.get("purpose_code"), money, product.sepa)
    return Order(
        product.name,
        money,
        creditor,
        given["creditor_name"],
        given["endtoend_identification"],
        debtor,
        address,
        given.get("charge_bearer"),
        given.get("instruction_priority"),
        given.get("purpose_code"),
        structured,
        unstructured,
        given.get("requested_execution_date"),
    )
