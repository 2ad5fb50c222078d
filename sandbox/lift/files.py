"""Makes a `file` step of a recorded bulk file: a csv, with other people in it."""

import csv
from io import StringIO
from typing import Any

from sandbox.lift.har import Recorded
from sandbox.lift.pseudonyms import Pseudonyms

ROWS_MAX = 1_000
WORDS = {
    "creditor_bic": "creditor_bic",
    "amount": "amount",
    "currency": "currency",
    "requested_execution_date": "on",
}


def file_content(call: Recorded, names: Pseudonyms) -> dict[str, Any] | None:
    """The transfers of a csv; None for what is no csv of the bank's columns, or a long one."""
    text = call.sent.removeprefix("\ufeff")
    dialect = ";" if ";" in text.partition("\n")[0] else ","
    rows = list(csv.DictReader(StringIO(text), delimiter=dialect))
    if not 0 < len(rows) <= ROWS_MAX or "creditor_iban" not in rows[0]:
        return None
    content: dict[str, Any] = {"transfers": [_transfer(row, names) for row in rows]}
    reference = call.headers.get("paymentinformationid")
    return content | ({"payment_information_id": names.reference(reference)} if reference else {})


def _transfer(row: dict[str, str], names: Pseudonyms) -> dict[str, Any]:
    made: dict[str, Any] = {word: row[column] for column, word in WORDS.items() if row.get(column)}
    for column, word, hide in (
        ("debtor_iban", "debtor", names.debtor),
        ("creditor_iban", "creditor_iban", names.iban),
        ("creditor_name", "creditor_name", names.name),
        ("endtoend_identification", "endtoend_identification", names.reference),
        ("remittance_structured", "structured", names.structured),
        ("remittance_unstructured", "unstructured", names.text),
    ):
        if row.get(column):
            made[word] = hide(row[column])
    return made
