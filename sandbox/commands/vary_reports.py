"""What `vary` says and writes at the end."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from sandbox.vary.allowed import Allowed
    from sandbox.vary.verdict import Verdict


def read_allow_file(path: Path | None, write: bool) -> "list[Allowed]":
    """The breaks that are known. A file that is yet to be written may be absent."""
    from sandbox.contract.variants import AXES
    from sandbox.vary.allowed import read_allowed
    from sandbox.vary.space import space_of

    if path is None:
        if write:
            raise click.UsageError("--allow-write needs --allow FILE")
        return []
    if write and not path.exists():
        return []
    try:
        return read_allowed(path.read_text(encoding="utf-8-sig"), space_of(AXES, within=False))
    except OSError as error:
        hint = f"{path} cannot be read: {error.strerror}; --allow-write writes a first one"
        raise click.BadParameter(hint, param_hint="--allow") from None
    except ValueError as error:
        raise click.BadParameter(f"{path}: {error}", param_hint="--allow") from None


def demand_reports(names: tuple[str, ...]) -> list[Path]:
    """The files of --report, which must be writable before the long run begins."""
    from sandbox.vary.report_files import demand_format

    try:
        return [demand_format(name) for name in names]
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--report") from None


def tell_verdict(
    verdict: "Verdict", allowed: "list[Allowed]", allow_file: Path | None, reports: list[Path], as_json: bool
) -> bool:
    """Prints and writes the verdict; gives whether something breaks that is not allowed."""
    from sandbox.commands.remote import as_json as write
    from sandbox.contract.variants import AXES
    from sandbox.vary.allowed import allow, write_allowed
    from sandbox.vary.report_files import write_report
    from sandbox.vary.sentences import as_json as json_of
    from sandbox.vary.sentences import describe_verdict

    verdict = allow(verdict, allowed)
    try:
        if allow_file is not None:
            allow_file.write_text(write_allowed(verdict.breaks), encoding="utf-8")
            click.echo(f"{len(verdict.breaks)} breaks are allowed in {allow_file}.", err=True)
        for path in reports:
            write_report(path, verdict, AXES)
    except OSError as error:
        raise click.ClickException(f"{error.filename} cannot be written: {error.strerror}") from None
    if as_json:
        click.echo(write(json_of(verdict, AXES)))
    else:
        for line in describe_verdict(verdict, AXES):
            print_line(line)
    return bool(verdict.new_breaks) and allow_file is None


def print_line(line: str) -> None:
    """Colours the word that a line begins with, on a terminal."""
    colours = {"BREAKS": "red", "FLAKY": "yellow"}
    word, _, rest = line.partition(" ")
    if word in colours and sys.stdout.isatty():
        line = f"{click.style(word, fg=colours[word])} {rest}"
    click.echo(line)
