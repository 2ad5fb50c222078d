"""The summary of what a customer signs, in one language: a headline, and lines of a label and a text."""

from collections.abc import Callable, Iterator
from datetime import date
from operator import attrgetter
from typing import Any, NamedTuple

from sandbox.bank.records import Address, Creditor, PaymentRequest, StandingOrderRequest
from sandbox.banking.iban import find_country, group_iban
from sandbox.banking.recurrence import Frequency, Occurrence
from sandbox.banking.remittance import read_structured
from sandbox.contract.field_rows import BodyRow, ChoiceKind
from sandbox.contract.fields import PAYMENT, STANDING_ORDER
from sandbox.contract.products import PRODUCTS
from sandbox.web.psu.signing_pages import (
    ConsentView,
    FileView,
    OrderView,
    PayingCompartment,
    PaymentView,
    SigningPage,
    View,
)
from sandbox.web.psu.words import (
    name_country,
    name_weekday,
    read_catalogue,
    say,
    write_amount,
    write_count,
    write_day_of_month,
    write_day_of_year,
    write_long_date,
)

Line = tuple[str, str]
# The sentence about the amount of a variable order, by the limits that it has.
FORMULAS = {
    (): "order.everything",
    ("minimal",): "order.above",
    ("maximal",): "order.up_to",
    ("minimal", "maximal"): "order.between",
}


def list_lines(language: str, page: SigningPage) -> list[Line]:
    """Returns everything that the customer signs or consents to, as pairs of label and text. An absent value has no
    line."""
    summary = SUMMARIES[type(page.view)]
    texts = [*summary.lines(language, page.view), ("signed", ", ".join(page.signers))]
    return [(say(language, f"{summary.part}.{key}"), text) for key, text in texts if text]


def write_headline(language: str, view: View) -> Line:
    """Returns the amount and the beneficiary, or for a consent its title and the TPP."""
    return SUMMARIES[type(view)].headline(language, view)


def describe_paying_accounts(page: SigningPage) -> str:
    return ", ".join(group_iban(source.debtor.iban) for source in page.view.sources)


def _list_payment_lines(language: str, view: PaymentView) -> Iterator[Line]:
    order = view.order
    yield "creditor", order.creditor_name
    yield "creditor_account", group_iban(order.creditor.iban or order.creditor.bban or "")
    yield "payee", say(language, f"payee.{view.payee.outcome}") if view.payee else ""
    yield "creditor_bank", _describe_bank(language, order.creditor)
    yield "creditor_address", _write_address(language, order.creditor_address)
    yield "debtor", _describe_source(view.source)
    yield "taken", write_amount(language, view.taken) if view.taken else ""
    yield "communication", _write_communication(language, order.structured, order.unstructured)
    yield "date", _describe_execution(language, view)
    kind = read_catalogue(language).get(order.product, order.product)
    yield "kind", say(language, "urgent", product=kind) if order.urgent else kind
    yield from list_field_lines(language, PAYMENT, order)
    yield "reference", order.endtoend_identification


def _list_consent_lines(language: str, view: ConsentView) -> Iterator[Line]:
    yield "sees", say(language, f"consent.sees {view.address.scope}")
    until = write_long_date(language, view.until)
    if view.address.renews or not view.days:
        yield "life", say(language, "consent.until", until=until)
    else:
        yield "life", say(language, "consent.for", days=write_count(language, "days", view.days), until=until)
    if view.address.scope == "AIS" and view.sca_days:
        yield "again", say(language, "consent.every", days=write_count(language, "days", view.sca_days))


def _describe_bank(language: str, creditor: Creditor) -> str:
    """Returns the identifiers of the beneficiary's bank, and the country of a foreign account."""
    place = creditor.country or (find_country(creditor.iban) if creditor.iban else "")
    country_name = name_country(language, place) if place and place != "BE" else ""
    return ", ".join(filter(None, (creditor.bic, creditor.bank_national_id, country_name)))


def _write_address(language: str, address: Address | None) -> str:
    if address is None:
        return ""
    street = " ".join(filter(None, (address.street, address.building_number)))
    town = " ".join(filter(None, (address.postcode, address.city)))
    return ", ".join(filter(None, (street, town, name_country(language, address.country or ""))))


def _describe_execution(language: str, view: PaymentView) -> str:
    if PRODUCTS[view.order.product].instant:
        return say(language, "review.instant")
    key = "review.at_once" if view.due == view.today else "review.on"
    return say(language, key, date=write_long_date(language, view.due))


