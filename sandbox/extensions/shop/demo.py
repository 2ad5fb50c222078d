"""What only a demo has: a bar that moves the bank's clock. A real third party has no such file, and no such power."""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import NamedTuple

import httpx
from flask import Flask, Response, abort, request

from sandbox.client import Controls, Refused, Unreadable
from sandbox.extensions.shop.line import TIMEOUT, machine_now
from sandbox.extensions.shop.viewing import BANK_ZONE
from sandbox.extensions.shop.visitors import Visitor, go, visitor

SPANS = {"1m": "1 minute", "1d": "1 day", "91d": "91 days"}
LOST = (httpx.TransportError, Refused, Unreadable)


class Demo:
    """The sandbox beside the shop. The shop's own clock is the bank's, so that both grow old together."""

    def __init__(self, base_url: str, key: str | None = None, masters: frozenset[str] | None = None) -> None:
        self.masters = masters  # addresses of callers who may move the clock; None: everyone
        self.controls = Controls(base_url, httpx.Client(timeout=TIMEOUT, trust_env=False), key)
        self.console = f"{base_url.rstrip('/')}/_sandbox/"
        self._ahead = timedelta()

    def now(self) -> datetime:
        """The bank's time; while it does not answer, as far ahead as it was."""
        with suppress(*LOST):
            self._ahead = self.controls.clock.get().now - machine_now()
        return machine_now() + self._ahead

    def bar(self) -> tuple[str, str] | None:
        """The bank's time, and how fast it goes; None while the bank does not answer."""
        try:
            face = self.controls.clock.get()
        except LOST:
            return None
        pace = "it stands still" if face.mode == "frozen" else "" if face.rate == 1 else f"{face.rate:g} times as fast"
        return f"{face.now.astimezone(BANK_ZONE):%a %-d %b %Y, %H:%M}", pace

    def join(self, app: Flask) -> None:
        """Puts the bar above every page of the shop, and answers its buttons."""
        app.jinja_env.globals.update(ribbons=["demo.html"], demo=self, spans=SPANS, tour_of=tour_of)
        app.add_url_rule("/demo/clock", view_func=self.advance, methods=["POST"])

    @property
    def is_master(self) -> bool:
        """Whether this caller sees the bar's buttons: in a network, only this machine."""
        return self.masters is None or request.remote_addr in self.masters

    def advance(self) -> Response:
        """Lets time pass at the bank; all that falls due meanwhile happens there."""
        if not self.is_master:
            abort(403)
        span = request.form.get("span", "")
        if span not in SPANS:
            abort(404)
        try:
            self.controls.clock.advance(span)
            visitor().notice = f"{SPANS[span]} went by at the bank."
        except LOST:
            visitor().notice = "The bank’s clock could not be moved."
        back = request.form.get("back", "/")
        return go(back if back.startswith("/") and back.isprintable() and not back.startswith(("//", "/\\")) else "/")


class DemoStep(NamedTuple):
    """What to do, where, and how the demo sees that it was done."""

    title: str
    about: str
    link: str
    is_done: Callable[[Visitor], bool]


def _attempts(visitor: Visitor) -> list[str]:
    return [attempt.status for order in visitor.orders.values() for attempt in order.attempts]


STEPS: tuple[DemoStep, ...] = (
    DemoStep(
        "Choose some goods", "Put something in. The shop is a third party (TPP).", "/",
        lambda visitor: bool(visitor.basket or visitor.orders),
    ),
    DemoStep(
        "Pay by bank", "The shop initiates a payment, and the bank replies where you sign.", "/basket",
        lambda visitor: bool(_attempts(visitor)),
    ),
    DemoStep(
        "Sign as Alice", "Log in at the bank, pick an account, type the code.", "/orders",
        lambda visitor: any(status not in ("RCVD", "PATC") for status in _attempts(visitor)),
    ),
    DemoStep(
        "Let a minute pass", "Signed is not settled: money moves a minute later. Use the bar above.", "/orders",
        lambda visitor: "ACSC" in _attempts(visitor),
    ),
    DemoStep(
        "Connect your bank", "Consent at the bank; the shop reads balances and transactions.", "/accounts",
        lambda visitor: visitor.link is not None,
    ),
    DemoStep(
        "Let 91 days pass", "The bank wants to know who is there before it shows more.", "/accounts",
        lambda visitor: visitor.link is not None and visitor.link.renewal is not None,
    ),
    DemoStep(
        "Look behind", "The console shows every call of the shop, and why it was answered so.", "",
        lambda visitor: False,
    ),
)  # fmt: skip


def tour_of(visitor: Visitor) -> list[tuple[DemoStep, bool]]:
    return [(step, step.is_done(visitor)) for step in STEPS]
