"""Makes a `file` step of a recorded bulk file, with other people in it: a csv's transfers, or the file as it is."""

import csv
from io import StringIO
from typing import Any

from sandbox.lift.har import Recorded
from sandbox.lift.pseudonyms import Pseudonyms
from sandbox.lift.xml_files import FREE, lift_xml
from sandbox.player.orders import CSV_HEAD

ROWS_MAX = 1_000
XML_MAX = 1_000_000  # characters
WITH_TYPE = "<!DOCTYPE Document><Document/>"  # is refused for its type, whatever else it holds
WORDS = {
    "creditor_bic": "creditor_bic",
    "amount": "amount",
    "currency": "currency",
    "requested_execution_date": "on",
}


def file_content(call: Recorded, names: Pseudonyms) -> dict[str, Any] | str:
    """The content of the step, or why there is none."""
    content = _xml(call, names) if call.path[1] != "csv" else _csv(call, names)
    if isinstance(content, str):
        return content
    reference = call.headers.get("paymentinformationid")
    return content | ({"payment_information_id": names.reference(reference)} if reference else {})


def _xml(call: Recorded, names: Pseudonyms) -> dict[str, Any] | str:
    if len(call.sent) > XML_MAX:
        return f"its file is over {XML_MAX:,} characters long"
    if call.status >= 400 and "<!DOCTYPE" in call.sent:
        return {"content": WITH_TYPE, "product": call.path[1]}
    lifted = lift_xml(call.sent, names)
    if lifted is None:
        return "its file has CDATA or a document type, and names may stand there"
    return {"content": lifted, "product": call.path[1]}


def _csv(call: Recorded, names: Pseudonyms) -> dict[str, Any] | str:
    text = call.sent.removeprefix("\ufeff")
    dialect = ";" if ";" in text.partition("\n")[0] else ","
    rows = list(csv.DictReader(StringIO(text), delimiter=dialect))
    if len(rows) > ROWS_MAX:
        return f"its file has over {ROWS_MAX:,} rows"
    if rows and "creditor_iban" in rows[0] and set(rows[0]) <= set(CSV_HEAD):
        return {"transfers": [_transfer(row, names) for row in rows]}
    cells = [
        [cell if cell in CSV_HEAD else FREE for cell in row] for row in csv.reader(StringIO(text), delimiter=dialect)
    ]
    return {"content": "\n".join(dialect.join(row) for row in cells), "product": "csv"}


def _transfer(row: dict[str, str], names: Pseudonyms) -> dict[str, Any]:
    made: dict[str, Any] = {word: row[column] for column, word in WORDS.items() if row.get(column)}
    for column, word, hide in (
        ("debtor_iban", "debtor", lambda iban: names.debtor(iban, is_business=True)),
        ("creditor_iban", "creditor_iban", names.iban),
        ("creditor_name", "creditor_name", names.name),
        ("endtoend_identification", "endtoend_identification", names.reference),
        ("remittance_structured", "structured", names.structured),
        ("remittance_unstructured", "unstructured", names.text),
    ):
        if row.get(column):
            made[word] = hide(row[column])
    return made
