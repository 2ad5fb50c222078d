"""All tools of one sandbox. Adds what all tools have in common: the argument `world`, the check of arguments, and the
masking of secrets."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from sandbox.extensions.agents.bank_link import WORLDS, BankLink
from sandbox.extensions.agents.control_tools import SHOWING, make_all_control_tools
from sandbox.extensions.agents.own_tools import OWN_TOOLS
from sandbox.extensions.agents.shown_values import SECRET_NAMES, hide_secrets
from sandbox.extensions.agents.tool import Arguments, Hint, JsonSchema, Tool, ToolError
from sandbox.reader.tree import suggest

WORLD: JsonSchema = {"type": "string", "description": "Another world than that of this server; get_worlds lists them."}
SECRET_LENGTH_MIN = 6  # a shorter one would hide parts of other words


class ToolAnswer(NamedTuple):
    """The answer of a tool to an agent. Its content has `result` or `error`. It may also have `next`, a list of calls
    that may be useful next."""

    content: dict[str, Any]
    is_error: bool


class Toolbox:
    def __init__(self, link: BankLink, of_controls: Iterable[Tool] | None = None) -> None:
        self.link = link
        tools = (*OWN_TOOLS, *(make_all_control_tools() if of_controls is None else of_controls))
        self.tools = {tool.name: with_common_arguments(tool) for tool in tools}
        assert len(self.tools) == len(tools), "two tools have the same name"

    def find(self, name: str) -> Tool:
        """Returns the tool of this name. If there is none, raises a ToolError that suggests the tool with the most
        similar name."""
        if name not in self.tools:
            raise ToolError(f"there is no tool {name[:80]!r}{suggest_nearest(name, self.tools)}")
        return self.tools[name]

    def call(self, name: str, arguments: Arguments) -> ToolAnswer:
        secrets = find_secrets(arguments) | ({self.link.key} if self.link.key else set())
        try:
            tool = self.find(name)
            check_arguments(tool, arguments)
            bank = self.link.link_to(str(arguments.get("world", self.link.world)))
            own_arguments = {name: value for name, value in arguments.items() if name != "world"}
            value, hints = tool.run(bank, own_arguments)
        except ToolError as error:
            content = {"error": hide_secrets(str(error), secrets)} | self._list_next_calls(error.hints, arguments)
            return ToolAnswer(content, True)
        return ToolAnswer({"result": hide_secrets(value, secrets)} | self._list_next_calls(hints, arguments), False)

    def _list_next_calls(self, hints: Iterable[Hint], arguments: Arguments) -> dict[str, Any]:
        """Returns `next` with the hints, or an empty dictionary if there are none. Leaves out hints to tools that do
        not exist. If the arguments name a world, each hint names the same world, except a hint to the tool that lists
        worlds."""
        world = {"world": arguments["world"]} if "world" in arguments else {}
        rows = [
            {
                "tool": hint.tool,
                "arguments": hint.arguments | ({} if hint.tool == WORLDS else world),
                "why": hint.reason,
            }
            for hint in hints
            if hint.tool in self.tools
        ]
        return {"next": rows} if rows else {}


def with_common_arguments(tool: Tool) -> Tool:
    properties: Mapping[str, Any] = tool.schema["properties"]
    showing = SHOWING if tool.shows_list else {}
    common_arguments = {name: schema for name, schema in showing.items() if name not in properties}
    assert "world" not in properties, f"{tool.name} has an argument `world` of its own"
    return tool._replace(schema=tool.schema | {"properties": {**properties, **common_arguments, "world": WORLD}})


def check_arguments(tool: Tool, arguments: Arguments) -> None:
    """Raises ToolError if an argument is unknown or missing, or if its value is wrong. Does not check the values of a
    control's fields, because the sandbox checks them."""
    properties = tool.schema["properties"]
    for name in arguments:
        if name not in properties:
            raise ToolError(f"{tool.name} has no argument {name[:80]!r}{suggest_nearest(name, properties)}")
    for name in tool.schema["required"]:
        if name not in arguments:
            raise ToolError(f"{tool.name} needs the argument {name}")
    for name, value in arguments.items():
        if name in tool.checked or name == "world" or name in SHOWING:
            fault = best_match(Draft202012Validator(properties[name]).iter_errors(value))
            if fault is not None:
                raise ToolError(f"{name}: {fault.message[:300]}")


def suggest_nearest(name: str, names: Iterable[str]) -> str:
    """Returns the end of an error text about an unknown name. It suggests the most similar of the known names, and is
    empty if no name is similar."""
    hint = suggest(name, names)
    return f"; {hint}" if hint else ""


def find_secrets(value: Any) -> set[str]:
    """Returns the secrets among the arguments that an agent sent. They are masked in the answer of the tool, because a
    reply may quote them. Leaves out secrets shorter than SECRET_LENGTH_MIN, because they would hide parts of other
    words."""
    if isinstance(value, list):
        return {secret for item in value for secret in find_secrets(item)}
    if not isinstance(value, Mapping):
        return set()
    own = {
        text
        for name, text in value.items()
        if name.lower() in SECRET_NAMES and isinstance(text, str) and len(text) >= SECRET_LENGTH_MIN
    }
    return own.union(*(find_secrets(item) for item in value.values()))
