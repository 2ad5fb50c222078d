"""Reads a body: first as JSON, strictly, as what parsers disagree on is refused; then by its marshmallow schema.

Some banks take what others refuse: unknown fields, amounts as numbers (contract/decisions). Only a body that was
refused is looked at for that, so a good one costs nothing.

A compiled form of the schema accepts a body, and the schema itself refuses it. The form is made from its fields
and validators, so that the schema stays the one source. It takes about an eighth of the time, because it builds no
context, no error lists and no chain of validators for each value."""

import json
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import orjson
from marshmallow import RAISE, Schema, ValidationError, fields
from marshmallow.validate import Length, OneOf, Regexp, Validator

from sandbox.contract.errors import Error, Refusal
from sandbox.contract.field_rows import BodyRow
from sandbox.web.api.body_schemas import CONTROL, MISSING, NoControls

if TYPE_CHECKING:
    from sandbox.web.api.call import Call

DEPTH_MAX = 32
AMOUNTS = ("amount", "minimal_amount", "maximal_amount")
Read = Callable[[Any], Any]
NAME_SHOWN_MAX = 100  # characters of a field's name that the caller made up
SHOWN_MAX = 200  # characters of a value


def invalid(name: str, why: str, clause: str | None = None, **decided: object) -> Refusal:
    """The refusal of an input of a call, with the clause that it breaks and what decided."""
    return Refusal(Error.INPUT_INVALID, input=name, why=why, clause=clause, decided=decided)


def shown(value: object) -> str:
    """A value that was sent, as an explanation tells it."""
    return value if isinstance(value, str) else json.dumps(value)[:SHOWN_MAX]


def value_at(content: Any, path: str) -> Any:
    """The value at a dotted path, or None where there is none."""
    for name in path.split("."):
        content = content.get(name) if isinstance(content, dict) else None
    return content


def read_strict(content: bytes) -> Any:
    """The content; a ValueError says why not: no JSON, no UTF-8, NaN, 1e400, too deep, or a key twice."""
    try:
        found = orjson.loads(content)
    except orjson.JSONDecodeError as fault:
        raise ValueError(_why(content, fault)) from None
    if content.count(b"{") + content.count(b"[") > DEPTH_MAX and _deeper(found, DEPTH_MAX):
        raise ValueError(f"it is nested more than {DEPTH_MAX} deep")
    if content.count(b":") != _count_keys(found):  # a key twice, or a text with a colon
        json.loads(content, object_pairs_hook=_demand_single)
    return found


def _why(content: bytes, fault: orjson.JSONDecodeError) -> str:
    try:
        content.decode()
    except UnicodeDecodeError:
        return "it is not UTF-8"
    return f"it is not JSON (line {fault.lineno}, column {fault.colno})" if content.strip() else "it is empty"


