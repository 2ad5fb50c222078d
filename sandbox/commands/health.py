"""The command `bank-sandbox health`, for health checks of images and builds (choice 10)."""

import json
import sys
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from sandbox.commands.options import json_option, option
from sandbox.server_address import HOST, PORT, make_openable, write_address

if TYPE_CHECKING:
    from http.client import HTTPConnection

PATH = "/_sandbox/health"
ANSWER_SECONDS_MAX = 3
PAUSE = 0.1  # seconds between two tries
KEY_REFUSED = 401  # the status of Error.KEY_REFUSED, which is not imported, so that this command starts fast


@click.command()
@option("--url", default=None, help="The sandbox; default: the one that `serve` starts with the options below.")
@option("--host", default=HOST, help="The option of `serve`.")
@option("--port", default=PORT, type=click.IntRange(1, 65535))
@option("--tls", is_flag=True)
@option("--controls", default="on", type=click.Choice(["on", "off"]))
@option("--controls-port", type=click.IntRange(1, 65535))
@option("--controls-host", default=HOST)
@option("--key", help="The key of its controls.")
@click.option("--live", is_flag=True, help="Ask only whether it answers, not whether its state can be written.")
@click.option("--wait", default=0, type=click.IntRange(0, 3600), show_default=True, help="Retry for this many seconds.")
@json_option
def health(url: str | None, key: str | None, live: bool, wait: int, as_json: bool, **served: Any) -> None:
    """Checks whether the sandbox is up: exits with 0, or with 1.

    It reads the options of `serve` from the environment too, so that beside a server it needs none.
    """
    checked_url = url.rstrip("/") if url else find_address(served)
    for pauses_left in range(round(wait / PAUSE), -1, -1):
        fault = find_fault(f"{checked_url}{PATH}{'?live' if live else ''}", key, served["controls"] == "on")
        if fault is None or pauses_left == 0:
            break
        time.sleep(PAUSE)
    if as_json:
        click.echo(json.dumps({"url": checked_url, "up": fault is None, "fault": fault}, indent=2))
        sys.exit(0 if fault is None else 1)
    if fault is not None:
        raise click.ClickException(f"{checked_url} is not up: {fault}")
    click.echo(f"{checked_url} is up")


def find_address(served: dict[str, Any]) -> str:
    """Returns the address of the controls if they have a port of their own, else the address of the bank."""
    if served["controls"] == "on" and served["controls_port"] is not None:
        return make_openable(write_address("http", served["controls_host"], served["controls_port"]))
    return make_openable(write_address("https" if served["tls"] else "http", served["host"], served["port"]))


def find_fault(url: str, key: str | None, controls: bool) -> str | None:
    """Returns what is wrong with the server at this URL, or None if it is healthy. If `controls` is false, because the
    server's controls are off, any reply counts as healthy."""
    from http.client import HTTPException

    try:
        parts = urlsplit(url)
        with closing(make_connection(parts.scheme, parts.hostname or "", parts.port)) as connection:
            target = f"{parts.path}?{parts.query}" if parts.query else parts.path
            connection.request("GET", target, headers={"X-Sandbox-Key": key} if key else {})
            reply = connection.getresponse()
            reply.read()
    except (OSError, ValueError, HTTPException) as error:
        return str(error) or type(error).__name__
    if not controls or reply.status == 200:
        return None
    hint = ": the key is missing or wrong, give it with --key or SANDBOX_KEY" if reply.status == KEY_REFUSED else ""
    return f"it answers {reply.status}{hint}"


def make_connection(scheme: str, host: str, port: int | None) -> "HTTPConnection":
    import ssl
    from http.client import HTTPConnection, HTTPSConnection

    if scheme != "https":
        return HTTPConnection(host, port, timeout=ANSWER_SECONDS_MAX)
    context = ssl.create_default_context()
    context.check_hostname = False  # a health check only asks whether the server answers
    context.verify_mode = ssl.CERT_NONE
    return HTTPSConnection(host, port, timeout=ANSWER_SECONDS_MAX, context=context)
