"""Reads the body and the query of a control. Also reads a scenario in a body: a name, YAML, or JSON (choice 10)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from flask import Request
from marshmallow import Schema, ValidationError

from sandbox.banking.names import find_nearest
from sandbox.contract.decisions import AXES
from sandbox.contract.errors import Error, Refusal
from sandbox.reader.tree import ScenarioErrors
from sandbox.scenarios.model import Scenario
from sandbox.scenarios.reading import load_shipped, read_content, read_scenario
from sandbox.web.api.body_schemas import MISSING, find_first_fault, read_strict
from sandbox.web.controls.world_rows import YAML

BODY_MAX = 1_000_000  # bytes
TakeBody = Callable[[], dict[str, Any]]  # reads the body when the view calls it


def refuse(name: str, reason: str) -> Refusal:
    return Refusal(Error.CONTROL_INVALID, input=name, why=reason)


@contextmanager
def refuse_as(field: str) -> Iterator[None]:
    """Within the block, turns the errors of a scenario into one refusal that names the field."""
    try:
        yield
    except ScenarioErrors as errors:
        raise refuse(field, "; ".join(str(error) for error in errors.errors)[:4_000]) from None


def read_body(request: Request, body: Schema | None) -> dict[str, Any]:
    """Returns the fields that were sent, in the order of the schema. A field that is null and may be null counts as not
    sent. Raises Refusal for an unknown field, and for the first wrong value. An empty body has no fields."""
    assert body is not None, "the row of a view that reads a body has one"
    body_text = _read_sent(request)
    try:
        content = read_strict(body_text) if body_text.strip() else {}
    except ValueError as fault:
        raise refuse("body", str(fault)) from None
    if not isinstance(content, dict):
        raise refuse("body", "it must be a JSON object")
    for key in content:
        if key not in body.fields:
            raise refuse(key[:100], _suggest_place(key, body))
    values = _load(body, content)
    return {name: value for name, value in values.items() if value is not None or not body.fields[name].allow_none}


def _suggest_place(key: str, body: Schema) -> str:
    """Returns a hint about an unknown field. The hint says where the field belongs if it is an axis, or else which name
    is similar and which fields the body has."""
    if not body.fields:
        return "nothing is to be sent here"
    if "variants" in body.fields and key in AXES:
        return f'it is an axis, which is sent as {{"variants": {{"{key}": "{AXES[key].names[1]}"}}}}'
    near = find_nearest(key, body.fields)
    return f"{f'did you mean {near!r}? ' if near else ''}known are {', '.join(body.fields)}"


def read_query(request: Request, query: Schema | None) -> dict[str, Any]:
    """Returns the parameters that the schema names. Ignores other parameters. If a parameter is repeated, its first
    value counts."""
    assert query is not None, "the row of a view that reads a query has one"
    return _load(query, {name: request.args[name] for name in query.fields if name in request.args})


def _read_sent(request: Request) -> bytes:
    if (request.content_length or 0) > BODY_MAX:
        raise refuse("body", "it is too long")
    return request.get_data()


def _load(schema: Schema, content: dict[str, Any]) -> dict[str, Any]:
    try:
        values: dict[str, Any] = schema.load(content)
    except ValidationError as fault:
        assert isinstance(fault.messages, dict)
        name, reason = find_first_fault(fault.messages)
        raise Refusal(Error.INPUT_MISSING, input=name) if reason == MISSING else refuse(name, reason) from None
    return values


def read_sent_scenario(request: Request, take_body: TakeBody) -> Scenario:
    """Returns the scenario of a request. The body is a whole scenario in YAML, or a JSON object with the `name` of a
    shipped scenario or with a whole `scenario`."""
    if request.mimetype in YAML:
        try:
            text = _read_sent(request).decode("utf-8-sig")
        except UnicodeDecodeError:
            raise refuse("body", "it is not UTF-8") from None
        with refuse_as("scenario"):
            return read_scenario(text, "scenario.yaml")
    content = take_body()
    if len(content) != 1:
        raise refuse("body", "it has a name, or a scenario")
    if "name" in content:
        return _load_shipped(content["name"], "name")
    with refuse_as("scenario"):
        return read_content(content["scenario"], "scenario")


def choose_scenario(value: Any, field: str) -> Scenario:
    """Returns the scenario that the field `field` of a body asks for. If `value` is an object, it is a whole scenario.
    If it is a text, it is the name of a shipped scenario."""
    if isinstance(value, dict):
        with refuse_as(field):
            return read_content(value, field)
    return _load_shipped(value, field)


def _load_shipped(name: Any, field: str) -> Scenario:
    if not isinstance(name, str):
        raise refuse(field, "it must be a text")
    with refuse_as(field):
        return load_shipped(name)
