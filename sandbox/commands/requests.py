"""The command `bank-sandbox requests`: what was asked, as it stands or as it comes (choice 10, choice 12)."""

import json
import sys
from collections.abc import Mapping
from time import sleep
from typing import Any

import click

from sandbox.commands.remote import RemoteWorld, remote
from sandbox.commands.screen import limited
from sandbox.serve.call_line import call_line

EVERY = 0.5  # seconds between two looks, with --follow
NEWEST = 50


@click.command()
@click.option("--follow", "-f", is_flag=True, help="Go on, and print each call as it comes.")
@click.option("--since", type=click.IntRange(0), default=0, help="Only calls after this number.")
@click.option("--limit", type=click.IntRange(0), default=NEWEST, show_default=True, help="The newest so many; 0: all.")
@click.option("--operation", help="Only calls of this operation, such as payment_status.")
@click.option("--status", help="Only replies with this status; 4 stands for all of 4xx.")
@click.option("--client", help="Only calls of this client.")
@click.option("--text", help="Only calls with this text in path, error or reason.")
@remote
def requests(far: RemoteWorld, follow: bool, since: int, limit: int, **filters: str | None) -> None:
    """Shows what was asked: a line per call with method, path, status, error code, reason and Request-ID."""
    last = since
    found = far.control("requests") if not since else far.call("GET", f"/requests?since={since}")
    fitting = [row for row in found["requests"] if fits(row, filters)]
    rows, left_out = limited(fitting, limit)
    if far.as_json and not follow:
        far.tell({"requests": rows}, str)
        return
    if left_out:
        click.echo(left_out, err=True)
    for row in rows:
        show(far, row)
    while follow:
        last = max([last, *(row["seq"] for row in found["requests"])])
        sleep(EVERY)
        found = far.call("GET", f"/requests?since={last}")
        for row in found["requests"]:
            if fits(row, filters):
                show(far, row)


def show(far: RemoteWorld, row: Mapping[str, Any]) -> None:
    click.echo(json.dumps(row, ensure_ascii=False) if far.as_json else call_line(row, sys.stdout))


def fits(row: Mapping[str, Any], filters: Mapping[str, str | None]) -> bool:
    """Whether a call is one of those asked for."""
    operation, status, client, text = (filters[name] for name in ("operation", "status", "client", "text"))
    looked_at = " ".join(str(row[name] or "") for name in ("path", "error", "error_code", "rule"))
    return (
        (operation is None or row["operation"] == operation)
        and (status is None or str(row["status"]).startswith(status))
        and (client is None or row["client_id"] == client)
        and (text is None or text.casefold() in looked_at.casefold())
    )
