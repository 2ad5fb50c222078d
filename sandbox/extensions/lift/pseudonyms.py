"""Pseudonyms: other names, IBANs and communications for those of a record, in words of steps and in bulk files.

The problem: a record has the data of real people, and a scenario is a file that others read. The scenario must hold
nobody's data, and must play as the record did. Four rules follow:

1. The same text has the same pseudonym everywhere, because a test may depend on two calls naming the same person.
2. What was right stays right, and what was wrong stays wrong in the same way: check digits, a text that is too long,
   a character that a scheme refuses. Amounts, days and codes stay. So do the sandbox's own accounts, and the names that
   its rules look at.
3. A pseudonym depends on the order of appearance, and of the original only on its shape and country. A hash would
   depend on all of it, and so few IBANs exist that every hash can be tried.
4. Of a file only the elements that are known to say nothing of a person stay as they are (`KEPT_ELEMENTS`). Any other
   text becomes a pseudonym or an `x`. A file in which text may stand where no element shows it is not lifted at all.
"""

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from html import escape, unescape
from io import StringIO
from random import Random
from string import ascii_uppercase, digits
from typing import Any

from sandbox.banking.iban import BANK_CODE, is_iban, make_belgian
from sandbox.banking.remittance import make_structured, read_structured
from sandbox.people.fixtures import Fixtures
from sandbox.player.orders import CSV_WORDS
from sandbox.recordings.recorded_calls import RecordedCall
from sandbox.scenarios.reading import load

EXAMPLE = "BE68539007547034"  # of textbooks, and of no person
TRIES = 2_000  # some countries have check digits of their own
FIRST_NUMBER = 7_000_001  # of the accounts that a lifted scenario adds
NO_STRUCTURED = "+++000/0000/00000+++"  # its check digits are wrong
BASIC = re.compile(r"[A-Za-z0-9 ?:().,'+-]")  # characters that every scheme takes
SHAPE = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}")
LONG = (35, 70, 140)  # most characters of a reference, a name and a communication
NO_REFERENCE = "NOTPROVIDED"  # means that there is none
FREE = "x"
ELSEWHERE = "elsewhere-"  # a name of an account at another bank

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
ROWS_MAX = 1_000
FILE_MAX = 1_000_000  # characters
WITH_TYPE = "<!DOCTYPE Document><Document/>"  # the bank refuses any file with a document type
Hide = Callable[[str], str]


