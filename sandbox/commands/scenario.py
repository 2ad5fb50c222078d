"""The command `bank-sandbox scenario`: lists, checks and plays scenarios."""

import json
import os
import sys
from contextlib import nullcontext
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import click

from sandbox.commands.actions import load
from sandbox.commands.options import option
from sandbox.commands.scenario_vary import read_differing, read_order, vary_options, vary_scripts
from sandbox.commands.screen import progress, table
from sandbox.machine import machine_time

if TYPE_CHECKING:
    from sandbox.player.runs import Report, Script
    from sandbox.player.step_result import StepResult

FAILED, UNREADABLE = 1, 2


@click.group()
def scenario() -> None:
    """Scenarios: files with a bank, its people, rules, faults and steps."""


@scenario.command("list")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def list_shipped(as_json: bool) -> None:
    """Lists the shipped scenarios."""
    from sandbox.scenario import shipped_scenarios

    rows = shipped_scenarios()
    if as_json:
        found = [{"name": name, "title": title, "about": about} for name, title, about in rows]
        click.echo(json.dumps(found, ensure_ascii=False, indent=2))
        return
    click.echo(table([(name, title) for name, title, _ in rows], ("name", "title")))


@scenario.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
def check(files: tuple[str, ...]) -> None:
    """Checks scenario files; reports errors by line and column. Exits with 1 when there are any."""
    faults = [fault for file in files for fault in _faults(file)]
    for fault in faults:
        click.echo(fault)
    if faults:
        sys.exit(FAILED)
    click.echo(f"{len(files)} read, nothing wrong")


def _faults(file: str) -> list[str]:
    from sandbox.player.runs import read_script
    from sandbox.scenario import ScenarioErrors

    try:
        read_script(file)
    except ScenarioErrors as errors:
        return [str(error) for error in errors.errors]
    return []


@scenario.command()
def schema() -> None:
    """Prints the JSON Schema of a scenario file, for editors."""
    from sandbox.scenario import schema as schema_of

    click.echo(json.dumps(schema_of(), indent=2, ensure_ascii=False))


@scenario.command()
@click.argument("name", default="default")
def values(name: str) -> None:
    """Prints the well-known values of a scenario and their outcomes as a table in Markdown."""
    from sandbox.scenario.values import markdown

    (script,) = _scripts((name,))
    click.echo(markdown(script.scenario))


@scenario.command()
@click.argument("scenarios", nargs=-1, required=True, metavar="FILE_OR_NAME...")
@option("--junit", type=click.Path(dir_okay=False, path_type=Path), help="Also write JUnit XML there.")
@option("--url", default=None, help="A running sandbox; default: start a new one.")
@option("--key", default=None, help="The key of that sandbox's controls.")
@option("--jobs", type=click.IntRange(1, 64), default=min(4, os.cpu_count() or 1), help="Scenarios played at once.")
@option("--quiet", is_flag=True, help="Print only failures and the total.")
@vary_options
def run(
    scenarios: tuple[str, ...],
    junit: Path | None,
    url: str | None,
    key: str | None,
    jobs: int,
    quiet: bool,
    variants: str | None,
    **varied: Any,
) -> None:
    """Plays scenarios, each in its own world, and reports each step.

    With --vary each is played again under a covering set of the axes that it met, once all have passed.
    Exits with 0 when all passed, 1 when one failed or breaks, 2 when a file cannot be read."""
    from sandbox.player.junit import junit as junit_of
    from sandbox.player.runs import run as play_all
    from sandbox.player.runs import serve_worlds

    order, differing = read_order(**varied), read_differing(variants)
    scripts = _scripts(scenarios)
    reports: list[Report] = []
    breaks = False
    apart = "" if url is None else f".{token_hex(3)}"
    with serve_worlds(machine_time, jobs) if url is None else nullcontext(url) as address:
        runs = play_all(scripts, address, machine_time, jobs, key, apart, differing)
        for report in progress(runs, len(scripts), "playing"):
            _print_report(report, quiet)
            if url is not None and not report.passed:
                click.echo(f"    its world is kept for inspection: --world {report.world}")
            reports.append(report)
        if order is not None and all(report.passed for report in reports):
            breaks = vary_scripts(order, scripts, address, key, jobs, apart)
    if junit is not None:
        junit.write_bytes(junit_of(reports))
    failed = sum(not report.passed for report in reports)
    click.echo(f"{len(reports) - failed} of {len(reports)} scenarios held")
    sys.exit(FAILED if failed or breaks else 0)


scenario.add_command(load)


def _scripts(names: tuple[str, ...]) -> "list[Script]":
    from sandbox.player.runs import read_script
    from sandbox.scenario import ScenarioErrors

    scripts, faults = [], []
    for name in names:
        try:
            scripts.append(read_script(name))
        except ScenarioErrors as errors:
            faults += [str(error) for error in errors.errors]
    for fault in faults:
        click.echo(fault, err=True)
    if faults:
        sys.exit(UNREADABLE)
    return scripts


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
    place = "" if step.step.line is None else f"line {step.step.line}, "
    click.echo(f"    {word}  {place}{step.text}")
    for fault in step.faults:
        click.echo(f"        {click.style(fault, fg='red')}")
    for exchange in step.exchanges if step.faults else ():
        for line in exchange.lines():
            click.echo(f"        {line}")
