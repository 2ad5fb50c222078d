"""Bulk files with pseudonyms.

The texts of elements that never say anything about a person stay as they are (`KEPT_ELEMENTS`). Every other text
becomes a pseudonym or an `x`. An attribute stays only if it is a namespace or has a harmless value, such as a currency.
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
VALUE = r"""\s*=\s*(?:"[^"<>]*"|'[^'<>]*')"""
# A tag with attributes, or the declaration at the beginning of a file.
MARKUP = re.compile(
    rf"<(?:/?[\w:.-]+(?:\s+[\w:.-]+{VALUE})*\s*/?|\?xml(?:\s+(?:version|encoding|standalone){VALUE})+\s*\?)>"
)
ATTRIBUTE = re.compile(r"""(\s([\w:.-]+)\s*=\s*)("[^"]*"|'[^']*')""")
PLAIN_VALUE = re.compile(
    r"[A-Z]{3}|1\.[01]|yes|no|[Uu][Tt][Ff]-?(?:8|16)|(?:iso|ISO)-8859-[0-9]{1,2}|[Uu][Ss]-[Aa][Ss][Cc][Ii][Ii]"
)
NAMESPACE = re.compile(r"xmlns(?::[\w.-]+)?|xsi:schemaLocation")
NAMED_SPACE = re.compile(r"urn:[\w:.-]+|http://www\.w3\.org/[\w/.#-]*|pain[\w.-]+\.xsd")
# Amounts, days and codes.
KEPT_ELEMENTS = {
    "NbOfTxs", "CtrlSum", "PmtMtd", "BtchBookg", "Cd", "Prtry", "ReqdExctnDt", "Dt", "DtTm", "CreDtTm",
    "ChrgBr", "InstdAmt", "BIC", "BICFI", "Ctry", "CtryOfRes", "InstrPrty", "Ccy", "LEI", "Issr", "Purp",
}  # fmt: skip
REFERENCES = frozenset(("MsgId", "PmtInfId", "InstrId", "EndToEndId", "UETR", "Id"))
Hide = Callable[[str], str]


def mask_xml(text: str, names: Pseudonyms) -> str | None:
    """Returns the XML without comments, and with pseudonyms in the place of its texts and the values of its attributes.
    Names of elements and of attributes, the texts of KEPT_ELEMENTS, namespaces, currencies and the XML declaration
    stay.

    Returns None if the XML has a construct in which text can be hidden from the patterns of this module: CDATA, a
    document type, an entity, a comment without an end, or any other `<` that does not begin a tag (see `MARKUP`).

    The XML need not be well-formed. The running time is proportional to its length, because no pattern searches for an
    end that may be missing.
    """
    plain = None if any(sign in text for sign in HIDING_TEXT) else remove_comments(text)
    escaped = None if plain is None else escape_texts(plain, names)
    if escaped is None:
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

    # Between, before and after the elements of a valid document there are only blanks. Other text there may be private.
    leaves = f">{LEAF.sub(hide_leaf, escaped)}<"

    def hide_text(part: re.Match[str]) -> str:
        is_blank = not part[1].strip("\ufeff \t\r\n")
        return part[0] if is_blank or is_leaf(leaves, part) else f">{FREE}<"

    return TEXT.sub(hide_text, leaves)[1:-1]


def escape_texts(xml: str, names: Pseudonyms) -> str | None:
    """Returns the XML with pseudonyms in place of the values of attributes, except those that `mask_attribute` keeps.
    Outside of tags, each `>` becomes `&gt;`. Returns None if a `<` does not begin a tag that MARKUP matches."""
    parts, end = list[str](), 0
    for tag in MARKUP.finditer(xml):
        parts += (xml[end : tag.start()], ATTRIBUTE.sub(lambda match: mask_attribute(match, names), tag[0]))
        end = tag.end()
    parts.append(xml[end:])
    if any("<" in text for text in parts[::2]):
        return None
    parts[::2] = (text.replace(">", "&gt;") for text in parts[::2])
    return "".join(parts)


def mask_attribute(match: re.Match[str], names: Pseudonyms) -> str:
    begin, name, quoted = match.groups()
    value = quoted[1:-1]
    is_namespace = NAMESPACE.fullmatch(name) and all(map(NAMED_SPACE.fullmatch, value.split()))
    stays = is_namespace or PLAIN_VALUE.fullmatch(value)
    return match[0] if stays else f"{begin}{quoted[0]}{names.secret(value)}{quoted[0]}"


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
    """Whether the text that `part` matched is the whole content of one element. That element contains no other
    elements."""
    opened = text.rfind("<", 0, part.start() + 1)
    tag = TAG.match(text, opened)
    return tag is not None and text.startswith(f"</{tag[1]}>", part.end() - 1)


def mask_structured(text: str, names: Pseudonyms) -> str:
    return names.reference(text) if read_structured(text) is None else names.structured(text)
