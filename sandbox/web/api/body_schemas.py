"""Makes a marshmallow schema for each body in the table of contract/fields. The schemas read the bodies and document
them. The functions that write the details of an initiation into a reply are made from this table too.

A body is read in two steps. The first parses strict JSON, because parsers disagree on anything else. The second applies
the schema. Its dates and numbers are stricter than those of the library. Some banks accept unknown fields, or amounts
that are numbers. A body is read in this lenient way only after the strict schema has refused it.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from decimal import Decimal
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import orjson
from marshmallow import RAISE, Schema, ValidationError, fields
from marshmallow.validate import Length, OneOf, Regexp, Validator

from sandbox.bank.records import Address, Creditor, Debtor, PaymentRequest, StandingOrderRequest
from sandbox.banking.calendar import explain_wrong_date
from sandbox.banking.money import AMOUNT, Money
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.field_rows import AmountKind, BodyRow, ChoiceKind, Field, ObjectKind, TextKind
from sandbox.contract.field_rows import DateKind as DayKind
from sandbox.contract.fields import PAYMENT, STANDING_ORDER, VERSION_1

if TYPE_CHECKING:
    from sandbox.web.api.call import Call
from sandbox.contract.errors import make_invalid

MISSING = "missing"  # the message that tells a missing input from a wrong one
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029]")
NOT_A_NUMBER = "it must be a number or a decimal string such as 12.50"
NUMBER_MAX = 1e13  # a JSON number from here on has more digits than an amount

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")


class NoControls(Validator):
    """A check that a text has no control characters, lone surrogates or line separators."""

    def __call__(self, value: str) -> str:
        if CONTROL.search(value):
            raise ValidationError("it has a control character")
        return value


class DateField(fields.Date):
    """A field for a date in the form YYYY-MM-DD. It accepts no other form."""

    default_error_messages = {"required": MISSING}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **more: Any) -> date:
        if not isinstance(value, str) or not _DATE.match(value):
            raise ValidationError("it must be a date, YYYY-MM-DD")
        if reason := explain_wrong_date(value):
            raise ValidationError(reason)
        return date.fromisoformat(value)


class NumberOrText(fields.Field[str]):
    """A field for a JSON number or a string. It reads a number as a decimal string, or as an empty text if the number
    has too many digits. It returns a string unchanged, and leaves the check of its form to a validator."""

    default_error_messages = {"required": MISSING, "invalid": NOT_A_NUMBER}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **more: Any) -> str:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return f"{Decimal(str(value)).normalize():f}" if abs(value) < NUMBER_MAX else ""
        if not isinstance(value, str):
            raise self.make_error("invalid")
        return value


def make_field(row: Field) -> fields.Field[Any]:
    """Returns the marshmallow field for a row of the table. The field also has the `note` and the `clause` of the row,
    which the OpenAPI documents show."""
    more: dict[str, Any] = {"required": row.demanded, "metadata": list_notes(row)}
    match row.kind:
        case TextKind(longest, pattern, fault):
            checks = [Length(1, longest, error="it must have 1 to {max} characters"), NoControls()]
            if pattern is not None:
                checks.append(Regexp(pattern + r"\Z", error=fault))
            return _make_string("it must be a string", checks, more)
        case ChoiceKind(words):
            error_text = f"it must be one of {', '.join(words)}"
            return _make_string(error_text, [OneOf(words, error=error_text)], more)
        case AmountKind(number=True):
            return NumberOrText(validate=Regexp(AMOUNT.pattern + r"\Z", error=NOT_A_NUMBER), **more)
        case AmountKind():
            error_text = "it must be a decimal string such as 12.50"
            return _make_string(error_text, [Regexp(AMOUNT.pattern + r"\Z", error=error_text)], more)
        case DayKind():
            return DateField(**more)
        case _:
            raise AssertionError(f"{row.path} is an object: body_schemas reads it")


def list_notes(row: Field) -> dict[str, str]:
    return {"note": row.note, "clause": row.clause} if row.note else {}


def _make_string(error_text: str, checks: list[Validator], more: Any) -> fields.String:
    return fields.String(validate=checks, error_messages={"required": MISSING, "invalid": error_text}, **more)


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
    """The base of schemas that refuse unknown fields at every depth (choice 5). Among several errors, those of known
    fields come first, and those of unknown fields follow in the order in which the fields were sent."""

    class Meta:
        unknown = RAISE

    def handle_error(self, error: ValidationError, data: Any, *, many: bool, **more: Any) -> None:
        if isinstance(error.messages, dict) and isinstance(data, dict):
            places = {name: place for place, name in enumerate(data) if name not in self.fields}
            error.messages = dict(sorted(error.messages.items(), key=lambda fault: places.get(fault[0], -1)))


def make_parts(body: BodyRow, outer: str) -> list[Field]:
    """Returns the fields of the object `outer`. If the bank has a record for this object, the fields have the order of
    the record's attributes."""
    parts = body.list_parts(outer)
    if outer not in RECORDS:
        return parts
    order = list(RECORDS[outer].__annotations__)
    return sorted(parts, key=lambda part: order.index(part.inner))


