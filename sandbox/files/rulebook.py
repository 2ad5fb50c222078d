"""The SEPA rulebook for pain.001: characters, references, charge bearer, service level, debtor agent (choice 7)."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any
from unicodedata import combining, name

from lxml import etree

from sandbox.banking.iban import BANK_BIC
from sandbox.files.checks import NOT_PROVIDED, Fault, Order
from sandbox.files.schemas import Dialect, Head, names_below

CHARGE_BEARER = "SLEV"
SERVICE_LEVELS = ("SEPA", "URGP")  # files come from business customers, who may send urgent transfers
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


def transaction_faults(element: Any, order: Order) -> Iterator[Fault]:
    """The paths are those within the transaction."""
    yield from terms(order.charge_bearer, order.service_levels)
    for path, text in (("PmtId/InstrId", order.instruction), ("PmtId/EndToEndId", order.endtoend_identification)):
        if (why := slashes(text)) is not None:
            yield path, "REFERENCE_SLASHES", why
    yield from characters(element)


def head_faults(head: Head, element: Any, dialect: Dialect) -> Iterator[Fault]:
    """What a bulk says once for all its transactions."""
    yield from terms(head.charge_bearer, head.service_levels)
    bic = head.debtor_bic
    if bic not in ("", NOT_PROVIDED, BANK_BIC, f"{BANK_BIC}XXX"):
        why = f"{bic} is not this bank's BIC, {BANK_BIC}; {NOT_PROVIDED} is taken too"
        yield dialect.debtor_bic, "DEBTOR_AGENT", why
    for part in ("Dbtr", "UltmtDbtr"):
        found = element.find(dialect.path(part))
        if found is not None:
            yield from ((f"{part}/{path}", code, why) for path, code, why in characters(found))


def terms(charge_bearer: str, levels: list[str]) -> Iterator[Fault]:
    if charge_bearer not in ("", CHARGE_BEARER):
        yield "ChrgBr", "CHARGE_BEARER", f"{charge_bearer} is not {CHARGE_BEARER}, which a SEPA credit transfer takes"
    for asked in levels:
        if asked not in SERVICE_LEVELS:
            taken = " and ".join(SERVICE_LEVELS)
            yield "PmtTpInf/SvcLvl", "SERVICE_LEVEL", f"{asked} is not taken: {taken} are, each as Cd"


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
