"""Checks of transfers and bulks in any format, one function for each rule."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal

from stdnum import iso11649

from sandbox.banking import countries
from sandbox.banking.calendar import why_no_date
from sandbox.banking.iban import bic_belongs, country_of, is_bic, is_iban
from sandbox.banking.money import Money
from sandbox.banking.remittance import is_free_text, read_structured
from sandbox.bulkfiles.report import BatchReport, FileFindings, RefusedBatch, Transfer

EUR = "EUR"
TRANSACTIONS_MAX = 100_000  # choice 7
NAME_LENGTH_MAX = 300  # ours: of an identification that is kept though it is too long for the schema (35)
NOT_PROVIDED = "NOTPROVIDED"  # the SEPA rulebook's word for no reference; it need not be unique

# The SEPA rulebook's characters of an identification; wider than those of choice 5, as files are.
IDENTIFICATION = re.compile(r"[A-Za-z0-9/\-?:().,'+ ]{1,35}")
NAME = re.compile(r"(?!\s*\Z)[^\x00-\x1f\x7f-\x9f\ud800-\udfff]{1,70}")
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)")
NUMBER_LENGTH_MAX = 20  # ours: numbers of that length can be added exactly

Fault = tuple[str, str, str]  # field, code, text


@dataclass(slots=True)
class TransferText:
    """One transfer as its file spells it; a missing text is empty."""

    place: str
    creditor_name: str
    creditor_iban: str
    creditor_bic: str
    amount: str
    currency: str
    endtoend_identification: str
    structured: list[str | None]  # None: a structured part without its reference
    unstructured: list[str]
    instruction: str = ""
    charge_bearer: str = ""
    service_levels: list[str] = field(default_factory=list)
    instrument: str = ""  # the local instrument
    scheme: str = ""  # of the structured communication, in capitals
    equivalent: bool = False  # the amount is given as its worth in another currency


def name(order: TransferText) -> Iterator[Fault]:
    if not NAME.fullmatch(order.creditor_name):
        yield "creditor_name", "NAME", "it takes 1 to 70 characters, none of them a control character"


def iban_fault(text: str, missing: str = "it is missing") -> str | None:
    if not text:
        return missing
    return None if is_iban(text) else f"{text} is no valid IBAN"


def iban(order: TransferText) -> Iterator[Fault]:
    if (why := iban_fault(order.creditor_iban)) is not None:
        yield "creditor_iban", "IBAN", why
    elif country_of(order.creditor_iban) not in countries.SEPA:
        yield "creditor_iban", "COUNTRY", f"{country_of(order.creditor_iban)} is no SEPA country"


def bic(order: TransferText) -> Iterator[Fault]:
    if order.creditor_bic in ("", NOT_PROVIDED):
        return
    if not is_bic(order.creditor_bic):
        yield "creditor_bic", "BIC", f"{order.creditor_bic} is no BIC"
    elif order.creditor_iban and not bic_belongs(order.creditor_bic, order.creditor_iban):
        yield "creditor_bic", "BIC", f"{order.creditor_bic} does not belong to the IBAN"


def amount(order: TransferText) -> Iterator[Fault]:
    if order.equivalent:
        yield "equivalent", "AMOUNT", "EqvtAmt is not taken: give the amount in EUR, as InstdAmt"
        return
    if order.currency != EUR:
        why = f"{order.currency} is not EUR" if order.currency else "it is missing, and must be EUR"
        yield "currency", "CURRENCY", why
    try:
        money = Money.read(order.amount, EUR)
    except ValueError:
        given = f"{order.amount} is no amount" if order.amount else "it is missing: an amount is a number"
        yield "amount", "AMOUNT", f"{given} of up to 13 digits and 2 decimals"
    else:
        if not money.is_positive:
            yield "amount", "AMOUNT", f"{order.amount} is not above 0"


def remittance(order: TransferText) -> Iterator[Fault]:
    if len(order.structured) > 1:
        yield "structured", "STRUCTURED", "one structured communication is allowed"
    elif order.structured and not order.structured[0]:
        yield "structured", "STRUCTURED", "a structured communication (Strd) needs its reference, CdtrRefInf/Ref"
    if len(order.unstructured) > 1:
        yield "unstructured", "REMITTANCE", "one text is allowed"
    elif order.unstructured and order.structured:
        yield "unstructured", "REMITTANCE", "it cannot go with a structured communication"
    elif order.unstructured and not is_free_text(order.unstructured[0]):
        yield "unstructured", "REMITTANCE", "it takes 1 to 140 characters, none of them a control character"


def faults(order: TransferText) -> list[Fault]:
    return [fault for check in (name, iban, bic, amount, remittance) for fault in check(order)]


def read_reference(text: str) -> str | None:
    """A Belgian structured communication in its canonical form, or a creditor reference of ISO 11649."""
    return read_creditor_reference(text) if text.startswith("RF") else read_structured(text)


def read_creditor_reference(text: str) -> str | None:
    """A creditor reference of ISO 11649 with right check digits."""
    whole = text.startswith("RF") and text.isalnum() and text.isascii()
    return text if whole and iso11649.is_valid(text) else None


def identification_fault(text: str) -> str | None:
    return None if IDENTIFICATION.fullmatch(text) else "it takes 1 to 35 characters of the SEPA set"


def references(order: TransferText, *, with_digits: bool = True) -> Iterator[Fault]:
    """Of a csv, which is no part of the SEPA rulebook (service 2.3), and of the first edition."""
    if (why := identification_fault(order.endtoend_identification)) is not None:
        yield "endtoend_identification", "ENDTOEND_ID", why
    for text in filter(None, order.structured):
        if not with_digits and (why := identification_fault(text)) is not None:
            yield "structured", "STRUCTURED", why
        elif with_digits and read_reference(text) is None:
            yield "structured", "STRUCTURED", f"{text} is neither a Belgian communication nor ISO 11649"


def repeated(order: TransferText, earlier: set[str]) -> Iterator[Fault]:
    """Of an identification that the file used before; adds it to the earlier ones."""
    text = order.endtoend_identification
    if text in earlier and text != NOT_PROVIDED:
        yield "endtoend_identification", "DUPLICATE_ENDTOEND", f"{text} occurs before in the file"
    earlier.add(text)


def transfer(order: TransferText) -> Transfer:
    """The value of an order without faults. A reference of any other kind stays as it is given."""
    structured = order.structured[0] if order.structured else None
    return Transfer(
        order.place,
        order.creditor_name,
        order.creditor_iban,
        None if order.creditor_bic in ("", NOT_PROVIDED) else order.creditor_bic,
        Money.read(order.amount, EUR),
        order.endtoend_identification,
        None if structured is None else read_reference(structured) or structured,
        order.unstructured[0] if order.unstructured else None,
    )


def read_date(text: str, today: date, days_ahead_max: int) -> date:
    """An execution date; a ValueError that says what is wrong."""
    if not text:
        raise ValueError(f"it is missing: a date like {today} is needed")
    if not DATE.fullmatch(text):
        raise ValueError(f"{text} is no date like {today}")
    if why := why_no_date(text):
        raise ValueError(why)
    day = date.fromisoformat(text)
    if not timedelta(0) <= day - today <= timedelta(days_ahead_max):
        raise ValueError(f"{day} is not from {today} to {days_ahead_max} days ahead")
    return day


@dataclass(slots=True)
class Sum:
    """The sum of amounts; None when one of them cannot be read."""

    count: int = 0
    total: Decimal = Decimal(0)
    is_whole: bool = True

    def add(self, text: str) -> None:
        self.count += 1
        number = decimal(text)
        if number is None:
            self.is_whole = False
        else:
            self.total += number

    def join(self, other: "Sum") -> None:
        self.count += other.count
        self.total += other.total
        self.is_whole &= other.is_whole


def decimal(text: str) -> Decimal | None:
    """A plain decimal number of a length that can be added exactly."""
    return Decimal(text) if len(text) <= NUMBER_LENGTH_MAX and NUMBER.fullmatch(text) else None


@dataclass(slots=True)
class Draft:
    """A bulk that is being read."""

    place: str
    findings: FileFindings
    execution_date: date
    name: str = ""
    debtor_iban: str = ""
    debtor_currency: str = EUR
    batch_booking: bool = False
    instant_count: int = 0  # of the transactions that ask for it
    is_instant: bool = False
    has_sound_head: bool = True
    sum: Sum = field(default_factory=Sum)
    transfers: list[Transfer] = field(default_factory=list)

    def close(self) -> BatchReport | RefusedBatch:
        """With faults but a sound head, its sound transfers are what is left of it."""
        found, transfers = self.findings, tuple(self.transfers)
        name, total = self.name[:NAME_LENGTH_MAX] or None, sum((one.amount.number for one in transfers), Decimal(0))
        account = (self.debtor_iban, self.debtor_currency)
        head = (self.place, self.name, *account, self.execution_date, self.batch_booking)
        batch = BatchReport(*head, transfers, len(transfers), total, found, self.is_instant)
        if not found:
            return batch
        rest = batch if self.has_sound_head and transfers else None
        return RefusedBatch(self.place, name, self.sum.count, self.sum.total, found, rest)
