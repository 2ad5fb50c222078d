"""The command `bank-sandbox variants`: how a bank could differ within the service's word."""

import sys
from typing import TYPE_CHECKING

import click

from sandbox.commands.cover import cover

if TYPE_CHECKING:
    from sandbox.contract.axis import Axis

WIDTH = 160  # columns, where the output is no terminal


@click.group(invoke_without_command=True)
@click.option("--topic", default=None, help="Only the axes of one topic, such as tokens.")
@click.option("--json", "as_json", is_flag=True, help="The table as JSON.")
@click.pass_context
def variants(context: click.Context, topic: str | None, as_json: bool) -> None:
    """Prints the axes: points on which the real bank may have decided otherwise, with the values of each.

    A world has its own values: the setting `variants` of a scenario, of PATCH /_sandbox/settings, or of a new world."""
    if context.invoked_subcommand is not None:
        return
    from sandbox.contract.axis import TOPICS
    from sandbox.contract.variants import AXES

    if topic is not None and topic not in TOPICS:
        from sandbox.vary.space import unknown

        raise click.BadParameter(unknown("topic", topic, TOPICS), param_hint="--topic")
    rows = [axis for axis in AXES.values() if topic in (None, axis.topic)]
    if as_json:
        from sandbox.commands.remote import as_json as written
        from sandbox.contract.axis import described

        click.echo(written({"variants": [described(axis) for axis in rows]}))
        return
    _print_table(rows)


def _print_table(rows: "list[Axis]") -> None:
    from rich.console import Console
    from rich.table import Table

    from sandbox.contract.axis import MARKS

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


variants.add_command(cover)
