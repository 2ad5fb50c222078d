"""The command `bank-sandbox`: its subcommands, and where each of them is defined. The module of a subcommand is
imported only when the subcommand is called."""

import os
import sys
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from functools import cache
from typing import Any

import click

from sandbox.commands.completion import find_completer
from sandbox.extension_registry import ExtensionError, load_installed, with_names
from sandbox.lazy import load

# The other commands are made of the rows of the controls, which also add to the groups (commands/generated.py), or
# extensions have them.
DEFINED = {
    "bulk": "sandbox.commands.bulk:bulk",
    "clock": "sandbox.commands.actions:clock",
    "collection": "sandbox.commands.docs:collection",
    "completion": "sandbox.cli:completion",
    "consent": "sandbox.commands.tpp_calls:consent",
    "count": "sandbox.commands.calls:count",
    "docs": "sandbox.commands.docs:docs",
    "explain": "sandbox.commands.actions:explain",
    "export": "sandbox.commands.actions:export",
    "faults": "sandbox.commands.actions:faults",
    "file": "sandbox.commands.tpp_calls:file",
    "fork": "sandbox.commands.actions:fork",
    "health": "sandbox.commands.health:health",
    "hold": "sandbox.commands.calls:hold",
    "import": "sandbox.commands.actions:take",
    "open": "sandbox.commands.browse:browse",
    "openapi": "sandbox.commands.docs:openapi",
    "order": "sandbox.commands.tpp_calls:order",
    "pay": "sandbox.commands.tpp_calls:pay",
    "pki": "sandbox.commands.pki:pki",
    "psu": "sandbox.commands.actions:psu",
    "release": "sandbox.commands.calls:release",
    "requests": "sandbox.commands.calls:requests",
    "rewind": "sandbox.commands.actions:rewind",
    "scenario": "sandbox.commands.scenario:scenario",
    "serve": "sandbox.commands.serve:serve",
    "settings": "sandbox.commands.actions:settings",
    "state": "sandbox.commands.state:state",
    "tables": "sandbox.commands.tables:tables",
    "trigger": "sandbox.commands.values:trigger",
    "values": "sandbox.commands.values:values",
    "verify": "sandbox.commands.calls:verify",
}
# The groups of the help, and the commands of DEFINED in each. The row of a control says the group of its command. An
# extension says the groups of its commands, which are otherwise in the last group.
GROUPS = {
    "Start": ("serve", "open", "health"),
    "Pay and sign": ("pay", "order", "file", "consent", "psu", "trigger", "values"),
    "Look": ("requests", "explain", "bulk"),
    "Time": ("clock", "rewind"),
    "Break": ("faults", "hold", "release", "settings"),
    "Check": ("scenario", "count", "verify"),
    "Keep": ("export", "import", "fork", "state"),
    "Extend": ("docs", "openapi", "collection", "tables", "pki", "completion"),
}
LAST_GROUP = "Extend"
BEFORE = ("url", "world", "key")  # options that may stand before a command
LINE_MAX = 1000  # characters of a line of the help, which is not cut


@cache
def find_defined_names() -> dict[str, str]:
    """Returns the address `module:name` of each command, by the first word of the command. Includes the commands of
    extensions, but not the commands that are generated from the rows of the controls. Raises ExtensionError if two
    commands have the same first word."""
    of_rows = [row.command.name for row in load("sandbox.web.controls.rows:CONTROLS") if row.command is not None]
    names = with_names(DEFINED | {name: "" for name in of_rows if " " not in name}, "commands")
    return {word: name for word, name in names.items() if name}


class Commands(MutableMapping[str, click.Command]):
    """A mapping from the first word of a command to the command. Imports or generates a command when it is first looked
    up."""

    def __init__(self) -> None:
        self._found: dict[str, click.Command] = {}

    def __getitem__(self, word: str) -> click.Command:
        if word not in self._found:
            name = DEFINED.get(word) or find_defined_names().get(word)
            defined = load(name) if name else None
            if defined is None or isinstance(defined, click.Group):
                defined = load("sandbox.commands.generated:complete_command")(word, defined)
            if isinstance(defined, click.Group):
                share_options(defined)
            self._found[word] = defined
        return self._found[word]

    def __iter__(self) -> Iterator[str]:
        return iter({**find_defined_names(), **load("sandbox.commands.generated:list_first_words")(), **self._found})

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __setitem__(self, word: str, command: click.Command) -> None:
        self._found[word] = command

    def __delitem__(self, word: str) -> None:
        raise TypeError("a command is never taken away")


