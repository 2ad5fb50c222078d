"""The marshmallow fields of the controls: each says in one sentence what it takes, whatever else was sent."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from marshmallow import RAISE, Schema, ValidationError, fields, missing
from marshmallow.validate import OneOf, Range, Regexp

from sandbox.banking.durations import RATE_MAX, read_duration, read_instant
from sandbox.banking.money import is_currency
from sandbox.banking.names import end_of, is_world_name, nearest, state_of
from sandbox.contract.moves import Status
from sandbox.reader.tree import SHOWN_MAX, suggestion
from sandbox.web.api.body_schemas import MISSING

TEXT_MAX, TEXTS_MAX = 4096, 1000
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}\Z")
NAME = re.compile(r"[^\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029]{1,100}\Z")
TIME = "A time: ISO 8601, with an offset or in Brussels time."
SPAN = "A span: `61m` (s, m, h, d, w) or ISO 8601."


class StrictBody(Schema):
    """Unknown fields are refused."""

    class Meta:
        unknown = RAISE


def query(**parts: fields.Field[Any]) -> Schema:
    """The parameters of a query; others are overlooked."""
    return Schema.from_dict(dict(parts), name="Query")()


def body(component: str, /, **parts: fields.Field[Any]) -> Schema:
    """A body, under the name of its component in the document."""
    return StrictBody.from_dict(dict(parts), name=component)()


def reply(component: str, /, **members: fields.Field[Any]) -> type[Schema]:
    """A reply, under the name of its component in the document; every member is always there."""
    for member in members.values():
        member.required = True
    return Schema.from_dict(dict(members), name=component)


class DescribedField(fields.Field[Any]):
    """A field with a text for the document and one for the option of a command; without the second it has no option.

    With `allow_none` null counts as left out; else it is one more wrong value."""

    def __init__(self, *given: Any, why: str = "", about: str = "", option: str = "", **more: Any) -> None:
        notes = ({"description": about} if about else {}) | more.pop("shape", {})
        words: dict[str, Any] = {"required": MISSING, "invalid": why}
        super().__init__(*given, error_messages=words, metadata=notes | {"option": option}, **more)

    def _validate_missing(self, value: Any) -> None:
        if value is missing and self.required:
            raise self.make_error("required")


class TextField(DescribedField, fields.String):
    """A string that the library's validators judge."""


class IntegerField(DescribedField, fields.Integer):
    """A whole number: no text, and neither true nor false."""

    def __init__(self, why: str, least: int, most: int | None = None, **more: Any) -> None:
        super().__init__(strict=True, why=why, validate=Range(least, most, error=why), **more)


class BooleanField(DescribedField, fields.Boolean):
    def __init__(self, why: str = "it must be true or false", **more: Any) -> None:
        super().__init__(why=why, **more)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **more: Any) -> bool:
        if not isinstance(value, bool):
            raise self.make_error("invalid")
        return value


