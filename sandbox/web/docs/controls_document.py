"""The OpenAPI document of the controls, made by apispec from their table and their schemas (choice 10)."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import fields as fields_of
from typing import Any

from apispec import APISpec
from marshmallow import Schema

from sandbox.contract.settings import Settings
from sandbox.scenario.fault_rows import FAULT
from sandbox.scenario.reading import TOP
from sandbox.scenario.setting_rows import SETTINGS
from sandbox.scenario.step_rows import STEP_REF, StepShape
from sandbox.web.controls.control_row import Control, Field
from sandbox.web.controls.psu_rows import APPROVAL, FURTHER
from sandbox.web.controls.world_rows import REPLACE
from sandbox.web.docs import control_bodies, control_replies
from sandbox.web.docs.control_bodies import COMPOSED, MAY_BE_LEFT_OUT, OTHER_MEDIA, QUERIES, SINCE
from sandbox.web.docs.control_replies import JSON, REPLIES, TEXT
from sandbox.web.docs.control_schemas import ControlError
from sandbox.web.docs.controls import rows
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
    "variants": "Scenario",
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


def document(root: str, listed: Iterable[Control] | None = None) -> dict[str, Any]:
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
    listed = tuple(rows() if listed is None else listed)
    for name, shape in (composed() | bodies_of(listed)).items():
        spec.components.schema(name, shape)
    for schema in schemas():
        if name_of(schema) not in spec.components.schemas:
            spec.components.schema(name_of(schema), schema=schema)
    for row in listed:
        address = f"/_sandbox{row.path}".replace("<", "{").replace(">", "}")
        spec.path(address, operations={row.method.lower(): operation_of(row)})
    return spec.to_dict()


def composed() -> dict[str, JsonSchema]:
    """The components that scenario tables make, and those that hold a scenario or its name."""
    settings: JsonSchema = SETTINGS.schema()
    of_settings = {
        row.name: {"description": row.metadata["about"], **settings["properties"].get(row.name, {})}
        for row in fields_of(Settings)
    }
    names = list(of_settings)
    whole = {"type": "object", "properties": of_settings, "required": names, "additionalProperties": False}
    seed = {"type": "integer", "minimum": 0}
    named_or_whole = {"anyOf": [{"type": "string"}, reference(control_bodies.SCENARIO)]}
    world = {"scenario": named_or_whole, "seed": seed, "clock": reference("WorldClock"), "life": of_settings["life"]}
    world["variants"] = of_settings["variants"]
    world["replace"] = {"type": "boolean", "description": REPLACE}
    choice = {"name": {"type": "string"}, "scenario": reference(control_bodies.SCENARIO)}
    return {
        control_bodies.SCENARIO: {**moved(TOP.schema()), "description": "A scenario, as its file has it (choice 13)."},
        control_bodies.STEP: moved(StepShape().schema()),
        control_bodies.FAULT: FAULT.schema(),
        control_bodies.SETTINGS_CHANGE: settings,
        control_replies.SETTINGS: closed({"settings": whole}, "settings"),
        control_bodies.REFUSAL: {"anyOf": [schema_of_fields(APPROVAL), schema_of_fields(FURTHER)]},
        control_bodies.NEW_WORLD: closed(world),
        control_bodies.SCENARIO_CHOICE: {**closed(choice), "description": "One of the two."},
    }


def moved(schema: Any) -> Any:
    """With the schema of a step referred to where this document has it."""
    if isinstance(schema, dict):
        if schema.get("$ref") == STEP_REF:
            return reference(control_bodies.STEP)
        return {name: moved(value) for name, value in schema.items()}
    return [moved(value) for value in schema] if isinstance(schema, list) else schema


def bodies_of(listed: Iterable[Control]) -> dict[str, JsonSchema]:
    """The components that the fields of the rows make."""
    return {body_name(row): schema_of_body(row) for row in listed if row.body is not None and row.name not in COMPOSED}


def body_name(row: Control) -> str:
    return COMPOSED.get(row.name) or row.body_name or f"{identifier(row)}_body"


def schema_of_body(row: Control) -> JsonSchema:
    return schema_of_fields(row.body or ())


def schema_of_fields(fields: Sequence[Field]) -> JsonSchema:
    return closed(
        {field.name: shape_of(field) for field in fields}, *(field.name for field in fields if field.required)
    )


def shape_of(field: Field) -> JsonSchema:
    about: JsonSchema = {"description": field.about} if field.about else {}
    if field.words:
        about["enum"] = list(field.words)
    return ({"type": field.type} if field.type else {}) | about | dict(field.shape)


def shape_of_reply(reply: Any) -> JsonSchema:
    """Every member is always there."""
    match reply:
        case str():
            return {"type": reply}
        case [row]:
            return {"type": "array", "items": shape_of_reply(row)}
        case _:
            return closed({name: shape_of_reply(part) for name, part in reply.items()}, *reply)


def closed(properties: JsonSchema, *required: str) -> JsonSchema:
    """An object with these fields and no others."""
    needed = {"required": list(required)} if required else {}
    return {"type": "object", "properties": properties, "additionalProperties": False, **needed}


def schemas() -> list[type[Schema]]:
    """Every schema class that a body or a reply names."""
    shapes: list[Any] = [ControlError, control_bodies.WorldClock, control_bodies.Counterparty]
    for reply in REPLIES.values():
        shapes += reply.values() if by_media(reply) else [reply]
    flat = [part for shape in shapes for part in (shape if isinstance(shape, tuple) else (shape,))]
    return [shape for shape in flat if isinstance(shape, type)]


def by_media(reply: Any) -> bool:
    return isinstance(reply, dict) and all("/" in name for name in reply)


def operation_of(row: Control) -> dict[str, Any]:
    in_path = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "description": PATH_TEXT.get(name, f"The {name}."),
            "schema": TEXT,
        }
        for name in row.path_names
    ]
    since = (SINCE,) if row.since else ()
    found: dict[str, Any] = {
        "operationId": identifier(row),
        "summary": row.words.partition(". ")[0].rstrip("."),
        "description": row.words,
        "tags": [TAGS.get(row.path.split("/")[1], OTHER_TAG)],
        "parameters": [*in_path, *QUERIES.get(row.name, ()), *since],
        "security": [{KEY: []}, {}],
        "responses": {str(row.success): success_of(row)} | REFUSALS,
        "x-choice": 10,
    }
    content = content_of(row)
    if content:
        found["requestBody"] = {"required": row.name not in MAY_BE_LEFT_OUT, "content": content}
    return found


def identifier(row: Control) -> str:
    """`POST /worlds/<name>/fork` is `post_worlds_name_fork`."""
    return re.sub(r"[^a-z0-9]+", "_", row.name.lower()).strip("_")


def content_of(row: Control) -> dict[str, Any]:
    """The media types of a body, with the example of the table."""
    content: dict[str, Any] = {}
    if row.body is not None:
        content[JSON] = {"schema": reference(body_name(row)), "example": row.example}
    return content | OTHER_MEDIA.get(row.name, {})


def success_of(row: Control) -> dict[str, Any]:
    reply = shape_of_reply(row.reply) if row.reply else REPLIES[row.name]
    if row.name == "GET /authorize":
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
