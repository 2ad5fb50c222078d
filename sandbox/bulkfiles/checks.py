"""Checks of transfers and batches (choice 7). Some are for pain.001 and csv. Those of the SEPA rulebook are for
pain.001 only."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any

from stdnum import iso11649

from sandbox.banking import countries
from sandbox.banking.calendar import explain_wrong_date
from sandbox.banking.iban import bic_fits_iban, find_country, is_bic, is_iban
from sandbox.banking.money import Money
from sandbox.banking.remittance import is_free_text, read_structured
from sandbox.bulkfiles.report import (
    Allowance,
    BatchReport,
    FileFindings,
    FindingCode,
    RefusedBatch,
    RefusedTransfer,
    Transfer,
    ValidationRules,
)

EUR = "EUR"
TRANSACTIONS_MAX = 100_000  # choice 7
# a limit of the sandbox's own: stored characters of an identification above the schema's limit (35)
NAME_LENGTH_MAX = 300
REFERENCE_MAX = 35
NOT_PROVIDED = "NOTPROVIDED"  # the SEPA rulebook's word for no reference; it need not be unique
CHARGE_BEARER = "SLEV"
URGENT = "URGP"
SERVICE_LEVELS = ("SEPA", URGENT)  # files come from business customers, who may send urgent transfers
INSTANT = "INST"
AMOUNT_MAX = Decimal("999999999.99")  # of one SEPA credit transfer
AMOUNT_READ = Decimal("1e13")  # a longer number is not an amount
ADDRESS_LINES_MAX = 2

NAME = re.compile(r"(?!\s*\Z)[^\x00-\x1f\x7f-\x9f\ud800-\udfff]{1,70}")
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)")
NUMBER_LENGTH_MAX = 20  # a limit of the sandbox's own: numbers up to this length are added exactly
SEPA_SET = re.compile(r"[A-Za-z0-9/\-?:().,'+ ]*")
SEPA_SET_IN_WORDS = "letters, digits, blank and / - ? : ( ) . , ' +"
# Matches nearly every text at once: the SEPA set, the usual Latin letters with marks, and the indentation between
# elements. The check of each field finds control characters within a text.
USUAL_TEXT = re.compile(r"[A-Za-z0-9/\-?:().,'+ \t\r\n\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff]*")
INDENTATION = "\t\r\n"
# Elements that this bank does not send to other banks. They may have any characters.
NOT_SENT_ON = frozenset({"CtctDtls", "SplmtryData", "RltdRmtInf"})

Fault = tuple[str, FindingCode, str]  # its field or path, its code and its text


@dataclass(slots=True)
class TransferText:
    """One transfer with its texts as in the file. A missing text is empty."""

    place: str
    creditor_name: str
    creditor_iban: str
    creditor_bic: str
    amount: str
    currency: str
    endtoend_identification: str
    structured: list[str | None]  # None for a structured part that has no reference
    unstructured: list[str]
    instruction: str = ""
    charge_bearer: str = ""
    service_levels: list[str] = field(default_factory=list)
    instrument: str = ""  # the local instrument
    scheme: str = ""  # the scheme of the structured communication, in capitals
    is_equivalent: bool = False  # whether the amount is given by its equivalent in another currency


class FileReader:
    """The state while one file is read. The readers of pain.001 and of csv extend this class."""

    def __init__(self, rules: ValidationRules) -> None:
        self.rules = rules
        self.allowance = Allowance()
        self.findings = FileFindings()  # the findings that refuse the whole file, always with their texts
        self.endtoend_ids = set[str]()


# Checks of transfers in every format


def find_iban_fault(text: str, missing: str = "it is missing") -> str | None:
    if not text:
        return missing
    return None if is_iban(text) else f"{text} is no valid IBAN"


def find_transfer_faults(transfer: TransferText) -> Iterator[Fault]:
    if not NAME.fullmatch(transfer.creditor_name):
        yield "creditor_name", "NAME", "it takes 1 to 70 characters, none of them a control character"
    iban, bic = transfer.creditor_iban, transfer.creditor_bic
    if (fault := find_iban_fault(iban)) is not None:
        yield "creditor_iban", "IBAN", fault
    elif find_country(iban) not in countries.SEPA:
        yield "creditor_iban", "COUNTRY", f"{find_country(iban)} is no SEPA country"
    if bic not in ("", NOT_PROVIDED):
        if not is_bic(bic):
            yield "creditor_bic", "BIC", f"{bic} is no BIC"
        elif iban and not bic_fits_iban(bic, iban):
            yield "creditor_bic", "BIC", f"{bic} does not belong to the IBAN"
    yield from find_amount_faults(transfer)
    structured, unstructured = transfer.structured, transfer.unstructured
    if len(structured) > 1:
        yield "structured", "STRUCTURED", "one structured communication is allowed"
    elif structured and not structured[0]:
        yield "structured", "STRUCTURED", "a structured communication (Strd) needs its reference, CdtrRefInf/Ref"
    if len(unstructured) > 1:
        yield "unstructured", "REMITTANCE", "one text is allowed"
    elif unstructured and structured:
        yield "unstructured", "REMITTANCE", "it cannot go with a structured communication"
    elif unstructured and not is_free_text(unstructured[0]):
        yield "unstructured", "REMITTANCE", "it takes 1 to 140 characters, none of them a control character"


def find_amount_faults(transfer: TransferText) -> Iterator[Fault]:
    if transfer.is_equivalent:
        yield "equivalent", "AMOUNT", "EqvtAmt is not taken: give the amount in EUR, as InstdAmt"
        return
    if transfer.currency != EUR:
        fault = f"{transfer.currency} is not EUR" if transfer.currency else "it is missing, and must be EUR"
        yield "currency", "CURRENCY", fault
    try:
        if not Money.read(transfer.amount, EUR).is_positive:
            yield "amount", "AMOUNT", f"{transfer.amount} is not above 0"
    except ValueError:
        fault = f"{transfer.amount} is no amount" if transfer.amount else "it is missing: an amount is a number"
        yield "amount", "AMOUNT", f"{fault} of up to 13 digits and 2 decimals"


def read_reference(text: str) -> str | None:
    """Returns the canonical form of a Belgian structured communication, or an ISO 11649 reference unchanged. Returns
    None for any other text."""
    return read_creditor_reference(text) if text.startswith("RF") else read_structured(text)


def read_creditor_reference(text: str) -> str | None:
    is_whole = text.startswith("RF") and text.isalnum() and text.isascii()
    return text if is_whole and iso11649.is_valid(text) else None


def find_repetition(transfer: TransferText, earlier: set[str]) -> Iterator[Fault]:
    """Yields a fault if an earlier transfer of the file has the same identification. NOT_PROVIDED may occur repeatedly.
    Adds the identification to `earlier`."""
    text = transfer.endtoend_identification
    if text in earlier and text != NOT_PROVIDED:
        yield "endtoend_identification", "DUPLICATE_ENDTOEND", f"{text} occurs before in the file"
    earlier.add(text)


# The SEPA rulebook: charge bearer, service level, references and characters of pain.001


def find_rulebook_faults(element: Any, transfer: TransferText, with_digits: bool) -> Iterator[Fault]:
    """Yields the faults of a transaction against the SEPA rulebook, each at a field or at a path in the transaction. If
    `with_digits`, also checks the check digits of a structured reference."""
    yield from find_term_faults(transfer.charge_bearer, transfer.service_levels, transfer.instrument)
    amount = read_decimal(transfer.amount)
    if amount is not None and AMOUNT_MAX < amount < AMOUNT_READ:
        yield "amount", "AMOUNT", f"{transfer.amount} is over {AMOUNT_MAX}, the most of one SEPA credit transfer"
    yield from find_address_faults(element)
    if with_digits and (fault := _find_scheme_fault(transfer)) is not None:
        yield "structured", "STRUCTURED", fault
    for field_name in ("instruction", "endtoend_identification"):
        if (fault := _find_slash_fault(getattr(transfer, field_name))) is not None:
            yield field_name, "REFERENCE_SLASHES", fault
    yield from find_character_faults(element)


def find_term_faults(charge_bearer: str, service_levels: list[str], instrument: str) -> Iterator[Fault]:
    """Yields the faults in the terms of a batch or a transaction: its charge bearer, its service levels and its local
    instrument."""
    if charge_bearer not in ("", CHARGE_BEARER):
        yield "ChrgBr", "CHARGE_BEARER", f"{charge_bearer} is not {CHARGE_BEARER}, which a SEPA credit transfer takes"
    for level in service_levels:
        if level not in SERVICE_LEVELS:
            fault = f"{level} is not taken: {' and '.join(SERVICE_LEVELS)} are, each as Cd"
            yield "PmtTpInf/SvcLvl", "SERVICE_LEVEL", fault
    if instrument not in ("", INSTANT):
        yield "PmtTpInf/LclInstrm", "LOCAL_INSTRUMENT", f"{instrument} is not taken: {INSTANT} is, as Cd"
    elif instrument and URGENT in service_levels:
        fault = f"{instrument} cannot go with the service level {URGENT}"
        yield "PmtTpInf/LclInstrm", "LOCAL_INSTRUMENT", fault


SCHEMES = {
    **dict.fromkeys(("BBA", "OGM"), (read_structured, "a Belgian communication: 12 digits, the last 2 of them check")),
    **dict.fromkeys(("ISO", "RF"), (read_creditor_reference, "a reference of ISO 11649: RF, 2 check digits, 21 signs")),
}


def _find_scheme_fault(transfer: TransferText) -> str | None:
    """Returns the fault of a structured reference whose scheme has check digits, or None. References of other schemes
    are free texts."""
    text = transfer.structured[0] if transfer.structured else None
    if not text or transfer.scheme not in SCHEMES:
        return None
    read, form = SCHEMES[transfer.scheme]
    return f"{text} is of the scheme {transfer.scheme}, and not {form}" if read(text) is None else None


def find_reference_fault(text: str) -> str | None:
    """Returns the fault of an identification against the SEPA rulebook, or None. The rulebook limits its length,
    characters and slashes."""
    if not 1 <= len(text) <= REFERENCE_MAX:
        return f"it takes 1 to {REFERENCE_MAX} characters"
    sign = find_forbidden_character(text) or next((mark for mark in text if mark in INDENTATION), None)
    return _find_slash_fault(text) if sign is None else _describe_character_fault(sign)


def _find_slash_fault(text: str) -> str | None:
    if text.startswith("/") or text.endswith("/"):
        return f"{text} begins or ends with /"
    return f"{text} holds //" if "//" in text else None


def find_forbidden_character(text: str) -> str | None:
    """Returns the first forbidden character of a text, or None. Permitted are the SEPA set, Latin letters with or
    without marks, tabs and line breaks."""
    if USUAL_TEXT.fullmatch(text):
        return None
    after_letter = False
    for sign in text:
        if is_latin(sign):
            after_letter = True
        elif not (after_letter and unicodedata.combining(sign)):
            if not SEPA_SET.fullmatch(sign) and sign not in INDENTATION:
                return sign
            after_letter = False
    return None


@lru_cache(maxsize=2048)
def is_latin(sign: str) -> bool:
    """Whether the character is a Latin letter, also with marks or joined, such as é, ł, ß and œ."""
    return sign.isalpha() and unicodedata.name(sign, "").startswith("LATIN ")


def _describe_character_fault(sign: str) -> str:
    return f"{sign!r} (U+{ord(sign):04X}) is not of the SEPA set: {SEPA_SET_IN_WORDS}, and Latin letters with marks"


def find_address_faults(element: Any) -> Iterator[Fault]:
    """Yields a fault for each address that has over two lines and is sent to other banks."""
    for address in element.iter("{*}PstlAdr"):
        count = len(address.findall("{*}AdrLine"))
        names = list_names_below(element, address) if count > ADDRESS_LINES_MAX else []
        if names and NOT_SENT_ON.isdisjoint(names):
            yield "/".join(names), "ADDRESS_LINES", f"it has {count} AdrLine; {ADDRESS_LINES_MAX} are taken"


def find_character_faults(element: Any) -> Iterator[Fault]:
    """Yields a fault for each text with a forbidden character in an element, if the bank sends this text to other
    banks. First matches all texts of the element at once, because most elements have no such character."""
    if USUAL_TEXT.fullmatch("".join(element.itertext())):
        return
    for node in element.iter("{*}*"):
        sign = None if len(node) else find_forbidden_character(node.text or "")
        if sign is not None:
            names = list_names_below(element, node)
            if NOT_SENT_ON.isdisjoint(names):
                yield "/".join(names), "CHARACTERS", _describe_character_fault(sign)


def list_names_below(ancestor: Any, node: Any) -> list[str]:
    """Returns the names of the elements from below the ancestor down to the node."""
    names: list[str] = []
    while node is not ancestor and node is not None:
        names.append(node.tag.rpartition("}")[2])
        node = node.getparent()
    return names[::-1]


# Values, and the batch that is being read


def make_transfer(transfer: TransferText) -> Transfer:
    """Returns the record of a transfer that has no faults. A reference of an unknown form stays as it is in the
    file."""
    structured = transfer.structured[0] if transfer.structured else None
    return Transfer(
        transfer.place,
        transfer.creditor_name,
        transfer.creditor_iban,
        None if transfer.creditor_bic in ("", NOT_PROVIDED) else transfer.creditor_bic,
        Money.read(transfer.amount, EUR),
        transfer.endtoend_identification,
        None if structured is None else read_reference(structured) or structured,
        transfer.unstructured[0] if transfer.unstructured else None,
    )


def read_date(text: str, rules: ValidationRules) -> date:
    """Returns an execution date. Raises ValueError if it is wrong, past or too far ahead."""
    today = rules.today
    if not text:
        raise ValueError(f"it is missing: a date like {today} is needed")
    if not DATE.fullmatch(text):
        raise ValueError(f"{text} is no date like {today}")
    if fault := explain_wrong_date(text):
        raise ValueError(fault)
    day = date.fromisoformat(text)
    if not timedelta(0) <= day - today <= timedelta(rules.days_ahead_max):
        raise ValueError(f"{day} is not from {today} to {rules.days_ahead_max} days ahead")
    return day


def read_decimal(text: str) -> Decimal | None:
    """Returns the number, or None if the text is no decimal number or too long to be added exactly."""
    return Decimal(text) if len(text) <= NUMBER_LENGTH_MAX and NUMBER.fullmatch(text) else None


@dataclass(slots=True)
class AmountSum:
    """The number of amounts, and the sum of the amounts that are numbers."""

    count: int = 0
    total: Decimal = Decimal(0)
    is_whole: bool = True  # whether every amount is a number

    def add(self, text: str) -> None:
        self.count += 1
        number = read_decimal(text)
        if number is None:
            self.is_whole = False
        else:
            self.total += number

    def join(self, other: "AmountSum") -> None:
        self.count += other.count
        self.total += other.total
        self.is_whole &= other.is_whole


@dataclass(slots=True)
class BatchDraft:
    """A batch while it is read."""

    place: str
    findings: FileFindings
    execution_date: date
    name: str = ""
    debtor_iban: str = ""
    debtor_currency: str = EUR
    batch_booking: bool = False
    instant_count: int = 0  # the number of transactions that ask for an instant transfer
    is_instant: bool = False
    has_valid_head: bool = True
    sum: AmountSum = field(default_factory=AmountSum)
    transfers: list[Transfer] = field(default_factory=list)
    refused: list[RefusedTransfer] = field(default_factory=list)

    def add(self, transfer: TransferText, faults: Iterable[Fault]) -> None:
        """Adds a transfer, or refuses it if it has faults. The first item of a fault is its place in the file."""
        earlier, codes = len(self.findings.first), dict[str, None]()
        for place, code, text in faults:
            self.findings.add(place, code, text)
            codes[code] = None
        if not codes:
            self.transfers.append(make_transfer(transfer))
            return
        name = transfer.endtoend_identification[:NAME_LENGTH_MAX]
        findings = tuple(self.findings.first[earlier:])
        self.refused.append(RefusedTransfer(transfer.place, name, tuple(codes), findings))

    def close(self) -> BatchReport | RefusedBatch:
        """Returns the batch, which is valid or refused. If only some transfers have faults, the refused batch has the
        batch without them as `rest`. If the batch itself has faults, or no transfer is valid, it has no `rest`, but its
        valid and its faulty transfers."""
        transfers, refused = tuple(self.transfers), tuple(self.refused)
        total = sum((transfer.amount.number for transfer in transfers), Decimal(0))
        head = (self.place, self.name, self.debtor_iban, self.debtor_currency, self.execution_date, self.batch_booking)
        batch = BatchReport(*head, transfers, len(transfers), total, self.findings, self.is_instant, refused)
        if not self.findings:
            return batch
        name, number, total = self.name[:NAME_LENGTH_MAX] or None, self.sum.count, self.sum.total
        refused_batch = RefusedBatch(self.place, name, number, total, self.findings)
        if self.has_valid_head and transfers:
            return replace(refused_batch, rest=batch)
        return replace(refused_batch, transfers=transfers, refused=refused)
