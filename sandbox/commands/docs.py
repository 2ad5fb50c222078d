"""The command `bank-sandbox docs`, and the page of the documentation that lists all commands."""

from collections.abc import Iterator
from pathlib import Path

import click

PROGRAM = "bank-sandbox"


@click.command()
@click.option(
    "--output", "-o", default="docs-site", show_default=True, type=click.Path(file_okay=False, path_type=Path),
    help="The folder to write to.",
)  # fmt: skip
@click.pass_context
def docs(context: click.Context, output: Path) -> None:
    """Writes the documentation as static files, with its search. A running sandbox serves it at /_sandbox/docs."""
    from sandbox.web.docs import site
    from sandbox.web.docs.added_pages import add_page
    from sandbox.web.docs.views import asset

    group = context.find_root().command
    add_page("commands", lambda: commands_page(group))
    count = site.write_site(output, asset)
    click.echo(f"{count} pages: {output / 'index.html'}")


def commands_page(group: click.Command) -> str:
    """Every command with its options, as Markdown."""
    return (
        "\n\n".join(
            ["# Commands", "Each option of `serve` is also a variable, `SANDBOX_` and its name.", *_of(group, PROGRAM)]
        )
        + "\n"
    )


def _of(command: click.Command, name: str) -> Iterator[str]:
    """A command and those below it."""
    if isinstance(command, click.Group):
        for word in sorted(command.commands):
            yield from _of(command.commands[word], f"{name} {word}")
        if not command.invoke_without_command:
            return
    arguments = " ".join(
        one.make_metavar(click.Context(command)) for one in command.params if isinstance(one, click.Argument)
    )
    yield f"## {name}\n\n`{f'{name} {arguments}'.strip()}`: {' '.join((command.help or '').split())}"
    rows = [
        (", ".join(f"`{text}`" for text in one.opts), (one.help or "").replace("|", "\\|"))
        for one in command.params
        if isinstance(one, click.Option) and not one.hidden
    ]
    if rows:
        yield "\n".join(
            ["| option | what it does |", "| --- | --- |", *(f"| {names} | {words} |" for names, words in rows)]
        )
