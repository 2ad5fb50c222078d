"""The command `bank-sandbox`: its words, and where each is defined. A command is imported when it is called."""

import sys
from collections.abc import Iterator, MutableMapping
from functools import cache
from typing import Any

import click

from sandbox.extension_registry import ExtensionError, with_names
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


@cache
def defined_names() -> dict[str, str]:
    """The definition of each command, also of those of extensions. Raises ExtensionError if one is defined twice."""
    of_rows = [row.command.name for row in load("sandbox.web.controls.rows:CONTROLS") if row.command is not None]
    names = with_names(DEFINED | {name: "" for name in of_rows if " " not in name}, "commands")
    return {word: name for word, name in names.items() if name}


class Commands(MutableMapping[str, click.Command]):
    """The commands by their first word, each imported or made when it is asked for."""

    def __init__(self) -> None:
        self._found: dict[str, click.Command] = {}

    def __getitem__(self, word: str) -> click.Command:
        if word not in self._found:
            name = DEFINED.get(word) or defined_names().get(word)
            defined = load(name) if name else None
            if defined is None or isinstance(defined, click.Group):
                defined = load("sandbox.commands.generated:complete")(word, defined)
            self._found[word] = defined
        return self._found[word]

    def __iter__(self) -> Iterator[str]:
        return iter({**defined_names(), **load("sandbox.commands.generated:first_words")(), **self._found})

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __setitem__(self, word: str, command: click.Command) -> None:
        self._found[word] = command

    def __delitem__(self, word: str) -> None:
        raise TypeError("a command is never taken away")


class Program(click.Group):
    """The command. If an extension cannot be used, it prints one line and exits with 1."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().main(*args, **kwargs)
        except ExtensionError as error:
            click.echo(f"Error: {error}", err=True)
            sys.exit(1)


@click.group(cls=Program, commands=Commands(), context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="bank-sandbox")
@click.pass_context
def main(context: click.Context) -> None:
    """A sandbox of one Belgian bank, on a clock that you own."""
    context.obj = defined_names  # for `serve`, which does not start where an extension takes the name of a command


@click.command()
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Prints the completion script of SHELL. For bash: eval "$(bank-sandbox completion bash)"."""
    from click.shell_completion import get_completion_class

    shell_class = get_completion_class(shell)
    assert shell_class is not None
    click.echo(shell_class(context.find_root().command, {}, "bank-sandbox", "_BANK_SANDBOX_COMPLETE").source())
