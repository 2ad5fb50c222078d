"""Scenarios as callers give them: a name, YAML, or JSON (choice 10)."""

from collections.abc import Callable
from typing import Any, TypeVar

from flask import Request

from sandbox.reader.tree import ScenarioErrors
from sandbox.scenario.model import Scenario
from sandbox.scenario.reading import load_shipped, read_content, read_scenario
from sandbox.web.controls.request_bodies import LONGEST, TakeBody, refuse
from sandbox.web.controls.scenario_rows import YAML

T = TypeVar("T")


def sent_scenario(request: Request, take_body: TakeBody) -> Scenario:
    """A shipped one by its name, or a file of the caller's own as YAML or as JSON."""
    if request.mimetype in YAML:
        if (request.content_length or 0) > LONGEST:
            raise refuse("body", "it is too long")
        try:
            text = request.get_data().decode("utf-8-sig")
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
