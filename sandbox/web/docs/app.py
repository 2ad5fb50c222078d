"""The routes of the documentation and of the OpenAPI documents. Their pages load nothing from other servers. The module
of a view is imported at the view's first call."""

from functools import partial

from flask import Flask, Response

from sandbox.lazy import load
from sandbox.web.html.pages import add_route
from sandbox.worlds.registry import WorldRegistry

# Path below /_sandbox, and its view. reference_tables.py has the words about each.
PAGES = (
    ("/openapi.json", "sandbox.web.docs.views:openapi"),
    ("/controls.json", "sandbox.web.docs.views:controls"),
    ("/docs", "sandbox.web.docs.views:page"),
    ("/docs/", "sandbox.web.docs.views:elsewhere"),
    ("/docs/reference", "sandbox.web.docs.views:reference"),
    ("/docs/try", "sandbox.web.docs.views:trial"),
    ("/docs/<slug>", "sandbox.web.docs.views:page"),
    ("/docs/<path:rest>", "sandbox.web.docs.views:elsewhere"),
    ("/docs/static/<name>", "sandbox.web.docs.views:static"),
)


def route(app: Flask, worlds: WorldRegistry) -> None:
    """Adds the routes of the documentation and of the OpenAPI documents, below `/_sandbox` of every world."""

    def page(view: str, **names: str) -> Response:
        response: Response = load(view)(worlds, **names)
        return response

    for path, view in PAGES:
        add_route(app, "GET", f"/_sandbox{path}", f"reference {path}", partial(page, view))
