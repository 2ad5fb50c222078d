"""The command `bank-sandbox openapi`: the bank's interface as a document."""

from datetime import UTC, datetime
from typing import IO

import click
import orjson

from sandbox.machine import machine_time


@click.command()
@click.option(
    "--output", type=click.File("wb", lazy=True, atomic=True), default="-", help="A file; - writes to standard output."
)
@click.option("--url", default="http://127.0.0.1:8080", show_default=True, help="The base address in the document.")
@click.option("--vendor", default="service", show_default=True, help="The word in application/vnd.VENDOR.api+json.")
@click.option("--controls", is_flag=True, help="The sandbox's controls instead of the bank's interface.")
def openapi(output: IO[bytes], url: str, vendor: str, controls: bool) -> None:
    """Writes the bank's interface as an OpenAPI 3.1 document."""
    from sandbox.banking.calendar import brussels_date
    from sandbox.web.docs.views import bank_document, controls_document

    today = brussels_date(datetime.fromtimestamp(machine_time(), UTC))
    root = url.rstrip("/")
    document = orjson.loads(controls_document(root) if controls else bank_document(root, vendor, today))
    output.write(orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n")
