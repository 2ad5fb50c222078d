"""The SEPA rulebook for pain.001: characters, references, charge bearer, service level, debtor agent (choice 7)."""

import re
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from functools import lru_cache
from itertools import chain
from typing import Any
from unicodedata import combining, name

from lxml import etree

from sandbox.banking.iban import BANK_BIC
from sandbox.banking.remittance import read_structured
from sandbox.bulkfiles.checks import NOT_PROVIDED, Draft, Fault, TransferText, decimal, read_creditor_reference
from sandbox.bulkfiles.schemas import BatchHead, Dialect, names_below

CHARGE_BEARER = "SLEV"
URGENT = "URGP"
SERVICE_LEVELS = ("SEPA", URGENT)  # files come from business customers, who may send urgent transfers
INSTANT = "INST"
AMOUNT_MAX = Decimal("999999999.99")  # of one transaction
AMOUNT_READ = Decimal("1e13")  # what is longer is no amount at all
ADDRESS_LINES_MAX = 2
OF_THE_SET = re.compile(r"[A-Za-z0-9/\-?:().,'+ ]*")
# Nearly every text, in one look: the usual Latin letters with marks too, and what indents a file. Control characters
# within a text are the concern of each field's own check.
USUAL = re.compile(r"[A-Za-z0-9/\-?:().,'+ \t\r\n\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff]*")
INDENTATION = "\t\r\n"
REFERENCE_MAX = 35
# What stays with this bank and reaches no clearing, so that its characters are free.
NOT_SENT_ON = frozenset({"CtctDtls", "SplmtryData", "RltdRmtInf"})
THE_SET = "letters, digits, blank and / - ? : ( ) . , ' +"


def stray(text: str) -> str | None:
    """The first character that is neither of the scheme's set nor a Latin letter with marks."""
    if USUAL.fullmatch(text):
        return None
    after_letter = False
    for sign in text:
        if is_latin(sign):
            after_letter = True
        elif not (after_letter and combining(sign)):
            if not OF_THE_SET.fullmatch(sign) and sign not in INDENTATION:
                return sign
            after_letter = False
    return None


@lru_cache(maxsize=2048)
def is_latin(sign: str) -> bool:
    """Also one with marks, such as é, ł, ß and œ."""
    return sign.isalpha() and name(sign, "").startswith("LATIN ")


def not_of_the_set(sign: str) -> str:
    return f"{sign!r} (U+{ord(sign):04X}) is not of the SEPA set: {THE_SET}, and Latin letters with marks"


def reference_fault(text: str) -> str | None:
    """The fault of an identification: its length, its characters, or its slashes."""
    if not 1 <= len(text) <= REFERENCE_MAX:
        return f"it takes 1 to {REFERENCE_MAX} characters"
    sign = stray(text) or next((mark for mark in text if mark in INDENTATION), None)
    return slashes(text) if sign is None else not_of_the_set(sign)


def slashes(text: str) -> str | None:
    if text.startswith("/") or text.endswith("/"):
        return f"{text} begins or ends with /"
    return f"{text} holds //" if "//" in text else None


def transaction_faults(element: Any, order: TransferText, *, with_digits: bool = True) -> Iterator[Fault]:
    """The paths are those within the transaction."""
    yield from terms(order.charge_bearer, order.service_levels, order.instrument)
    amount = decimal(order.amount)
    if amount is not None and AMOUNT_MAX < amount < AMOUNT_READ:
        yield "Amt/InstdAmt", "AMOUNT", f"{order.amount} is over {AMOUNT_MAX}, the most of one SEPA credit transfer"
    yield from address_lines(element)
    if with_digits:
        yield from creditor_reference(order)
    for path, text in (("PmtId/InstrId", order.instruction), ("PmtId/EndToEndId", order.endtoend_identification)):
        if (why := slashes(text)) is not None:
            yield path, "REFERENCE_SLASHES", why
    yield from characters(element)


