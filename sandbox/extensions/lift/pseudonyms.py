"""Replaces the data of real people in the words of steps and in bulk files: names, IBANs and communications.

If the payer's account is at another bank, the scenario adds an account in its place. Steps refer to this account by its
name, and also to the sandbox's own accounts.
"""

import csv
from collections.abc import Callable, Sequence
from io import StringIO
from typing import Any

from sandbox.banking.iban import BANK_CODE, make_belgian
from sandbox.people.fixtures import Fixtures
from sandbox.player.orders import CSV_WORDS
from sandbox.recordings import RecordedCall
from sandbox.recordings.masked_files import find_debtors, mask_xml, remove_comments
from sandbox.recordings.pseudonyms import FREE, Pseudonyms
from sandbox.scenarios.reading import load

FIRST_NUMBER = 7_000_001  # the account number of the first account that a lifted scenario adds
ELSEWHERE = "elsewhere-"  # the beginning of the names of accounts that replace accounts at another bank
ROWS_MAX = 1_000
FILE_MAX = 1_000_000  # characters
WITH_TYPE = "<!DOCTYPE Document><Document/>"  # the bank refuses any file with a document type


class ScenarioPseudonyms(Pseudonyms):
    """The pseudonyms of one scenario. They do not replace the sandbox's own accounts. They also do not replace
    beneficiaries' names on which rules depend: rules of the default scenario, and rules with one of the `patterns`."""

    def __init__(self, fixtures: Fixtures, patterns: tuple[str, ...] = ()) -> None:
        rules = load("default").rules
        own_names = (*patterns, *(rule.when.creditor_name for rule in rules if rule.when.creditor_name))
        self.own = {iban: name for name, iban in fixtures.names.items()}
        super().__init__(self.own, own_names)
        self._owners = {name: fixtures.accounts[iban].owners for name, iban in fixtures.names.items()}
        self.debtors: dict[str, str] = {}  # by IBAN at another bank: the account of the scenario that replaces it
        self.payers: dict[str, str] = {}  # the owners of these accounts
        self.business: set[str] = set()  # those of these accounts that pay in a bulk file

    def account(self, text: str) -> str:
        """Returns the account of a beneficiary as a step writes it. This is a name if the scenario has the account,
        else a made-up IBAN of the same country."""
        return self.own.get(text) or self.debtors.get(text) or self.iban(text)

    def iban(self, text: str) -> str:
        """Returns the IBAN that replaces this IBAN in the scenario: the IBAN of the account that the scenario adds in
        its place, if there is one, else a made-up IBAN. The sandbox's own IBANs stay."""
        if text in self.debtors:
            return make_belgian(BANK_CODE, FIRST_NUMBER + int(self.debtors[text].removeprefix(ELSEWHERE)) - 1)
        return super().iban(text)

    def debtor(self, text: str, is_business: bool = False) -> str:
        """Returns the name of the account that pays in the scenario. For an account of the sandbox, this is its own
        name. For any other IBAN, this is the name of an account that the scenario adds in its place. With
        `is_business`, the owner of the added account is a business, because the account pays in a bulk file."""
        if text in self.own:
            return self.own[text]
        name = self.debtors.setdefault(text, f"{ELSEWHERE}{len(self.debtors) + 1}")
        self.payers.setdefault(name, f"payer-{len(self.payers) + 1}")
        if is_business:
            self.business.add(name)
        return name

    def owner(self, accounts: Sequence[str]) -> str:
        """Returns the customer who owns these accounts. If some are the sandbox's own, this is a customer who owns all
        of those, or else an owner of the first of them. If all replace accounts of another bank, makes the owner of the
        first account the owner of all, and returns this owner."""
        owners = [self._owners[name] for name in accounts if name in self._owners]
        if owners:
            return next((name for name in owners[0] if all(name in row for row in owners)), owners[0][0])
        owner, merged = self.payers[accounts[0]], {self.payers[name] for name in accounts}
        self.payers = {name: owner if payer in merged else payer for name, payer in self.payers.items()}
        return owner

    def hide(self, word: str, value: Any) -> Any:
        """Returns the value that a step has in place of a recorded value. `word` is the word of the step for the value.
        A value whose word cannot have personal data is returned unchanged."""
        if isinstance(value, dict):  # an address
            return {part: text if part == "country" else "Brussels" for part, text in value.items()}
        hides: dict[str, Callable[[str], str]] = {
            "debtor": self.debtor,
            "creditor_iban": self.account,
            "creditor_name": self.name,
            "structured": self.structured,
            "unstructured": self.text,
            "endtoend_identification": self.reference,
            "creditor_bban": lambda text: "".join("1" if sign.isdigit() else sign for sign in text),
        }
        return hides[word](value) if word in hides else value


# Bulk files


def write_file_words(call: RecordedCall, names: ScenarioPseudonyms) -> dict[str, Any] | str:
    """Returns the content of a step `file` for this call, or a text with the reason why no such step can be made."""
    if len(call.body) > FILE_MAX:
        return f"its file is over {FILE_MAX:,} characters long"
    content = write_csv_words(call, names) if call.path[1] == "csv" else write_xml_words(call, names)
    if isinstance(content, str):
        return content
    reference = call.headers.get("paymentinformationid")
    return content | ({"payment_information_id": names.reference(reference)} if reference else {})


def write_xml_words(call: RecordedCall, names: ScenarioPseudonyms) -> dict[str, Any] | str:
    if call.status >= 400 and "<!DOCTYPE" in call.body:
        return {"content": WITH_TYPE, "product": call.path[1]}
    lifted = lift_xml(call.body, names)
    if lifted is None:
        return "its file has CDATA, a document type, a comment without an end or an odd tag, and names may stand there"
    return {"content": lifted, "product": call.path[1]}


def write_csv_words(call: RecordedCall, names: ScenarioPseudonyms) -> dict[str, Any] | str:
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


def transfer_words(row: dict[str, str], names: ScenarioPseudonyms) -> dict[str, Any]:
    return {word: names.hide(word, row[column]) for column, word in CSV_WORDS.items() if row.get(column)}


def lift_xml(text: str, names: ScenarioPseudonyms) -> str | None:
    """Returns the text of an XML file with pseudonyms. The accounts that pay become accounts of the scenario. Returns
    None if some original text may remain in the file."""
    for iban in find_debtors(remove_comments(text) or ""):
        names.debtor(iban, is_business=True)
    return mask_xml(text, names)
