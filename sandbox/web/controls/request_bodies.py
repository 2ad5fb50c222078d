"""Reads the body and the query of a control, and the scenarios in them: a name, YAML, or JSON (choice 10)."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from flask import Request
from marshmallow import Schema, ValidationError

from sandbox.contract.errors import Error, Refusal
from sandbox.reader.tree import ScenarioErrors
from sandbox.scenarios.model import Scenario
from sandbox.scenarios.reading import load_shipped, read_content, read_scenario
from sandbox.web.api.body_schemas import MISSING, first_fault, read_strict
from sandbox.web.controls.scenario_rows import YAML

T = TypeVar("T")
LONGEST = 1_000_000
TakeBody = Callable[[], dict[str, Any]]  # reads the body when the view calls it


def refuse(name: str, why: str) -> Refusal:
    return Refusal(Error.CONTROL_INVALID, input=name, why=why)


def read_body(request: Request, body: Schema | None) -> dict[str, Any]:
    """The fields that were sent, in the order of the declaration; null is left out where a field allows it."""
    assert body is not None, "the row of a view that reads a body has one"
    found = load(body, read_object(request, tuple(body.fields)))
    return {name: value for name, value in found.items() if value is not None or not body.fields[name].allow_none}


def read_sent(request: Request) -> bytes:
    if (request.content_length or 0) > LONGEST:
        raise refuse("body", "it is too long")
    return request.get_data()


def read_object(request: Request, allowed: Sequence[str]) -> dict[str, Any]:
    """The JSON object that was sent, or an empty one; an unknown key is refused."""
    sent = read_sent(request)
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
    assert query is not None, "the row of a view that reads a query has one"
    return load(query, {name: request.args[name] for name in query.fields if name in request.args})


def load(schema: Schema, content: dict[str, Any]) -> dict[str, Any]:
    """What the schema makes of it; the caller hears of the first fault."""
    try:
        found: dict[str, Any] = schema.load(content)
    except ValidationError as fault:
        assert isinstance(fault.messages, dict)
        name, why = first_fault(fault.messages)
        raise Refusal(Error.INPUT_MISSING, input=name) if why == MISSING else refuse(name, why) from None
    return found


def sent_scenario(request: Request, take_body: TakeBody) -> Scenario:
    """A shipped one by its name, or a file of the caller's own as YAML or as JSON."""
    if request.mimetype in YAML:
        try:
            text = read_sent(request).decode("utf-8-sig")
        except UnicodeDecodeError:
            raise refuse("body", "it is not UTF-8") from None
        return reading(lambda: read_scenario(text, "scenario.yaml"))
    content = take_body()
    if len(content) != 1:
        raise refuse("body", "it has a name, or a scenario")
    if "name" in content:
        return named(content["name"])
    return reading(lambda: read_content(content["scenario"], "scenario"))


def named(name: Any, field: str = "name") -> Scenario:
    if not isinstance(name, str):
        raise refuse(field, "it must be a text")
    return reading(lambda: load_shipped(name), field)


def scenario_of(value: Any, field: str) -> Scenario:
    """By its name, or its content."""
    return reading(lambda: read_content(value, field), field) if isinstance(value, dict) else named(value, field)


def reading(read: Callable[[], T], field: str = "scenario") -> T:
    """A scenario's errors become one refusal that names each place."""
    try:
        return read()
    except ScenarioErrors as errors:
        raise refuse(field, "; ".join(str(error) for error in errors.errors)[:4_000]) from None