def reply_order(rows: Iterable[Field]) -> list[Field]:
    return sorted(rows, key=lambda row: FIRST.index(row.path) if row.path in FIRST else len(FIRST))


_SCHEMAS: dict[str, type[Schema]] = {}


def _make_schema(base: type[Schema], name: str, parts: dict[str, fields.Field[Any]]) -> type[Schema]:
    """Returns the schema of an object. Two bodies that have the same object share one schema, so that the OpenAPI
    document shows it only once."""
    schema = _SCHEMAS.setdefault(name, base.from_dict(parts, name=name))
    assert list(schema._declared_fields) == list(parts), f"{name} has two shapes"
    return schema


def make_request_schema(body: BodyRow) -> type[Schema]:
    return Strict.from_dict({row.path: _make_request_field(body, row) for row in body.list_outers()}, name=body.request)


def _make_request_field(body: BodyRow, row: Field) -> fields.Field[Any]:
    if not isinstance(row.kind, ObjectKind):
        return make_field(row)
    parts = {part.inner: make_field(part) for part in make_parts(body, row.path)}
    return fields.Nested(
        _make_schema(Strict, row.kind.request, parts),
        required=row.demanded,
        error_messages={"required": MISSING},
        metadata=list_notes(row),
    )


def make_outcome_fields(body: BodyRow) -> dict[str, fields.Field[Any]]:
    """Returns the schema fields of the reply with the details of an initiation (choice 5)."""
    return {row.path: _reply_field(body, row) for row in reply_order(body.list_outers())}


def _reply_field(body: BodyRow, row: Field) -> fields.Field[Any]:
    more: dict[str, Any] = {"required": row.always, "metadata": list_notes(row)}
    match row.kind:
        case ObjectKind(reply=name):
            parts = {part.inner: _reply_field(body, part) for part in reply_order(make_parts(body, row.path))}
            return fields.Nested(_make_schema(Schema, name, parts), **more)
        case DayKind():
            return fields.Date(**more)
        case ChoiceKind(words):
            return fields.String(validate=OneOf(words), **more)
        case _:
            return fields.String(**more)


PaymentBody = make_request_schema(PAYMENT)
ContractBody = make_request_schema(STANDING_ORDER)
EarlierBody = make_request_schema(VERSION_1)


Write = Callable[[Any], Any]  # of a record
DEBTOR = "debtor_account"
TEXTS: dict[type, Write] = {AmountKind: Money.text, DayKind: date.isoformat}  # of all others `str`


def _make_writer(body: BodyRow, row: Field) -> Write:
    if not isinstance(row.kind, ObjectKind):
        return _make_value_writer(row, row.attribute_path)
    parts = reply_order(make_parts(body, row.path))
    source, dot, _ = parts[0].attribute_path.partition(".")
    if row.path not in RECORDS or not dot:
        return _make_filled_writer([(part.inner, _make_value_writer(part, part.attribute_path)) for part in parts])
    write = _make_filled_writer([(part.inner, _make_value_writer(part, part.inner)) for part in parts])
    if row.path == DEBTOR:
        return write
    get = attrgetter(source)
    return lambda record: None if (value := get(record)) is None else write(value)


def _make_filled_writer(parts: list[tuple[str, Write]]) -> Write:
    return lambda record: {name: value for name, write in parts if (value := write(record)) is not None}


def _make_value_writer(row: Field, attribute: str) -> Write:
    get, text_of = attrgetter(attribute), TEXTS.get(type(row.kind), str)
    return lambda record: None if (value := get(record)) is None else text_of(value)


WRITERS = {
    record: [(row.path, _make_writer(body, row)) for row in reply_order(body.list_outers())]
    for record, body in ((PaymentRequest, PAYMENT), (StandingOrderRequest, STANDING_ORDER))
}


def list_order_fields(record: PaymentRequest | StandingOrderRequest, debtor: Debtor | None) -> dict[str, Any]:
    """Returns the fields of an initiation as they were sent (choice 5). Leaves out fields without a value. `debtor` is
    the account in the body, or the account that the customer picked, or None if there is none yet."""
    values = {}
    for name, write in WRITERS[type(record)]:
        source = debtor if name == DEBTOR else record
        value = None if source is None else write(source)
        if value is not None:
            values[name] = value
    return values


DEPTH_MAX = 32
AMOUNTS = ("amount", "minimal_amount", "maximal_amount")
NAME_SHOWN_MAX = 100  # characters of a field's name that the caller made up
SHOWN_MAX = 200  # characters of a value


def show_value(value: object) -> str:
    """Returns a sent value as text, for the explanation of a refusal. A value that is not a text is shown as JSON, cut
    after SHOWN_MAX characters."""
    return value if isinstance(value, str) else json.dumps(value)[:SHOWN_MAX]


def find_value(content: Any, path: str) -> Any:
    """Returns the value at a dotted path, or None if the body has no such path."""
    for name in path.split("."):
        content = content.get(name) if isinstance(content, dict) else None
    return content


