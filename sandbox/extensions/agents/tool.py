"""A tool, independent of any protocol: its name, its arguments, and its result."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

JsonSchema = dict[str, Any]
Arguments = Mapping[str, Any]


class ToolError(Exception):
    """Raised if a tool cannot do its task. The text is a sentence for the agent, and `hints` are calls that may
    help."""

    def __init__(self, text: str, hints: "tuple[Hint, ...]" = ()) -> None:
        super().__init__(text)
        self.hints = hints


class Hint(NamedTuple):
    """A call that may be useful next, and why."""

    tool: str
    arguments: dict[str, Any]
    reason: str


class BankCaller(Protocol):
    """Calls the controls of a sandbox."""

    @property
    def base_url(self) -> str:
        """The address of the bank that clients use, with the path of the world."""

    def call(self, method: str, path: str, body: Any = None, query: Mapping[str, str] | None = None) -> Any:
        """Calls a control and returns the content of the reply: JSON, a text, or None if it is empty. Raises ToolError
        if the call fails or is refused."""


class ToolResult(NamedTuple):
    value: Any
    hints: tuple[Hint, ...] = ()


class Tool(NamedTuple):
    name: str
    title: str
    about: str
    schema: JsonSchema
    run: Callable[[BankCaller, Arguments], ToolResult]
    is_read_only: bool = False
    is_destructive: bool = False
    is_idempotent: bool = False
    shows_list: bool = False  # takes `limit` and `containing`
    checked: frozenset[str] = frozenset()  # arguments that are checked before the tool runs
