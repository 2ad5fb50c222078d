"""The values that steps take: checked before a script plays, each with its line and column (choice 13).

A step that expects a refusal may be wrong on purpose, and a value with a {reference} is known only when it plays.
"""

import re
from collections.abc import Mapping
from typing import Any

from sandbox.banking.recurrence import Frequency
from sandbox.contract.errors import Error
from sandbox.contract.moves import Status
from sandbox.contract.operations import BY_NAME
from sandbox.contract.products import PRODUCTS
from sandbox.reader.scalars import (
    CUSTOMER,
    DURATION,
    FLAG,
    INSTANT,
    account_iban,
    fraction,
    one_of,
    pattern_or,
    text_of,
)
from sandbox.reader.shapes import Each, Either, Json, Leaf, Notes, Shape, Table
from sandbox.reader.tree import LISTED_MAX, AlreadyReported, Node, Wrong, join_names, suggestion
from sandbox.scenario.fault_rows import FAULT, HOLD_WHEN, PLACE
from sandbox.scenario.setting_rows import SETTINGS

IBAN_LIKE = re.compile(r"[A-Za-z]{2}[0-9]{2}[A-Za-z0-9 ]*")
LOGICAL_ID_MIN = 20  # characters: shorter texts are names
REFUSALS = sorted({word for error in Error for word in error.value[1:3]} | {"access_denied", "invalid_request"})
TEXT: Json = {"type": "string", "minLength": 1}


def _account(node: Node, notes: Notes) -> str:
    """An account of the bank by its name, its IBAN or its owner; or one that a step above added."""
    found = text_of(node)
    if found in notes.added:
        return found
    try:
        return account_iban(node, notes)
    except Wrong as wrong:
        people = notes.fixtures
        names = [] if people is None else [*people.names, *people.customers]
        some = f"such as {join_names(names[:LISTED_MAX])}" if names else None
        raise Wrong(wrong.text, suggestion(found, [*sorted(notes.added), *names]) or some) from None


def _iban_or_account(node: Node, notes: Notes) -> str:
    """Also an IBAN of any bank."""
    found = text_of(node)
    return found if IBAN_LIKE.fullmatch(found) else _account(node, notes)


def _readable(node: Node, notes: Notes) -> str:
    """Also a logical-id, which is no name."""
    found = text_of(node)
    return found if len(found) >= LOGICAL_ID_MIN else _account(node, notes)


def _customer(node: Node, notes: Notes) -> Any:
    return node.value if node.value in notes.added else CUSTOMER.read(node, notes)


def _refusal(node: Node, notes: Notes) -> Any:
    """True for any, or the token, the code or the HTTP status of an error."""
    value = node.value
    if value is True or (isinstance(value, int) and not isinstance(value, bool) and 400 <= value <= 599):
        return value
    return one_of(REFUSALS, "error of this bank").read(node, notes)


STATUS = one_of([status.value for status in Status], "status")
ACCOUNT = Leaf(_account, TEXT)
DEBTOR = Leaf(_iban_or_account, TEXT)
READABLE = Leaf(_readable, TEXT)
WHO = Leaf(_customer, TEXT)
REFUSED = Leaf(_refusal, {"anyOf": [{"const": True}, {"type": "integer"}, {"enum": REFUSALS}]})
PRODUCT = one_of(PRODUCTS, "payment product")
PAY: Mapping[str, Shape] = {
    "product": PRODUCT,
    "resend": FLAG,
    "debtor": DEBTOR,
    "creditor_iban": DEBTOR,
    "frequency": one_of([frequency.value for frequency in Frequency], "frequency"),
    "type": one_of(("FIXED", "VARIABLE"), "type"),
    "charge_bearer": one_of(("SHAR", "DEBT", "CRED"), "charge bearer"),
    "instruction_priority": one_of(("NORM", "HIGH"), "priority"),
}
PSU: Mapping[str, Shape] = {"customer": WHO, "account": ACCOUNT, "accounts": Each(ACCOUNT)}

# By the word of a step and its key; the bare value is that of the word's bare key.
VALUES: dict[str, Mapping[str, Shape]] = {
    "pay": PAY,
    "order": PAY,
    "file": {"debtor": DEBTOR, "resend": FLAG},
    "consent": {"scope": one_of(("AIS", "CAF"), "scope"), **PSU, "iban": DEBTOR},
    "account": {"account": READABLE},
    "transactions": {"account": READABLE},
    "psu": PSU,
    "sign": {"customer": WHO},
    "refuse": {"customer": WHO},
    "withdraw": {"customer": WHO, "scope": one_of(("AIS", "CAF"), "scope")},
    "clock": {
        "advance": DURATION,
        "set": INSTANT,
        "mode": one_of(("frozen", "running"), "mode"),
        "rate": fraction(0, 1_000_000, open_below=True),
    },
    "await": {"status": STATUS, "within": DURATION},
    "move": {"status": STATUS},
    "book": {"account": ACCOUNT},
    "change": {"customer": WHO, "account": ACCOUNT},
    "verify": {"operation": pattern_or(one_of(BY_NAME, "operation"))},
    "hold": {"at": PLACE, "when": HOLD_WHEN},
}
WHOLE: dict[str, Shape] = {"fault": FAULT, "settings": SETTINGS}  # read as a scenario reads them
ELAPSED = Either(DURATION, Table({"over": DURATION, "under": DURATION}, one_of=("over", "under"), called="a bound"))
EXPECTED: Mapping[str, Shape] = {"account": ACCOUNT, "went": Each(STATUS), "elapsed": ELAPSED}


def is_open(node: Node) -> bool:
    """Whether the value is known only when the script plays, or leaves a field out."""
    return node.value is None or (isinstance(node.value, str) and "{" in node.value)


def check_value(shape: Shape, node: Node, notes: Notes) -> None:
    if is_open(node) or any(is_open(item) for item in node.items):
        return
    try:
        notes.read(shape, node)
    except AlreadyReported:
        return


def schema_of(shape: Shape) -> Json:
    """A value, or one that is open."""
    return {"anyOf": [shape.schema(), {"type": "string", "pattern": r"\{"}, {"type": "null"}]}


def check_expected(node: Node, notes: Notes) -> None:
    """What a step expects: statuses and accounts by their names."""
    for key, shape in EXPECTED.items():
        if key in node.rows:
            check_value(shape, node.rows[key].value, notes)
    if "status" in node.rows:
        place = node.rows["status"].value
        if isinstance(place.value, str) and place.value.isupper() and place.value.isalpha():
            check_value(STATUS, place, notes)


def check_added(node: Node, notes: Notes) -> None:
    """A step `add` names customers and accounts for the steps after it."""
    for key in ("account", "customer"):
        if key in node.rows and isinstance(node.rows[key].value.value, str):
            notes.added.add(str(node.rows[key].value.value))
