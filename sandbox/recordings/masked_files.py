"""Bulk files with pseudonyms.

The texts of elements that never say anything about a person stay as they are (`KEPT_ELEMENTS`). Every other text
between two tags becomes a pseudonym or an `x`.
"""

import re
from collections.abc import Callable, Iterator
from html import escape, unescape

from sandbox.banking.remittance import read_structured
from sandbox.recordings.pseudonyms import FREE, NO_REFERENCE, Pseudonyms

LEAF = re.compile(r"<((?:[\w-]+:)?([\w-]+))((?:\s[^<>]*)?)>([^<>]*)</\1>")
TEXT = re.compile(r">([^<>]*)<")
TAG = re.compile(r"<([\w:-]+)")
DEBTOR = re.compile(r"<(/?(?:\w+:)?DbtrAcct)>|<((?:\w+:)?IBAN)>([^<>]*)</\2>")  # a tag of the account, or an IBAN
HIDING_TEXT = ("<![CDATA[", "<!DOCTYPE", "<!ENTITY")
# Amounts, days and codes.
KEPT_ELEMENTS = {
    "NbOfTxs", "CtrlSum", "PmtMtd", "BtchBookg", "Cd", "Prtry", "ReqdExctnDt", "Dt", "DtTm", "CreDtTm",
    "ChrgBr", "InstdAmt", "BIC", "BICFI", "Ctry", "CtryOfRes", "InstrPrty", "Ccy", "LEI", "Issr", "Purp",
}  # fmt: skip
REFERENCES = frozenset(("MsgId", "PmtInfId", "InstrId", "EndToEndId", "UETR", "Id"))
Hide = Callable[[str], str]


def mask_xml(text: str, names: Pseudonyms) -> str | None:
    """Returns the XML with pseudonyms in the place of the texts between its tags. Attributes, and text before the first
    tag or after the last one, stay as they are. Returns None if the XML has a construct in which text can be hidden
    from the patterns of this module: CDATA, a document type, an entity, or a comment without an end.

    The XML need not be well-formed. The time is proportional to its length, because no pattern searches for an end that
    may be missing.
    """
    plain = None if any(sign in text for sign in HIDING_TEXT) else remove_comments(text)
    if plain is None:
        return None
    hides: dict[str, Hide] = {
        "Nm": names.name,
        "IBAN": names.iban,
        "Ustrd": names.text,
        "Ref": lambda text: mask_structured(text, names),
        **dict.fromkeys(REFERENCES, names.reference),
    }

    def hide_leaf(leaf: re.Match[str]) -> str:
        whole, tag, attributes, content = leaf.groups()
        value = unescape(content)
        if tag not in KEPT_ELEMENTS and value.strip() not in ("", NO_REFERENCE):
            value = hides[tag](value) if tag in hides else FREE
        return f"<{whole}{attributes}>{escape(value, quote=False)}</{whole}>"

    # Between the elements of a valid document there are only blanks. Other text there may be private.
    leaves = LEAF.sub(hide_leaf, plain)
    return TEXT.sub(lambda part: part[0] if not part[1].strip() or is_leaf(leaves, part) else f">{FREE}<", leaves)


def remove_comments(text: str) -> str | None:
    """Returns the text without comments, or None if a comment has no end."""
    parts, end = [], 0
    while (begin := text.find("<!--", end)) >= 0:
        parts.append(text[end:begin])
        end = text.find("-->", begin + 4) + 3
        if end < 3:
            return None
    return "".join((*parts, text[end:]))


def find_debtors(text: str) -> Iterator[str]:
    """Yields the IBANs in the elements of debtor accounts."""
    opened, ibans = "", list[str]()
    for part in DEBTOR.finditer(text):
        tag, iban = part[1], part[3]
        if tag is None:
            ibans.append(iban)
        elif opened and tag == f"/{opened}":
            yield from ibans
            opened = ""
        elif not opened and not tag.startswith("/"):
            opened, ibans = tag, []


def is_leaf(text: str, part: re.Match[str]) -> bool:
    """Whether this text is the whole content of one element, so the element has no other elements in it."""
    opened = text.rfind("<", 0, part.start() + 1)
    tag = TAG.match(text, opened)
    return tag is not None and text.startswith(f"</{tag[1]}>", part.end() - 1)


def mask_structured(text: str, names: Pseudonyms) -> str:
    return names.reference(text) if read_structured(text) is None else names.structured(text)
