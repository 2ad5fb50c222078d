"""The parts of the demo that a real third party does not have: a bar on each page that moves the bank's clock, a guided
tour, a page that says what a presenter can say, and the start of the shop and of its bank."""

import secrets
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NamedTuple

import click
import httpx
from flask import Flask, Response, abort, g, render_template, request

from sandbox.app import assemble, make_first_beginning
from sandbox.client import Controls, Initiation, Manual, Refused, Signer, Unreadable
from sandbox.extensions.shop.accounts import BANK_ZONE
from sandbox.extensions.shop.app import CALLBACK, create_app
from sandbox.extensions.shop.bank_client import TIMEOUT, BankClient, read_machine_time
from sandbox.extensions.shop.goods import SHOP
from sandbox.extensions.shop.payments import follow_until
from sandbox.extensions.shop.shop_words import write_moment
from sandbox.extensions.shop.visitors import Visitor, choose_page_language, find_path_back, get_visitor, go, say
from sandbox.machine import machine_time, stopwatch
from sandbox.server.bounded_waitress import CONNECTIONS_MAX
from sandbox.server.server import make_server_on, raise_files, serve_in_background
from sandbox.storage.long_work import keep_pauses_short
from sandbox.web.api.addresses import Hosts
from sandbox.web.controls.lock import Lock
from sandbox.worlds.registry import WorldRegistry

HOST = "127.0.0.1"
ANYWHERE = "0.0.0.0"
CLIENT_ID = "marloquin"
THREADS = 8
SPANS = {"1m": "1 minute", "1d": "1 day", "91d": "91 days"}
CONSOLE = "console"  # in `Visitor.seen`
REFUND_REASON = "MD06"  # the customer asked for a refund
NO_REPLY = (httpx.TransportError, Refused, Unreadable)


# The bar


class Demo:
    """The connection of a demo to the controls of its sandbox. It gives the shop the bank's time, so that shop and bank
    agree when an address expires."""

    def __init__(self, base_url: str, key: str | None = None, masters: frozenset[str] | None = None) -> None:
        self.masters = masters  # addresses of callers who may move the clock; None: everyone
        self.controls = Controls(base_url, httpx.Client(timeout=TIMEOUT, trust_env=False), key)
        self.console = f"{base_url.rstrip('/')}/_sandbox/"
        self._ahead = timedelta()

    def read_now(self) -> datetime:
        """Returns the bank's time. If the bank does not answer, computes it from the machine's time and the last known
        difference between the two."""
        with suppress(*NO_REPLY):
            self._ahead = self.controls.clock.get().now - read_machine_time()
        return read_machine_time() + self._ahead

    def bar(self) -> tuple[str, str] | None:
        """Returns two texts: the bank's time, and its rate. The rate is an empty text at normal speed, and says so if
        the clock is frozen. Returns None if the bank does not answer."""
        try:
            clock = self.controls.clock.get()
        except NO_REPLY:
            return None
        rate = "" if clock.rate == 1 else say("{rate} times as fast", rate=f"{clock.rate:g}")
        rate = say("it stands still") if clock.mode == "frozen" else rate
        return write_moment(choose_page_language(), clock.now.astimezone(BANK_ZONE)), rate

    def join(self, app: Flask) -> None:
        """Adds the bar and the routes of its buttons to the shop. Also lets the shop send money back, and makes the
        bank's pages appear in the language that the visitor chose at the shop."""
        app.jinja_env.globals.update(ribbons=["demo.html"], demo=self, spans=SPANS, list_tour=list_tour)
        app.add_url_rule("/demo/clock", view_func=self.advance, methods=["POST"])
        app.add_url_rule("/demo/card", view_func=lambda: render_template("card.html"))
        app.add_url_rule("/demo/console", view_func=self.open_console)
        bank: BankClient = app.extensions["bank"]
        bank.send_back = self.send_back
        app.after_request(lambda response: add_language(response, f"{bank.base_url}/psu/"))

    def open_console(self) -> Response:
        get_visitor().seen.add(CONSOLE)
        return go(self.console)

    def send_back(self, initiation: Initiation) -> bool:
        """Sends the money of a payment back to the customer's account, as the shop's own bank does in a refund. Returns
        whether this succeeded."""
        try:
            self.controls.call("POST", f"/payments/{initiation.payment_id}/return", {"reason": REFUND_REASON})
        except NO_REPLY:
            return False
        return True

    @property
    def is_master(self) -> bool:
        """Whether this caller may use the buttons of the bar. If `masters` is set, only callers from these addresses
        may."""
        return self.masters is None or request.remote_addr in self.masters

    def advance(self) -> Response:
        if not self.is_master:
            abort(403)
        span = request.form.get("span", "")
        if span not in SPANS:
            abort(404)
        try:
            self.controls.clock.advance(span)
            get_visitor().notice = say("{span} went by at the bank.", span=say(SPANS[span]))
        except NO_REPLY:
            get_visitor().notice = say("The bank’s clock could not be moved.")
        return go(find_path_back(request.form.get("back", "/")))


