"""The command `bank-sandbox mcp`."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus

import click

from sandbox.commands.options import PORTS, explain_errors, option, url_option

HOST = "127.0.0.1"  # the server has no key of its own, so only this machine may call it
PORT = 8765
HEALTH_PATIENCE = 5.0  # seconds


@click.command()
@url_option("--url", help="The address of the sandbox. If none is named and none runs, one is started in memory.")
@option("--world", default="default", help="The world; `default` is the bare address.")
@option("--key", default=None, help="The key of its controls.")
@click.option("--http", "over_http", is_flag=True, help=f"Serve over HTTP, at http://{HOST}:PORT/mcp.")
@click.option("--port", type=PORTS, default=PORT, show_default=True, help="The port, with --http.")
@click.pass_context
def mcp(context: click.Context, url: str, world: str, key: str | None, over_http: bool, port: int) -> None:
    """Serves coding agents by MCP, on standard input and output.

    MCP is the Model Context Protocol. The tools are the controls, a payment, the well-known values and the
    documentation. Needs the extra `mcp`."""
    try:
        from sandbox.extensions.agents.server import listen, make_server, serve_http, serve_stdio
    except ModuleNotFoundError as error:
        raise click.ClickException(f"{error.name} is missing: pip install 'bank-sandbox[mcp]'") from None
    from sandbox.extensions.agents.bank_link import BankLink
    from sandbox.extensions.agents.toolbox import Toolbox

    is_named = context.get_parameter_source("url") is not click.core.ParameterSource.DEFAULT
    is_there = is_answering(url)
    if is_named and not is_there:
        raise click.ClickException(f"no sandbox answers at {url}; `bank-sandbox serve` starts one")
    with open_sandbox(url, is_there) as address, BankLink(address, world, key) as link:
        server = make_server(Toolbox(link), is_own=not is_there)
        about = "the sandbox at" if is_there else "a sandbox of its own, in memory, at"
        if not over_http:
            click.echo(f"MCP server of {about} {address}", err=True)
            serve_stdio(server)
            return
        with explain_errors(OSError, about=f"{HOST}:{port} cannot be used: "):
            listening = listen(HOST, port)
        with listening:
            server_url = f"http://{HOST}:{listening.getsockname()[1]}/mcp"
            click.echo(f"MCP server of {about} {address}, at {server_url}", err=True)
            serve_http(server, listening)


@contextmanager
def open_sandbox(url: str, is_there: bool) -> Iterator[str]:
    """Yields the address of the sandbox. If no sandbox is there, starts one on a free port and ends it after the
    block."""
    if is_there:
        yield url
        return
    from sandbox import running

    with running() as bank:
        yield bank.base_url


def is_answering(url: str) -> bool:
    """Whether a sandbox answers at the address, even if it says that it is not ready."""
    import httpx

    from sandbox.client.transport import context_for

    try:
        with httpx.Client(timeout=HEALTH_PATIENCE, trust_env=False, verify=context_for(url)) as http:
            reply = http.get(f"{url.rstrip('/')}/_sandbox/health")
            body = json.loads(reply.content)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError):
        return False
    return isinstance(body, dict) and reply.status_code != HTTPStatus.NOT_FOUND