def group_commands() -> dict[str, str]:
    """Returns for each command the heading under which the help lists it, such as `Time`. A command of an extension
    that names no heading of GROUPS is listed under LAST_GROUP. The commands have the order of the help."""
    groups = {word: group for group, words in GROUPS.items() for word in words}
    groups |= load("sandbox.commands.generated:list_groups_of_rows")(groups)
    for extension in load_installed():
        groups |= {
            word: group if (group := extension.groups.get(word)) in GROUPS else LAST_GROUP
            for word in extension.commands
        }
    return groups


class Program(click.Group):
    """The command `bank-sandbox`. Its help lists the commands under headings. If an extension cannot be used, the
    program prints one line and exits with the status 1."""

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the commands into the help, one line for each, under the headings of GROUPS. Does not shorten the
        lines."""
        words = self.list_commands(context)
        groups, width = group_commands(), max(len(word) for word in words)
        for group in GROUPS:
            with formatter.section(group):
                formatter.write_dl(
                    [
                        (word.ljust(width), write_help_line(self, context, word))
                        for word in groups
                        if groups[word] == group
                    ]
                )

    def main(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().main(*args, **kwargs)
        except ExtensionError as error:
            click.echo(f"Error: {error}", err=True)
            sys.exit(1)


def write_help_line(program: click.Group, context: click.Context, word: str) -> str:
    """Returns the text that the help shows for a command. For a group of commands without a text, lists its
    subcommands."""
    command = program.get_command(context, word)
    assert command is not None
    below = sorted(command.commands) if isinstance(command, click.Group) else []
    return command.get_short_help_str(LINE_MAX) or f"Commands: {', '.join(below)}."


@click.group(cls=Program, commands=Commands(), context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--url", help="The address of the sandbox, as after a command that calls one.")
@click.option("--world", help="The world, likewise.", shell_complete=find_completer("world"))
@click.option("--key", help="The key of the controls, likewise.")
@click.version_option(package_name="bank-sandbox")
@click.pass_context
def main(context: click.Context, /, **_options: str | None) -> None:
    """A sandbox of one Belgian bank, on a clock that you own."""
    context.obj = find_defined_names  # for `serve`, which does not start where an extension takes the name of a command
    hand_down(context)


def hand_down(context: click.Context) -> None:
    """Passes options that were typed before a subcommand, such as `--url`, on to the subcommand. If the same option was
    also typed after the subcommand, the value typed there counts. Raises UsageError if the subcommand does not have the
    option, except for `--json`."""
    word, group = context.invoked_subcommand, context.command
    command = group.get_command(context, word) if word and isinstance(group, click.Group) else None
    if word is None or command is None:
        return
    typed = click.core.ParameterSource.COMMANDLINE
    values = {
        name: context.params[name] for name in (*BEFORE, "as_json") if context.get_parameter_source(name) is typed
    }
    for name in values:
        if name in BEFORE and not has_option(command, name):
            raise click.UsageError(f"{word} takes no --{name}")
    context.with_resource(set_environment({name_variable(name): values[name] for name in BEFORE if name in values}))
    # For an option that is not set by a variable, such as `openapi --url`.
    context.default_map = {word: values}


def share_options(group: click.Group) -> None:
    """Adds the options --url, --world and --key to a group of commands, if a subcommand has them and the group does
    not. So they may also be typed before the subcommand: `psu --url URL approve`."""
    own, call = {param.name for param in group.params}, group.callback
    shared_options = [param for param in main.params if param.name in {*BEFORE} - own and has_option(group, param.name)]
    group.params += shared_options

    def callback(*words: Any, **options: Any) -> Any:
        hand_down(click.get_current_context())
        for param in shared_options:
            options.pop(param.name)
        return call and call(*words, **options)

    group.callback = callback


def name_variable(name: str) -> str:
    return f"SANDBOX_{name.upper()}"


def has_option(command: click.Command | None, name: str) -> bool:
    """Whether a command or one of its subcommands has the option `name` (`url`, `world` or `key`). An option of this
    name counts only if an environment variable such as SANDBOX_KEY can set it, so a `--key` for the file of a private
    key does not count. An option `--url` always counts."""
    below = command.commands.values() if isinstance(command, click.Group) else ()
    own = command.params if command else ()
    return any(
        option.envvar == name_variable(name) or (name == "url" and "--url" in option.opts) for option in own
    ) or any(has_option(subcommand, name) for subcommand in below)


@contextmanager
def set_environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Sets environment variables while the block runs, and then restores their earlier values. `hand_down` passes
    options to a subcommand in this way."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            os.environ.update({} if value is None else {name: value})


@click.command()
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Prints the completion script of SHELL. For bash: eval "$(bank-sandbox completion bash)"."""
    from click.shell_completion import get_completion_class

    shell_class = get_completion_class(shell)
    assert shell_class is not None
    click.echo(shell_class(context.find_root().command, {}, "bank-sandbox", "_BANK_SANDBOX_COMPLETE").source())
