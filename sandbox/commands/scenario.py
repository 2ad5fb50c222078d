"""The command `bank-sandbox scenario`: lists, checks and plays scenarios, with --vary also where the bank differs."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

import click

from sandbox.commands.actions import load
from sandbox.commands.options import env_row, explain_errors, option_row, options_of
from sandbox.commands.screen import as_json, progress, table
from sandbox.commands.vary_options import VaryOptions, axes_row, only_row
from sandbox.machine import machine_time

if TYPE_CHECKING:
    from sandbox.player.runs import Differing, Report, Script, UnreadableFile
    from sandbox.player.step_result import StepResult

FAILED, UNREADABLE = 1, 2


@dataclass(frozen=True)
class RunOptions(VaryOptions):
    """How scenarios are played, and played again where the bank differs."""

    scenarios: tuple[str, ...]
    junit: Path | None = env_row("Also write JUnit XML there.", type=click.Path(dir_okay=False, path_type=Path))
    url: str | None = env_row("A running sandbox; default: start a new one.", default=None)
    key: str | None = env_row("The key of that sandbox's controls.", default=None)
    jobs: int = env_row("Scenarios played at once.", type=click.IntRange(1, 64), default=min(4, os.cpu_count() or 1))
    quiet: bool = env_row("Print only failures and the total.", is_flag=True)
    vary: bool = option_row("Play again where the bank differs, and say what breaks a scenario.", is_flag=True)
    variants: str | None = option_row("How the bank of each scenario differs.", metavar="AXIS=VALUE,...")
    strength: int = option_row("With --vary: so many axes at once.", type=click.IntRange(1, 3), default=2)
    axes: str = axes_row()
    only: str = only_row()
    report: tuple[str, ...] = option_row(
        "Write .html, .xml, .sarif or .json; repeatable.", multiple=True, metavar="FILE"
    )
    allow: Path | None = option_row("A file of known breaks.", type=click.Path(dir_okay=False, path_type=Path))
    allow_write: bool = option_row("Write what breaks now into the file of --allow.", is_flag=True)

    @property
    def differing(self) -> "Differing":
        """What --variants says."""
        from sandbox.extensions.vary.space import read_variant
        from sandbox.player.runs import Differing

        if self.variants is None:
            return Differing()
        with explain_errors(ValueError, option="--variants"):
            return Differing(dict(read_variant(self.variants).changes))

    def vary_scripts(self, scripts: "list[Script]", url: str, apart: str) -> bool:
        """Plays each scenario under a covering set of what it meets, and prints the verdict; gives whether one
        breaks."""
        from sandbox.extensions.vary.verdict import FailsToday, Verdict, merge
        from sandbox.player.varied import judge_script

        def judged(script: "Script") -> Verdict | None:
            return judge_script(script, self.space, self.strength, url, machine_time, self.key, apart)

        try:
            with ThreadPoolExecutor(self.jobs) as pool:
                found = [one for one in pool.map(judged, scripts) if one is not None]
        except FailsToday as failed:
            raise click.ClickException(f"{failed} held once and failed once against the bank of today") from None
        if not found:
            raise click.ClickException("no call of these scenarios met one of the axes")
        return self.tell(merge(found))


@click.group()
def scenario() -> None:
    """Scenarios: files with a bank, its people, rules, faults and steps."""


@scenario.command("list")
@click.option("--json", "wants_json", is_flag=True, help="As JSON.")
def list_shipped(wants_json: bool) -> None:
    """Lists the shipped scenarios."""
    from sandbox.scenario import shipped_scenarios

    rows = shipped_scenarios()
    if wants_json:
        found = [{"name": name, "title": title, "about": about} for name, title, about in rows]
        click.echo(as_json(found))
        return
    click.echo(table([(name, title) for name, title, _ in rows], ("name", "title")))


@scenario.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
def check(files: tuple[str, ...]) -> None:
    """Checks scenario files; reports errors by line and column. Exits with 1 when there are any."""
    if _unreadable(_read(files), to_stderr=False):
        sys.exit(FAILED)
    click.echo(f"{len(files)} read, nothing wrong")


@scenario.command()
def schema() -> None:
    """Prints the JSON Schema of a scenario file, for editors."""
    from sandbox.scenario import schema as schema_of

    click.echo(as_json(schema_of()))


@scenario.command()
@click.argument("name", default="default")
def values(name: str) -> None:
    """Prints the well-known values of a scenario and their outcomes as a table in Markdown."""
    from sandbox.scenario.values import markdown

    found = _read((name,))
    if _unreadable(found):
        sys.exit(UNREADABLE)
    click.echo(markdown(_scripts(found)[0].scenario))


@scenario.command()
@click.argument("scenarios", nargs=-1, required=True, metavar="FILE_OR_NAME...")
@options_of(RunOptions, "order")
def run(order: RunOptions) -> None:
    """Plays scenarios, each in its own world, and reports each step.

    With --vary each is played again under a covering set of the axes that it met, once all have passed.
    A file that cannot be read is an error in the report of --junit, and the others are played.
    Exits with 0 when all passed, 1 when one failed or breaks, 2 when a file cannot be read."""
    from sandbox.player.runs import UnreadableFile, serve_worlds
    from sandbox.player.runs import junit as junit_of
    from sandbox.player.runs import run as play_all

    if order.vary:
        order.demand()
    differing = order.differing
    found = _read(order.scenarios)
    scripts, unreadable = _scripts(found), _unreadable(found)
    reports: list[Report] = []
    breaks = False
    apart = "" if order.url is None else f".{token_hex(3)}"
    serves = order.url is None and scripts
    with serve_worlds(machine_time, order.jobs) if serves else nullcontext(order.url or "") as address:
        runs = play_all(scripts, address, machine_time, order.jobs, order.key, apart, differing)
        for report in progress(runs, len(scripts), "playing"):
            _print_report(report, order.quiet)
            if order.url is not None and not report.passed:
                click.echo(f"    its world is kept for inspection: --world {report.world}")
            reports.append(report)
        if order.vary and not unreadable and all(report.passed for report in reports):
            breaks = order.vary_scripts(scripts, address, apart)
    if order.junit is not None:
        played = iter(reports)
        order.junit.write_bytes(junit_of([one if isinstance(one, UnreadableFile) else next(played) for one in found]))
    failed = sum(not report.passed for report in reports)
    click.echo(f"{len(reports) - failed} of {len(found)} scenarios held")
    sys.exit(UNREADABLE if unreadable else FAILED if failed or breaks else 0)


scenario.add_command(load)


def _read(names: tuple[str, ...]) -> "list[Script | UnreadableFile]":
    from sandbox.player.runs import read_file

    return [read_file(name) for name in names]


def _scripts(found: "list[Script | UnreadableFile]") -> "list[Script]":
    from sandbox.player.runs import Script

    return [one for one in found if isinstance(one, Script)]


def _unreadable(found: "list[Script | UnreadableFile]", to_stderr: bool = True) -> bool:
    """Prints the errors of each file that cannot be read. Returns whether there is one."""
    from sandbox.player.runs import UnreadableFile

    unreadable = [one for one in found if isinstance(one, UnreadableFile)]
    for file in unreadable:
        for error in file.errors:
            click.echo(error, err=to_stderr)
    return bool(unreadable)


def _print_report(report: "Report", quiet: bool) -> None:
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
        for line in exchange.lines():
            click.echo(f"        {line}")
