"""What the controls reply, as the document has it (choice 10); the tests hold every reply against it."""

from typing import Any

from sandbox.web.controls.control_row import Control
from sandbox.web.docs import call_schemas, control_schemas, register_schemas, reply_schemas
from sandbox.web.docs.schemas import JsonSchema, reference

JSON = "application/json"
CLASSES = vars(reply_schemas) | vars(call_schemas) | vars(register_schemas) | vars(control_schemas)


def media_of(row: Control) -> dict[str, Any]:
    """The schemas of a reply by media type; none where there is no body."""
    match row.reply:
        case None:
            return {}
        case dict() as by_media if all("/" in name for name in by_media):
            return {name: {"schema": schema_of(row, shape)} for name, shape in by_media.items()}
        case dict() as members:
            return {JSON: {"schema": shape_of(members)}}
        case shape:
            return {JSON: {"schema": schema_of(row, shape)}}


def schema_of(row: Control, reply: Any) -> Any:
    """Of the name of a class or of a component; of several, of which it is one; of a list of one under its name."""
    match reply:
        case str():
            return CLASSES.get(reply) or reference(reply)
        case tuple():
            return {"anyOf": [schema_of(row, one) for one in reply]}
        case [name]:
            return control_schemas.listed(row.path.rpartition("/")[2], CLASSES[name])
        case _:
            return reply


def shape_of(reply: Any) -> JsonSchema:
    """Of names and JSON types: a mapping is an object, a list of one shape an array. Every member is always there."""
    match reply:
        case str():
            return {"type": reply}
        case [row]:
            return {"type": "array", "items": shape_of(row)}
        case _:
            return closed({name: shape_of(part) for name, part in reply.items()}, *reply)


def closed(properties: JsonSchema, *required: str) -> JsonSchema:
    """An object with these fields and no others."""
    needed = {"required": list(required)} if required else {}
    return {"type": "object", "properties": properties, "additionalProperties": False, **needed}
