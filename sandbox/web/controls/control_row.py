"""The row of the table of controls, and the commands and buttons in it. Imports no web framework, because the commands
read the table too."""

from collections import defaultdict
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import quote

from marshmallow import Schema, fields

JSON = ("application/json",)
TEXT, OBJECT = {"type": "string"}, {"type": "object"}


class Command(NamedTuple):
    """A command that only calls the control and prints the reply. The commands that do more are in sandbox/commands."""

    name: str  # with its group, such as `psu sign`
    about: str
    shows: str = ""  # the line that a person sees, made of the reply's fields
    columns: str = ""  # of a list: the columns of the table that a person sees, between blanks
    drops: str = ""  # the columns that a narrow terminal leaves out, the first one first
    group: str = "Look"  # of the help, if the command has one word

    @property
    def last_word(self) -> str:
        return self.name.rpartition(" ")[2]


class Button(NamedTuple):
    """A button of the console that calls the control of its row and then shows a notice. The notice may have
    placeholders for fields of the form."""

    action: str
    notice: str
    fields: tuple[str, ...] | None = None  # of the form that go into the body; None: all that the control takes
    page: str = ""  # the console's page that draws the form from the row; empty: a template has the form
    asks: str = ""  # what cannot be taken back, as a sentence; the console asks before


class Control(NamedTuple):
    """A row of the table of controls, for a method and a path below /_sandbox. The route, the checks of a call, the
    documentation, the command and the buttons of the control are made from its row."""

    method: str
    path: str
    # `module.function` in this package, or `package.module:function`. It gets what its parameters name (app.py).
    view: str
    words: str
    body: Schema | None = None  # reads it and documents it, under the schema's own name
    example: Any = None  # of the body
    success: int = 200
    query: Schema | None = None  # reads and documents it
    pages: bool = False  # takes ?after=, where the reply says `next`
    media: tuple[str, ...] = JSON
    command: Command | None = None
    buttons: tuple[Button, ...] = ()
    # A schema or the name of one of the document's; a list of one: a list under `list_name`; a tuple: one
    # of these; a mapping: one for each media type. None: there is no body. `package.module:name` names a schema too.
    reply: Any = None
    loses: str = ""  # what the call destroys, as a sentence that may name fields; a person is asked before
    tag: str = ""  # the heading in the document; empty: what TAGS has in docs/controls_document.py
    loses_if: str = ""  # the field without which it destroys nothing

    def describe_loss(self, values: Mapping[str, Any]) -> str:
        """Returns a sentence that says what a call of this control with these values destroys. Returns an empty text if
        it destroys nothing."""
        if self.loses_if and not values.get(self.loses_if):
            return ""
        return self.loses.format_map(defaultdict(str, values))

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def names_added(self) -> list[str]:
        """The names of the control's command and buttons, which no other control may have."""
        commands = [f"command {self.command.name}"] if self.command else []
        return commands + [f"button {button.action}" for button in self.buttons]

    @property
    def list_name(self) -> str:
        """The last part of the path. If the reply is a list, this is the name of the list."""
        return self.path.rpartition("/")[2]

    @property
    def path_names(self) -> tuple[str, ...]:
        return tuple(part[1:-1] for part in self.path.split("/") if part.startswith("<"))

    @property
    def fields(self) -> Mapping[str, fields.Field[Any]]:
        """The fields of the body, by their names."""
        return {} if self.body is None else self.body.fields

    @property
    def arguments(self) -> tuple[str, ...]:
        """The arguments of the control's command: the names in the path, and the required fields that are not
        options."""
        return self.path_names + tuple(
            name for name, field in self.fields.items() if field.required and not field.metadata.get("option")
        )

    @property
    def form_fields(self) -> list[tuple[str, bool, str]]:
        """The inputs of a form for the control. Each has its name, whether it is required, and its JSON type. The names
        in the path come first."""
        in_body = [(name, field.required, find_type(field)) for name, field in self.fields.items()]
        return [(name, True, "string") for name in self.path_names] + in_body


get = partial(Control, "GET")
post = partial(Control, "POST")
create = partial(Control, "POST", success=201)
put = partial(Control, "PUT")
patch = partial(Control, "PATCH")
delete = partial(Control, "DELETE", success=204)

JSON_TYPES: tuple[tuple[type[fields.Field[Any]], str], ...] = (
    (fields.Boolean, "boolean"),
    (fields.Integer, "integer"),
    (fields.List, "array"),
    (fields.Nested, "object"),
    (fields.String, "string"),
)


def find_type(field: fields.Field[Any]) -> str:
    """Returns the JSON type of a field, or an empty text if it accepts several types."""
    by_class = (name for kind, name in JSON_TYPES if isinstance(field, kind))
    return next(by_class, "") or str(field.metadata.get("type", ""))


def fill_path(path: str, names: Mapping[str, str]) -> str:
    for name, value in names.items():
        path = path.replace(f"<{name}>", quote(value, safe=""))
    return path
