"""The commands about recorded calls (`requests`, `count`, `verify`) and about barriers that hold calls (`hold`,
`release`)."""

import json
import sys
from collections.abc import Mapping
from time import sleep
from typing import Any

import click

from sandbox.commands.completion import find_completer
from sandbox.commands.options import combine_options, read_json
from sandbox.commands.remote import RemoteWorld, remote
from sandbox.commands.screen import limit_rows
from sandbox.server.call_line import call_line

EVERY = 0.5  # with --follow: seconds between two questions for new calls
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
    """Lists the calls of TPPs. A line has method, path, status, error code, reason and Request-ID."""
    calls = far.control("GET /requests") if not since else far.call("GET", f"/requests?since={since}")
    rows, left_out = limit_rows([row for row in calls["requests"] if fits(row, filters)], limit)
    if far.as_json and not follow:
        far.tell({"requests": rows}, str)
        return
    if left_out:
        click.echo(left_out, err=True)
    while True:
        for row in rows:
            show(far, row)
        if not follow:
            return
        since = max([since, *(row["seq"] for row in calls["requests"])])
        try:
            sleep(EVERY)
        except KeyboardInterrupt:  # the way in which a person ends --follow
            return
        calls = far.call("GET", f"/requests?since={since}")
        rows = [row for row in calls["requests"] if fits(row, filters)]


def show(far: RemoteWorld, row: Mapping[str, Any]) -> None:
    click.echo(json.dumps(row, ensure_ascii=False) if far.as_json else call_line(row, sys.stdout))


def fits(row: Mapping[str, Any], filters: Mapping[str, str | None]) -> bool:
    """Whether a call matches all filters. A filter that is None matches every call. `status` gives the first digits of
    the status. `text` is looked for in the path, the error, its code and the rule."""
    operation, status, client, text = (filters[name] for name in ("operation", "status", "client", "text"))
    looked_at = " ".join(str(row[name] or "") for name in ("path", "error", "error_code", "rule"))
    return (
        (operation is None or row["operation"] == operation)
        and (status is None or str(row["status"]).startswith(status))
        and (client is None or row["client_id"] == client)
        and (text is None or text.casefold() in looked_at.casefold())
    )


def _read_headers(context: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, str] | None:
    pairs = [value.partition("=") for value in values]
    for name, sign, _ in pairs:
        if not sign:
            raise click.BadParameter(f"{name} is not written like Accept-Language=fr", param=param)
    return {name: text for name, _, text in pairs} or None


# The options that describe which calls to count. The command gets them as one mapping.
matcher = combine_options(
    click.option("--body", callback=read_json, help='Parts of the body as JSON, such as {"creditor_name": "Jan*"}.'),
    click.option(
        "--header",
        "headers",
        multiple=True,
        callback=_read_headers,
        metavar="NAME=VALUE",
        help="A header; may be repeated.",
    ),
    click.option("--client", help="The Client-ID."),
    click.option("--status", help="A number, or a pattern such as 4*."),
    click.option("--path", help="Without world and query; * stands for any text."),
    click.option("--method", help="Such as POST."),
    click.option("--operation", help="Such as payment_initiation; * stands for any text."),
)


def _read_body(options: dict[str, Any]) -> dict[str, Any]:
    status = options.get("status")
    if status is not None and status.isascii() and status.isdigit():
        return options | {"status": int(status)}
    return options


def drop_missing(**values: Any) -> dict[str, Any]:
    """Returns the values that are not None."""
    return {name: value for name, value in values.items() if value is not None}


@click.command()
@matcher
@remote
def count(far: RemoteWorld, **options: Any) -> None:
    """Counts the calls of the bank's interface that fit."""
    reply = far.control("POST /requests/count", _read_body(options))
    far.tell(reply, lambda: str(reply["count"]))


@click.command()
@matcher
@click.option("--exactly", type=click.IntRange(0), help="So often, no more and no less.")
@click.option("--at-least", type=click.IntRange(0), help="So often or more (default: 1).")
@click.option("--at-most", type=click.IntRange(0), help="So often or less.")
@click.option("--in-order", callback=read_json, help="A JSON list of matchers: one call after the other.")
@remote
def verify(
    far: RemoteWorld,
    exactly: int | None,
    at_least: int | None,
    at_most: int | None,
    in_order: Any,
    **options: Any,
) -> None:
    """Checks how often matching calls came, or their order.

    With --in-order, checks the order. If the calls differ, prints the calls that came and exits with 1."""
    times = drop_missing(exactly=exactly, at_least=at_least, at_most=at_most)
    reply = far.control("POST /requests/verify", _read_body(options) | {"times": times or None, "in_order": in_order})
    far.tell(reply, lambda: "verified")


@click.command()
@click.argument("at")
@click.option("--operation", help="Only a call of this operation.")
@click.option("--client", help="Only a call of this client.")
@click.option("--nth", type=click.IntRange(1), help="The number of the call among those that fit; default: the next.")
@click.option("--as", "name", help="The name of the barrier.")
@remote
def hold(
    far: RemoteWorld, at: str, operation: str | None, client: str | None, nth: int | None, name: str | None
) -> None:
    """Sets a barrier at AT, where a call is held. AT is before_act, after_act or before_reply. The next call
    that fits is held there."""
    when = drop_missing(operation=operation, client=client, nth=nth)
    barrier = far.control("POST /holds", {"at": at, "when": when or None, "as": name})
    far.tell(barrier, lambda: f"{barrier['name']}: {barrier['state']} at {barrier['at']}")


@click.command()
@click.argument("name", shell_complete=find_completer("hold"))
@remote
def release(far: RemoteWorld, name: str) -> None:
    """Releases the call that is held at the barrier NAME."""
    far.control("DELETE /holds/<name>", name=name)
    far.tell({"released": name}, lambda: f"{name} is released")
