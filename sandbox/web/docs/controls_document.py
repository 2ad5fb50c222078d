"""The OpenAPI document of the controls, made by apispec from their table and their schemas (choice 10)."""

import re
from dataclasses import fields as fields_of
from typing import Any

from apispec import APISpec
from marshmallow import Schema

from sandbox.contract.settings import Settings
from sandbox.scenario.fault_rows import FAULT
from sandbox.scenario.reading import TOP
from sandbox.scenario.setting_rows import SETTINGS
from sandbox.web.docs import control_bodies, control_replies
from sandbox.web.docs.control_bodies import BODIES, MAY_BE_LEFT_OUT, OTHER_MEDIA, QUERIES
from sandbox.web.docs.control_replies import JSON, REPLIES
from sandbox.web.docs.control_schemas import ControlError
from sandbox.web.docs.controls import Told, rows
from sandbox.web.docs.schemas import JsonSchema, name_of, plugin, reference, teach

ABOUT = (
    "Not part of the bank: they move its clock, act as its customers and show what it holds. A call that changes "
    "something takes `application/json`. A server that was started with a key wants it as X-Sandbox-Key."
)
KEY = "key"
TAGS = {
    "clock": "Time", "reset": "Time", "await": "Time", "timeline": "Time",
    "worlds": "Worlds", "export": "Worlds", "import": "Worlds",
    "scenario": "Scenario", "scenarios": "Scenario", "faults": "Scenario", "settings": "Scenario",
    "psu": "PSU",
    "customers": "Registers", "clients": "Registers", "accounts": "Registers", "payments": "Registers",
    "standing-orders": "Registers", "bulk-payments": "Registers",
    "health": "Looking on", "metrics": "Looking on", "explain": "Looking on", "referee": "Looking on",
    "coverage": "Looking on", "callbacks": "Looking on", "journal": "Looking on", "requests": "Looking on",
}  # fmt: skip
OTHER_TAG = "Reference"
PATH_TEXT = {
    "name": "The name of a world.",
    "request_id": "The Request-ID of a call.",
    "client_id": "The registered client.",
    "iban": "The IBAN of an account.",
    "payment_id": "The bank's reference.",
}


def document(root: str) -> dict[str, Any]:
    """The whole document for one base address."""
    made = plugin()
    spec = APISpec(
        "Sandbox controls", "1", "3.1.0", [made],
        info={
            "description": ABOUT,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
            "contact": {"name": "The reference of this sandbox", "url": f"{root}/_sandbox/docs"},
        },
        servers=[{"url": root}],
        tags=[{"name": name, "description": f"{name}."} for name in (*dict.fromkeys(TAGS.values()), OTHER_TAG)],
    )  # fmt: skip
    teach(made)
    spec.components.security_scheme(KEY, {"type": "apiKey", "in": "header", "name": "X-Sandbox-Key"})
    for name, shape in composed().items():
        spec.components.schema(name, shape)
    for schema in schemas():
        if name_of(schema) not in spec.components.schemas:
            spec.components.schema(name_of(schema), schema=schema)
    booking = spec.components.schemas[name_of(control_bodies.Booking)]
    booking["properties"]["counterparty"] = {"anyOf": [{"type": "string"}, reference("Counterparty")]}
    for method, path, told in rows():
        address = f"/_sandbox{path}".replace("<", "{").replace(">", "}")
        spec.path(address, operations={method.lower(): operation_of(method, path, told)})
    return spec.to_dict()


