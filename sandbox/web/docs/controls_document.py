"""The OpenAPI document of the controls. apispec makes it from their table and their schemas (choice 10)."""

import re
from collections.abc import Container, Iterable
from typing import Any

from apispec.ext.marshmallow.openapi import OpenAPIConverter

from sandbox.contract.decisions import SETTINGS
from sandbox.lazy import load
from sandbox.scenarios.faults import FAULT, HOLD
from sandbox.scenarios.reading import TOP
from sandbox.scenarios.settings import SETTINGS_SHAPE
from sandbox.scenarios.steps import STEP_REF, step_schema
from sandbox.web.controls.bank_rows import COUNTERPARTY
from sandbox.web.controls.control_row import TEXT, Control
from sandbox.web.controls.rows import CONTROLS
from sandbox.web.controls.world_rows import YAML
from sandbox.web.docs import control_schemas, reply_schemas
from sandbox.web.docs.control_schemas import ControlError
from sandbox.web.docs.reference_tables import list_control_rows
from sandbox.web.docs.schemas import JsonSchema, make_document, make_reference, name_component

ABOUT = (
    "Not part of the bank: they move its clock, act as its customers and show what it holds. A call that changes "
    "something takes `application/json`. A server that was started with a key wants it as X-Sandbox-Key."
)
JSON = "application/json"
CLASSES = {  # by the names of their components
    name.removesuffix("Schema"): schema
    for module in (reply_schemas, control_schemas)
    for name, schema in vars(module).items()
}
KEY = "key"
SCENARIO, STEP = "Scenario", "ScenarioStep"
TAGS = {
    "clock": "Time", "reset": "Time", "await": "Time", "timeline": "Time",
    "worlds": "Worlds", "export": "Worlds", "import": "Worlds",
    "scenario": "Scenario", "scenarios": "Scenario", "faults": "Scenario", "settings": "Scenario",
    "variants": "Scenario",
    "psu": "PSU",
    "customers": "Registers", "clients": "Registers", "accounts": "Registers", "payments": "Registers",
    "standing-orders": "Registers", "bulk-payments": "Registers",
    "health": "Looking on", "metrics": "Looking on", "explain": "Looking on",
    "callbacks": "Looking on", "journal": "Looking on", "requests": "Looking on",
}  # fmt: skip
OTHER_TAG = "Reference"
MAY_BE_LEFT_OUT = {"POST /reset", "PUT /worlds/<name>"}
# Media types of bodies, beside JSON or instead of it.
OTHER_MEDIA: dict[str, dict[str, Any]] = {
    "PUT /scenario": {name: {"schema": TEXT} for name in YAML},
    "POST /import": {
        "application/x-ndjson": {"schema": TEXT},
        "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
    },
}
PATH_TEXT = {
    "name": "The name of a world.",
    "request_id": "The Request-ID of a call.",
    "client_id": "The registered client.",
    "iban": "The IBAN of an account.",
    "payment_id": "The bank's reference.",
}


def describe_controls(root: str, rows: Iterable[Control] | None = None) -> dict[str, Any]:
    """Returns the document for one base address, with these controls. If `rows` is None, the document has all
    controls."""
    tags = {name: f"{name}." for name in (*TAGS.values(), OTHER_TAG)}
    spec, converter = make_document("Sandbox controls", "1", root, ABOUT, tags)
    spec.components.security_scheme(KEY, {"type": "apiKey", "in": "header", "name": "X-Sandbox-Key"})
    spec.components.schema(name_component(COUNTERPARTY), schema=COUNTERPARTY)
    components = compose_schemas(converter)
    for name, schema in components.items():
        spec.components.schema(name, schema)
    for row in list_control_rows() if rows is None else rows:
        address = f"/_sandbox{row.path}".replace("<", "{").replace(">", "}")
        spec.path(address, operations={row.method.lower(): describe_operation(row, components)})
    whole: dict[str, Any] = spec.to_dict()
    whole["components"]["schemas"] = {
        name: with_portable_names(schema) for name, schema in whole["components"]["schemas"].items()
    }
    return whole


def with_portable_names(schema: JsonSchema) -> JsonSchema:
    """Returns the schema of an object. Its members with names such as `true` or `bulk-payments` are moved to
    `patternProperties`.

    A generated client does not compile with a field `true`, nor with two fields for `bulk-payments` and
    `bulk_payments`. Generators ignore `patternProperties`, but a reader of the schema still finds the members there.
    """
    members = schema.get("properties", {})
    foreign = {f"^{name}$": shape for name, shape in members.items() if not is_portable(name)}
    if not foreign:
        return schema
    properties = {name: shape for name, shape in members.items() if is_portable(name)}
    # A client in Go refuses what its type does not name, unless the schema permits other members.
    return {**schema, "properties": properties, "patternProperties": foreign, "additionalProperties": True}


def is_portable(name: str) -> bool:
    return name.isidentifier() and name not in {"true", "false", "null"}