class Pseudonyms:
    """The pseudonyms of one record. The sandbox's own accounts, and names that its rules look at, stay."""

    def __init__(self, fixtures: Fixtures, patterns: tuple[str, ...] = ()) -> None:
        self.own = {iban: name for name, iban in fixtures.names.items()}
        self._owners = {name: fixtures.accounts[iban].owners for name, iban in fixtures.names.items()}
        rules = load("default").rules
        self._patterns = (*patterns, *(rule.when.creditor_name for rule in rules if rule.when.creditor_name))
        self._names: dict[str, str] = {}
        self._ibans: dict[str, str] = {}
        self._texts: dict[str, str] = {}
        self._references: dict[str, str] = {}
        self.debtors: dict[str, str] = {}  # accounts of the scenario by the IBANs at another bank that they stand for
        self.payers: dict[str, str] = {}  # the owners of these accounts
        self.business: set[str] = set()  # those of these accounts that sent a file

    def name(self, text: str) -> str:
        if any(fnmatchcase(text, pattern) for pattern in self._patterns):
            return text
        return self._names.setdefault(text, shaped_like(text, f"Person {len(self._names) + 1}"))

    def iban(self, text: str) -> str:
        """A beneficiary's account: its name in the scenario, or an IBAN of the same country."""
        if text in self.own:
            return self.own[text]
        if text == EXAMPLE:
            return text
        if text in self.debtors:
            return self.debtors[text]
        if text not in self._ibans:
            self._ibans[text] = iban_like(text, len(self._ibans) + 1)
        return self._ibans[text]

    def iban_itself(self, text: str) -> str:
        """The IBAN for a file, in which an account has no name."""
        if text in self.own:
            return text
        if text in self.debtors:
            return make_belgian(BANK_CODE, FIRST_NUMBER + int(self.debtors[text].removeprefix(ELSEWHERE)) - 1)
        return self.iban(text)

    def debtor(self, text: str, is_business: bool = False) -> str:
        """The account of the scenario that pays in place of this one."""
        if text in self.own:
            return self.own[text]
        name = self.debtors.setdefault(text, f"{ELSEWHERE}{len(self.debtors) + 1}")
        self.payers.setdefault(name, f"payer-{len(self.payers) + 1}")
        if is_business:
            self.business.add(name)
        return name

    def owner(self, accounts: Sequence[str]) -> str:
        """The customer who owns these accounts; accounts from elsewhere become accounts of one customer."""
        owners = [self._owners[name] for name in accounts if name in self._owners]
        if owners:
            return next((name for name in owners[0] if all(name in row for row in owners)), owners[0][0])
        owner, merged = self.payers[accounts[0]], {self.payers[name] for name in accounts}
        self.payers = {name: owner if payer in merged else payer for name, payer in self.payers.items()}
        return owner

    def structured(self, text: str) -> str:
        if read_structured(text) is None:
            return NO_STRUCTURED
        return self._texts.setdefault(text, make_structured(len(self._texts) + 1))

    def text(self, text: str) -> str:
        return self._texts.setdefault(text, shaped_like(text, f"Communication {len(self._texts) + 1}"))

    def reference(self, text: str) -> str:
        if text == NO_REFERENCE:
            return text
        return self._references.setdefault(text, shaped_like(text, f"REFERENCE-{len(self._references) + 1}"))

    def hide(self, word: str, value: Any) -> Any:
        """The value of a word of a step, with pseudonyms."""
        if isinstance(value, dict):  # an address
            return {part: text if part == "country" else "Brussels" for part, text in value.items()}
        hides: dict[str, Hide] = {
            "debtor": self.debtor,
            "creditor_iban": self.iban,
            "creditor_name": self.name,
            "structured": self.structured,
            "unstructured": self.text,
            "endtoend_identification": self.reference,
            "creditor_bban": lambda text: "".join("1" if sign.isdigit() else sign for sign in text),
        }
        return hides[word](value) if word in hides else value


def shaped_like(text: str, other: str) -> str:
    """The other text with the characters of the first that a bank may refuse, and too long where the first is."""
    odd = "".join(dict.fromkeys(sign for sign in text if BASIC.fullmatch(sign) is None and sign != "/"))
    slashes = "//" if "//" in text else ""
    other = f"{'/' if text.startswith('/') else ''}{other}{slashes}{odd}{'/' if text.endswith('/') else ''}"
    longest = max((bound for bound in LONG if len(text) > bound), default=0)
    return other.ljust(longest + 1, FREE) if longest else other


def iban_like(iban: str, number: int) -> str:
    """An IBAN of the same country and shape. Wrong check digits become 00, which no IBAN has.

    A text that does not look like an IBAN keeps its country alone."""
    if not is_iban(iban):
        return f"{iban[:2]}00{number:0{len(iban) - 4}}" if SHAPE.fullmatch(iban) else iban[:2]
    random = Random(number)
    for _ in range(TRIES):
        bban = "".join(random.choice(digits if sign.isdigit() else ascii_uppercase) for sign in iban[4:])
        moved = "".join(str(int(sign, 36)) for sign in f"{bban}{iban[:2]}00")
        other = f"{iban[:2]}{98 - int(moved) % 97:02}{bban}"
        if is_iban(other):
            return other
    return EXAMPLE


# Bulk files


def file_words(call: RecordedCall, names: Pseudonyms) -> dict[str, Any] | str:
    """The content of a step `file`, or the reason why there is none."""
    if len(call.body) > FILE_MAX:
        return f"its file is over {FILE_MAX:,} characters long"
    content = csv_words(call, names) if call.path[1] == "csv" else xml_words(call, names)
    if isinstance(content, str):
        return content
    reference = call.headers.get("paymentinformationid")
    return content | ({"payment_information_id": names.reference(reference)} if reference else {})


