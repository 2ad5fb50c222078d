"""The routes of the reference, all offline. Its views are imported when one of them is first called."""

from functools import partial

from flask import Flask, Response

from sandbox.lazy import load
from sandbox.web.html.pages import add_route
from sandbox.worlds.registry import Worlds

# Path below /_sandbox, what is seen there.
PAGES = (
    ("/openapi.json", "sandbox.web.docs.views:openapi"),
    ("/controls.json", "sandbox.web.docs.views:controls"),
    ("/docs", "sandbox.web.docs.views:reference"),
    ("/docs/try", "sandbox.web.docs.views:trial"),
    ("/docs/<slug>", "sandbox.web.docs.views:handbook"),
    ("/docs/static/<name>", "sandbox.web.docs.views:static"),
)


def route(app: Flask, worlds: Worlds) -> None:
    """Beside the controls, in every world."""

    def page(view: str, **names: str) -> Response:
        response: Response = load(view)(worlds, **names)
        return response

    for path, view in PAGES:
        add_route(app, "GET", f"/_sandbox{path}", f"reference {path}", partial(page, view))
