"""The kinds of value that bodies hold; stricter than the library's own, which take braces, blanks and other digits."""

import re
from datetime import date
from typing import Any, TypeVar

from marshmallow import ValidationError, fields

from sandbox.banking.money import AMOUNT

MISSING = "missing"  # the text by which a missing input is told from a bad one

Kind = TypeVar("Kind")

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029]")


class Exact(fields.Field[Kind]):
    """A kind checks its values where it reads them, so the library's own list of validators is not even asked."""

    default_error_messages = {"required": MISSING}

    def _validate(self, value: Any) -> None:
        assert not self.validators


class Text(Exact[str]):
    """A string of a length, without control characters, and of a shape where one is given."""

    def __init__(self, longest: int, shape: str | None = None, why: str = "its form is not right", **more: Any) -> None:
        super().__init__(**more)
        self.longest = longest
        self.shape = re.compile(shape + r"\Z") if shape else None
        self.why = why

    def _deserialize(self, value: Any, attr: str | None, data: Any, **more: Any) -> str:
        if not isinstance(value, str):
            raise ValidationError("it must be a string")
        if not 1 <= len(value) <= self.longest:
            raise ValidationError(f"it must have 1 to {self.longest} characters")
        if _CONTROL.search(value):
            raise ValidationError("it has a control character")
        if self.shape is not None and self.shape.match(value) is None:
            raise ValidationError(self.why)
        return value


class Amount(Exact[str]):
    """A decimal string (service 2.1 rule 4); its currency decides later how many decimals it may have."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **more: Any) -> str:
        if not isinstance(value, str) or AMOUNT.fullmatch(value) is None:
            raise ValidationError("it must be a decimal string such as 12.50")
        return value


class Day(Exact[date]):
    """A date, YYYY-MM-DD and nothing else."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **more: Any) -> date:
        if isinstance(value, str) and _DATE.match(value):
            try:
                return date.fromisoformat(value)
            except ValueError:
                pass
        raise ValidationError("it must be a date, YYYY-MM-DD")


class Choice(Exact[str]):
    """One of a few words."""

    def __init__(self, *words: str, **more: Any) -> None:
        super().__init__(**more)
        self.words = words

    def _deserialize(self, value: Any, attr: str | None, data: Any, **more: Any) -> str:
        if value not in self.words:
            raise ValidationError(f"it must be one of {', '.join(self.words)}")
        return str(value)
