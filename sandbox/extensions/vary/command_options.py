"""Options that `vary`, `ready`, `scenario run --vary` and `variants cover` share. Also prints verdicts."""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sandbox.commands.options import env_row, explain_errors, option_row
from sandbox.commands.screen import format_json

if TYPE_CHECKING:
    from sandbox.extensions.vary.allow_file import Allowed
    from sandbox.extensions.vary.space import Space, Variant
    from sandbox.extensions.vary.verdict import Verdict

T = TypeVar("T")

FILE = click.Path(dir_okay=False, path_type=Path)
RESULTS = ".bank-sandbox-vary.jsonl"

axes_row = partial(option_row, "Only these axes; a comma between.", default="", metavar="A,B")
only_row = partial(
    option_row, "Only the axes of these topics, such as tokens or money; a comma between.", default="", metavar="A,B"
)


def make_strength_row(default: int = 2) -> Any:
    return option_row("So many axes at once.", type=click.IntRange(1, 3), default=default, show_default=True)


def make_argument_row() -> Any:
    """Returns a field for which no option is made. The command sets its value, which it takes from the arguments on the
    command line."""
    return field()


def make_results_row(name: str) -> Any:
    return option_row("Results so far, from which a stopped run continues.", type=FILE, default=name, show_default=True)


@dataclass(frozen=True)
class CommandRunOptions:
    """The options that say how `vary` and `ready` run a test command."""

    command: tuple[str, ...] = make_argument_row()
    jobs: int = option_row(type=click.IntRange(1, 64), default=min(4, os.cpu_count() or 1), show_default=True)
    junit: Path | None = option_row("Where the command writes its JUnit.", type=FILE)
    timeout: float | None = option_row(
        "Seconds for each run. Default: 5 times today's, 60 at least.", type=click.FloatRange(0.1)
    )
    results: Path = make_results_row(RESULTS)
    fresh: bool = option_row("Do not go on with the results of a stopped run.", is_flag=True)
    scenario: str = option_row("What each world begins with: a name or a file.", default="default", show_default=True)
    seed: int = option_row("Of the variants and of the worlds.", type=click.IntRange(0), default=1, show_default=True)
    at: str | None = option_row("Start time of the clocks; default: now.", default=None)
    frozen: bool = option_row("Freeze the clocks until they are moved.", is_flag=True)
    url: str | None = env_row("A running sandbox; default: start a new one.", default=None)
    key: str | None = env_row("The key of that sandbox's controls.", default=None)

    @property
    def at_once(self) -> int:
        """How many runs are made at once. With --junit it is 1, because all runs write to the same file."""
        return 1 if self.junit else self.jobs

    @cached_property
    def begin(self) -> dict[str, Any]:
        """The body of the call that makes each world. Each run adds its variant to the body. Exits if --at or
        --scenario is wrong."""
        from sandbox.banking.durations import read_instant
        from sandbox.scenarios import ScenarioErrors, load
        from sandbox.testing.start import Start, read_scenario_content

        if self.at is not None:
            with explain_errors(ValueError, about=f"{self.at!r:.60}: ", option="--at"):
                read_instant(self.at)
        with explain_errors(ScenarioErrors, option="--scenario"):
            load(self.scenario)
            content = read_scenario_content(Start(self.scenario))
        clock = ({"at": self.at} if self.at is not None else {}) | ({"frozen": True} if self.frozen else {})
        body = {"seed": self.seed} | ({"clock": clock} if clock else {})
        return body if content == "default" else body | {"scenario": content}


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
    def allowed(self) -> "Allowed[Variant]":
        """The breaks that the file of --allow lists, or none without --allow. With --allow-write the file may be
        missing. Exits if the file cannot be read or is wrong, or if --allow-write is given without --allow and
        --allow-lies."""
        from sandbox.extensions.vary.verdict import read_allowed

        if self.allow is None and self.allow_lies is None and self.allow_write:
            raise click.UsageError("--allow-write needs --allow FILE or --allow-lies FILE")
        return self._read(self.allow, "--allow", read_allowed)

    @cached_property
    def allowed_lies(self) -> "Allowed[str]":
        from sandbox.extensions.vary.lie_verdict import read_allowed_lies

        return self._read(self.allow_lies, "--allow-lies", read_allowed_lies)

    def _read(self, path: Path | None, option: str, read: "Callable[[str], Allowed[T]]") -> "Allowed[T]":
        """Reads the file of --allow or --allow-lies by the function `read`. Returns an empty dictionary if the option
        is missing, or if the file is missing and --allow-write will write it. Exits with an error if the file cannot be
        read or is wrong."""
        if path is None or (self.allow_write and not path.exists()):
            return {}
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
        """Exits with an error if the axes are wrong, or if a file of --allow, --allow-lies or --report cannot be used.
        Called before the runs, because they take long."""
        assert self.allowed is not None and self.allowed_lies is not None and self.space and self.reports is not None

    def print_verdict(self, verdict: "Verdict", as_json: bool = False) -> bool:
        """Prints the verdict and writes the reports. With --allow-write, also writes the files of --allow and
        --allow-lies.

        Returns whether the client fails: a break is not allowed, or a lie that no test notices is not allowed. With
        --allow-write everything is allowed, so it returns False.
        """
        from sandbox.extensions.vary import report
        from sandbox.extensions.vary.lie_report import group_by_lie
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
                click.echo(f"{len(group_by_lie(lies.believed))} lies are allowed in {self.allow_lies}.", err=True)
            for path in self.reports:
                report.write_report(path, verdict)
        except OSError as error:
            raise click.ClickException(f"{error.filename} cannot be written: {error.strerror}") from None
        if as_json:
            click.echo(format_json(report.as_json(verdict)))
        else:
            for line in report.describe_verdict(verdict):
                print_line(line)
        return bool(verdict.new_breaks or lies.believed) and not self.allow_write


def print_line(line: str) -> None:
    """Prints a line. On a terminal, a first word such as BREAKS is coloured."""
    colours = {"BREAKS": "red", "FLAKY": "yellow", "UNNOTICED": "red"}
    word, _, text = line.partition(" ")
    if word in colours and sys.stdout.isatty():
        line = f"{click.style(word, fg=colours[word])} {text}"
    click.echo(line)


def read_space(axes: str, only: str, within: bool) -> "Space":
    """Returns the space of the axes that the options --axes and --only name, or of all axes if both are empty. `within`
    leaves out values that the service does not allow (see `make_space`). Exits if an option names nothing, if a name is
    unknown, or if no axis has 2 values."""
    from sandbox.extensions.vary.space import make_space, split_names

    for option_name, text in (("--axes", axes), ("--only", only)):
        if text and not split_names(text):
            raise click.BadParameter(f"{text!r:.60} names nothing", param_hint=option_name)
    with explain_errors(ValueError, ends=click.UsageError):
        space = make_space(split_names(axes), split_names(only), within)
    if not space.axes:
        raise click.UsageError("these axes have no 2 values within the service's word")
    return space


def warn_if_slow(strength: int, axes: int) -> None:
    """Prints a warning if a search at this strength over this number of axes takes minutes."""
    from sandbox.extensions.vary.cover import SLOW_AXES

    if strength == 3 and axes > SLOW_AXES:
        click.echo(f"Strength 3 over {axes} axes takes minutes. Fewer: --axes A,B or --only money", err=True)
