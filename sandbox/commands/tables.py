"""The command `bank-sandbox tables`."""

from collections.abc import Iterable, Sequence

import click

from sandbox.commands.options import json_option
from sandbox.commands.screen import format_json, format_table
from sandbox.extension_registry import with_names


@click.command()
@click.argument(
    "names",
    nargs=-1,
    type=click.Choice(
        ["moves", "errors", "reasons", "operations", "products", "settings", "variants", *with_names({}, "tables")]
    ),
)
@json_option
def tables(names: tuple[str, ...], as_json: bool) -> None:
    """Prints the bank's tables, each row with its clause."""
    from sandbox.web.docs.reference_tables import TABLES, find_table

    if as_json:
        click.echo(format_json({name: make_objects(*find_table(name)) for name in names or tuple(TABLES)}))
        return
    for name in names or tuple(TABLES):
        click.echo(f"\n{name}\n" if not names or len(names) > 1 else "", nl=len(names) != 1)
        head, rows = find_table(name)
        click.echo(format_table(rows, head))


def make_objects(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[dict[str, str]]:
    """Returns each row as a dict by column. The last column, which has no title in the table, gets the name `whose`. It
    says whether the service or the sandbox decided the row."""
    return [dict(zip([*head[:-1], "whose"], row, strict=True)) for row in rows]
