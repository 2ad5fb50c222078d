"""What a control reads from its caller."""

from collections.abc import Callable
from typing import Any, TypeVar

from flask import Request

from sandbox.contract.errors import Error, Refusal
from sandbox.web.api.strict_json import read_strict

T = TypeVar("T")
LONGEST = 1_000_000


def refuse(name: str, why: str) -> Refusal:
    return Refusal(Error.CONTROL_INVALID, input=name, why=why)


def body_of(request: Request, *allowed: str) -> dict[str, Any]:
    """The JSON object that was sent, or an empty one; a key that is not known is refused."""
    if (request.content_length or 0) > LONGEST:
        raise refuse("body", "it is too long")
    sent = request.get_data()
    try:
        content = read_strict(sent) if sent.strip() else {}
    except ValueError as fault:
        raise refuse("body", str(fault)) from None
    if not isinstance(content, dict):
        raise refuse("body", "it must be a JSON object")
    for key in content:
        if key not in allowed:
            raise refuse(key[:100], f"known are {', '.join(allowed)}" if allowed else "nothing is to be sent here")
    return content


def value_of(content: dict[str, Any], name: str, read: Callable[[Any], T]) -> T:
    """One value by its reader, whose ValueError becomes a refusal that names the input."""
    try:
        return read(content[name])
    except ValueError as error:
        raise refuse(name, str(error)) from None


def whole_number(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError("it must be a whole number of 0 or more")
    return value


def since_of(request: Request) -> int:
    """The number after which a list begins."""
    text = request.args.get("since", "0")
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise refuse("since", "it must be a whole number")
    return int(text)