def xml_words(call: RecordedCall, names: Pseudonyms) -> dict[str, Any] | str:
    if call.status >= 400 and "<!DOCTYPE" in call.body:
        return {"content": WITH_TYPE, "product": call.path[1]}
    lifted = lift_xml(call.body, names)
    if lifted is None:
        return "its file has CDATA, a document type or a comment without an end, and names may stand there"
    return {"content": lifted, "product": call.path[1]}


def csv_words(call: RecordedCall, names: Pseudonyms) -> dict[str, Any] | str:
    text = call.body.removeprefix("\ufeff")
    delimiter = ";" if ";" in text.partition("\n")[0] else ","
    rows = list(csv.DictReader(StringIO(text), delimiter=delimiter))
    if len(rows) > ROWS_MAX:
        return f"its file has over {ROWS_MAX:,} rows"
    if rows and "creditor_iban" in rows[0] and rows[0].keys() <= CSV_WORDS.keys():
        for row in rows:
            if row.get("debtor_iban"):
                names.debtor(row["debtor_iban"], is_business=True)
        return {"transfers": [transfer_words(row, names) for row in rows]}
    cells = csv.reader(StringIO(text), delimiter=delimiter)
    hidden = (delimiter.join(cell if cell in CSV_WORDS else FREE for cell in row) for row in cells)
    return {"content": "\n".join(hidden), "product": "csv"}


def transfer_words(row: dict[str, str], names: Pseudonyms) -> dict[str, Any]:
    return {word: names.hide(word, row[column]) for column, word in CSV_WORDS.items() if row.get(column)}


def lift_xml(text: str, names: Pseudonyms) -> str | None:
    """A file with pseudonyms; None if text of the record may remain in it.

    The file need not be well-formed. The time grows with its length alone: no pattern looks for an end that may be
    missing."""
    plain = None if any(sign in text for sign in HIDING_TEXT) else without_comments(text)
    if plain is None:
        return None
    for iban in debtors_in(plain):
        names.debtor(iban, is_business=True)
    hides: dict[str, Hide] = {
        "Nm": names.name,
        "IBAN": names.iban_itself,
        "Ustrd": names.text,
        "Ref": lambda text: structured_in_file(text, names),
        **dict.fromkeys(REFERENCES, names.reference),
    }

    def hide_leaf(leaf: re.Match[str]) -> str:
        whole, tag, attributes, content = leaf.groups()
        value = unescape(content)
        if tag not in KEPT_ELEMENTS and value.strip() not in ("", NO_REFERENCE):
            value = hides[tag](value) if tag in hides else FREE
        return f"<{whole}{attributes}>{escape(value, quote=False)}</{whole}>"

    # Between the elements of a document there are only blanks; other text there is somebody's.
    leaves = LEAF.sub(hide_leaf, plain)
    return TEXT.sub(lambda part: part[0] if not part[1].strip() or is_leaf(leaves, part) else f">{FREE}<", leaves)


def without_comments(text: str) -> str | None:
    """None if a comment has no end."""
    parts, end = [], 0
    while (begin := text.find("<!--", end)) >= 0:
        parts.append(text[end:begin])
        end = text.find("-->", begin + 4) + 3
        if end < 3:
            return None
    return "".join((*parts, text[end:]))


def debtors_in(text: str) -> Iterator[str]:
    """The IBANs between the two tags of a debtor's account."""
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
    """Whether the part stands between the two tags of one element."""
    opened = text.rfind("<", 0, part.start() + 1)
    tag = TAG.match(text, opened)
    return tag is not None and text.startswith(f"</{tag[1]}>", part.end() - 1)


def structured_in_file(text: str, names: Pseudonyms) -> str:
    if read_structured(text) is None:
        return names.reference(text)
    other = names.structured(text)
    return "".join(sign for sign in other if sign.isdigit()) if text.isdigit() else other
