"""Bodies of what a script orders: good ones by default, and any wrong one that it asks for."""

import json
from typing import Any

from sandbox.client.bodies import SCT, XB
from sandbox.client.transport import form_of
from sandbox.player.stage import Stage

Content = dict[str, Any]

FORM = "application/x-www-form-urlencoded"
BELGIAN = "BE68539007547034"  # valid, and of no bank

# What a step calls a field, and where the body has it (choice 5).
FIELDS = {
    "debtor": ("debtor_account", "iban"),
    "debtor_currency": ("debtor_account", "currency"),
    "creditor_iban": ("creditor_account", "iban"),
    "creditor_bban": ("creditor_account", "bban"),
    "creditor_bic": ("creditor_account", "bic"),
    "creditor_country": ("creditor_account", "country"),
    "creditor_currency": ("creditor_account", "currency"),
    "bank_national_id": ("creditor_account", "bank_national_id"),
    "creditor_name": ("creditor_name",),
    "creditor_address": ("creditor_address",),
    "endtoend_identification": ("endtoend_identification",),
    "amount": ("instructed_amount", "amount"),
    "currency": ("instructed_amount", "currency"),
    "minimal_amount": ("instructed_amount", "minimal_amount"),
    "maximal_amount": ("instructed_amount", "maximal_amount"),
    "charge_bearer": ("charge_bearer",),
    "instruction_priority": ("instruction_priority",),
    "purpose_code": ("purpose_code",),
    "structured": ("remittance_information_structured",),
    "unstructured": ("remittance_information_unstructured",),
    "on": ("requested_execution_date",),
    "type": ("periodic_payment_type",),
    "start_date": ("start_date",),
    "end_date": ("end_date",),
    "execution_date": ("execution_date",),
    "frequency": ("frequency",),
}
# The same in version 1.
EARLIER = {
    "debtor": ("origin_account", "iban"),
    "creditor_iban": ("remote_account", "iban"),
    "creditor_name": ("remote_account", "name"),
    "creditor_bic": ("remote_account", "bic"),
    "amount": ("amount",),
    "currency": ("currency",),
    "endtoend_identification": ("payment_id",),
    "unstructured": ("communication",),
    "structured": ("communication",),
    "on": ("execution_date",),
}
AMOUNTS = ("amount", "minimal_amount", "maximal_amount")
ACCOUNTS = ("debtor", "creditor_iban")


def payment(stage: Stage, content: Content) -> Content:
    """A single payment; a field that the step sets to null is left out."""
    defaults: Content = {"creditor_name": "Jan Peeters", "amount": "10.00", "currency": "EUR"}
    if content.get("product", SCT) == XB:
        defaults["charge_bearer"] = "SHAR"
    if "creditor_bban" not in content:
        defaults["creditor_iban"] = BELGIAN
    table = EARLIER if content.get("version") == 1 else FIELDS
    body = _body(stage, defaults | content, table)
    if table is EARLIER and "communication" in body:
        body["communication_type"] = "STRUCTURED" if "structured" in content else "FREETEXT"
    return body


def standing_order(stage: Stage, content: Content) -> Content:
    defaults: Content = {
        "creditor_name": "Jan Peeters",
        "creditor_iban": BELGIAN,
        "currency": "EUR",
        "frequency": "MONTHLY",
        "start_date": stage.filled("{today+7}") if "start_date" not in content else None,
    }
    if content.get("type", "FIXED") == "FIXED":
        defaults["amount"] = "10.00"
    return _body(stage, defaults | content, FIELDS)


def _body(stage: Stage, content: Content, table: dict[str, tuple[str, ...]]) -> Content:
    body: Content = {}
    if "endtoend_identification" not in content:
        content["endtoend_identification"] = f"E2E-{stage.number()}"
    for name, path in table.items():
        value = content.get(name)
        if value is None:
            continue
        if name in AMOUNTS:
            value = amount(value)
        if name in ACCOUNTS and isinstance(value, str):
            value = stage.iban(value)
        place = body
        for step in path[:-1]:
            place = place.setdefault(step, {})
        place[path[-1]] = value
    for name, value in (content.get("body") or {}).items():
        body[name] = value
        if value is None:
            del body[name]
    return body


def amount(value: Any) -> str:
    """YAML reads 250.00 as a number; the bank wants the text. Two decimals, as people write euro."""
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
            "requested_execution_date": transfer.get("on", content.get("on")) or stage.filled("{today}"),
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


def sent(content: Content) -> tuple[bytes | None, str | None]:
    """The body of a raw call, and its media type."""
    if "json" in content:
        return json.dumps(content["json"]).encode(), "application/json"
    if "form" in content:
        return form_of({name: str(value) for name, value in content["form"].items()}), FORM
    return (None, None) if content.get("body") is None else (str(content["body"]).encode(), "application/json")
