"""Bodies that some banks take and others refuse: unknown fields, amounts as numbers (contract/axes_headers).

Only a body that was refused is looked at, so a good one costs nothing.
"""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, TypeVar

from marshmallow import Schema, fields

from sandbox.contract.errors import Error, Refusal
from sandbox.web.api.call import Call

AMOUNTS = ("amount", "minimal_amount", "maximal_amount")
UNKNOWN = "Unknown field"
T = TypeVar("T")


def read_again(refusal: Refusal, call: Call, schema: Schema, read: Callable[[Any], T], content: Any) -> T:
    """Read a body that was refused, where an axis says so, without what it was refused for."""
    if not isinstance(content, dict) or refusal.error is not Error.INPUT_INVALID:
        raise refusal
    eased = ease(call, schema, content)
    if eased == content:
        raise refusal
    return read(eased)


def ease(call: Call, schema: Schema, content: dict[str, Any]) -> dict[str, Any]:
    """The body as a lenient bank takes it; only what differs asks for its axis."""
    fitting = without_unknown(schema, content)
    if fitting != content and call.variant("unknown_field") == "refused":
        fitting = content
    texts = with_texts(fitting)
    if texts != fitting and call.variant("amount_as_number") == "refused":
        return fitting
    return texts


def without_unknown(schema: Schema, content: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that the schema has, at every depth."""
    found = {}
    for name, value in content.items():
        field = schema.fields.get(name)
        if field is not None:
            nested = isinstance(field, fields.Nested) and isinstance(value, dict)
            found[name] = without_unknown(field.schema, value) if nested else value  # type: ignore[attr-defined]
    return found


def with_texts(content: dict[str, Any]) -> dict[str, Any]:
    """Amounts that are numbers as decimal strings."""
    inner = content.get("instructed_amount")
    if not isinstance(inner, dict):
        return content
    return content | {"instructed_amount": {name: _text(name, value) for name, value in inner.items()}}


def _text(name: str, value: Any) -> Any:
    if name in AMOUNTS and isinstance(value, int | float) and not isinstance(value, bool):
        return f"{Decimal(str(value)):f}"
    return value
