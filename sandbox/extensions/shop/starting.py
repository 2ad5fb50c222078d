"""Starts the shop, with a bank beside it, until it is told to stop."""

import secrets
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import click
from waitress import create_server

from sandbox.app import assemble, first_beginning
from sandbox.client import Manual, Refused, Signer
from sandbox.extensions.shop.app import CALLBACK, create_app
from sandbox.extensions.shop.demo import LOST, Demo
from sandbox.extensions.shop.goods import SHOP
from sandbox.extensions.shop.line import BankClient
from sandbox.extensions.shop.paying import follow_until
from sandbox.machine import machine_time
from sandbox.server.server import in_background
from sandbox.web.api.addresses import Hosts
from sandbox.web.controls.lock import Lock
from sandbox.worlds.registry import WorldRegistry

HOST = "127.0.0.1"
ANYWHERE = "0.0.0.0"
CLIENT_ID = "marloquin"
THREADS = 8


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """What the command was given."""

    port: int = 0
    bank_port: int = 0
    url: str | None = None
    key: str | None = None
    lan: bool = False
    rate: float | None = None
    client_id: str | None = None
    secret: str | None = None


def run(options: DemoOptions) -> None:
    """Until SIGINT or SIGTERM. With `lan` the controls have a key, as everyone in the network reaches them."""
    signal.signal(signal.SIGTERM, _stop)
    key = options.key or (secrets.token_urlsafe(12) if options.lan else None)
    address = lan_address() if options.lan else HOST
    listens = ANYWHERE if options.lan else HOST
    with listening(listens, options.port, "--port") as door, bank_at(options, listens, address, key) as bank_url:
        home = f"http://{address}:{door.getsockname()[1]}"
        demo = Demo(bank_url, key, frozenset({HOST, address}))
        if options.rate is not None:
            with asking("the bank's clock could not be set: {}"):
                demo.controls.clock.run(options.rate)
        line = line_of(demo, options, bank_url, f"{home}{CALLBACK}")
        app = create_app(line)
        demo.join(app)
        server = create_server(app, sockets=[door], threads=THREADS, ident=None)
        ended = threading.Event()
        follower = threading.Thread(
            target=follow_until, args=[ended, line, app.extensions["visitors"]], name="follower", daemon=True
        )
        follower.start()
        greet(home, bank_url, demo, key if options.lan else None)
        try:
            server.run()
        finally:
            ended.set()
            server.close()


def line_of(demo: Demo, options: DemoOptions, bank_url: str, callback: str) -> BankClient:
    """The shop's line to its bank, as the bank's manual has it; with signatures where the bank demands them."""
    with asking("the bank's settings could not be read: {}"):
        settings = demo.controls.call("GET", "/settings").body["settings"]
    signer = Signer(demo.now) if settings["signatures"] == "strict" else None
    client_id, secret = options.client_id, options.secret
    if client_id is None or secret is None:
        client_id, secret = register(demo, callback, signer)
    elif signer is not None:
        raise click.ClickException(
            f"the bank demands signatures, and {client_id} has no key here. Leave --client-id out: the shop registers "
            "its own."
        )
    return BankClient(bank_url, client_id, secret, callback, demo.now, manual=Manual.of(settings), signer=signer)


def greet(home: str, bank_url: str, demo: Demo, key: str | None) -> None:
    click.echo(f"shop    {home}\nbank    {bank_url}\nconsole {demo.console}\nCtrl-C ends both.")
    if key is not None:
        click.echo(f"key     {key} (the console asks for it)\n\nSign on your phone:\n{qr_code(home)}")
    sys.stdout.flush()


def qr_code(address: str) -> str:
    """As blocks of text, for the camera of a phone."""
    from io import StringIO

    import segno

    drawn = StringIO()
    segno.make(address, micro=False).terminal(drawn, compact=True)
    return drawn.getvalue()


def register(demo: Demo, callback: str, signer: Signer | None = None) -> tuple[str, str]:
    """The shop as a TPP of its own name; one that an earlier demo left is changed."""
    secret = secrets.token_urlsafe(24)
    client = {"secret": secret, "name": SHOP, "roles": ["PIS", "AIS"], "redirect_uris": [callback], "active": True}
    client["keys"] = [] if signer is None else [signer.public]
    with asking("the shop could not be registered at the bank: {}. Name its --key, or a --client-id."):
        try:
            demo.controls.call("POST", "/clients", {"client_id": CLIENT_ID, **client})
        except Refused as no:
            if no.status != 409:
                raise
            demo.controls.call("PUT", f"/clients/{CLIENT_ID}", client)
    return CLIENT_ID, secret


@contextmanager
def asking(trouble: str) -> Iterator[None]:
    """Calls of the bank's controls, without which the shop cannot start."""
    try:
        yield
    except LOST as lost:
        raise click.ClickException(trouble.format(lost)) from None


def lan_address() -> str:
    """This machine's address in its network. Nothing is sent: a UDP socket only looks up the route."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line, suppress(OSError):
        line.connect(("192.0.2.1", 9))
        return str(line.getsockname()[0])
    return HOST


@contextmanager
def listening(host: str, port: int, option: str) -> Iterator[socket.socket]:
    try:
        door = socket.create_server((host, port))
    except OSError as error:
        raise click.ClickException(
            f"cannot listen on {host}:{port}: {error.strerror or error}. Choose a port with {option}; 0 is a free one."
        ) from None
    with door:
        yield door


@contextmanager
def bank_at(options: DemoOptions, listens: str, address: str, key: str | None) -> Iterator[str]:
    """The bank that runs already, or one of our own, its clock at the machine's time and running."""
    if options.url is not None:
        yield options.url.rstrip("/")
        return
    with listening(listens, options.bank_port, "--bank-port"):
        pass  # only to say kindly that it is taken
    worlds = WorldRegistry(first_beginning(life="on"), machine_time, guarded=options.lan)
    bank = assemble(worlds, lock=Lock(key if options.lan else None, hosts=Hosts(bound="")))
    with in_background(bank, listens, options.bank_port) as served:
        yield f"http://{address}:{served.rpartition(':')[2]}"


def _stop(number: int, frame: object) -> None:
    """In order, also as the first process of a container."""
    raise SystemExit(0)
