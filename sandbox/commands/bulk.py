"""The command `bank-sandbox bulk`: checks files and writes samples."""

import sys
from datetime import date, datetime
from pathlib import Path
from typing import IO
from urllib.parse import quote

import click

from sandbox.commands.completion import completed_by
from sandbox.commands.options import brussels_today, explain_errors, write_file
from sandbox.commands.remote import RemoteWorld, remote
from sandbox.commands.screen import meter, table

DAY = click.DateTime(["%Y-%m-%d"])
TARGET = click.Path(dir_okay=False, path_type=Path)
KINDS = ["pain.001", "csv"]
BEGINS_XML = (b"<", b"\xef\xbb\xbf<")


@click.group()
def bulk() -> None:
    """Bulk files: pain.001 and csv."""


def today_of(today: datetime | None) -> date:
    return today.date() if today else brussels_today()


def kind_of(content: bytes) -> str:
    """Guesses the kind of a file by its first byte."""
    return "pain.001" if content[:100].lstrip().startswith(BEGINS_XML) else "csv"


@bulk.command()
@click.argument("file", type=click.File("rb"))
@click.option("--today", type=DAY, help="The day of the validation; default: the machine's date.")
@click.option("--kind", type=click.Choice(KINDS), help="The product; default: detected from the file.")
def check(file: IO[bytes], today: datetime | None, kind: str | None) -> None:
    """Checks FILE (- for standard input) as the bank would. Exits with 1 when the bank refuses any of it.

    It does not check whether the debtor accounts may pay, as only a bank knows its accounts."""
    from sandbox.bulkfiles.admission import FILE_BYTES_MAX
    from sandbox.bulkfiles.reader import Kind, admit, count_progress, read_file
    from sandbox.bulkfiles.report import ValidationRules, render

    content = file.read(FILE_BYTES_MAX + 1)
    product: Kind = "csv" if (kind or kind_of(content)) == "csv" else "pain.001"
    try:
        admit(product, content)
    except ValueError as error:
        click.echo(f"The bank would refuse the call at once, with status 400: {error}.")
        sys.exit(1)
    with meter("checking", count_progress(product, content)) as step:
        report = read_file(product, content, ValidationRules(today_of(today)), lambda: step(1))
    click.echo(render(report), nl=False)
    sys.exit(1 if report.findings_count else 0)


@bulk.command()
@click.argument("name")
@click.option("--today", type=DAY, help="The date of the bank's clock; default: the machine's date.")
@click.option("--message-id", help="A MsgId of your own, as a client uses each once; pain.001 only.")
def sample(name: str, today: datetime | None, message_id: str | None) -> None:
    """Writes the sample NAME to standard output, with its dates filled in. `bulk samples` lists them."""
    from sandbox.bulkfiles import samples

    if name not in samples.SAMPLES:
        raise click.BadParameter(f"{name} is no sample; `bank-sandbox bulk samples` lists them", param_hint="NAME")
    with explain_errors(ValueError, option="--message-id"):
        content = samples.sample(name, today_of(today), message_id)
    click.echo(content, nl=False)


@bulk.command()
def samples() -> None:
    """Lists the sample files and what each is for."""
    from sandbox.bulkfiles.samples import SAMPLES

    click.echo(table(list(SAMPLES.items()), ("name", "what it is for")))


@bulk.command()
@click.argument("payment_file_id", metavar="ID", shell_complete=completed_by("payment_file_id"))
@click.option(
    "--output", "-o", type=click.Path(dir_okay=False, path_type=Path), help="The file; default: standard output."
)
@remote
def report(far: RemoteWorld, payment_file_id: str, output: Path | None) -> None:
    """Prints the status report of the file ID: pain.002, or csv for a csv."""
    content = far.carry("GET", f"/bulk-payments/{quote(payment_file_id, safe='')}/report")
    if output is None:
        click.echo(content, nl=False)
    else:
        write_file(output, content)
