"""The marshmallow fields of the controls. The error of a field says in one sentence which values it accepts."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from marshmallow import RAISE, Schema, ValidationError, fields, missing
from marshmallow.validate import OneOf, Range, Regexp

from sandbox.banking.durations import RATE_MAX, read_duration, read_instant
from sandbox.banking.money import is_currency
from sandbox.banking.names import find_last_segment, find_nearest, find_state, is_world_name
from sandbox.contract.moves import Status
from sandbox.reader.tree import SHOWN_MAX, suggest
from sandbox.web.api.body_schemas import MISSING, Strict

TEXT_MAX, TEXTS_MAX = 4096, 1000
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}\Z")
NAME = re.compile(r"[^\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029]{1,100}\Z")
TIME = "A time: ISO 8601, with an offset or in Brussels time."
SPAN = "A span: `61m` (s, m, h, d, w) or ISO 8601."


class StrictBody(Strict):
    """The base of bodies that refuse unknown fields. Repeats the option `unknown` of its base class, because apispec
    documents the option only for a class that declares it."""

    class Meta:
        unknown = RAISE


def query(**parts: fields.Field[Any]) -> Schema:
    """Makes the schema of a query. Parameters that the schema does not name are ignored."""
    return Schema.from_dict(dict(parts), name="Query")()


def body(component: str, /, **parts: fields.Field[Any]) -> Schema:
    """Makes the schema of a body. `component` is its name in the OpenAPI document."""
    return StrictBody.from_dict(dict(parts), name=component)()


def reply(component: str, /, **members: fields.Field[Any]) -> type[Schema]:
    """Makes the schema of a reply, in which every member is required. `component` is its name in the OpenAPI
    document."""
    for member in members.values():
        member.required = True
    return Schema.from_dict(dict(members), name=component)


class DescribedField(fields.Field[Any]):
    """A marshmallow field with texts for the OpenAPI document (`about`) and for the command that is generated from the
    control (`option`).

    If `option` is empty, the command has no option for the field. `error_text` is the error of a wrong value. `shape`
    is added to the JSON Schema of the field.
    """

    def __init__(
        self,
        *args: Any,
        error_text: str = "",
        about: str = "",
        option: str = "",
        shape: dict[str, Any] | None = None,
        **more: Any,
    ) -> None:
        metadata = ({"description": about} if about else {}) | (shape or {}) | {"option": option}
        super().__init__(*args, error_messages={"required": MISSING, "invalid": error_text}, metadata=metadata, **more)

    def _validate_missing(self, value: Any) -> None:
        """Refuses a missing value if the field is required. Accepts null, because the function that reads the value
        refuses null with an error of its own."""
        if value is missing and self.required:
            raise self.make_error("required")


class TextField(DescribedField, fields.String):
    pass


class IntegerField(DescribedField, fields.Integer):
    def __init__(self, error_text: str, least: int, most: int | None = None, **more: Any) -> None:
        super().__init__(strict=True, error_text=error_text, validate=Range(least, most, error=error_text), **more)


class BooleanField(DescribedField, fields.Boolean):
    def __init__(self, error_text: str = "it must be true or false", **more: Any) -> None:
        super().__init__(error_text=error_text, **more)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **more: Any) -> bool:
        if not isinstance(value, bool):
            raise self.make_error("invalid")
        return value


class FunctionField(DescribedField):
    """A field whose value is read by a function. To refuse a value, the function raises ValueError with the text of the
    error."""

    def __init__(self, read: Callable[[Any], Any], *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.read = read

    def _deserialize(self, value: Any, attr: str | None, data: Any, **more: Any) -> Any:
        try:
            return self.read(value)
        except ValueError as fault:
            raise ValidationError(str(fault)) from None


class TextFunctionField(FunctionField, fields.String):
    pass


class TextListField(FunctionField, fields.List[Any]):
    """A list of texts. The function `read` may turn the list into another value."""

    def __init__(self, read: Callable[[list[str]], Any] = tuple, **more: Any) -> None:
        super().__init__(lambda value: read(read_texts(value)), fields.String(), **more)


class ObjectField(DescribedField, fields.Nested):
    """An object within a body. Unknown members are refused."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, partial: Any = None, **more: Any) -> Any:
        if not isinstance(value, dict):
            raise self.make_error("invalid")
        for name in value:
            if name not in self.schema.fields:
                raise ValidationError({name[:SHOWN_MAX]: [f"it is unknown; {suggest(name, self.schema.fields)}"]})
        return super()._deserialize(value, attr, data, partial, **more)