def _list_file_lines(language: str, view: FileView) -> Iterator[Line]:
    yield "transfers", write_count(language, "transfers", view.count)
    yield "reference", view.message_id or ""


def _describe_source(paying: PayingCompartment | None) -> str:
    """Returns the account that pays, with the names of its owners. Returns an empty text while the account is not
    known."""
    if paying is None:
        return ""
    compartment = "" if paying.debtor.currency == "EUR" else f" {paying.debtor.currency}"
    return f"{group_iban(paying.debtor.iban)}{compartment}, {paying.owners}"


def _write_communication(language: str, structured: str | None, unstructured: str | None) -> str:
    if structured:
        return read_structured(structured) or structured
    return unstructured or say(language, "review.none")


def list_field_lines(language: str, body: BodyRow, record: PaymentRequest | StandingOrderRequest) -> Iterator[Line]:
    """Yields label and text of each field that was sent and has a label. If the field has a fixed list of words, its
    word is translated."""
    for row in body.fields:
        value = attrgetter(row.attribute_path)(record) if row.label else None
        if isinstance(value, date):
            yield row.label, write_long_date(language, value)
        elif value is not None:
            yield row.label, say(language, value) if isinstance(row.kind, ChoiceKind) else value


def _list_order_lines(language: str, view: OrderView) -> Iterator[Line]:
    order = view.order
    yield "creditor", order.creditor_name
    yield "creditor_account", group_iban(order.creditor_iban)
    yield "debtor", _describe_source(view.source)
    yield "formula", describe_formula(language, order) if order.variable else ""
    yield "communication", _write_communication(language, order.structured, order.unstructured)
    yield "frequency", describe_rhythm(language, order)
    yield "first", _describe_day(language, view.first)
    yield "end", _end(language, view)
    yield "closed_days", say(language, "order.previous_day" if order.variable else "order.next_day")
    yield from list_field_lines(language, STANDING_ORDER, order)
    yield "reference", order.endtoend_identification


def _make_order_headline(language: str, view: OrderView) -> Line:
    order = view.order
    paid = write_amount(language, order.amount) if order.amount else say(language, "order.variable")
    return paid, order.creditor_name


def describe_formula(language: str, order: StandingOrderRequest) -> str:
    """Returns how the amount of a variable order is computed. The text has the amount that must stay on the account,
    and the highest amount that may leave it (service 2.2 rule 2)."""
    limits = {"minimal": order.minimal, "maximal": order.maximal}
    bounds = {name: write_amount(language, limit) for name, limit in limits.items() if limit is not None}
    return say(language, FORMULAS[tuple(bounds)], **bounds)


def describe_rhythm(language: str, order: StandingOrderRequest) -> str:
    """Returns the frequency of a standing order and the day of its executions."""
    first, frequency = order.first, order.frequency
    if frequency is Frequency.WEEKLY:
        return say(language, frequency, day=name_weekday(language, first))
    if frequency is Frequency.YEARLY:
        return say(language, frequency, day=write_day_of_year(language, first))
    ordinal = write_day_of_month(language, first)
    day = say(language, "order.month_end" if first.day > 28 else "order.month_day", day=ordinal)
    return say(language, frequency, day=day)


def _describe_day(language: str, day: Occurrence) -> str:
    """Returns the banking day of an execution, and the planned day if that is another day."""
    on = write_long_date(language, day.on)
    if day.on == day.planned:
        return on
    return say(language, "order.shifted", on=on, planned=write_long_date(language, day.planned))


def _end(language: str, view: OrderView) -> str:
    if view.order.end_date is None:
        return say(language, "order.endless")
    end = write_long_date(language, view.order.end_date)
    if view.last is None:
        return end
    return say(language, "order.last", end=end, last=write_long_date(language, view.last.on))


class SigningSummary(NamedTuple):
    """The functions that write the summary of one kind of view."""

    headline: Callable[[str, Any], Line]
    lines: Callable[[str, Any], Iterator[Line]]
    part: str = "review"  # of the catalogue, in which the labels stand


SUMMARIES: dict[type[View], SigningSummary] = {
    PaymentView: SigningSummary(
        lambda language, view: (write_amount(language, view.order.amount), view.order.creditor_name),
        _list_payment_lines,
    ),
    OrderView: SigningSummary(_make_order_headline, _list_order_lines),
    FileView: SigningSummary(
        lambda language, view: (write_amount(language, view.amount), write_count(language, "transfers", view.count)),
        _list_file_lines,
    ),
    ConsentView: SigningSummary(
        lambda language, view: (say(language, "consent.drawn"), view.tpp), _list_consent_lines, "consent"
    ),
}