def add_language(response: Response, pages: str) -> Response:
    """If the response redirects to the bank's pages, and the visitor has chosen a language at the shop, adds this
    language to the address. Returns any other response unchanged."""
    address = response.headers.get("Location", "")
    if address.startswith(pages) and "visitor" in g and g.visitor.language:
        response.headers["Location"] = f"{address}{'&' if '?' in address else '?'}lang={g.visitor.language}"
    return response


# The tour


class DemoStep(NamedTuple):
    """A step of the tour: its title, what to do, what a presenter can say meanwhile, the page to do it on, and when it
    is done."""

    title: str
    about: str
    says: str
    link: str
    is_done: Callable[[Visitor], bool]


def list_statuses(visitor: Visitor) -> list[str]:
    return [attempt.status for order in visitor.orders.values() for attempt in order.attempts]


def is_refunded(visitor: Visitor) -> bool:
    return any(attempt.refunded for order in visitor.orders.values() for attempt in order.attempts)


STEPS: tuple[DemoStep, ...] = (
    DemoStep(
        "Choose some goods",
        "Put something in the basket.",
        "This shop has no card terminal. It is a third party, and it asks the customer’s own bank for the money.",
        "/",
        lambda visitor: bool(visitor.basket or visitor.orders),
    ),
    DemoStep(
        "Pay by bank",
        "The shop initiates a payment, and the bank replies where you sign.",
        "One call to the bank made the payment. The shop never sees how the customer logs in.",
        "/basket",
        lambda visitor: bool(list_statuses(visitor)),
    ),
    DemoStep(
        "Sign as Alice",
        "Log in at the bank, pick an account, type the code.",
        "These are the bank’s own pages. Nothing is paid until the customer signs, and after an hour the bank cancels "
        "the payment.",
        "/orders",
        lambda visitor: any(status not in ("RCVD", "PATC") for status in list_statuses(visitor)),
    ),
    DemoStep(
        "Let a minute pass",
        "Signed is not settled: money moves a minute later. Use the bar above.",
        "A signature is not money. The shop asks for the status, and packs when the bank says ACSC. We own the bank’s "
        "clock, so nobody has to wait.",
        "/orders",
        lambda visitor: "ACSC" in list_statuses(visitor),
    ),
    DemoStep(
        "Send the parcel back",
        "Open the order and ask for a refund. The money comes back to the account.",
        "The shop’s own bank sends the money back. The payment stays settled; the refund is a line of its own in the "
        "account.",
        "/orders",
        is_refunded,
    ),
    DemoStep(
        "Connect your bank",
        "Consent at the bank; the shop reads balances and transactions.",
        "The customer picks the accounts, and may end the permission at any time. The shop can read, and move nothing.",
        "/accounts",
        lambda visitor: visitor.link is not None,
    ),
    DemoStep(
        "Let 91 days pass",
        "Use the bar above, then open an account: the bank wants to know who is there.",
        "By law the bank asks for its customer again after 90 days. Three months go by with one button.",
        "/accounts",
        lambda visitor: visitor.link is not None and (visitor.link.renewal is not None or visitor.link.renewed),
    ),
    DemoStep(
        "Prove that it is you",
        "Authenticate at your bank, and come back: the account shows what happened meanwhile.",
        "The consent stays. The customer proves who they are, and the shop reads on with the same permission.",
        "/accounts",
        lambda visitor: visitor.link is not None and visitor.link.renewed,
    ),
    DemoStep(
        "Open the console",
        "It shows every call of the shop, and why the bank answered so.",
        "This is what a developer sees: each call, the rule that decided, and what the referee thinks of the client.",
        "/demo/console",
        lambda visitor: CONSOLE in visitor.seen,
    ),
)


def list_tour(visitor: Visitor) -> list[tuple[DemoStep, bool]]:
    return [(step, step.is_done(visitor)) for step in STEPS]


# Starting


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """The options of the command `demo`."""

    port: int = 0
    bank_port: int = 0
    url: str | None = None
    key: str | None = None
    lan: bool = False
    rate: float | None = None
    client_id: str | None = None
    secret: str | None = None


def run(options: DemoOptions) -> None:
    """Runs the shop, and a bank if no running bank is named, until SIGINT or SIGTERM. With `lan` the controls need a
    key, because everyone in the network can reach them."""
    signal.signal(signal.SIGTERM, exit_in_order)
    raise_files(2 * CONNECTIONS_MAX)  # of the shop and of the bank
    key = options.key or (secrets.token_urlsafe(12) if options.lan else None)
    address = find_lan_address() if options.lan else HOST
    listens = ANYWHERE if options.lan else HOST
    with (
        listen_on(listens, options.port, "--port") as listener,
        find_or_start_bank(options, listens, address, key) as bank_url,
    ):
        home = f"http://{address}:{listener.getsockname()[1]}"
        demo = Demo(bank_url, key, frozenset({HOST, address}))
        if options.rate is not None:
            with explain_no_reply("the bank's clock could not be set: {}"):
                demo.controls.clock.run(options.rate)
        bank = make_bank_client(demo, options, bank_url, f"{home}{CALLBACK}")
        app = create_app(bank)
        demo.join(app)
        server = make_server_on(listener, app, THREADS)
        ended = threading.Event()
        work = [ended, bank, app.extensions["visitors"]]
        threading.Thread(target=follow_until, args=work, name="follower", daemon=True).start()
        keep_pauses_short(stopwatch)
        greet(home, bank_url, demo, key if options.lan else None)
        try:
            server.run()
        finally:
            ended.set()
            server.close()