def _deeper(value: Any, left: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    if left == 0:
        return True
    return any(_deeper(item, left - 1) for item in (value.values() if isinstance(value, dict) else value))


def _count_keys(value: Any) -> int:
    if isinstance(value, dict):
        return len(value) + sum(map(_count_keys, value.values()))
    return sum(map(_count_keys, value)) if isinstance(value, list) else 0


def _demand_single(pairs: list[tuple[str, Any]]) -> None:
    """Parsers differ in which of two equal keys wins, so neither does."""
    if len(pairs) > 1:
        names = set()
        for name, _ in pairs:
            if name in names:
                raise ValueError(f"the key {name[:100]} is there twice")
            names.add(name)


class Unfit(Exception):
    """The compiled form does not accept the value: the schema says why."""


class BodyReader:
    """A schema with its compiled form, and the table that names the clause of each field."""

    def __init__(self, schema: Schema, body: BodyRow) -> None:
        self.schema = schema
        self.body = body
        self._read = compile_schema(schema)

    def load(self, content: Any, call: "Call | None" = None) -> dict[str, Any]:
        """The values of a body, or where it is refused and an axis says so, without what it was refused for.

        A caller hears of the first fault."""
        if not isinstance(content, dict):
            raise invalid("body", "it must be a JSON object")
        try:
            return self._read(content)
        except Unfit:
            pass
        try:
            return dict(self.schema.load(content))
        except ValidationError as error:
            assert isinstance(error.messages, dict)
            field, why = first_fault(error.messages)
        if why == MISSING:
            outer = field.rpartition(".")[0] or field  # an object that is used must have this part
            sent = shown(value_at(content, outer) if outer != field else sorted(content))
            raise Refusal(Error.INPUT_MISSING, input=field, clause=self.body.clause_of(outer), decided={"sent": sent})
        eased = content if call is None else ease(call, self.schema, content)
        if eased == content:
            raise invalid(field[:NAME_SHOWN_MAX], why, self.body.clause_of(field), sent=shown(value_at(content, field)))
        return self.load(eased)


def first_fault(messages: Mapping[str, Any]) -> tuple[str, str]:
    """The path of a fault, such as creditor_account.iban, and what is wrong there."""
    place, found = next(iter(messages.items()))
    if isinstance(found, Mapping):
        inner, why = first_fault(found)
        return place if inner == "_schema" else f"{place}.{inner}", why
    return place, str(found[0]).rstrip(".")


def compile_schema(schema: Schema) -> Callable[[Any], dict[str, Any]]:
    """A function that accepts what the schema accepts, and raises Unfit for all else."""
    assert schema.unknown == RAISE and not any(schema._hooks.values()), "the compiled form knows neither"
    readers = {name: compile_field(field) for name, field in schema.fields.items()}
    required = frozenset(name for name, field in schema.fields.items() if field.required)

    def read(content: Any) -> dict[str, Any]:
        if type(content) is not dict or not required <= content.keys():
            raise Unfit
        try:
            return {name: readers[name](value) for name, value in content.items()}
        except KeyError:
            raise Unfit from None

    return read


def compile_field(field: fields.Field[Any]) -> Read:
    """A nested schema and a string in a few steps; any other field is asked itself."""
    if isinstance(field, fields.Nested):
        return compile_schema(field.schema)
    patterns = [pattern_of(check) for check in field.validators if isinstance(check, Validator)]
    if type(field) is fields.String and len(patterns) == len(field.validators) and None not in patterns:
        return _string(re.compile("".join(f"(?={pattern})" for pattern in patterns)))
    return _library_reader(field)


def pattern_of(check: Validator) -> str | None:
    """A validator of strings as a pattern of the whole string; None where there is no such pattern."""
    match check:
        case Length():
            return rf"(?s:.{{{check.min or 0},{'' if check.max is None else check.max}}})\Z"
        case NoControls():
            return rf"[^{CONTROL.pattern[1:-1]}]*\Z"
        case OneOf():
            return rf"(?:{'|'.join(re.escape(word) for word in check.choices)})\Z"
        case Regexp():
            return None if check.regex.flags & ~re.UNICODE else str(check.regex.pattern)
        case _:
            return None


def _string(pattern: re.Pattern[str]) -> Read:
    match = pattern.match

    def read(value: Any) -> Any:
        if type(value) is str and match(value):
            return value
        raise Unfit

    return read


def _library_reader(field: fields.Field[Any]) -> Read:
    def read(value: Any) -> Any:
        try:
            return field.deserialize(value)
        except ValidationError:
            raise Unfit from None

    return read


def ease(call: "Call", schema: Schema, content: dict[str, Any]) -> dict[str, Any]:
    """The body as a lenient bank takes it; only what differs asks for its axis."""
    fitting = without_unknown(schema, content)
    if fitting != content and call.decisions.unknown_field == "refused":
        fitting = content
    texts = with_texts(fitting)
    if texts != fitting and call.decisions.amount_as_number == "refused":
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
