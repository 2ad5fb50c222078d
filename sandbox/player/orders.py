"""The bodies of a script's initiations: valid by default, or wrong as the script says."""

import json
from typing import Any

from sandbox.client.bodies import SCT, XB
from sandbox.client.transport import form_of
from sandbox.contract.field_rows import IBAN, Amount, Body, place
from sandbox.contract.fields import PAYMENT, STANDING_ORDER, VERSION_1
from sandbox.player.stage import Stage

Content = dict[str, Any]

FORM = "application/x-www-form-urlencoded"
BELGIAN = "BE68539007547034"  # valid, and of no bank

VERSION_3 = (PAYMENT, STANDING_ORDER)  # a step may say a word of either, so that the bank refuses it


def payment(stage: Stage, content: Content) -> Content:
    """The body of a single payment; a field that the step sets to null is left out."""
    defaults: Content = {"creditor_name": "Jan Peeters", "amount": "10.00", "currency": "EUR"}
    if content.get("product", SCT) == XB:
        defaults["charge_bearer"] = "SHAR"
    if "creditor_bban" not in content:
        defaults["creditor_iban"] = BELGIAN
    earlier = content.get("version") == 1
    body = _body(stage, defaults | content, (VERSION_1,) if earlier else VERSION_3)
    if earlier and "communication" in body:
        body["communication_type"] = "STRUCTURED" if "structured" in content else "FREETEXT"
    return body


def standing_order(stage: Stage, content: Content) -> Content:
    defaults: Content = {
        "creditor_name": "Jan Peeters",
        "creditor_iban": BELGIAN,
        "currency": "EUR",
        "frequency": "MONTHLY",
        "start_date": stage.fill("{today+7}") if "start_date" not in content else None,
    }
    if content.get("type", "FIXED") == "FIXED":
        defaults["amount"] = "10.00"
    return _body(stage, defaults | content, VERSION_3)


def _body(stage: Stage, content: Content, tables: tuple[Body, ...]) -> Content:
    if "endtoend_identification" not in content:
        content["endtoend_identification"] = f"E2E-{stage.number()}"
    body: Content = {}
    for table in tables:
        for word, path in table.paths.items():
            value, kind = content.get(word), table.by_path[path].kind
            if isinstance(kind, Amount) and value is not None:
                value = amount(value)
            if kind is IBAN and isinstance(value, str):
                value = stage.iban(value)
            if value is not None:
                place(body, path, value)
    for name, value in (content.get("body") or {}).items():
        body[name] = value
        if value is None:
            del body[name]
    return body


def amount(value: Any) -> str:
    """Writes an amount as text with two decimals, as YAML reads 250.00 as a number."""
    return f"{value:.2f}" if isinstance(value, float) else str(value)


CSV_HEAD = (
    "debtor_iban", "requested_execution_date", "creditor_name", "creditor_iban", "creditor_bic", "amount", "currency",
    "endtoend_identification", "remittance_structured", "remittance_unstructured",
)  # fmt: skip


def csv_file(stage: Stage, content: Content) -> bytes:
    """A csv of the step's transfers; each may differ from the file in debtor and day."""
    rows = [",".join(CSV_HEAD)]
    for transfer in content.get("transfers") or [{}]:
        row = {
            "debtor_iban": stage.iban(transfer.get("debtor", content.get("debtor", "bakkerij"))),
            "requested_execution_date": transfer.get("on", content.get("on")) or stage.fill("{today}"),
            "creditor_name": transfer.get("creditor_name", "Jan Peeters"),
            "creditor_iban": stage.iban(transfer.get("creditor_iban", BELGIAN)),
            "creditor_bic": transfer.get("creditor_bic", ""),
            "amount": amount(transfer.get("amount", "10.00")),
            "currency": transfer.get("currency", "EUR"),
            "endtoend_identification": transfer.get("endtoend_identification") or f"E2E-{stage.number()}",
            "remittance_structured": transfer.get("structured", ""),
            "remittance_unstructured": transfer.get("unstructured", ""),
        }
        rows.append(",".join('"' + str(row[name]).replace('"', '""') + '"' for name in CSV_HEAD))
    return ("\n".join(rows) + "\n").encode()


def raw_body(content: Content) -> tuple[bytes | None, str | None]:
    """The body of a raw call, and its media type."""
    if "json" in content:
        return json.dumps(content["json"]).encode(), "application/json"
    if "form" in content:
        return form_of({name: str(value) for name, value in content["form"].items()}), FORM
    return (None, None) if content.get("body") is None else (str(content["body"]).encode(), "application/json")
