"""The console's routes: a web page for people (choice 10). The views are imported when one of them is first called."""

from collections.abc import Iterable
from functools import partial
from itertools import count
from typing import Any

from flask import Flask, Response

from sandbox.extension_registry import with_rows
from sandbox.lazy import load
from sandbox.web.api.app import Outside, WorldPath
from sandbox.web.console.page_row import ConsolePage
from sandbox.web.console.visits import FILES, ConsoleState, Latest
from sandbox.web.html.pages import add_route
from sandbox.worlds.registry import WorldRegistry

VERIFIERS_KEPT, NOTICES_KEPT = 500, 200
REFUSED_KEPT = 20  # forms of up to 1 MB each
KIND = "<any('payments','standing-orders','bulk-payments'):kind>"
CALLBACK = "/callback"  # belongs to the reference

PAGES = (
    ConsolePage("GET", "/", "sandbox.web.console.list_pages:overview"),
    ConsolePage("GET", f"/console/{KIND}", "sandbox.web.console.list_pages:initiations"),
    ConsolePage("GET", f"/console/{KIND}/<id>", "sandbox.web.console.list_pages:initiation"),
    ConsolePage("GET", "/console/accounts", "sandbox.web.console.list_pages:accounts"),
    ConsolePage("GET", "/console/accounts/<iban>", "sandbox.web.console.list_pages:account"),
    ConsolePage("GET", "/console/inbox", "sandbox.web.console.list_pages:inbox"),
    ConsolePage("GET", "/console/calls", "sandbox.web.console.list_pages:calls"),
    ConsolePage("GET", "/console/calls/<int(max=999999999999):seq>", "sandbox.web.console.list_pages:call"),
    ConsolePage("GET", "/console/coming", "sandbox.web.console.list_pages:coming"),
    ConsolePage("GET", "/console/timeline", "sandbox.web.console.timeline:timeline"),
    ConsolePage("GET", "/console/journal", "sandbox.web.console.list_pages:journal"),
    ConsolePage("GET", "/console/scenario", "sandbox.web.console.list_pages:scenario"),
    ConsolePage("GET", "/console/settings", "sandbox.web.console.settings_page:settings"),
    ConsolePage("GET", "/console/worlds", "sandbox.web.console.list_pages:worlds"),
    ConsolePage("GET", CALLBACK, "sandbox.web.console.callback_page:callback"),
    ConsolePage("GET", "/console/new", "sandbox.web.console.callback_page:new"),
    ConsolePage("GET", "/console/values", "sandbox.web.console.callback_page:values"),
    ConsolePage("POST", "/console/call/<step>", "sandbox.web.console.callback_page:call"),
    ConsolePage("POST", "/console/play/<name>", "sandbox.web.console.play_page:play"),
    ConsolePage("GET", "/console/live", "sandbox.web.console.answering:live"),
    ConsolePage("GET", "/console/key", "sandbox.web.console.answering:return_with_key"),
    ConsolePage("POST", "/console/do/<action>", "sandbox.web.console.answering:act"),
)


def route(app: Flask, worlds: WorldRegistry, key: str | None = None, bank: Flask | None = None) -> None:
    """Everything of the console; with a key, it asks for that first. `bank` answers the demo client's calls."""
    desk = ConsoleState(
        worlds, key, bank or app, count(1), Latest(NOTICES_KEPT), Latest(REFUSED_KEPT), Latest(VERIFIERS_KEPT)
    )

    def call(function: str, /, *given: object, **names: object) -> Response:
        response: Response = load(function)(*given, **names)
        return response

    for row in with_rows(PAGES, "pages", lambda row: row.name):
        room = "reference" if row.path == CALLBACK else "console"
        answer = partial(call, "sandbox.web.console.answering:answer", desk, row.view)
        add_route(app, row.method, f"/_sandbox{row.path}", f"{room} {row.name}", answer)
    take_key = partial(call, "sandbox.web.console.answering:take_key", desk)
    add_route(app, "POST", "/_sandbox/console/key", "console key", take_key)
    for name in FILES:
        see_file = partial(call, "sandbox.web.console.templating:see_file", name)
        add_route(app, "GET", f"/_sandbox/static/{name}", f"console file {name}", see_file)
    assert isinstance(app.wsgi_app, WorldPath)
    app.wsgi_app.outside |= FROM_BARE_ADDRESS


BROWSER_REDIRECTS = {"/": ("text/html", "/_sandbox/"), "/favicon.ico": ("image/", "/_sandbox/static/console.svg")}


def redirect_browser(media: str, address: str, environ: dict[str, Any], start_response: Any) -> Iterable[bytes] | None:
    """The bank itself has no such paths and answers 404 there."""
    if environ["REQUEST_METHOD"] != "GET" or media not in environ.get("HTTP_ACCEPT", ""):
        return None
    start_response("302 FOUND", [("Location", address), ("Content-Length", "0"), ("Vary", "Accept")])
    return []


FROM_BARE_ADDRESS: dict[str, Outside] = {path: partial(redirect_browser, *to) for path, to in BROWSER_REDIRECTS.items()}
