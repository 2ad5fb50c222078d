"""Makes a `file` step of a recorded bulk file, with other people in it: a csv's transfers, or the file as it is."""

import csv
import re
from collections.abc import Callable, Iterator
from html import escape, unescape
from io import StringIO
from typing import Any

from sandbox.banking.remittance import read_structured
from sandbox.extensions.lift.har import Recorded
from sandbox.extensions.lift.pseudonyms import FREE, NO_REFERENCE, Pseudonyms
from sandbox.player.orders import CSV_WORDS

LEAF = re.compile(r"<((?:[\w-]+:)?([\w-]+))((?:\s[^<>]*)?)>([^<>]*)</\1>")
MIXED = re.compile(r">([^<>]*)<")
BEGIN = re.compile(r"<([\w:-]+)")
DEBTOR = re.compile(r"<(/?(?:\w+:)?DbtrAcct)>|<((?:\w+:)?IBAN)>([^<>]*)</\2>")  # its two tags, and an IBAN
NOT_LIFTED = ("<![CDATA[", "<!DOCTYPE", "<!ENTITY")  # text of theirs would come along
# Amounts, days and codes: what says nothing of a person.
KEPT = {
    "NbOfTxs", "CtrlSum", "PmtMtd", "BtchBookg", "Cd", "Prtry", "ReqdExctnDt", "Dt", "DtTm", "CreDtTm",
    "ChrgBr", "InstdAmt", "BIC", "BICFI", "Ctry", "CtryOfRes", "InstrPrty", "Ccy", "LEI", "Issr", "Purp",
}  # fmt: skip
REFERENCES = frozenset(("MsgId", "PmtInfId", "InstrId", "EndToEndId", "UETR", "Id"))
Hides = dict[str, Callable[[str], str]]


def lift_xml(text: str, names: Pseudonyms) -> str | None:
    """The file as the step sends it; None where something in it cannot be replaced for certain.

    The time grows with the length of the file, whatever it holds: no pattern looks for an end that may be missing.
    """
    if any(sign in text for sign in NOT_LIFTED):
        return None
    plain = without_comments(text)
    if plain is None:
        return None
    for iban in debtors_in(plain):
        names.debtor(iban, is_business=True)
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


def without_comments(text: str) -> str | None:
    """None where a comment has no end."""
    kept, end = [], 0
    while (begin := text.find("<!--", end)) >= 0:
        kept.append(text[end:begin])
        end = text.find("-->", begin + 4) + 3
        if end < 3:
            return None
    return "".join((*kept, text[end:]))


def debtors_in(text: str) -> Iterator[str]:
    """The IBANs between the two tags of a debtor's account."""
    opened, ibans = "", list[str]()
    for found in DEBTOR.finditer(text):
        tag, iban = found[1], found[3]
        if tag is None:
            ibans.append(iban)
        elif opened and tag == f"/{opened}":
            yield from ibans
            opened = ""
        elif not opened and not tag.startswith("/"):
            opened, ibans = tag, []


def _leaf(found: re.Match[str], hides: Hides) -> str:
    whole, tag, attributes, text = found.groups()
    value = unescape(text)
    if tag not in KEPT and value.strip() not in ("", NO_REFERENCE):
        value = hides[tag](value) if tag in hides else FREE
    return f"<{whole}{attributes}>{escape(value, quote=False)}</{whole}>"


def _is_leaf(text: str, found: re.Match[str]) -> bool:
    """Whether the text stands between the two tags of one element."""
    opened = text.rfind("<", 0, found.start() + 1)
    name = BEGIN.match(text, opened)
    return name is not None and text.startswith(f"</{name[1]}>", found.end() - 1)


def _structured(text: str, names: Pseudonyms) -> str:
    if read_structured(text) is None:
        return names.reference(text)
    other = names.structured(text)
    return "".join(sign for sign in other if sign.isdigit()) if text.isdigit() else other


ROWS_MAX = 1_000
FILE_MAX = 1_000_000  # characters
WITH_TYPE = "<!DOCTYPE Document><Document/>"  # is refused for its type, whatever else it holds


def file_content(call: Recorded, names: Pseudonyms) -> dict[str, Any] | str:
    """The content of the step, or why there is none."""
    if len(call.sent) > FILE_MAX:
        return f"its file is over {FILE_MAX:,} characters long"
    content = _xml(call, names) if call.path[1] != "csv" else _csv(call, names)
    if isinstance(content, str):
        return content
    reference = call.headers.get("paymentinformationid")
    return content | ({"payment_information_id": names.reference(reference)} if reference else {})


def _xml(call: Recorded, names: Pseudonyms) -> dict[str, Any] | str:
    if call.status >= 400 and "<!DOCTYPE" in call.sent:
        return {"content": WITH_TYPE, "product": call.path[1]}
    lifted = lift_xml(call.sent, names)
    if lifted is None:
        return "its file has CDATA, a document type or a comment without an end, and names may stand there"
    return {"content": lifted, "product": call.path[1]}


def _csv(call: Recorded, names: Pseudonyms) -> dict[str, Any] | str:
    text = call.sent.removeprefix("\ufeff")
    dialect = ";" if ";" in text.partition("\n")[0] else ","
    rows = list(csv.DictReader(StringIO(text), delimiter=dialect))
    if len(rows) > ROWS_MAX:
        return f"its file has over {ROWS_MAX:,} rows"
    if rows and "creditor_iban" in rows[0] and rows[0].keys() <= CSV_WORDS.keys():
        return {"transfers": [_transfer(row, names) for row in rows]}
    cells = csv.reader(StringIO(text), delimiter=dialect)
    hidden = (dialect.join(cell if cell in CSV_WORDS else FREE for cell in row) for row in cells)
    return {"content": "\n".join(hidden), "product": "csv"}


def _transfer(row: dict[str, str], names: Pseudonyms) -> dict[str, Any]:
    if row.get("debtor_iban"):
        names.debtor(row["debtor_iban"], is_business=True)
    return {word: names.hide(word, row[column]) for column, word in CSV_WORDS.items() if row.get(column)}
