"""Reads the body and the query of a control."""

from collections.abc import Callable, Sequence
from typing import Any

from flask import Request
from marshmallow import Schema, ValidationError

from sandbox.contract.errors import Error, Refusal
from sandbox.web.api.body_fields import MISSING
from sandbox.web.api.body_reader import first_fault, read_strict

LONGEST = 1_000_000
TakeBody = Callable[[], dict[str, Any]]  # reads the body when the view calls it


def refuse(name: str, why: str) -> Refusal:
    return Refusal(Error.CONTROL_INVALID, input=name, why=why)


def read_body(request: Request, body: Schema | None) -> dict[str, Any]:
    """The fields that were sent, in the order of the declaration; null is left out where a field allows it."""
    content = read_object(request, () if body is None else tuple(body.fields))
    if body is None:
        return content
    found = load(body, content)
    return {name: value for name, value in found.items() if value is not None or not body.fields[name].allow_none}


def read_object(request: Request, allowed: Sequence[str]) -> dict[str, Any]:
    """The JSON object that was sent, or an empty one; an unknown key is refused."""
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


def read_query(request: Request, query: Schema | None) -> dict[str, Any]:
    """The parameters of the query that the row names; of those that are given twice the first counts."""
    return (
        {}
        if query is None
        else load(query, {name: request.args[name] for name in query.fields if name in request.args})
    )


def load(schema: Schema, content: dict[str, Any]) -> dict[str, Any]:
    """What the schema makes of it; the caller hears of the first fault."""
    try:
        found: dict[str, Any] = schema.load(content)
    except ValidationError as fault:
        assert isinstance(fault.messages, dict)
        name, why = first_fault(fault.messages)
        raise Refusal(Error.INPUT_MISSING, input=name) if why == MISSING else refuse(name, why) from None
    return found