def read_strict(content: bytes) -> Any:
    """Parses JSON. Raises ValueError for text that is not JSON or not UTF-8, for NaN and 1e400, for too deep nesting,
    and for a key that occurs twice."""
    try:
        value = orjson.loads(content)
    except orjson.JSONDecodeError as fault:
        raise ValueError(_describe_json_fault(content, fault)) from None
    if content.count(b"{") + content.count(b"[") > DEPTH_MAX and _is_deeper(value, DEPTH_MAX):
        raise ValueError(f"it is nested more than {DEPTH_MAX} deep")
    if content.count(b":") != _count_keys(value):  # a key twice, or a text with a colon
        json.loads(content, object_pairs_hook=_demand_single)
    return value


def _describe_json_fault(content: bytes, fault: orjson.JSONDecodeError) -> str:
    try:
        content.decode()
    except UnicodeDecodeError:
        return "it is not UTF-8"
    return f"it is not JSON (line {fault.lineno}, column {fault.colno})" if content.strip() else "it is empty"


def _is_deeper(value: Any, levels_left: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    if levels_left == 0:
        return True
    return any(_is_deeper(item, levels_left - 1) for item in (value.values() if isinstance(value, dict) else value))


def _count_keys(value: Any) -> int:
    if isinstance(value, dict):
        return len(value) + sum(map(_count_keys, value.values()))
    return sum(map(_count_keys, value)) if isinstance(value, list) else 0


def _demand_single(pairs: list[tuple[str, Any]]) -> None:
    """Raises ValueError if a key occurs twice, because parsers differ in which of the two values they take."""
    if len(pairs) > 1:
        names = set()
        for name, _ in pairs:
            if name in names:
                raise ValueError(f"the key {name[:100]} is there twice")
            names.add(name)


class BodyReader:
    """Reads bodies by a marshmallow schema. `body` is their description in the table of contract/fields.py. It gives
    the clause that is named if a field is refused."""

    def __init__(self, schema: Schema, body: BodyRow) -> None:
        self.schema = schema
        self.body = body

    def load(self, content: Any, call: "Call | None" = None) -> dict[str, Any]:
        """Returns the values of a body. Refuses a body that has a fault, and names its first fault. Does not refuse
        faults that the bank of `call` ignores because of an axis. Without `call`, refuses every fault."""
        if not isinstance(content, dict):
            raise make_invalid("body", "it must be a JSON object")
        try:
            return dict(self.schema.load(content))
        except ValidationError as error:
            assert isinstance(error.messages, dict)
            field, reason = find_first_fault(error.messages)
        if reason == MISSING:
            outer = field.rpartition(".")[0] or field  # an object that is used must have this part
            sent_value = show_value(find_value(content, outer) if outer != field else sorted(content))
            raise Refusal(
                Error.INPUT_MISSING, input=field, clause=self.body.find_clause(outer), decided_by={"sent": sent_value}
            )
        lenient_content = content if call is None else drop_ignored_faults(call, self.schema, content)
        if lenient_content == content:
            raise make_invalid(
                field[:NAME_SHOWN_MAX],
                reason,
                self.body.find_clause(field),
                sent=show_value(find_value(content, field)),
            )
        return self.load(lenient_content)


def find_first_fault(messages: Mapping[str, Any]) -> tuple[str, str]:
    """Returns the path of the first wrong field, such as creditor_account.iban, and the reason why it is wrong."""
    place, fault = next(iter(messages.items()))
    if isinstance(fault, Mapping):
        inner, reason = find_first_fault(fault)
        return place if inner == "_schema" else f"{place}.{inner}", reason
    return place, str(fault[0]).rstrip(".")


def drop_ignored_faults(call: "Call", schema: Schema, content: dict[str, Any]) -> dict[str, Any]:
    """Returns the body without the faults that this bank ignores. The axis `unknown_field` decides about unknown
    fields, and `amount_as_number` about amounts that are numbers. An axis is read only if the body has its fault,
    because each reading of an axis is noted for the call."""
    fitting = drop_unknown(schema, content)
    if fitting != content and call.decisions.unknown_field == "refused":
        fitting = content
    texts = write_numbers_as_texts(fitting)
    if texts != fitting and call.decisions.amount_as_number == "refused":
        return fitting
    return texts


def drop_unknown(schema: Schema, content: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the body without the fields that the schema lacks, at every depth."""
    fitting = {}
    for name, value in content.items():
        field = schema.fields.get(name)
        if field is not None:
            nested = isinstance(field, fields.Nested) and isinstance(value, dict)
            fitting[name] = drop_unknown(field.schema, value) if nested else value  # type: ignore[attr-defined]
    return fitting


def write_numbers_as_texts(content: dict[str, Any]) -> dict[str, Any]:
    """Returns the body with decimal strings in the place of the numbers in `instructed_amount`. Returns a body without
    this object unchanged."""
    inner = content.get("instructed_amount")
    if not isinstance(inner, dict):
        return content
    return content | {"instructed_amount": {name: _write_text(name, value) for name, value in inner.items()}}


def _write_text(name: str, value: Any) -> Any:
    if name in AMOUNTS and isinstance(value, int | float) and not isinstance(value, bool):
        return f"{Decimal(str(value)):f}"
    return value