def compose_schemas(converter: OpenAPIConverter) -> dict[str, JsonSchema]:
    """Returns, by name, the schemas of the components that do not come from one marshmallow schema alone. Most of them
    come, wholly or in part, from the types by which scenario files are read."""
    bodies = {name_component(row.body): row.body for row in CONTROLS if row.body is not None}
    part = {
        name: converter.schema2jsonschema(bodies[name])  # type: ignore[no-untyped-call]
        for name in ("WorldCreation", "Approval", "FurtherSignature")
    }
    settings: JsonSchema = SETTINGS_SHAPE.make_schema()
    of_settings = {
        row.name: {"description": row.about, **settings["properties"].get(row.name, {})} for row in SETTINGS.values()
    }
    part["WorldCreation"]["properties"] |= {name: of_settings[name] for name in ("life", "variants")}
    return {
        SCENARIO: {
            **with_step_references(TOP.make_schema()),
            "description": "A scenario, as its file has it (choice 13).",
        },
        STEP: with_step_references(step_schema()),
        "Fault": FAULT.make_schema(),
        "HoldCreation": HOLD.make_schema(),
        "SettingsChange": settings,
        "Settings": make_closed_schema({"settings": make_closed_schema(of_settings)}),
        "Refusal": {"anyOf": [part["Approval"], part["FurtherSignature"]]},
        "WorldCreation": part["WorldCreation"],
    }


def make_closed_schema(members: JsonSchema) -> JsonSchema:
    """Returns the schema of an object that requires all of these members and forbids others."""
    return {"type": "object", "properties": members, "required": list(members), "additionalProperties": False}


def with_step_references(schema: Any) -> Any:
    """Returns the schema, in which each reference to a scenario step is replaced by a reference to the component
    STEP."""
    if isinstance(schema, dict):
        if schema.get("$ref") == STEP_REF:
            return make_reference(STEP)
        return {name: with_step_references(value) for name, value in schema.items()}
    return [with_step_references(value) for value in schema] if isinstance(schema, list) else schema


def describe_operation(row: Control, components: Container[str] = ()) -> dict[str, Any]:
    """Returns the OpenAPI description of a control. If `components` has a component with the name of the control's
    request body, the schema of the body is a reference to this component. Otherwise it is the marshmallow schema of the
    body, which apispec converts."""
    parameters: list[dict[str, Any]] = [
        {
            "name": name,
            "in": "path",
            "description": PATH_TEXT.get(name, f"The {name}."),
            "schema": TEXT,
            "required": True,
        }
        for name in row.path_names
    ]
    if row.query is not None:
        parameters.append({"in": "query", "schema": row.query})
    operation: dict[str, Any] = {
        "operationId": make_operation_id(row),
        "summary": row.words.partition(". ")[0].rstrip("."),
        "description": row.words,
        "tags": [row.tag or TAGS.get(row.path.split("/")[1], OTHER_TAG)],
        "parameters": parameters,
        "security": [{KEY: []}, {}],
        "responses": {str(row.success): describe_success(row)} | REFUSALS,
        "x-choice": 10,
    }
    content = OTHER_MEDIA.get(row.name, {})
    if row.body is not None:
        name = name_component(row.body)
        content = {
            JSON: {"schema": make_reference(name) if name in components else row.body, "example": row.example}
        } | content
    if content:
        operation["requestBody"] = {"required": row.name not in MAY_BE_LEFT_OUT, "content": content}
    return operation


def make_operation_id(row: Control) -> str:
    """Returns the id of an operation: `post_worlds_name_fork` for `POST /worlds/<name>/fork`."""
    return re.sub(r"[^a-z0-9]+", "_", row.name.lower()).strip("_")


def describe_success(row: Control) -> dict[str, Any]:
    if row.name == "GET /authorize":
        location = {"description": "A consent address, or the callback.", "required": True, "schema": TEXT}
        return {"description": "The browser is led on.", "headers": {"Location": location}}
    content = describe_media(row)
    return {"description": "Done.", "content": content} if content else {"description": "Done; there is no body."}


def describe_media(row: Control) -> dict[str, Any]:
    """Returns the schema of the reply for each media type. Returns an empty dictionary if the reply has no body."""
    match row.reply:
        case None:
            return {}
        case dict() as by_media if all("/" in name for name in by_media):
            return {name: {"schema": make_schema(row, shape)} for name, shape in by_media.items()}
        case shape:
            return {JSON: {"schema": make_schema(row, shape)}}


def make_schema(row: Control, reply: Any) -> Any:
    """Returns the schema of a reply. `reply` is a schema, the name of a schema, a tuple of alternatives, or a list
    whose only item is the schema of its rows."""
    match reply:
        case str():
            return load(reply) if ":" in reply else CLASSES.get(reply) or make_reference(reply)
        case tuple():
            return {"anyOf": [make_schema(row, alternative) for alternative in reply]}
        case [item]:
            return control_schemas.list_reply(row.list_name, make_schema(row, item))
        case _:
            return reply


REFUSALS = {
    status: {"description": about, "content": {JSON: {"schema": ControlError}}}
    for status, about in (("4XX", "The call is refused."), ("5XX", "The sandbox cannot do it now."))
}
