"""Makes the tools that call controls, one from each row of the table of controls."""

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache, partial
from typing import Any

from sandbox.extensions.agents.hints import find_hints
from sandbox.extensions.agents.shown_values import ROWS, ROWS_MAX, fit, select_newest_rows
from sandbox.extensions.agents.tool import Arguments, BankCaller, JsonSchema, Tool, ToolError, ToolResult
from sandbox.server_address import URL
from sandbox.web.controls.control_row import JSON, Control, fill_path
from sandbox.web.controls.rows import CONTROLS
from sandbox.web.docs.controls_document import describe_controls, make_operation_id

WORLD_FILE = "application/x-ndjson"  # is carried by commands, and has secrets in it
SCHEMA_MAX = 3_000  # characters of one argument's schema; a scenario has 150,000
REDIRECTION = 300
SHOWING = {
    "limit": {
        "type": "integer",
        "minimum": 1,
        "maximum": ROWS_MAX,
        "default": ROWS,
        "description": "At most so many rows, the newest.",
    },
    "containing": {"type": "string", "description": "Only rows that contain this text."},
}


def is_tool(row: Control) -> bool:
    """Whether an agent can use this control. An agent cannot send or read a world as a file, and cannot follow a
    redirection."""
    takes_a_file = row.body is None and row.media != JSON
    gives_a_file = isinstance(row.reply, dict) and WORLD_FILE in row.reply
    return not (takes_a_file or gives_a_file or row.success >= REDIRECTION)


def make_control_tools(rows: Iterable[Control]) -> list[Tool]:
    rows = [row for row in rows if is_tool(row)]
    described = describe_controls(URL, rows)
    return [make_tool(row, described) for row in rows]


@cache
def make_all_control_tools() -> tuple[Tool, ...]:
    return tuple(make_control_tools(CONTROLS))


def make_tool(row: Control, described: Mapping[str, Any]) -> Tool:
    """Makes the tool of a control. `described` is the OpenAPI document of the controls, from which the arguments are
    taken."""
    address = f"/_sandbox{row.path}".replace("<", "{").replace(">", "}")
    operation = described["paths"][address][row.method.lower()]
    components = described["components"]["schemas"]
    shows_list = isinstance(row.reply, list)
    in_query, in_path = list_parameters(operation, "query"), list_parameters(operation, "path")
    members, required = list_members(operation, components)
    assert not {*in_query} & {*members, *in_path}, f"two arguments of {row.name} have the same name"
    arguments = members | in_path | in_query  # a name of the path may also be a field: it has one value
    list_arguments = {name: schema for name, schema in SHOWING.items() if shows_list and name not in arguments}
    loss = re.sub(r"{(\w+)}", r"<\1>", row.loses)
    condition = f" (only with {row.loses_if})" if row.loses_if else ""
    return Tool(
        make_operation_id(row),
        operation["summary"],
        f"{row.words}{f' It destroys{condition}: {loss}' if loss else ''}",
        {
            "type": "object",
            "properties": arguments | list_arguments,
            "required": [*dict.fromkeys((*row.path_names, *required))],
            "additionalProperties": False,
        },
        partial(call_control, row),
        is_read_only=row.method == "GET",
        is_destructive=bool(row.loses) or row.method == "DELETE",
        is_idempotent=row.method in ("GET", "PUT", "PATCH", "DELETE"),
        shows_list=shows_list,
    )


def call_control(row: Control, bank: BankCaller, arguments: Arguments) -> ToolResult:
    query_names = [] if row.query is None else [*row.query.fields]
    names = {name: _write_text(name, arguments[name]) for name in row.path_names}
    query = {name: _write_text(name, arguments[name]) for name in query_names if name in arguments}
    body = {
        name: arguments[name]
        for name, field in row.fields.items()
        if name in arguments and (name not in row.path_names or field.required)
    }
    value = bank.call(row.method, fill_path(row.path, names), None if row.body is None else body, query)
    left_out = ""
    if isinstance(row.reply, list):
        value, left_out = select_newest_rows(value, arguments.get("limit", ROWS), arguments.get("containing", ""))
    hints = tuple(find_hints(row.name, value, arguments))
    shortened = fit(value)
    if left_out and isinstance(shortened, dict):
        shortened = {"left_out": left_out, **shortened}
    return ToolResult("done" if value is None else shortened, hints)


def _write_text(name: str, value: Any) -> str:
    """Returns the value of an argument as text for a path or a query. Raises ToolError if it is neither a text, a whole
    number nor a boolean."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int):
        return str(value)
    raise ToolError(f"{name} is a text or a number")


def list_parameters(operation: Mapping[str, Any], place: str) -> dict[str, JsonSchema]:
    """Returns the schemas of an operation's parameters, each with its description. `place` chooses those in the `path`
    or those in the `query`."""
    return {
        parameter["name"]: dict(parameter["schema"])
        | ({"description": parameter["description"]} if parameter.get("description") else {})
        for parameter in operation["parameters"]
        if parameter["in"] == place
    }


def list_members(
    operation: Mapping[str, Any], components: Mapping[str, Any]
) -> tuple[dict[str, JsonSchema], list[str]]:
    """Returns the schemas of the fields of a body, and the names of its required fields. If the body has alternatives,
    returns the fields of all alternatives, and as required those that each alternative requires."""
    content = operation.get("requestBody", {}).get("content", {}).get(JSON[0], {})
    shape = _resolve(content.get("schema", {}), components)
    alternatives = [_resolve(schema, components) for schema in shape.get("anyOf", [])]
    shapes = [schema for schema in alternatives if "properties" in schema] or [shape]
    members = {
        name: make_argument_schema(member, components)
        for schema in shapes
        for name, member in schema.get("properties", {}).items()
    }
    required = [name for name in members if all(name in schema.get("required", []) for schema in shapes)]
    return members, required


def make_argument_schema(schema: JsonSchema, components: Mapping[str, Any]) -> JsonSchema:
    """Returns the schema of an argument, with each reference replaced by its definition. If that would be too long, or
    endless because a definition contains itself, returns a schema that allows any value."""
    try:
        whole: JsonSchema = _inline_references(schema, components, ())
    except RecursionError:
        whole = {}
    if whole and len(json.dumps(whole)) <= SCHEMA_MAX:
        return whole
    about = schema.get("description") or _resolve(schema, components).get("description") or "A JSON value."
    return {"description": f"{about} Its schema is long: search_documentation finds its fields."}


def _resolve(schema: JsonSchema, components: Mapping[str, Any]) -> JsonSchema:
    resolved: JsonSchema = components[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    return resolved


def _inline_references(value: Any, components: Mapping[str, Any], within: tuple[str, ...]) -> Any:
    if isinstance(value, list):
        return [_inline_references(item, components, within) for item in value]
    if not isinstance(value, dict):
        return value
    name = value.get("$ref")
    if isinstance(name, str):
        if name in within:
            raise RecursionError(name)
        return _inline_references(_resolve(value, components), components, (*within, name))
    return {
        word: _inline_references(item, components, within) for word, item in value.items() if not word.startswith("x-")
    }
