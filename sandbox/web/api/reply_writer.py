"""Writes replies as their schemas say, without marshmallow's own loop, which is most of what writing a reply costs."""

from collections.abc import Callable
from typing import Any

from marshmallow import Schema, fields

Write = Callable[[Any], Any]
ABSENT = object()


class ReplyWriter:
    """Made once from a schema; it gives what the schema's `dump` gives of a map."""

    def __init__(self, schema: Schema) -> None:
        named = schema.dump_fields.items()
        self._rows = [(field.attribute or name, field.data_key or name, _writer(field)) for name, field in named]

    def dump(self, content: dict[str, Any]) -> dict[str, Any]:
        found = {}
        for name, key, write in self._rows:
            value = content.get(name, ABSENT)
            if value is not ABSENT:
                found[key] = None if value is None else write(value)
        return found


def _writer(field: fields.Field[Any]) -> Write:
    if type(field) is fields.String:
        return str
    if type(field) is fields.Nested and not field.many:
        schema = field.schema
        assert isinstance(schema, Schema)
        return ReplyWriter(schema).dump
    return lambda value: field._serialize(value, "", None)
