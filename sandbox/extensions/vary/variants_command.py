"""The command `bank-sandbox variants`: prints the axes, and with `cover` a covering set of variants."""

import json
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sandbox.commands.options import add_options, ask_first, env_row, explain_errors, option_row, url_option
from sandbox.commands.screen import format_json
from sandbox.extensions.vary.command_options import axes_row, make_strength_row, only_row, read_space, warn_if_slow

if TYPE_CHECKING:
    from sandbox.contract.decision_rows import Axis
    from sandbox.extensions.vary.cover import Cover

WIDTH = 160  # columns, where the output is no terminal
COVER_WIDTH = 118


@click.group(invoke_without_command=True)
@click.option("--topic", default=None, help="Only the axes of one topic, such as tokens.")
@click.option("--json", "wants_json", is_flag=True, help="The table as JSON.")
@click.pass_context
def variants(context: click.Context, topic: str | None, wants_json: bool) -> None:
    """Prints the axes. They are points on which the real bank may have decided otherwise, with the values of each.

    A world has its own values: the setting `variants` of a scenario, of PATCH /_sandbox/settings, or of a new world."""
    if context.invoked_subcommand is not None:
        return
    from sandbox.contract.decision_rows import TOPICS
    from sandbox.contract.decisions import AXES

    if topic is not None and topic not in TOPICS:
        from sandbox.extensions.vary.space import describe_unknown

        raise click.BadParameter(describe_unknown("topic", topic, TOPICS), param_hint="--topic")
    rows = [axis for axis in AXES.values() if topic in (None, axis.topic)]
    if wants_json:
        click.echo(format_json({"variants": [axis.describe() for axis in rows]}))
        return
    _print_table(rows)


def _print_table(rows: "list[Axis]") -> None:
    from rich.console import Console
    from rich.table import Table

    from sandbox.contract.decision_rows import MARKS

    table = Table(show_lines=False, box=None, pad_edge=False, header_style="bold")
    for heading in ("axis", "values", "about", "brings to light", "clause"):
        table.add_column(heading, overflow="fold", no_wrap=heading in ("axis", "clause"))
    topic = ""
    for axis in rows:
        if axis.topic != topic:
            topic = axis.topic
            table.add_row(f"[bold]{topic}[/bold]")
        table.add_row(axis.name, " ".join(axis.marked), axis.about, axis.brings, axis.clause)
    console = Console() if sys.stdout.isatty() else Console(width=WIDTH)
    console.print(table)
    console.print(f"{len(rows)} axes. {MARKS}")


@dataclass(frozen=True)
class CoverOptions:
    """The options of `variants cover`."""

    strength: int = make_strength_row()
    axes: str = axes_row()
    only: str = only_row()
    within: bool = option_row("Without the values at which a client must refuse.", is_flag=True)
    seed: int = option_row(
        "Same seed, same variants; with --begin the seed of the worlds too.",
        type=click.IntRange(0),
        default=1,
        show_default=True,
    )
    as_json: bool = option_row("As JSON.", "--json", is_flag=True)
    output: Path | None = option_row(
        "Write a scenario of each there.", "-o", "--output", type=click.Path(file_okay=False, path_type=Path)
    )
    begin: bool = option_row("Begin a world of each at a running sandbox.", is_flag=True)
    replace: bool = option_row("With --begin: in the place of worlds that have these names.", is_flag=True)
    yes: bool = option_row("With --replace: do not ask on a terminal.", "--yes", "-y", is_flag=True)
    url: str = option_row("The address of that sandbox.", make=url_option)
    key: str | None = env_row("The key of its controls.", default=None)


@variants.command()
@add_options(CoverOptions, "options")
def cover(options: CoverOptions) -> None:
    """Lists few worlds that have every combination of values.

    Every combination of values of STRENGTH different axes occurs in one of these worlds. The first world is the default
    bank. A world's name follows from its content."""
    from sandbox.extensions.vary.cover import find_cover

    space = read_space(options.axes, options.only, options.within)
    warn_if_slow(options.strength, len(space.axes))
    cover = find_cover(space, options.strength, options.seed)
    if options.output is not None:
        write_scenarios(cover, options.output)
    if options.begin:
        begin_worlds(cover, options)
    if options.as_json:
        click.echo(format_json(describe_cover(cover, options.seed)))
        return
    for variant in cover.variants:
        text = ", ".join(f"{axis}={value}" for axis, value in variant.changes) or "every axis at its first value"
        click.echo(
            textwrap.fill(f"{variant.name}  {text}", COVER_WIDTH, subsequent_indent="    ", break_on_hyphens=False)
        )
    impossible = f", {len(cover.impossible)} combinations cannot occur" if cover.impossible else ""
    click.echo(f"{len(cover.variants)} variants of {len(space.axes)} axes at strength {cover.strength}{impossible}")


def describe_cover(cover: "Cover", seed: int) -> dict[str, Any]:
    """Returns the covering set as data for JSON. Each world has a value for every axis."""
    space = cover.space
    return {
        "strength": cover.strength,
        "seed": seed,
        "axes": {name: list(values) for name, values in space.axes.items()},
        "worlds": [{"name": variant.name, "variants": space.complete(variant)} for variant in cover.variants],
        "impossible": [dict(row) for row in sorted(cover.impossible)],
    }


def write_scenarios(cover: "Cover", folder: Path) -> None:
    """Writes a scenario file for each variant."""
    with explain_errors(OSError, about=f"{folder} cannot be written: ", option="--output"):
        folder.mkdir(parents=True, exist_ok=True)
        for variant in cover.variants:
            lines = "".join(f"    {axis}: {json.dumps(value)}\n" for axis, value in variant.changes)
            settings = f"settings:\n  variants:\n{lines}" if lines else ""
            title = f"Variant {variant.name}: {len(variant.changes)} axes differ from the bank of today"
            (folder / f"{variant.name}.yaml").write_text(f"scenario: {json.dumps(title)}\n{settings}", encoding="utf-8")
    click.echo(f"{len(cover.variants)} scenarios written to {folder}", err=True)


def begin_worlds(cover: "Cover", options: CoverOptions) -> None:
    """Makes a world for each variant at the sandbox of --url. All worlds have the same seed, so only their variants
    differ. With --replace, replaces worlds that have these names. On a terminal, asks the user before it replaces them,
    unless --yes is given."""
    from sandbox.client import Controls
    from sandbox.commands.remote import RemoteWorld

    if options.replace:
        ask_first("Worlds that have these names are replaced. All that happened in them is lost.", options.yes)
    with Controls(options.url, key=options.key) as server, RemoteWorld(server, False).explain_failures():
        for variant in cover.variants:
            changes = dict(variant.changes)
            server.make_world(variant.name, seed=options.seed, replace=options.replace, variants=changes)
    click.echo(f"{len(cover.variants)} worlds begun at {options.url.rstrip('/')}/worlds/NAME", err=True)
