"""The commands that only call a control (an operation of the tester's interface under `/_sandbox`). Each command is
generated from the row that describes its control."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import click
from marshmallow import fields

from sandbox.commands.completion import find_completer
from sandbox.commands.options import YES, ask_first, combine_options
from sandbox.commands.remote import RemoteWorld, describe_clock, format_cell, remote
from sandbox.web.controls.control_row import Command, Control, find_type
from sandbox.web.controls.rows import CONTROLS

TYPES = {"integer": int, "number": float, "boolean": bool}  # of options; any other option is a text or a list of texts
COUNT = click.IntRange(0)
LEFT_OUT = (None, "", ())  # the values of options that the user did not give


def list_first_words() -> dict[str, None]:
    """Returns the first words of all generated commands, in the order of the rows."""
    return {row.command.name.split()[0]: None for row in CONTROLS if row.command is not None}


def list_groups_of_rows(before: Mapping[str, str]) -> dict[str, str]:
    """Returns the first words of the generated commands, each with the heading under which the help lists it. Words in
    `before` are left out."""
    groups: dict[str, str] = {}
    for row in CONTROLS:
        if row.command is not None and (word := row.command.name.split()[0]) not in before:
            groups.setdefault(word, row.command.group)
    return groups


def complete_command(word: str, group: click.Group | None) -> click.Command:
    """Returns the command with the first word `word`. If `group` is given, adds the generated subcommands to it and
    returns it. Otherwise returns a generated command."""
    main = click.Group(commands={} if group is None else {word: group})
    add_generated(main, CONTROLS, word)
    return main.commands[word]


def add_generated(main: click.Group, rows: Iterable[Control], word: str = "") -> None:
    """Adds the generated command of each row to `main`. With `word`, adds only commands that begin with this word."""
    for row in rows:
        if row.command is not None and word in ("", row.command.name.split()[0]):
            _find_group(main, row.command).add_command(make_command(row, row.command))


def _find_group(main: click.Group, command: Command) -> click.Group:
    group = main
    for word in command.name.split()[:-1]:
        subgroup = group.commands.get(word)
        if subgroup is None:
            group.add_command(subgroup := click.Group(word))
        assert isinstance(subgroup, click.Group), f"{word} of {command.name} is a command of its own"
        group = subgroup
    return group


def make_command(row: Control, command: Command) -> click.Command:
    def call(
        far: RemoteWorld, since: int = 0, limit: int = 0, wide: bool = False, yes: bool = False, **options: Any
    ) -> None:
        ask_first(row.describe_loss({"world": far.world, **options}), yes)
        names = {name: options.pop(name) for name in row.path_names}
        filled = {name: value for name, value in options.items() if value not in LEFT_OUT or name in row.arguments}
        body = far.ask(row, names, None if row.body is None else filled, since)
        if command.columns:
            far.tell_rows(body, command.last_word, command.columns.split(), limit, command.drops.split(), wide)
        else:
            far.tell(body, lambda: render(command.shows, body))

    options = [click.argument(name, shell_complete=find_completer(name)) for name in row.arguments]
    if row.query is not None and "since" in row.query.fields:
        options.append(click.option("--since", type=COUNT, default=0, help="Only entries after this number."))
    if command.columns:
        options.append(click.option("--limit", type=COUNT, default=0, help="The newest so many; default: all."))
        options.append(click.option("--wide", is_flag=True, help="All columns, however narrow the terminal is."))
    options += [_make_option(name, field) for name, field in row.fields.items() if field.metadata.get("option")]
    options += [YES] if row.loses else []
    return click.command(command.last_word, help=command.about)(combine_options(*options)(remote(call)))


def render(shows: str, body: dict[str, Any]) -> str:
    """Returns the template `shows`, filled with the fields of the reply. The field `clock` becomes a text with the time
    and the rate."""
    facts = defaultdict(str, {name: format_cell(value) for name, value in body.items()})
    if "clock" in body:
        facts["clock"] = describe_clock(body["clock"])
    return shows.format_map(facts).strip()


def _make_option(name: str, field: fields.Field[Any]) -> Callable[[Any], Any]:
    kind = find_type(field)
    return click.option(
        f"--{name.replace('_', '-')}",
        name,
        type=TYPES.get(kind, str),
        required=field.required,
        multiple=kind == "array",
        help=field.metadata["option"],
        shell_complete=find_completer(name),
    )
