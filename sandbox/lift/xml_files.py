"""A recorded pain.001 file with other people in it. What is wrong in it stays wrong in the same way."""

import re
from collections.abc import Callable
from html import escape, unescape

from sandbox.banking.remittance import read_structured
from sandbox.lift.pseudonyms import Pseudonyms

LEAF = re.compile(r"<((?:[\w-]+:)?([\w-]+))((?:\s[^<>]*)?)>([^<>]*)</\1>")
MIXED = re.compile(r">([^<>]*)<")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
DEBTOR = re.compile(r"<((?:\w+:)?DbtrAcct)>.*?</\1>", re.DOTALL)
IBAN = re.compile(r"<((?:\w+:)?IBAN)>([^<>]*)</\1>")
NOT_LIFTED = ("<![CDATA[", "<!DOCTYPE", "<!ENTITY")  # text of theirs would come along
NOT_PROVIDED = "NOTPROVIDED"
# Amounts, days and codes: what says nothing of a person.
KEPT = {
    "NbOfTxs", "CtrlSum", "PmtMtd", "BtchBookg", "Cd", "Prtry", "ReqdExctnDt", "Dt", "DtTm", "CreDtTm",
    "ChrgBr", "InstdAmt", "BIC", "BICFI", "Ctry", "CtryOfRes", "InstrPrty", "Ccy", "LEI", "Issr", "Purp",
}  # fmt: skip
REFERENCES = frozenset(("MsgId", "PmtInfId", "InstrId", "EndToEndId", "UETR", "Id"))
FREE = "x"
Hides = dict[str, Callable[[str], str]]


def lift_xml(text: str, names: Pseudonyms) -> str | None:
    """The file as the step sends it; None where something in it cannot be replaced for certain."""
    if any(sign in text for sign in NOT_LIFTED):
        return None
    plain = COMMENT.sub("", text)
    for account in DEBTOR.finditer(plain):
        for found in IBAN.finditer(account[0]):
            names.debtor(found[2], is_business=True)
    hides: Hides = {
        "Nm": names.name,
        "IBAN": names.iban_itself,
        "Ustrd": names.text,
        "Ref": lambda text: _structured(text, names),
        **dict.fromkeys(REFERENCES, names.reference),
    }
    # Between the elements of a document there are blanks only; anything else is somebody's text.
    leaves = LEAF.sub(lambda found: _leaf(found, hides), plain)
    return MIXED.sub(lambda found: found[0] if not found[1].strip() or _is_leaf(leaves, found) else f">{FREE}<", leaves)


def _leaf(found: re.Match[str], hides: Hides) -> str:
    whole, tag, attributes, text = found.groups()
    value = unescape(text)
    if tag not in KEPT and value.strip() not in ("", NOT_PROVIDED):
        value = hides[tag](value) if tag in hides else FREE
    return f"<{whole}{attributes}>{escape(value, quote=False)}</{whole}>"


def _is_leaf(text: str, found: re.Match[str]) -> bool:
    """Whether the text stands between the two tags of one element."""
    opened = text.rfind("<", 0, found.start() + 1)
    name = re.match(r"<([\w:-]+)", text[opened:])
    return name is not None and text.startswith(f"</{name[1]}>", found.end() - 1)


def _structured(text: str, names: Pseudonyms) -> str:
    if read_structured(text) is None:
        return names.reference(text)
    made = names.structured(text)
    return "".join(sign for sign in made if sign.isdigit()) if text.isdigit() else made
