"""Redirects a browser from the bare address to the console; every program reaches the bank (choice 1)."""

from collections.abc import Iterable
from functools import partial
from typing import Any

from sandbox.web.api.app import Outside

LED = {"/": ("text/html", "/_sandbox/"), "/favicon.ico": ("image/", "/_sandbox/static/console.svg")}


def led(media: str, address: str, environ: dict[str, Any], start_response: Any) -> Iterable[bytes] | None:
    """The bank itself has no such paths and answers 404 there."""
    if environ["REQUEST_METHOD"] != "GET" or media not in environ.get("HTTP_ACCEPT", ""):
        return None
    start_response("302 FOUND", [("Location", address), ("Content-Length", "0"), ("Vary", "Accept")])
    return []


FROM_BARE_ADDRESS: dict[str, Outside] = {path: partial(led, *to) for path, to in LED.items()}