def exit_in_order(number: int, frame: object) -> None:
    """Handles SIGTERM by raising SystemExit, so that both servers are closed. Without a handler, the first process of a
    container would ignore the signal."""
    raise SystemExit(0)


def make_bank_client(demo: Demo, options: DemoOptions, bank_url: str, callback: str) -> BankClient:
    """Returns the shop's client of the bank, made to fit the bank's settings. The client signs its calls if the
    settings demand signatures. Registers the shop at the bank unless the options name a registered client. Ends the
    command if they name one and the bank demands signatures, because the shop does not have that client's key."""
    with explain_no_reply("the bank's settings could not be read: {}"):
        settings = demo.controls.call("GET", "/settings").body["settings"]
    signer = Signer(demo.read_now) if settings["signatures"] == "strict" else None
    client_id, secret = options.client_id, options.secret
    if client_id is None or secret is None:
        client_id, secret = register(demo, callback, signer)
    elif signer is not None:
        raise click.ClickException(
            f"the bank demands signatures, and {client_id} has no key here. Leave --client-id out: the shop registers "
            "its own."
        )
    return BankClient(bank_url, client_id, secret, callback, demo.read_now, manual=Manual.of(settings), signer=signer)


def register(demo: Demo, callback: str, signer: Signer | None = None) -> tuple[str, str]:
    """Registers the shop at the bank under CLIENT_ID. If an earlier demo has registered it, replaces that registration.
    Returns the client id and a new secret."""
    secret = secrets.token_urlsafe(24)
    client = {"secret": secret, "name": SHOP, "roles": ["PIS", "AIS"], "redirect_uris": [callback], "active": True}
    client["keys"] = [] if signer is None else [signer.public]
    with explain_no_reply("the shop could not be registered at the bank: {}. Name its --key, or a --client-id."):
        try:
            demo.controls.call("POST", "/clients", {"client_id": CLIENT_ID, **client})
        except Refused as refused:
            if refused.status != 409:
                raise
            demo.controls.call("PUT", f"/clients/{CLIENT_ID}", client)
    return CLIENT_ID, secret


def greet(home: str, bank_url: str, demo: Demo, key: str | None) -> None:
    click.echo(f"shop    {home}\nbank    {bank_url}\nconsole {demo.console}\ncard    {home}/demo/card (what to say)")
    click.echo("English, French or Dutch: the switch of the shop, for the bank's pages too. Ctrl-C ends both.")
    if key is not None:
        click.echo(f"key     {key} (the console asks for it)\n\nSign on your phone:\n{draw_qr_code(home)}")
    sys.stdout.flush()


def draw_qr_code(address: str) -> str:
    """Returns a QR code as lines of block characters, for the camera of a phone."""
    from io import StringIO

    import segno

    drawing = StringIO()
    segno.make(address, micro=False).terminal(drawing, compact=True)
    return drawing.getvalue()


@contextmanager
def explain_no_reply(message: str) -> Iterator[None]:
    """Ends the command with this message if a call of a control within the block fails. The error takes the place of
    `{}` in the message."""
    try:
        yield
    except NO_REPLY as error:
        raise click.ClickException(message.format(error)) from None


def find_lan_address() -> str:
    """Returns this machine's address in its network, or HOST if it has none. Connects a UDP socket, which only looks up
    the route and sends nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, suppress(OSError):
        probe.connect(("192.0.2.1", 9))
        return str(probe.getsockname()[0])
    return HOST


@contextmanager
def listen_on(host: str, port: int, option: str) -> Iterator[socket.socket]:
    try:
        listener = socket.create_server((host, port))
    except OSError as error:
        raise click.ClickException(
            f"cannot listen on {host}:{port}: {error.strerror or error}. Choose a port with {option}; 0 is a free one."
        ) from None
    with listener:
        yield listener


@contextmanager
def find_or_start_bank(options: DemoOptions, listens: str, address: str, key: str | None) -> Iterator[str]:
    """Yields the address of the bank. If the options name a running bank, this is its address. Otherwise starts a bank
    whose clock shows the machine's time, and stops it after the block."""
    if options.url is not None:
        yield options.url.rstrip("/")
        return
    with listen_on(listens, options.bank_port, "--bank-port"):
        pass  # raises the error that names the option, if the port is taken
    beginning = make_first_beginning(life="on")
    beginning = replace(beginning, settings=replace(beginning.settings, screens_in_english="on"))
    worlds = WorldRegistry(beginning, machine_time, guarded=options.lan)
    bank = assemble(worlds, lock=Lock(key if options.lan else None, hosts=Hosts(bound="")))
    with serve_in_background(bank, listens, options.bank_port) as served:
        yield f"http://{address}:{served.rpartition(':')[2]}"
