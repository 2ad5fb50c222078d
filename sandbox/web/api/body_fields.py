"""A marshmallow field for each kind of contract/fields; stricter than the library's own dates and numbers."""

import re
from datetime import date
from decimal import Decimal
from typing import Any

from marshmallow import ValidationError, fields
from marshmallow.validate import Length, OneOf, Regexp, Validator

from sandbox.banking.money import AMOUNT
from sandbox.contract.field_rows import Amount, Choice, Field, Text
from sandbox.contract.field_rows import Day as DayKind

MISSING = "missing"  # the message that tells a missing input from a wrong one
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029]")
NOT_A_NUMBER = "it must be a number or a decimal string such as 12.50"
NUMBER_MAX = 1e13  # a JSON number from here on has more digits than an amount

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")


class NoControls(Validator):
    """A text without control characters, lone surrogates or line separators."""

    def __call__(self, value: str) -> str:
        if CONTROL.search(value):
            raise ValidationError("it has a control character")
        return value


class Day(fields.Date):
    """A date, YYYY-MM-DD and nothing else."""

    default_error_messages = {"required": MISSING}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **more: Any) -> date:
        if isinstance(value, str) and _DATE.match(value):
            try:
                return date.fromisoformat(value)
            except ValueError:
                pass
        raise ValidationError("it must be a date, YYYY-MM-DD")


class NumberOrText(fields.Field[str]):
    """A JSON number or a decimal string; a number becomes the string."""

    default_error_messages = {"required": MISSING, "invalid": NOT_A_NUMBER}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **more: Any) -> str:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return f"{Decimal(str(value)).normalize():f}" if abs(value) < NUMBER_MAX else ""
        if not isinstance(value, str):
            raise self.make_error("invalid")
        return value


def field_of(row: Field) -> fields.Field[Any]:
    """The field that reads a row of the table; `note` and `clause` go to the reference."""
    more: dict[str, Any] = {"required": row.demanded, "metadata": notes_of(row)}
    match row.kind:
        case Text(longest, pattern, fault):
            checks = [Length(1, longest, error="it must have 1 to {max} characters"), NoControls()]
            if pattern is not None:
                checks.append(Regexp(pattern + r"\Z", error=fault))
            return _string("it must be a string", checks, more)
        case Choice(words):
            why = f"it must be one of {', '.join(words)}"
            return _string(why, [OneOf(words, error=why)], more)
        case Amount(number=True):
            return NumberOrText(validate=Regexp(AMOUNT.pattern + r"\Z", error=NOT_A_NUMBER), **more)
        case Amount():
            why = "it must be a decimal string such as 12.50"
            return _string(why, [Regexp(AMOUNT.pattern + r"\Z", error=why)], more)
        case DayKind():
            return Day(**more)
        case _:
            raise AssertionError(f"{row.path} is an object: body_schemas reads it")


def notes_of(row: Field) -> dict[str, str]:
    return {"note": row.note, "clause": row.clause} if row.note else {}


def _string(why: str, checks: list[Validator], more: Any) -> fields.String:
    return fields.String(validate=checks, error_messages={"required": MISSING, "invalid": why}, **more)
