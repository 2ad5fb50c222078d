"""The routes of the console, the web pages for testers (choice 10). The module of a view is imported at the view's
first call."""

from collections.abc import Iterable
from functools import partial
from typing import Any

from flask import Flask

from sandbox.extension_registry import with_rows
from sandbox.lazy import load
from sandbox.web.api.app import WorldPath
from sandbox.web.console.page_row import ConsolePage
from sandbox.web.console.visits import FILES, ConsoleState
from sandbox.web.html.pages import add_route
from sandbox.worlds.registry import WorldRegistry

KIND = "<any('payments','standing-orders','bulk-payments'):kind>"
CALLBACK = "/callback"  # belongs to the reference

PAGES = (
    ConsolePage("GET", "/", "sandbox.web.console.pages:overview"),
    ConsolePage("GET", f"/console/{KIND}", "sandbox.web.console.pages:initiations"),
    ConsolePage("GET", f"/console/{KIND}/<id>", "sandbox.web.console.pages:initiation"),
    ConsolePage("GET", "/console/search", "sandbox.web.console.pages:search"),
    ConsolePage("GET", "/console/accounts", "sandbox.web.console.pages:accounts"),
    ConsolePage("GET", "/console/accounts/<iban>", "sandbox.web.console.pages:account"),
    ConsolePage("GET", "/console/inbox", "sandbox.web.console.pages:inbox"),
    ConsolePage("GET", "/console/calls", "sandbox.web.console.pages:calls"),
    ConsolePage("GET", "/console/calls/<int(max=999999999999):seq>", "sandbox.web.console.pages:call"),
    ConsolePage("GET", "/console/coming", "sandbox.web.console.pages:coming"),
    ConsolePage("GET", "/console/timeline", "sandbox.web.console.timeline:timeline"),
    ConsolePage("GET", "/console/journal", "sandbox.web.console.pages:journal"),
    ConsolePage("GET", "/console/scenario", "sandbox.web.console.pages:scenario"),
    ConsolePage("GET", "/console/settings", "sandbox.web.console.pages:settings"),
    ConsolePage("GET", "/console/worlds", "sandbox.web.console.pages:worlds"),
    ConsolePage("GET", CALLBACK, "sandbox.web.console.callback_page:callback"),
    ConsolePage("GET", "/console/new", "sandbox.web.console.callback_page:new"),
    ConsolePage("GET", "/console/values", "sandbox.web.console.callback_page:values"),
    ConsolePage("POST", "/console/call/<step>", "sandbox.web.console.callback_page:call"),
    ConsolePage("POST", "/console/play/<name>", "sandbox.web.console.pages:play"),
    ConsolePage("GET", "/console/live", "sandbox.web.console.answering:live"),
    ConsolePage("GET", "/console/key", "sandbox.web.console.answering:return_with_key"),
    ConsolePage("POST", "/console/preview/<action>", "sandbox.web.console.answering:preview"),
    ConsolePage("POST", "/console/do/<action>", "sandbox.web.console.answering:act"),
    ConsolePage("GET", "/console/", "sandbox.web.console.answering:return_to_overview"),
    ConsolePage("GET", "/console/<path:rest>", "sandbox.web.console.answering:refuse_unknown_page"),
)


def route(app: Flask, worlds: WorldRegistry, key: str | None = None, bank: Flask | None = None) -> None:
    """Adds all routes of the console, and the redirects in BROWSER_REDIRECTS. If there is a key, the pages ask for the
    key first. `bank` is the application that answers the demo client's calls; by default it is `app`."""
    state = ConsoleState(worlds, key, bank or app)

    def add(method: str, path: str, name: str, function: str, *args: object) -> None:
        add_route(app, method, f"/_sandbox{path}", name, lambda **names: load(function)(*args, **names))

    for row in with_rows(PAGES, "pages", lambda row: row.name):
        room = "reference" if row.path == CALLBACK else "console"
        add(row.method, row.path, f"{room} {row.name}", "sandbox.web.console.answering:answer", state, row.view)
    add("POST", "/console/key", "console key", "sandbox.web.console.answering:take_key", state)
    for name in FILES:
        add("GET", f"/static/{name}", f"console file {name}", "sandbox.web.console.templating:see_file", name)
    assert isinstance(app.wsgi_app, WorldPath)
    app.wsgi_app.outside |= {path: partial(redirect_browser, *target) for path, target in BROWSER_REDIRECTS.items()}


BROWSER_REDIRECTS = {"/": ("text/html", "/_sandbox/"), "/favicon.ico": ("image/", "/_sandbox/static/console.svg")}


def redirect_browser(media: str, address: str, environ: dict[str, Any], start_response: Any) -> Iterable[bytes] | None:
    """Redirects a GET request to `address`, and returns the empty body of the redirect, if the request accepts `media`,
    such as `text/html`. Browsers send such requests. Returns None for any other request, which then gets the bank's
    404. The function is used for the paths in BROWSER_REDIRECTS. The bank's interface does not have these paths."""
    if environ["REQUEST_METHOD"] != "GET" or media not in environ.get("HTTP_ACCEPT", ""):
        return None
    start_response("302 FOUND", [("Location", address), ("Content-Length", "0"), ("Vary", "Accept")])
    return []
