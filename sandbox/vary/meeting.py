"""Which axes the calls of a world met, and which call met those of a variant last."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from sandbox.client import Controls, Refused
from sandbox.contract.variants import AXES
from sandbox.vary.space import Variant

ROWS_ASKED_MAX = 50  # of the last calls
INITIATIONS = ("payment_", "standing_order_", "bulk_")
READS = ("accounts", "account", "transactions")
# An axis that settings decide is met by every call of these operations (or of all): nothing in the code asks for it.
OPERATIONS: Mapping[str, tuple[str, ...]] = {
    "initiation": INITIATIONS,
    "settling": ("payment_",),
    "standing orders": ("standing_order_",),
    "files": ("bulk_",),
    "tokens": ("consent_addresses", "token", *READS),
    "accounts": READS,
    "callback": ("token", *INITIATIONS),
}

Rows = Sequence[Mapping[str, Any]]


def axes_met(controls: Controls, calls: Rows) -> frozenset[str]:
    """The axes that the world says were met, and those whose settings concern an operation that was called."""
    operations = {row["operation"] for row in calls if row["operation"]}
    asked = {row["name"] for row in controls.listed("variants") if row["met"]}
    by_settings = {name for name in AXES if any(_concerns(name, operation) for operation in operations)}
    return frozenset(asked | by_settings)


def _concerns(name: str, operation: str) -> bool:
    """Whether settings decide the axis, and the operation is one of its topic."""
    axis = AXES[name]
    prefixes = OPERATIONS.get(axis.topic, ("",))
    return axis.by_settings and any(operation == one or operation.startswith(one) for one in prefixes if one != "token")


def last_call(controls: Controls, calls: Rows, variant: Variant) -> str:
    """The last call that met an axis of the variant, else the last of all; empty where there is none."""
    for row in reversed(calls[-ROWS_ASKED_MAX:]):
        if any(_met(controls, row, axis) for axis, _ in variant.changes):
            return describe_call(row)
    return describe_call(calls[-1]) if calls else ""


def _met(controls: Controls, row: Mapping[str, Any], axis: str) -> bool:
    if axis in AXES and AXES[axis].by_settings:
        return bool(row["operation"]) and _concerns(axis, row["operation"])
    try:
        explanation = controls.call("GET", f"/explain/{quote(row['request_id'], safe='')}").body
    except Refused:
        return False
    return axis in explanation.get("variants", {})


def describe_call(row: Mapping[str, Any]) -> str:
    return f"{row['method']} {row['path']} {row['status']}, Request-ID {row['request_id']}"
