"""The marshmallow schemas of the bodies and of the details replies, made from contract/fields."""

from collections.abc import Iterable
from typing import Any

from marshmallow import RAISE, Schema, fields
from marshmallow.validate import OneOf

from sandbox.bank.records import Address, Creditor, Debtor
from sandbox.contract.field_rows import Body, Choice, Day, Field, Object
from sandbox.contract.fields import PAYMENT, STANDING_ORDER, VERSION_1
from sandbox.web.api.body_fields import MISSING, field_of, notes_of

# The objects of a body that become a record of their own: their fields are the record's attributes, in its order.
RECORDS: dict[str, type[Any]] = {
    "debtor_account": Debtor,
    "creditor_account": Creditor,
    "creditor_address": Address,
}
# What a details reply begins with (service 2.4); the other fields follow in the order of the table.
FIRST = (
    "debtor_account", "creditor_account", "instructed_amount", "instructed_amount.currency", "creditor_name",
    "creditor_address", "endtoend_identification",
)  # fmt: skip


class Strict(Schema):
    """Unknown fields are refused at every depth (choice 5)."""

    class Meta:
        unknown = RAISE


def parts_of(body: Body, outer: str) -> list[Field]:
    """The fields of an object; those of a record in the record's order."""
    parts = body.parts(outer)
    if outer not in RECORDS:
        return parts
    order = list(RECORDS[outer].__annotations__)
    return sorted(parts, key=lambda part: order.index(part.inner))


def reply_order(rows: Iterable[Field]) -> list[Field]:
    return sorted(rows, key=lambda row: FIRST.index(row.path) if row.path in FIRST else len(FIRST))


_SCHEMAS: dict[str, type[Schema]] = {}


def _schema(base: type[Schema], name: str, parts: dict[str, fields.Field[Any]]) -> type[Schema]:
    """The schema of an object; two bodies with the same object share it, and its name in the document."""
    found = _SCHEMAS.setdefault(name, base.from_dict(parts, name=name))
    assert list(found._declared_fields) == list(parts), f"{name} has two shapes"
    return found


def request_schema(body: Body) -> type[Schema]:
    return Strict.from_dict({row.path: _request_field(body, row) for row in body.outers()}, name=body.request)


def _request_field(body: Body, row: Field) -> fields.Field[Any]:
    if not isinstance(row.kind, Object):
        return field_of(row)
    parts = {part.inner: field_of(part) for part in parts_of(body, row.path)}
    return fields.Nested(
        _schema(Strict, row.kind.request, parts),
        required=row.demanded,
        error_messages={"required": MISSING},
        metadata=notes_of(row),
    )


def outcome(body: Body) -> dict[str, fields.Field[Any]]:
    """The fields of an initiation as its details show them (choice 5)."""
    return {row.path: _reply_field(body, row) for row in reply_order(body.outers())}


def _reply_field(body: Body, row: Field) -> fields.Field[Any]:
    more: dict[str, Any] = {"required": row.always, "metadata": notes_of(row)}
    match row.kind:
        case Object(reply=name):
            parts = {part.inner: _reply_field(body, part) for part in reply_order(parts_of(body, row.path))}
            return fields.Nested(_schema(Schema, name, parts), **more)
        case Day():
            return fields.Date(**more)
        case Choice(words):
            return fields.String(validate=OneOf(words), **more)
        case _:
            return fields.String(**more)


PaymentBody = request_schema(PAYMENT)
ContractBody = request_schema(STANDING_ORDER)
EarlierBody = request_schema(VERSION_1)
