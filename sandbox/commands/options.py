"""Helpers that define the options of commands, and the options that many commands share."""

import functools
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field, fields
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, NamedTuple

import click

from sandbox.extension_registry import find_addresses
from sandbox.lazy import load
from sandbox.machine import machine_time
from sandbox.server_address import HOST, PORT, URL, make_openable, write_address

SHOWN = 40  # characters that an error shows on each side of a fault in JSON
PORTS = click.IntRange(0, 65535)


def option(name: str, *names: str, **more: Any) -> Callable[..., Any]:
    """Makes an option that can also be set in the environment: `--port` by SANDBOX_PORT."""
    variable = "SANDBOX_" + name.lstrip("-").replace("-", "_").upper()
    return click.option(name, *names, envvar=variable, show_envvar=True, **{"show_default": True, **more})


def find_default_url() -> str:
    """Returns the address at which `serve` listens in this environment (SANDBOX_HOST, SANDBOX_PORT). Port 0 lets the
    system choose a port, which is unknown here, so the default port is used."""
    host = os.environ.get("SANDBOX_HOST") or HOST
    port = os.environ.get("SANDBOX_PORT") or PORT
    try:
        return make_openable(write_address("http", host, PORTS(port) or PORT))
    except click.BadParameter as error:
        raise click.BadParameter(error.message, param_hint="SANDBOX_PORT") from None


def url_option(*names: str, help: str) -> Callable[..., Any]:
    """Makes the option for the address of the sandbox that a command calls."""
    about = f"{help} Default: by SANDBOX_HOST and SANDBOX_PORT, else {URL}."
    return option(*names, default=find_default_url, show_default=False, help=about)


def combine_options(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Returns one decorator that adds all these options. The help lists them in this order."""

    def decorate(command: Any) -> Any:
        for add in reversed(options):
            command = add(command)
        return command

    return decorate


def option_row(about: str = "", *flags: str, make: Callable[..., Any] = click.option, **more: Any) -> Any:
    """Makes a dataclass field that is an option, for `add_options`. Without `flags`, the flag is `--` and the field's
    name."""

    def made(name: str) -> Any:
        return make(*(flags or (f"--{name.replace('_', '-')}",)), name, help=about or None, **more)

    return field(metadata={"option": made}, repr=False)  # some are secrets


env_row = functools.partial(option_row, make=option)


def add_options(kind: type[Any], word: str) -> Callable[[Any], Any]:
    """Returns a decorator that adds the options of a class to a command. The command gets an object of the class as its
    argument `word`."""
    return _add_options_of_all([kind], word, lambda values: values[0])


def add_extension_options(command: str, word: str) -> Callable[[Any], Any]:
    """Returns a decorator that adds the options of extensions to the command named `command`. Each of these extensions
    has a class for its options. The command gets a list with an object of each class as its argument `word`."""
    return _add_options_of_all([load(name) for name in find_addresses("options", command)], word, list)


def _add_options_of_all(kinds: list[type[Any]], word: str, join: Callable[[list[Any]], object]) -> Callable[[Any], Any]:
    def decorate(command: Any) -> Any:
        @functools.wraps(command)
        def gathered(*words: Any, **options: Any) -> Any:
            values = [kind(**{row.name: options.pop(row.name) for row in fields(kind)}) for kind in kinds]
            return command(*words, **{word: join(values)}, **options)

        rows = [row for kind in kinds for row in fields(kind) if row.metadata]
        return combine_options(*(row.metadata["option"](row.name) for row in rows))(gathered)

    return decorate


# For commands that call no running sandbox. The decorator `remote` adds the same option to those that do.
json_option = click.option("--json", "as_json", is_flag=True, help="As JSON.")
# For commands that destroy something.
YES = click.option("--yes", "-y", is_flag=True, help="Do not ask on a terminal.")


def ask_first(loss: str, yes: bool) -> None:
    """If `loss` says that something would be lost, asks on a terminal, and ends the command after a no. With --yes or
    without a terminal, does not ask."""
    if loss and not yes and sys.stdin.isatty():
        click.confirm(f"{loss} Go on?", abort=True, err=True)


def read_json(context: click.Context, param: click.Parameter, value: str | None) -> Any:
    """Reads the value of an option as JSON, or returns None if the option is not given. Ends the command if the value
    is not JSON, with an error that names the place of the fault. If a number is too long or the nesting is too deep,
    the error names no place."""
    try:
        return None if value is None else json.loads(value)
    except json.JSONDecodeError as error:
        raise click.BadParameter(f"it is not JSON: {describe_json_fault(error)}", param=param) from None
    except (ValueError, RecursionError):
        raise click.BadParameter("a number in it is too long, or it is nested too deeply", param=param) from None


def describe_json_fault(error: json.JSONDecodeError) -> str:
    """Returns the reason of the error, its line and column, and the text around this place, with an arrow where the
    fault is."""
    before, after = error.doc[: error.pos], error.doc[error.pos :]
    line = f"{before.rpartition(chr(10))[2][-SHOWN:]}→{after.partition(chr(10))[0][:SHOWN]}"
    place = f"column {error.colno}" if error.lineno == 1 else f"line {error.lineno}, column {error.colno}"
    return f"{error.msg[:1].lower()}{error.msg[1:]} at {place}, where the arrow is: {line}"


def find_brussels_today() -> date:
    from sandbox.banking.calendar import find_brussels_date

    return find_brussels_date(datetime.fromtimestamp(machine_time(), UTC))


@contextmanager
def explain_errors(
    *kinds: type[Exception], about: str = "", option: str = "", ends: type[click.ClickException] = click.ClickException
) -> Iterator[None]:
    """Ends the command with one sentence if the block raises an error of these kinds. `about` is the beginning of the
    sentence. If `option` is given, the sentence blames this option. Otherwise an error of the class `ends` is raised.
    """
    try:
        yield
    except kinds as error:
        reason = f"{about}{error.strerror if about and isinstance(error, OSError) else error}"
        raise (click.BadParameter(reason, param_hint=option) if option else ends(reason)) from None


def write_file(path: Path, content: bytes) -> None:
    with explain_errors(OSError, about=f"{path} cannot be written: "):
        path.write_bytes(content)


class FunctionType(click.ParamType[Any]):
    """The type of an option whose value is read by a function. `reader` is the address of the function, which is
    imported when it is first used. If the function raises ValueError, the command ends with the text of this error."""

    def __init__(self, name: str, reader: str) -> None:
        self.name, self.reader = name, reader

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        try:
            return load(self.reader)(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


SPAN = FunctionType("duration", "sandbox.banking.durations:read_duration")
INSTANT = FunctionType("time", "sandbox.banking.durations:read_instant")
SEED = FunctionType("seed", "sandbox.commands.options:read_seed")


class Seed(NamedTuple):
    """The seed of a server. With a secret, nobody can compute the bank's ids and tokens from the number alone."""

    number: int
    secret: str = ""

    def __str__(self) -> str:
        return f"{self.number}-{self.secret}" if self.secret else str(self.number)


def read_seed(text: object) -> Seed:
    """Reads a number below 2^53, or such a number and a secret of 32 hexadecimal digits, joined by a hyphen. Raises
    ValueError for any other text."""
    match = re.fullmatch(r"([0-9]{1,16})(?:-([0-9a-f]{32}))?", str(text))
    if match is None or int(match[1]) >= 2**53:
        raise ValueError(f"{text!r:.60} is neither a number below 2^53 nor a seed as `serve` shows it")
    return Seed(int(match[1]), match[2] or "")