class FunctionField(DescribedField):
    """A value that a function reads; its ValueError says why not. `shape` is what JSON Schema says of it."""

    def __init__(self, read: Callable[[Any], Any], *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.read = read

    def _deserialize(self, value: Any, attr: str | None, data: Any, **more: Any) -> Any:
        try:
            return self.read(value)
        except ValueError as fault:
            raise ValidationError(str(fault)) from None


class TextFunctionField(FunctionField, fields.String):
    """A text that a function reads."""


class TextListField(FunctionField, fields.List[Any]):
    """A list of texts; a function may make something else of it."""

    def __init__(self, read: Callable[[list[str]], Any] = tuple, **more: Any) -> None:
        super().__init__(lambda value: read(read_texts(value)), fields.String(), **more)


class ObjectField(DescribedField, fields.Nested):
    """An object within a body."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, partial: Any = None, **more: Any) -> Any:
        if not isinstance(value, dict):
            raise self.make_error("invalid")
        for name in value:
            if name not in self.schema.fields:
                raise ValidationError({name[:SHOWN_MAX]: [f"it is unknown; {suggestion(name, self.schema.fields)}"]})
        return super()._deserialize(value, attr, data, partial, **more)


class OneWord(OneOf):
    """Names the nearest word too."""

    def __call__(self, value: Any) -> Any:
        if value not in self.choices:
            near = nearest(value, map(str, self.choices))
            raise ValidationError(words_of(self.choices) + (f"; did you mean '{near}'?" if near else ""))
        return value


def words_of(words: Any) -> str:
    return f"it is one of {', '.join(words)}"


def one_of(*words: str, **more: Any) -> TextField:
    return TextField(why=words_of(words), validate=OneWord(words), **more)


def word(why: str, *words: str, **more: Any) -> TextField:
    """One of these, else a sentence of its own."""
    return TextField(why=why, validate=OneOf(words, error=why), **more)


def matching(pattern: re.Pattern[str], why: str, **more: Any) -> TextField:
    return TextField(why=why, validate=Regexp(pattern, error=why), **more)


def read_text(value: Any) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= TEXT_MAX or not value.isprintable():
        raise ValueError("it must be a text without line breaks and control characters")
    return value


def text_that(holds: Callable[[str], bool], why: str, **more: Any) -> TextFunctionField:
    """A text of which that holds, else `why`."""

    def read(value: Any) -> str:
        if not holds(read_text(value)):
            raise ValueError(why)
        return str(value)

    return TextFunctionField(read, **more)


def read_texts(value: Any) -> list[str]:
    if not isinstance(value, list) or len(value) > TEXTS_MAX:
        raise ValueError("it must be a list of texts")
    return [read_text(item) for item in value]


def _address(value: Any) -> tuple[str, str | None]:
    """The token at the end of an SCA or consent address, and the state that the TPP appended."""
    shown = read_text(value)
    try:
        return end_of(shown), state_of(shown)
    except ValueError:
        raise ValueError("it is no address") from None


def _name(value: Any) -> str:
    if not isinstance(value, str) or NAME.match(value) is None or not value.strip():
        raise ValueError("it is 1 to 100 characters, none of them a control character")
    return value


def _since(value: str) -> int:
    if not (value.isascii() and value.isdigit() and len(value) <= 18):
        raise ValueError("it must be a whole number")
    return int(value)


def _rate(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= RATE_MAX:
        raise ValueError(f"it must be a number above 0 and up to {RATE_MAX}")
    return value


def _after(value: str) -> str:
    if value and not is_world_name(value):
        raise ValueError("it is the name of a world")
    return value


def limit(most: int, **more: Any) -> FunctionField:
    """How many rows a page has; as many as it may where left out."""

    def read(value: str) -> int:
        if not (value.isascii() and value.isdigit() and len(value) <= 5 and 0 < int(value) <= most):
            raise ValueError(f"a whole number from 1 to {most}")
        return int(value)

    return FunctionField(read, shape={"type": "integer", "minimum": 1, "maximum": most, "default": most}, **more)


text = partial(TextFunctionField, read_text)
given = partial(FunctionField, lambda value: value)  # read elsewhere
address = partial(TextFunctionField, _address)
currency = partial(text_that, is_currency, "it is no currency code")
after = partial(TextFunctionField, _after)
world_name = partial(text_that, is_world_name, "letters, digits, _, . and -, 64 at most")
name = partial(TextFunctionField, _name)
identifier = partial(matching, ID, "it is letters, digits, _, . and -, 64 at most")
status = partial(one_of, *Status, post_load=Status)
rate = partial(FunctionField, _rate, shape={"type": "number"})
span = partial(TextFunctionField, read_duration)
time = partial(TextFunctionField, read_instant)
whole_number = partial(IntegerField, "it must be a whole number of 0 or more", 0)
SINCE = query(
    since=FunctionField(_since, about="Only entries after that number.", shape={"type": "integer", "minimum": 0})
)
