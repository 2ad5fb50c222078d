"""Readers of single values in a control's body; each raises ValueError with the reason."""

from collections.abc import Callable
from typing import Any

from sandbox.banking.callbacks import end_of, state_of
from sandbox.banking.money import is_currency
from sandbox.banking.names import is_world_name, nearest
from sandbox.contract.moves import Status


def text(value: Any) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= 4096 or not value.isprintable():
        raise ValueError("it must be a text without line breaks and control characters")
    return value


def texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) > 1000:
        raise ValueError("it must be a list of texts")
    return tuple(text(item) for item in value)


def one_of(*words: str) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if value not in words:
            near = nearest(value, words) if isinstance(value, str) else None
            raise ValueError(f"it is one of {', '.join(words)}" + (f"; did you mean '{near}'?" if near else ""))
        return str(value)

    return read


def status(value: Any) -> Status:
    return Status(one_of(*Status)(value))


def whole_number(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError("it must be a whole number of 0 or more")
    return value


def flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("it must be true or false")
    return value


def address(value: Any) -> tuple[str, str | None]:
    """The token at the end of an SCA or consent address, and the state that the TPP appended."""
    shown = text(value)
    try:
        return end_of(shown), state_of(shown)
    except ValueError:
        raise ValueError("it is no address") from None


def currency(value: Any) -> str:
    if not is_currency(text(value)):
        raise ValueError("it is no currency code")
    return str(value)


def world_name(value: Any) -> str:
    if not is_world_name(text(value)):
        raise ValueError("letters, digits, _, . and -, 64 at most")
    return str(value)
