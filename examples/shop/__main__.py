"""`python -m examples.shop`: the shop, with a bank beside it, until it is told to stop."""

import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import click
from waitress import create_server

import sandbox
from examples.shop.app import CALLBACK, create_app
from examples.shop.demo import LOST, Demo
from examples.shop.following import follow_until
from examples.shop.line import Line
from sandbox.serve.server import in_background

HOST = "127.0.0.1"  # the demo's clock is everyone's who reaches the shop, so that is nobody else
THREADS = 8

port_range = click.IntRange(0, 65535)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--port", default=9000, type=port_range, show_default=True, help="The shop's port; 0 for a free one.")
@click.option("--bank-port", default=8080, type=port_range, show_default=True, help="The bank's; 0 for a free one.")
@click.option("--bank", metavar="URL", help="A sandbox, or a world of one, that runs already; none is started then.")
@click.option("--key", envvar="SANDBOX_KEY", help="What that sandbox's controls ask for.")
@click.option(
    "--rate", type=click.FloatRange(0, 1_000_000, min_open=True), help="Seconds at the bank for one of yours."
)
@click.option("--client-id", default="demo-tpp", show_default=True, help="The shop's registration at the bank.")
@click.option("--secret", default="demo-secret", envvar="SHOP_SECRET", help="And its secret; better as SHOP_SECRET.")
def main(
    port: int, bank_port: int, bank: str | None, key: str | None, rate: float | None, client_id: str, secret: str
) -> None:
    """A shop that is paid by bank, with a viewer of accounts: a demo of what third parties do."""
    signal.signal(signal.SIGTERM, _stop)
    with listening(port, "--port") as door, bank_at(bank, bank_port) as bank_url:
        home = f"http://{HOST}:{door.getsockname()[1]}"
        demo = Demo(bank_url, key)
        if rate is not None:
            run_at(demo, rate)
        line = Line(bank_url, client_id, secret, f"{home}{CALLBACK}", demo.now)
        app = create_app(line)
        demo.join(app)
        server = create_server(app, sockets=[door], threads=THREADS, ident=None)
        ended = threading.Event()
        follower = threading.Thread(
            target=follow_until, args=[ended, line, app.extensions["visitors"]], name="follower", daemon=True
        )
        follower.start()
        click.echo(f"shop    {home}\nbank    {bank_url}\nconsole {demo.console}\nCtrl-C ends both.")
        sys.stdout.flush()
        try:
            server.run()  # until SIGINT or SIGTERM
        finally:
            ended.set()
            server.close()


@contextmanager
def listening(port: int, option: str) -> Iterator[socket.socket]:
    try:
        door = socket.create_server((HOST, port))
    except OSError as error:
        raise click.ClickException(
            f"cannot listen on {HOST}:{port}: {error.strerror or error}. Choose a port with {option}; 0 is a free one."
        ) from None
    with door:
        yield door


@contextmanager
def bank_at(url: str | None, port: int) -> Iterator[str]:
    """The bank that runs already, or one of our own, its clock at the machine's time and running."""
    if url is not None:
        yield url.rstrip("/")
        return
    with listening(port, "--bank-port"):
        pass  # only to say kindly that it is taken
    with in_background(sandbox.create_app(), HOST, port) as address:
        yield address


def run_at(demo: Demo, rate: float) -> None:
    try:
        demo.controls.clock.run(rate)
    except LOST as lost:
        raise click.ClickException(f"the bank's clock could not be set: {lost}") from None


def _stop(number: int, frame: object) -> None:
    """In order, also as the first process of a container."""
    raise SystemExit(0)


if __name__ == "__main__":
    main(prog_name="python -m examples.shop")
