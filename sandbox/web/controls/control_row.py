"""What one row of the controls' table holds. Imports no web framework, because the commands read the table too."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

from sandbox.web.controls.body_readers import one_of

JSON = ("application/json",)
TEXTS: Mapping[str, Any] = {"items": {"type": "string"}}  # the shape of a list of texts
TIME = "A time: ISO 8601, with an offset or in Brussels time."
SPAN = "A span: `61m` (s, m, h, d, w) or ISO 8601."


class Field(NamedTuple):
    """A field of a control's body: read and documented from here."""

    name: str
    read: Callable[[Any], Any] | None = None  # raises ValueError; None: the view reads the value
    type: str = "string"  # as JSON Schema names it; empty for several
    required: bool = False
    nullable: bool = False  # null counts as left out
    about: str = ""  # in the document
    shape: Mapping[str, Any] = {}  # what JSON Schema says beside the type
    option: str = ""  # help of the command's option; empty: the command has no option for it
    words: tuple[str, ...] = ()  # one of these, where there is no reader

    @property
    def reader(self) -> Callable[[Any], Any] | None:
        return one_of(*self.words) if self.words else self.read


class Command(NamedTuple):
    """A command that calls the control. Without `about`, sandbox/commands defines it and only the call is derived."""

    name: str  # with its group, such as `psu sign`
    about: str = ""
    arguments: tuple[str, ...] = ()
    shows: str = ""  # the line that a person sees, made of the reply's fields
    columns: tuple[str, ...] = ()  # of a list: the table that a person sees

    @property
    def last_word(self) -> str:
        return self.name.rpartition(" ")[2]


class Button(NamedTuple):
    """A console action that calls the control, and the notice afterwards, which may name fields of the form."""

    action: str
    notice: str
    fields: tuple[str, ...] | None = None  # of the form that go into the body; None: all that the control takes
    page: str = ""  # the console's page that draws the form from the row; empty: a template has the form


class Control(NamedTuple):
    """A call below /_sandbox. Routing, guard, document, reference, command and button are derived from it."""

    method: str
    path: str
    view: str  # `module.function` in this package; the function gets what its parameters name (view_calls.py)
    words: str
    body: tuple[Field, ...] | None = None
    example: Any = None  # of the body
    success: int = 200
    since: bool = False  # takes ?since=
    pages: bool = False  # takes ?after=, where the reply says `next`
    media: tuple[str, ...] = JSON
    commands: tuple[Command, ...] = ()
    buttons: tuple[Button, ...] = ()
    body_name: str = ""  # of the component in the document
    # Names and JSON types of a reply; a mapping is an object, a list of one shape is an array. Empty: the reply's
    # class stands in docs/control_replies.py.
    reply: Mapping[str, Any] = {}

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def endpoint(self) -> str:
        return f"control {self.name}"

    @property
    def path_names(self) -> tuple[str, ...]:
        return tuple(part[1:-1] for part in self.path.split("/") if part.startswith("<"))

    @property
    def form_fields(self) -> tuple[Field, ...]:
        """What a person fills in: the names in the path, then the body."""
        return (*(Field(name, required=True) for name in self.path_names), *(self.body or ()))

    @property
    def field_names(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.body or ())


def fill_path(path: str, names: Mapping[str, str]) -> str:
    for name, value in names.items():
        path = path.replace(f"<{name}>", quote(value, safe=""))
    return path


def find_command(rows: Iterable[Control], name: str, method: str | None = None) -> Control:
    """The control that a command calls; `method` decides where a command calls two."""
    for row, command in each_command(rows):
        if command.name == name and method in (None, row.method):
            return row
    raise AssertionError(f"no control has the command {name}")


def each_command(rows: Iterable[Control]) -> Iterator[tuple[Control, Command]]:
    return ((row, command) for row in rows for command in row.commands)