def composed() -> dict[str, JsonSchema]:
    """The components that scenario tables make, and those that hold a scenario or its name."""
    settings: JsonSchema = SETTINGS.schema()
    names = [row.name for row in fields_of(Settings)]
    told = {name: settings["properties"].get(name, {}) for name in names}
    whole = {"type": "object", "properties": told, "required": names, "additionalProperties": False}
    seed = {"type": "integer", "minimum": 0}
    named_or_whole = {"anyOf": [{"type": "string"}, reference(control_bodies.SCENARIO)]}
    world = {"scenario": named_or_whole, "seed": seed, "clock": reference("WorldClock"), "life": told["life"]}
    choice = {"name": {"type": "string"}, "scenario": reference(control_bodies.SCENARIO)}
    return {
        control_bodies.SCENARIO: {**TOP.schema(), "description": "A scenario, as its file has it (choice 13)."},
        control_bodies.FAULT: FAULT.schema(),
        control_bodies.SETTINGS_CHANGE: settings,
        control_replies.SETTINGS: closed({"settings": whole}, "settings"),
        control_bodies.NEW_WORLD: closed(world),
        control_bodies.SCENARIO_CHOICE: {**closed(choice), "description": "One of the two."},
    }


def closed(properties: JsonSchema, *required: str) -> JsonSchema:
    """An object with these fields and no others."""
    needed = {"required": list(required)} if required else {}
    return {"type": "object", "properties": properties, "additionalProperties": False, **needed}


def schemas() -> list[type[Schema]]:
    """Every schema class that a body or a reply names."""
    shapes: list[Any] = [ControlError, control_bodies.WorldClock, control_bodies.Counterparty, *BODIES.values()]
    for reply in REPLIES.values():
        shapes += reply.values() if by_media(reply) else [reply]
    flat = [part for shape in shapes for part in (shape if isinstance(shape, tuple) else (shape,))]
    return [shape for shape in flat if isinstance(shape, type)]


def by_media(reply: Any) -> bool:
    return isinstance(reply, dict) and all("/" in name for name in reply)


def operation_of(method: str, path: str, told: Told) -> dict[str, Any]:
    name = f"{method} {path}"
    inner = [part[1:-1] for part in path.split("/") if part.startswith("<")]
    in_path = [
        {"name": part, "in": "path", "required": True, "description": PATH_TEXT[part], "schema": {"type": "string"}}
        for part in inner
    ]
    found: dict[str, Any] = {
        "operationId": identifier(method, path),
        "summary": told.text.partition(". ")[0].rstrip("."),
        "description": told.text,
        "tags": [TAGS.get(path.split("/")[1], OTHER_TAG)],
        "parameters": [*in_path, *QUERIES.get(name, ())],
        "security": [{KEY: []}, {}],
        "responses": {str(told.success): success_of(name)} | REFUSALS,
        "x-choice": 10,
    }
    content = content_of(name, told)
    if content:
        found["requestBody"] = {"required": name not in MAY_BE_LEFT_OUT, "content": content}
    return found


def identifier(method: str, path: str) -> str:
    """`POST /worlds/<name>/fork` is `post_worlds_name_fork`."""
    return re.sub(r"[^a-z0-9]+", "_", f"{method} {path}".lower()).strip("_")


def content_of(name: str, told: Told) -> dict[str, Any]:
    """The media types of a body, with the example of the table."""
    content: dict[str, Any] = {}
    if name in BODIES:
        content[JSON] = {"schema": schema_of(BODIES[name])}
        if told.body is not None:
            content[JSON]["example"] = told.body
    return content | OTHER_MEDIA.get(name, {})


def success_of(name: str) -> dict[str, Any]:
    reply = REPLIES[name]
    if name == "GET /authorize":
        location = {
            "description": "A consent address, or the callback.",
            "required": True,
            "schema": {"type": "string"},
        }
        return {"description": "The browser is led on.", "headers": {"Location": location}}
    if reply is None:
        return {"description": "Done; there is no body."}
    media = reply if by_media(reply) else {JSON: reply}
    return {"description": "Done.", "content": {kind: {"schema": schema_of(shape)} for kind, shape in media.items()}}


def schema_of(shape: Any) -> JsonSchema:
    match shape:
        case tuple():
            return {"anyOf": [schema_of(part) for part in shape]}
        case dict():
            return shape
        case str():
            return reference(shape)
        case _:
            return reference(name_of(shape))


REFUSALS = {
    status: {"description": about, "content": {JSON: {"schema": reference(name_of(ControlError))}}}
    for status, about in (("4XX", "The call is refused."), ("5XX", "The sandbox cannot do it now."))
}
