"""The bodies of a script's initiations. A body is valid by default, and a step changes some of its fields."""

import json
from typing import Any

from sandbox.bulkfiles.csv_reader import HEADER
from sandbox.client.bodies import SCT
from sandbox.client.transport import form_of
from sandbox.contract.field_rows import IBAN, AmountKind, BodyRow, set_at_path
from sandbox.contract.fields import PAYMENT, STANDING_ORDER, VERSION_1, find_usual_charges
from sandbox.player.stage import ScenarioContext

Content = dict[str, Any]

FORM = "application/x-www-form-urlencoded"
BELGIAN = "BE68539007547034"  # a valid IBAN of no real bank
PAYEE: Content = {"creditor_name": "Jan Peeters", "creditor_iban": BELGIAN, "amount": "10.00", "currency": "EUR"}

# A step may use the fields of both, to see that the bank refuses a field of the wrong one.
VERSION_3 = (PAYMENT, STANDING_ORDER)


def make_payment(stage: ScenarioContext, content: Content) -> Content:
    """Returns the body of a single payment. A field that the step sets to null is left out."""
    defaults = PAYEE | find_usual_charges(content.get("product", SCT))
    if "creditor_bban" in content:
        del defaults["creditor_iban"]
    earlier = content.get("version") == 1
    body = _make_body(stage, defaults | content, (VERSION_1,) if earlier else VERSION_3)
    if earlier and "communication" in body:
        body["communication_type"] = "STRUCTURED" if "structured" in content else "FREETEXT"
    return body


def make_standing_order(stage: ScenarioContext, content: Content) -> Content:
    begins = {"start_date": stage.fill("{today+7}")} if "start_date" not in content else {}
    defaults = PAYEE | {"frequency": "MONTHLY"} | begins
    if content.get("type", "FIXED") != "FIXED":
        del defaults["amount"]
    return _make_body(stage, defaults | content, VERSION_3)


def _make_body(stage: ScenarioContext, content: Content, tables: tuple[BodyRow, ...]) -> Content:
    if "endtoend_identification" not in content:
        content["endtoend_identification"] = f"E2E-{next(stage.numbers)}"
    body: Content = {}
    for table in tables:
        for word, path in table.paths.items():
            value, kind = content.get(word), table.by_path[path].kind
            if isinstance(kind, AmountKind) and value is not None:
                value = write_amount(value)
            if kind is IBAN and isinstance(value, str):
                value = stage.find_iban(value)
            if value is not None:
                set_at_path(body, path, value)
    body |= content.get("body") or {}
    return {name: value for name, value in body.items() if value is not None}


def write_amount(value: Any) -> str:
    """Returns an amount as text. A float gets two decimals, because YAML reads 250.00 as the float 250.0. A text or an
    integer gets no decimals."""
    return f"{value:.2f}" if isinstance(value, float) else str(value)


OTHER_WORDS = {
    "debtor_iban": "debtor",
    "requested_execution_date": "on",
    "remittance_structured": "structured",
    "remittance_unstructured": "unstructured",
}
# the words of a step, by the columns of a csv
CSV_WORDS = {column: OTHER_WORDS.get(column, column) for column in HEADER}


def write_csv(stage: ScenarioContext, content: Content) -> bytes:
    """Returns a csv file with the step's transfers. A transfer may have its own debtor and execution day."""
    rows = [",".join(HEADER)]
    usual = {"debtor": "bakkerij", "on": None} | {name: content[name] for name in ("debtor", "on") if name in content}
    for transfer in content.get("transfers") or [{}]:
        row = PAYEE | usual | transfer
        row |= {name: stage.find_iban(row[name]) for name in ("debtor", "creditor_iban")} | {
            "amount": write_amount(row["amount"])
        }
        row["on"] = row["on"] or stage.fill("{today}")
        row["endtoend_identification"] = row.get("endtoend_identification") or f"E2E-{next(stage.numbers)}"
        rows.append(",".join('"' + str(row.get(word, "")).replace('"', '""') + '"' for word in CSV_WORDS.values()))
    return ("\n".join(rows) + "\n").encode()


def read_raw_body(content: Content) -> tuple[bytes | None, str | None]:
    """Returns the body of a step `call` and its media type. Returns None and None if the step has no body."""
    if "json" in content:
        return json.dumps(content["json"]).encode(), "application/json"
    if "form" in content:
        return form_of({name: str(value) for name, value in content["form"].items()}), FORM
    return (None, None) if content.get("body") is None else (str(content["body"]).encode(), "application/json")
