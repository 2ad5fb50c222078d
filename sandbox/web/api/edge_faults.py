"""Faults where a customer's browser is: on the bank's own pages, and on the way back to the TPP (choice 13)."""

from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from flask import Response, request
from markupsafe import escape

from sandbox.web.api.fault_replies import HTML, pause, room_to_wait
from sandbox.worlds.world import World

ALTERED = "altered-by-a-fault-rule"


class WayBack(NamedTuple):
    """Where the customer is sent: nowhere where `address` is None; twice where `times` is 2."""

    address: str | None
    times: int = 1


def with_other_state(address: str) -> str:
    parts = urlsplit(address)
    pairs = [pair for pair in parse_qsl(parts.query, keep_blank_values=True) if pair[0] != "state"]
    return urlunsplit(parts._replace(query=urlencode([*pairs, ("state", ALTERED)])))


ARRIVALS: dict[str | None, Callable[[str], WayBack]] = {
    "twice": lambda address: WayBack(address, 2),
    "never": lambda address: WayBack(None),
    "lost": lambda address: WayBack(None),
    "altered_state": lambda address: WayBack(with_other_state(address)),
}


def way_back(world: World, address: str) -> WayBack:
    """The callback address after the fault or the axis that it meets, if any."""
    if not address:  # the bank leads nobody back after a no
        return WayBack(None)
    fault = world.fault_for("callback", None)
    if fault is not None and fault.delay:
        with room_to_wait(request.environ):
            pause(fault.delay)
    arrival = world.decisions.callback_arrival if fault is None else fault.callback
    return ARRIVALS.get(arrival, WayBack)(address)


def browser_sent(world: World, response: Response) -> Response:
    """A redirection to the TPP as the browser gets it."""
    address = response.headers["Location"]
    way = way_back(world, address)
    if way.address is None:
        return _page("The way back to the application was lost: a fault rule or an axis says so.", response)
    if way.times > 1:
        return _twice(address, response)
    response.headers["Location"] = way.address
    return response


def _twice(address: str, before: Response) -> Response:
    """The first visit in a frame, the second one by the browser itself a second later."""
    shown = escape(address)
    again = f'<meta http-equiv="refresh" content="1;url={shown}">'
    response = _page("You are sent back.", before, again, f'<iframe src="{shown}" hidden></iframe>')
    parts = urlsplit(address)
    response.headers["Content-Security-Policy"] = f"default-src 'none'; frame-src {parts.scheme}://{parts.netloc}"
    return response


def _page(text: str, before: Response, head: str = "", more: str = "") -> Response:
    content = (
        f"<!doctype html><html><head><title>Bank</title>{head}</head><body><p>{escape(text)}</p>{more}</body></html>"
    )
    response = Response(content, content_type=HTML)
    for cookie in before.headers.getlist("Set-Cookie"):
        response.headers.add("Set-Cookie", cookie)
    response.headers["Content-Security-Policy"] = "default-src 'none'"
    response.headers["Cache-Control"] = "no-store"
    return response
