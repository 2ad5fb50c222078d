"""Options that `vary`, `scenario run --vary` and `variants cover` share, and the output of the first two."""

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sandbox.commands.options import explain_errors, option_row
from sandbox.commands.screen import as_json as json_text

if TYPE_CHECKING:
    from sandbox.extensions.vary.lie_verdict import AllowedLies
    from sandbox.extensions.vary.space import Space
    from sandbox.extensions.vary.verdict import AllowedBreak, Verdict

T = TypeVar("T")

axes_row = partial(option_row, "Only these axes; a comma between.", default="", metavar="A,B")
only_row = partial(
    option_row, "Only the axes of these topics, such as tokens or money; a comma between.", default="", metavar="A,B"
)


def strength_row(default: int = 2) -> Any:
    return option_row("So many axes at once.", type=click.IntRange(1, 3), default=default, show_default=True)


class VaryOptions:
    """Options of `vary` and of `scenario run --vary`."""

    axes: str
    only: str
    allow: Path | None
    allow_write: bool
    report: tuple[str, ...]
    allow_lies: Path | None = None

    @cached_property
    def space(self) -> "Space":
        return read_space(self.axes, self.only, within=True)

    @cached_property
    def allowed(self) -> "list[AllowedBreak]":
        """Returns the breaks of the file of --allow. With --allow-write the file may be missing."""
        from sandbox.extensions.vary.verdict import read_allowed

        if self.allow is None and self.allow_lies is None and self.allow_write:
            raise click.UsageError("--allow-write needs --allow FILE or --allow-lies FILE")
        return self._read(self.allow, "--allow", read_allowed) or []

    @cached_property
    def allowed_lies(self) -> "AllowedLies":
        from sandbox.extensions.vary.lie_verdict import read_allowed_lies

        return self._read(self.allow_lies, "--allow-lies", read_allowed_lies) or {}

    def _read(self, path: Path | None, option: str, read: Callable[[str], T]) -> T | None:
        """Reads a file of what is allowed; None if there is none, and with --allow-write also if it is missing."""
        if path is None or (self.allow_write and not path.exists()):
            return None
        try:
            return read(path.read_text(encoding="utf-8-sig"))
        except OSError as error:
            hint = f"{path} cannot be read: {error.strerror}; --allow-write writes a first one"
            raise click.BadParameter(hint, param_hint=option) from None
        except ValueError as error:
            raise click.BadParameter(f"{path}: {error}", param_hint=option) from None

    @cached_property
    def reports(self) -> list[Path]:
        from sandbox.extensions.vary.report import read_report_path

        with explain_errors(ValueError, option="--report"):
            return list(map(read_report_path, self.report))

    def check_files(self) -> None:
        """Exits with an error, before the long run, if a file of --allow or --report cannot be used."""
        assert self.allowed is not None and self.allowed_lies is not None and self.space and self.reports is not None

    def print_verdict(self, verdict: "Verdict", as_json: bool = False) -> bool:
        """Prints the verdict and writes the reports. Returns whether there is a break, or a lie that nobody notices,
        that is not allowed."""
        from sandbox.extensions.vary import report
        from sandbox.extensions.vary.lie_report import by_lie
        from sandbox.extensions.vary.lie_verdict import LieVerdict, allow_lies, write_allowed_lies
        from sandbox.extensions.vary.verdict import allow, write_allowed

        verdict = allow(verdict, self.allowed)
        if verdict.lies is not None:
            verdict = replace(verdict, lies=allow_lies(verdict.lies, self.allowed_lies))
        lies = verdict.lies or LieVerdict()
        try:
            if self.allow is not None and self.allow_write:
                self.allow.write_text(write_allowed(verdict.breaks), encoding="utf-8")
                click.echo(f"{len(verdict.breaks)} breaks are allowed in {self.allow}.", err=True)
            if self.allow_lies is not None and self.allow_write:
                self.allow_lies.write_text(write_allowed_lies(lies), encoding="utf-8")
                click.echo(f"{len(by_lie(lies.believed))} lies are allowed in {self.allow_lies}.", err=True)
            for path in self.reports:
                report.write_report(path, verdict)
        except OSError as error:
            raise click.ClickException(f"{error.filename} cannot be written: {error.strerror}") from None
        if as_json:
            click.echo(json_text(report.as_json(verdict)))
        else:
            for line in report.describe_verdict(verdict):
                print_line(line)
        return bool(verdict.new_breaks or lies.believed) and not self.allow_write


def print_line(line: str) -> None:
    """Prints a line. On a terminal, BREAKS and FLAKY are coloured."""
    colours = {"BREAKS": "red", "FLAKY": "yellow", "UNNOTICED": "red"}
    word, _, rest = line.partition(" ")
    if word in colours and sys.stdout.isatty():
        line = f"{click.style(word, fg=colours[word])} {rest}"
    click.echo(line)


def read_space(axes: str, only: str, within: bool) -> "Space":
    """Returns the axes that the options name. Exits with an error if a name is unknown."""
    from sandbox.extensions.vary.space import space_of, split_names

    for option_name, text in (("--axes", axes), ("--only", only)):
        if text and not split_names(text):
            raise click.BadParameter(f"{text!r:.60} names nothing", param_hint=option_name)
    with explain_errors(ValueError, ends=click.UsageError):
        space = space_of(split_names(axes), split_names(only), within)
    if not space.axes:
        raise click.UsageError("these axes have no 2 values within the service's word")
    return space


def warn_if_slow(strength: int, axes: int) -> None:
    """Warns before a search that takes minutes."""
    from sandbox.extensions.vary.cover import SLOW_AXES

    if strength == 3 and axes > SLOW_AXES:
        click.echo(f"Strength 3 over {axes} axes takes minutes. Fewer: --axes A,B or --only money", err=True)
