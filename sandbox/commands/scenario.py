"""The commands `bank-sandbox scenario`, which list, check and play scenarios."""

import os
import sys
from collections import ChainMap
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Protocol

import click

from sandbox.commands.actions import load
from sandbox.commands.options import add_extension_options, add_options, env_row, json_option
from sandbox.commands.screen import format_json, format_table, show_progress
from sandbox.machine import machine_time

if TYPE_CHECKING:
    from sandbox.player.runs import ScenarioReport, Script, UnreadableFile
    from sandbox.player.step_result import StepResult

FAILED, UNREADABLE = 1, 2


@dataclass(frozen=True)
class RunOptions:
    """Options about how scenarios are played."""

    scenarios: tuple[str, ...]
    junit: Path | None = env_row("Also write JUnit XML there.", type=click.Path(dir_okay=False, path_type=Path))
    url: str | None = env_row("A running sandbox; default: start a new one.", default=None)
    key: str | None = env_row("The key of that sandbox's controls.", default=None)
    jobs: int = env_row("Scenarios played at once.", type=click.IntRange(1, 64), default=min(4, os.cpu_count() or 1))
    quiet: bool = env_row("Print only failures and the total.", is_flag=True)


class RunExtension(Protocol):
    """Options that an extension adds to `scenario run`, and what these options do."""

    def list_variants(self) -> Mapping[str, str]:
        """Returns the variants with which each scenario's bank is started: the name of an axis and its value. Ends the
        command if an option is wrong."""

    def judge(self, scripts: "list[Script]", order: RunOptions, url: str, apart: str) -> bool:
        """Does what the options ask for, such as playing the scenarios again under variants. Called after all scenarios
        have passed. Returns whether a scenario fails now. The text `apart` is added to the names of the worlds, which
        then differ from those of other runs."""


@click.group()
def scenario() -> None:
    """Plays, checks and lists scenarios. A scenario is a file with a bank, its people, rules, faults and steps."""


@scenario.command("list")
@json_option
def list_shipped(as_json: bool) -> None:
    """Lists the shipped scenarios."""
    from sandbox.scenarios import list_shipped

    rows = list_shipped()
    if as_json:
        scenarios = [{"name": name, "title": title, "about": about} for name, title, about in rows]
        click.echo(format_json(scenarios))
        return
    click.echo(format_table([(name, title) for name, title, _ in rows], ("name", "title")))


@scenario.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@json_option
def check(files: tuple[str, ...], as_json: bool) -> None:
    """Checks scenario files; reports errors by line and column. Exits with 1 when there are any."""
    if as_json:
        errors = [str(error) for reading in _read(files) for error in getattr(reading, "errors", ())]
        click.echo(format_json({"files": len(files), "errors": errors}))
        sys.exit(FAILED if errors else 0)
    if _print_unreadable(_read(files), to_stderr=False):
        sys.exit(FAILED)
    click.echo(f"{len(files)} read, nothing wrong")


@scenario.command()
def schema() -> None:
    """Prints the JSON Schema of a scenario file, for editors."""
    from sandbox.scenarios import make_schema

    click.echo(format_json(make_schema()))


@scenario.command()
@click.argument("name", default="default")
@json_option
def values(name: str, as_json: bool) -> None:
    """Prints the well-known values of a scenario and their outcomes as a table in Markdown."""
    from sandbox.commands.values import make_objects
    from sandbox.scenarios.well_known_values import list_values, write_markdown

    readings = _read((name,))
    if _print_unreadable(readings):
        sys.exit(UNREADABLE)
    scenario = _select_scripts(readings)[0].scenario
    click.echo(
        format_json({"values": make_objects(list_values(scenario.rules))}) if as_json else write_markdown(scenario)
    )


@scenario.command()
@click.argument("scenarios", nargs=-1, required=True, metavar="FILE_OR_NAME...")
@add_options(RunOptions, "order")
@add_extension_options("scenario run", "extensions")
def run(order: RunOptions, extensions: list[RunExtension]) -> None:
    """Plays scenarios, each in its own world, and reports each step.

    A file that cannot be read is an error in the report of --junit, and the others are played.
    Exits with 0 when all passed, 1 when one failed or breaks, 2 when a file cannot be read."""
    from sandbox.player.runs import Differing, UnreadableFile, serve_worlds, write_junit_of_scenarios
    from sandbox.player.runs import run as play_all

    differing = Differing(dict(ChainMap(*(dict(extension.list_variants()) for extension in extensions))))
    readings = _read(order.scenarios)
    scripts, unreadable = _select_scripts(readings), _print_unreadable(readings)
    reports: list[ScenarioReport] = []
    breaks = False
    apart = "" if order.url is None else f".{token_hex(3)}"
    serves = order.url is None and scripts
    with serve_worlds(machine_time, order.jobs) if serves else nullcontext(order.url or "") as address:
        runs = play_all(scripts, address, machine_time, order.jobs, order.key, apart, differing)
        for report in show_progress(runs, len(scripts), "playing"):
            _print_report(report, order.quiet)
            if order.url is not None and not report.passed:
                click.echo(f"    its world is kept for inspection: --world {report.world}")
            reports.append(report)
        if not unreadable and all(report.passed for report in reports):
            found_breaks = [extension.judge(scripts, order, address, apart) for extension in extensions]
            breaks = any(found_breaks)
    if order.junit is not None:
        played = iter(reports)
        order.junit.write_bytes(
            write_junit_of_scenarios(
                [reading if isinstance(reading, UnreadableFile) else next(played) for reading in readings]
            )
        )
    failed = sum(not report.passed for report in reports)
    click.echo(f"{len(reports) - failed} of {len(readings)} scenarios held")
    sys.exit(UNREADABLE if unreadable else FAILED if failed or breaks else 0)


scenario.add_command(load)


def _read(names: tuple[str, ...]) -> "list[Script | UnreadableFile]":
    from sandbox.player.runs import read_file

    return [read_file(name) for name in names]


def _select_scripts(readings: "list[Script | UnreadableFile]") -> "list[Script]":
    from sandbox.player.runs import Script

    return [reading for reading in readings if isinstance(reading, Script)]


def _print_unreadable(readings: "list[Script | UnreadableFile]", to_stderr: bool = True) -> bool:
    """Prints the errors of each file that cannot be read. Returns whether there is such a file."""
    from sandbox.player.runs import UnreadableFile

    unreadable = [reading for reading in readings if isinstance(reading, UnreadableFile)]
    for file in unreadable:
        for error in file.errors:
            click.echo(error, err=to_stderr)
    return bool(unreadable)


def _print_report(report: "ScenarioReport", quiet: bool) -> None:
    if report.passed and quiet:
        return
    word = click.style("holds", fg="green") if report.passed else click.style("fails", fg="red")
    click.echo(f"{word}  {report.name}  ({len(report.steps)} steps, {report.seconds:.2f} s)")
    for step in report.steps:
        _print_step(step, quiet)
    if report.trouble is not None:
        click.echo(f"    {report.trouble}")


def _print_step(step: "StepResult", quiet: bool) -> None:
    if quiet and not step.faults:
        return
    word = "not played" if step.skipped else "holds" if step.passed else click.style("FAILS", fg="red")
    click.echo(f"    {word}  {step.place}{step.text}")
    for fault in step.faults:
        click.echo(f"        {click.style(fault, fg='red')}")
    for exchange in step.exchanges if step.faults else ():
        for line in exchange.write_lines():
            click.echo(f"        {line}")