class OneWord(OneOf):
    """A check that a value is one of some words. The error lists the words, and suggests the one that is most similar
    to the value."""

    def __call__(self, value: Any) -> Any:
        if value not in self.choices:
            near = find_nearest(value, map(str, self.choices))
            raise ValidationError(self.list_choices() + (f"; did you mean '{near}'?" if near else ""))
        return value

    def list_choices(self) -> str:
        return f"it is one of {', '.join(self.choices)}"


def make_one_of(*words: str, **more: Any) -> TextField:
    choice = OneWord(words)
    return TextField(error_text=choice.list_choices(), validate=choice, **more)


def make_word_field(error_text: str, *words: str, **more: Any) -> TextField:
    """Makes a field that accepts only `words`. `error_text` is the error of any other value."""
    return TextField(error_text=error_text, validate=OneOf(words, error=error_text), **more)


def make_pattern_field(pattern: re.Pattern[str], error_text: str, **more: Any) -> TextField:
    return TextField(error_text=error_text, validate=Regexp(pattern, error=error_text), **more)


def read_text(value: Any) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= TEXT_MAX or not value.isprintable():
        raise ValueError("it must be a text without line breaks and control characters")
    return value


def make_checked_field(
    is_valid: Callable[[Any], object], error_text: str, field: type[FunctionField] = TextFunctionField, **more: Any
) -> FunctionField:
    """Makes a field that returns a value unchanged if `is_valid` is true for it. `error_text` is the error of any other
    value."""

    def read(value: Any) -> Any:
        if not is_valid(value):
            raise ValueError(error_text)
        return value

    return field(read, **more)


def make_text_field(is_valid: Callable[[str], bool], error_text: str, **more: Any) -> FunctionField:
    return make_checked_field(lambda value: is_valid(read_text(value)), error_text, **more)


def read_texts(value: Any) -> list[str]:
    if not isinstance(value, list) or len(value) > TEXTS_MAX:
        raise ValueError("it must be a list of texts")
    return [read_text(item) for item in value]


def _read_address(value: Any) -> tuple[str, str | None]:
    """Returns the token at the end of an SCA or consent address, and the `state` that the TPP appended to the address,
    or None if it appended none. Raises ValueError for a text that is no address."""
    text = read_text(value)
    try:
        return find_last_segment(text), find_state(text)
    except ValueError:
        raise ValueError("it is no address") from None


def _read_since(value: str) -> int:
    if not (value.isascii() and value.isdigit() and len(value) <= 18):
        raise ValueError("it must be a whole number")
    return int(value)


def limit(most: int, **more: Any) -> FunctionField:
    """Makes the field of a query for the number of rows on a page, from 1 to `most`."""

    def read(value: str) -> int:
        if not (value.isascii() and value.isdigit() and len(value) <= 5 and 0 < int(value) <= most):
            raise ValueError(f"a whole number from 1 to {most}")
        return int(value)

    return FunctionField(read, shape={"type": "integer", "minimum": 1, "maximum": most, "default": most}, **more)


text = partial(TextFunctionField, read_text)
any_value = partial(FunctionField, lambda value: value)  # the view reads it
address = partial(TextFunctionField, _read_address)
currency = partial(make_text_field, is_currency, "it is no currency code")
after = partial(make_checked_field, lambda value: not value or is_world_name(value), "it is the name of a world")
world_name = partial(make_text_field, is_world_name, "letters, digits, _, . and -, 64 at most")
name = partial(
    make_checked_field,
    lambda value: isinstance(value, str) and NAME.match(value) and value.strip(),
    "it is 1 to 100 characters, none of them a control character",
)
identifier = partial(make_pattern_field, ID, "it is letters, digits, _, . and -, 64 at most")
status = partial(make_one_of, *Status, post_load=Status)
rate = partial(
    make_checked_field,
    lambda value: isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= RATE_MAX,
    f"it must be a number above 0 and up to {RATE_MAX}",
    FunctionField,
    shape={"type": "number"},
)
span = partial(TextFunctionField, read_duration)
time = partial(TextFunctionField, read_instant)
whole_number = partial(IntegerField, "it must be a whole number of 0 or more", 0)
SINCE = query(
    since=FunctionField(
        _read_since, about="Only entries after that number.", shape={"type": "integer", "format": "int64", "minimum": 0}
    )
)
