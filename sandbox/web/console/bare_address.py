"""Redirects a browser from the bare address to the console; every program reaches the bank (choice 1)."""

from collections.abc import Callable, Iterable
from typing import Any

from sandbox.web.api.target import raw_path

LED = {"/": ("text/html", "/_sandbox/"), "/favicon.ico": ("image/", "/_sandbox/static/console.svg")}


class RootRedirect:
    """Wraps the app: the bank itself has no such paths and answers 404 there."""

    def __init__(self, inner: Callable[..., Iterable[bytes]]) -> None:
        self.inner = inner

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        led = LED.get(raw_path(environ))
        if led is None or environ["REQUEST_METHOD"] != "GET" or led[0] not in environ.get("HTTP_ACCEPT", ""):
            return self.inner(environ, start_response)
        start_response("302 FOUND", [("Location", led[1]), ("Content-Length", "0"), ("Vary", "Accept")])
        return []
