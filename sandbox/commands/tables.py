"""The command `bank-sandbox tables`."""

import click

from sandbox.commands.screen import table
from sandbox.extension_registry import with_names


@click.command()
@click.argument(
    "names",
    nargs=-1,
    type=click.Choice(
        ["moves", "errors", "reasons", "operations", "products", "settings", "variants", *with_names({}, "tables")]
    ),
)
def tables(names: tuple[str, ...]) -> None:
    """Prints the bank's tables, each row with its clause."""
    from sandbox.web.docs.reference_tables import TABLES, table_of

    for name in names or tuple(TABLES):
        click.echo(f"\n{name}\n" if not names or len(names) > 1 else "", nl=len(names) != 1)
        head, rows = table_of(name)
        click.echo(table(rows, head))
