"""The commands `docs`, `collection` and `openapi`, and the page that lists all commands."""

from collections.abc import Iterator
from pathlib import Path
from typing import IO

import click
import orjson

from sandbox.commands.options import find_brussels_today
from sandbox.server_address import URL

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
    from sandbox.web.docs.document_row import ADDED_PAGES
    from sandbox.web.docs.views import read_asset

    group = context.find_root().command
    ADDED_PAGES["commands"] = lambda: write_commands_page(group)
    count = site.write_site(output, read_asset)
    click.echo(f"{count} pages: {output / 'index.html'}")


def write_commands_page(group: click.Command) -> str:
    """Returns all commands with their options, as Markdown."""
    from sandbox.web.docs.reference_tables import write_page

    return write_page(
        "Commands",
        "Each option of `serve` is also a variable, `SANDBOX_` and its name.",
        *_write_command(group, PROGRAM),
    )


def _write_command(command: click.Command, name: str) -> Iterator[str]:
    """Yields the lines about a command and its subcommands."""
    from sandbox.web.docs.reference_tables import write_markdown_table

    if isinstance(command, click.Group):
        for word in sorted(command.commands):
            yield from _write_command(command.commands[word], f"{name} {word}")
        if not command.invoke_without_command:
            return
    arguments = (
        parameter.make_metavar(click.Context(command))
        for parameter in command.params
        if isinstance(parameter, click.Argument)
    )
    yield f"## {name}\n\n`{' '.join([name, *arguments])}`: {' '.join((command.help or '').split())}"
    rows = [
        (", ".join(f"`{text}`" for text in parameter.opts), parameter.help or "")
        for parameter in command.params
        if isinstance(parameter, click.Option) and not parameter.hidden
    ]
    if rows:
        yield write_markdown_table(("option", "what it does"), rows)


@click.command()
@click.argument("kind", type=click.Choice(["http", "bruno"]))
@click.argument("target", type=click.Path(path_type=Path))
@click.option("--url", default=URL, show_default=True, help="The address of the sandbox to call.")
@click.option("--vendor", default="service", show_default=True, help="The word in application/vnd.VENDOR.api+json.")
def collection(kind: str, target: Path, url: str, vendor: str) -> None:
    """Writes every example of the reference for an HTTP client. TARGET is one .http file, or the folder of a Bruno
    collection.

    They use a new world named `collection`, in which a control acts as the customer.
    """
    from sandbox.web.docs.collections import write_bruno_files, write_http_file

    root = url.rstrip("/")
    files = {"": write_http_file(root, vendor)} if kind == "http" else write_bruno_files(root, vendor)
    for name, text in files.items():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


@click.command()
@click.option(
    "--output", type=click.File("wb", lazy=True, atomic=True), default="-", help="A file; - writes to standard output."
)
@click.option("--url", default=URL, show_default=True, help="The base address in the document.")
@click.option("--vendor", default="service", show_default=True, help="The word in application/vnd.VENDOR.api+json.")
@click.option("--controls", is_flag=True, help="The sandbox's controls instead of the bank's interface.")
def openapi(output: IO[bytes], url: str, vendor: str, controls: bool) -> None:
    """Writes the bank's interface as an OpenAPI 3.1 document."""
    from sandbox.web.docs.views import write_bank_document, write_controls_document

    root = url.rstrip("/")
    document = orjson.loads(
        write_controls_document(root) if controls else write_bank_document(root, vendor, find_brussels_today())
    )
    output.write(orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n")