def head_faults(head: BatchHead, element: Any, dialect: Dialect) -> Iterator[Fault]:
    """What a bulk says once for all its transactions."""
    yield from terms(head.charge_bearer, head.service_levels, head.instrument)
    bic = head.debtor_bic
    if bic not in ("", NOT_PROVIDED, BANK_BIC, f"{BANK_BIC}XXX"):
        why = f"{bic} is not this bank's BIC, {BANK_BIC}; {NOT_PROVIDED} is taken too"
        yield dialect.debtor_bic, "DEBTOR_AGENT", why
    for part in ("Dbtr", "UltmtDbtr"):
        found = element.find(dialect.path(part))
        if found is not None:
            for path, code, why in chain(characters(found), address_lines(found)):
                yield f"{part}/{path}", code, why


def instant_faults(head: BatchHead, draft: Draft, today: date) -> Iterator[Fault]:
    """What a bulk lacks that asks for instant transfers, as the product has no later day (service 2.1)."""
    place, asking, count = "PmtTpInf/LclInstrm", draft.instant_count, draft.sum.count
    if head.instrument != INSTANT and asking < count:
        why = f"{asking} of {count} transactions ask for {INSTANT}: all of a bulk do, or none does"
        yield place, "LOCAL_INSTRUMENT", why
    if draft.execution_date != today:
        why = f"an instant transfer is executed at once: {INSTANT} goes with today, {today}"
        yield "ReqdExctnDt", "LOCAL_INSTRUMENT", why


SCHEMES = {
    **dict.fromkeys(("BBA", "OGM"), (read_structured, "a Belgian communication: 12 digits, the last 2 of them check")),
    **dict.fromkeys(("ISO", "RF"), (read_creditor_reference, "a reference of ISO 11649: RF, 2 check digits, 21 signs")),
}


def creditor_reference(order: TransferText) -> Iterator[Fault]:
    """The check digits of a reference whose scheme has some; any other is a text."""
    text = order.structured[0] if order.structured else None
    if text and order.scheme in SCHEMES:
        read, form = SCHEMES[order.scheme]
        if read(text) is None:
            yield "RmtInf/Strd/CdtrRefInf/Ref", "STRUCTURED", f"{text} is of the scheme {order.scheme}, and not {form}"


def address_lines(element: Any) -> Iterator[Fault]:
    """At most two lines in each address that is sent on."""
    for address in element.iter("{*}PstlAdr"):
        count = len(address.findall("{*}AdrLine"))
        names = names_below(element, address) if count > ADDRESS_LINES_MAX else []
        if names and NOT_SENT_ON.isdisjoint(names):
            yield "/".join(names), "ADDRESS_LINES", f"it has {count} AdrLine; {ADDRESS_LINES_MAX} are taken"


def terms(charge_bearer: str, levels: list[str], instrument: str) -> Iterator[Fault]:
    if charge_bearer not in ("", CHARGE_BEARER):
        yield "ChrgBr", "CHARGE_BEARER", f"{charge_bearer} is not {CHARGE_BEARER}, which a SEPA credit transfer takes"
    for asked in levels:
        if asked not in SERVICE_LEVELS:
            taken = " and ".join(SERVICE_LEVELS)
            yield "PmtTpInf/SvcLvl", "SERVICE_LEVEL", f"{asked} is not taken: {taken} are, each as Cd"
    if instrument not in ("", INSTANT):
        yield "PmtTpInf/LclInstrm", "LOCAL_INSTRUMENT", f"{instrument} is not taken: {INSTANT} is, as Cd"
    elif instrument and URGENT in levels:
        yield "PmtTpInf/LclInstrm", "LOCAL_INSTRUMENT", f"{instrument} cannot go with the service level {URGENT}"


def characters(element: Any) -> Iterator[Fault]:
    """Checks the characters of all texts sent to the clearing; the usual case is one match."""
    if USUAL.fullmatch("".join(element.itertext())):
        return
    for node in element.iter(etree.Element):
        sign = None if len(node) else stray(node.text or "")
        if sign is not None:
            names = names_below(element, node)
            if NOT_SENT_ON.isdisjoint(names):
                yield "/".join(names), "CHARACTERS", not_of_the_set(sign)
