"""The command `bank-sandbox bulk`: checks files, writes samples, and prints the status report of a file."""

import sys
from datetime import date, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import quote

import click

from sandbox.commands.completion import find_completer
from sandbox.commands.options import explain_errors, find_brussels_today, json_option, write_file
from sandbox.commands.remote import RemoteWorld, remote
from sandbox.commands.screen import draw_progress, format_json, format_table

if TYPE_CHECKING:
    from sandbox.bulkfiles.report import FileFindings, FileReport

DAY = click.DateTime(["%Y-%m-%d"])
TARGET = click.Path(dir_okay=False, path_type=Path)
KINDS = ["pain.001", "csv"]
BEGINS_XML = (b"<", b"\xef\xbb\xbf<")


@click.group()
def bulk() -> None:
    """Bulk files: pain.001 and csv."""


def choose_today(today: datetime | None) -> date:
    return today.date() if today else find_brussels_today()


def guess_kind(content: bytes) -> str:
    """Returns `pain.001` for a file that begins like XML, and `csv` for any other file."""
    return "pain.001" if content[:100].lstrip().startswith(BEGINS_XML) else "csv"


@bulk.command()
@click.argument("file", type=click.File("rb"))
@click.option("--today", type=DAY, help="The day of the validation; default: the machine's date.")
@click.option("--kind", type=click.Choice(KINDS), help="The product; default: detected from the file.")
@json_option
def check(file: IO[bytes], today: datetime | None, kind: str | None, as_json: bool) -> None:
    """Checks FILE (- for standard input) as the bank would.

    Exits with 1 if the bank refuses any part of the file. It does not check whether the debtor accounts may pay,
    because only a bank knows its accounts."""
    from sandbox.bulkfiles.admission import FILE_BYTES_MAX
    from sandbox.bulkfiles.report import ValidationRules, render
    from sandbox.bulkfiles.stages import Kind, admit, count_progress, read_file

    content = file.read(FILE_BYTES_MAX + 1)
    product: Kind = "csv" if (kind or guess_kind(content)) == "csv" else "pain.001"
    try:
        admit(product, content)
    except ValueError as error:
        text = f"The bank would refuse the call at once, with status 400: {error}."
        click.echo(format_json({"refused": str(error)}) if as_json else text)
        sys.exit(1)
    with draw_progress("checking", count_progress(product, content)) as step:
        report = read_file(product, content, ValidationRules(choose_today(today)), lambda: step(1))
    click.echo(format_json(describe_report(report)) + "\n" if as_json else render(report), nl=False)
    sys.exit(1 if report.findings_count else 0)


def describe_report(report: "FileReport") -> dict[str, Any]:
    """Returns the report of a file as JSON."""
    return {
        "message_id": report.message_id,
        "version": report.version,
        "findings_count": report.findings_count,
        "findings": _list_findings(report.findings),
        "bulks": [
            {
                "payment_information_id": batch.payment_information_id,
                "accepted": batch in report.valid_batches,
                "number_of_transactions": batch.number_of_transactions,
                "control_sum": str(batch.control_sum),
                "findings": _list_findings(batch.findings),
            }
            for batch in report.batches
        ],
    }


def _list_findings(findings: "FileFindings") -> list[dict[str, str]]:
    return [{"place": row.place, "code": row.code, "text": row.text} for row in findings]


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
        content = samples.fill_sample(name, choose_today(today), message_id)
    click.echo(content, nl=False)


@bulk.command()
@json_option
def samples(as_json: bool) -> None:
    """Lists the sample files, and what each of them is for."""
    from sandbox.bulkfiles.samples import SAMPLES

    if as_json:
        click.echo(format_json({"samples": [{"name": name, "about": about} for name, about in SAMPLES.items()]}))
        return
    click.echo(format_table(list(SAMPLES.items()), ("name", "what it is for")))


@bulk.command()
@click.argument("payment_file_id", metavar="ID", shell_complete=find_completer("payment_file_id"))
@click.option(
    "--output", "-o", type=click.Path(dir_okay=False, path_type=Path), help="The file; default: standard output."
)
@remote
def report(far: RemoteWorld, payment_file_id: str, output: Path | None) -> None:
    """Prints the status report of the file ID: pain.002, or csv if the file is a csv."""
    content = far.carry("GET", f"/bulk-payments/{quote(payment_file_id, safe='')}/report")
    if output is not None:
        write_file(output, content)
    if far.as_json:
        there = {"report": content.decode()} if output is None else {"file": str(output)}
        click.echo(format_json({"payment_file_id": payment_file_id} | there))
    elif output is None:
        click.echo(content, nl=False)
