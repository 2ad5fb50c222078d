"""The console's routes: a web page for people (choice 10). Its buttons call the controls' own functions."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import orjson
from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException

from sandbox.contract.errors import Error, Refusal
from sandbox.web.api.app import here
from sandbox.web.api.target import Outside, WorldPath
from sandbox.web.console import (
    initiation_page,
    list_pages,
    play_page,
    referee_pages,
    settings_page,
    timeline_page,
)
from sandbox.web.console.actions import ACTIONS, notice_of
from sandbox.web.console.callback_page import CallbackPages
from sandbox.web.console.control_calls import curl_of, done
from sandbox.web.console.formats import clock_text, machine
from sandbox.web.console.notices import Notice, Notices
from sandbox.web.console.templating import FILES, HEADERS, draw, mark_of, see_file
from sandbox.web.console.visits import SESSION_COOKIE, Visit, keep, session_of
from sandbox.web.controls.lock import KEY_COOKIE, is_right, print_of
from sandbox.web.html.pages import add_route, see_other
from sandbox.world.registry import Worlds

FORM_BYTES_MAX = 1_000_000
FOREIGN = "The form is not of this console. Go back and reload it."
View = Callable[[Visit], Response]

KIND = "<any('payments','standing-orders','bulk-payments'):kind>"

# Path below /_sandbox, what is seen there.
PAGES: tuple[tuple[str, View], ...] = (
    ("/", list_pages.overview),
    (f"/console/{KIND}", list_pages.initiations),
    (f"/console/{KIND}/<id>", initiation_page.initiation),
    ("/console/accounts", list_pages.accounts),
    ("/console/accounts/<iban>", list_pages.account),
    ("/console/inbox", list_pages.inbox),
    ("/console/calls", list_pages.calls),
    ("/console/calls/<int(max=999999999999):seq>", list_pages.call),
    ("/console/referee", referee_pages.referee),
    ("/console/coming", list_pages.events),
    ("/console/timeline", timeline_page.timeline),
    ("/console/journal", list_pages.journal),
    ("/console/scenario", list_pages.scenario),
    ("/console/settings", settings_page.settings),
    ("/console/worlds", list_pages.worlds),
)


def route(app: Flask, worlds: Worlds, key: str | None = None, bank: Flask | None = None) -> None:
    """Everything of the console; with a key, it asks for that first. `bank` answers the demo client's calls."""
    notices, tpp = Notices(), CallbackPages(bank or app)

    def add(method: str, path: str, view: View, room: str = "console") -> None:
        endpoint = endpoint_of(view, worlds, key, notices)
        add_route(app, method, f"/_sandbox{path}", f"{room} {method} {path}", endpoint)

    for path, view in PAGES:
        add("GET", path, view)
    add("GET", "/callback", tpp.callback, "reference")
    add("GET", "/console/new", tpp.new)
    add("GET", "/console/values", tpp.values)
    add("POST", "/console/call/<step>", tpp.call)
    add("POST", "/console/play/<name>", play_page.play)
    add("GET", "/console/live", live)
    add("GET", "/console/key", key_taken)
    add("POST", "/console/do/<action>", lambda visit: act(visit, notices))
    add_route(app, "POST", "/_sandbox/console/key", "console key", lambda: take_key(visit_of(worlds, key, {})))
    for name in FILES:
        see = partial(see_file, name, request)
        add_route(app, "GET", f"/_sandbox/static/{name}", f"console file {name}", see)

    assert isinstance(app.wsgi_app, WorldPath)
    app.wsgi_app.outside |= FROM_BARE_ADDRESS


def visit_of(worlds: Worlds, key: str | None, path: dict[str, object]) -> Visit:
    request.max_content_length = request.max_form_memory_size = FORM_BYTES_MAX
    named = {name: str(value) for name, value in path.items()}
    return Visit(worlds, here(worlds), request, named, session_of(request), key)


def endpoint_of(view: View, worlds: Worlds, key: str | None, notices: Notices) -> Callable[..., Response]:
    def endpoint(**path: object) -> Response:
        visit = visit_of(worlds, key, path)
        if not visit.is_admitted:
            return ask_key(visit)
        notice = notices.of(request.args.get("notice", ""), visit.session)
        request.environ["sandbox.notice"] = notice
        try:
            if request.method == "POST" and not visit.is_proven:
                response = draw(visit, "trouble", status=403, text=FOREIGN)
            else:
                response = view(visit)
        except Refusal as refusal:
            response = draw(visit, "trouble", status=refusal.error.value.status, text=refusal.text)
        except HTTPException as refused:
            response = draw(visit, "trouble", status=refused.code or 400, text=refused.name)
        keep(visit, response, SESSION_COOKIE, visit.session)
        return response

    return endpoint


def ask_key(visit: Visit, text: str = "") -> Response:
    response = draw(visit, "key", status=401, text=text)
    keep(visit, response, SESSION_COOKIE, visit.session)
    return response


def take_key(visit: Visit) -> Response:
    """Right: the browser keeps a print of it, not the key."""
    shown = visit.request.form.get("key", "")
    if visit.key is not None and visit.is_proven and shown and is_right(visit.request, shown, visit.key):
        response = see_other(inside(visit.root, visit.request.form.get("back", "/")), HEADERS)
        keep(visit, response, KEY_COOKIE, print_of(visit.key))
        return response
    return ask_key(visit, "That is not the key.")


def key_taken(visit: Visit) -> Response:
    """Where the key form leads back to, once the key is taken."""
    return see_other(inside(visit.root, visit.request.args.get("back", "/")), HEADERS)


def act(visit: Visit, notices: Notices) -> Response:
    """Presses a button: calls the control, and says what came of it on the page that follows."""
    form, action = visit.request.form, ACTIONS.get(visit.path["action"])
    if action is None:
        raise Refusal(Error.NOT_FOUND, input="action")
    ask = action.ask(form)
    line = curl_of(visit, ask)
    try:
        outcome = done(visit, ask)
    except Refusal as refusal:
        if action.button.action == "settings":
            return settings_page.refused_page(visit, ask, refusal)
        notice = Notice(visit.session, refusal.text, line, refused=True)
    else:
        callback = outcome.get("redirect") if isinstance(outcome, dict) else None
        sent = f" The TPP is called back at {callback.partition('?')[0]}." if callback else ""
        notice = Notice(visit.session, notice_of(action, form) + sent, line)
    number = notices.add(notice)
    return see_other(follow(visit, form.get("back", "/"), number), HEADERS)


def follow(visit: Visit, back: str, number: int) -> str:
    """A page of this console and of no other place; a world that was dropped leads to the default one."""
    root = (
        visit.root
        if visit.worlds.get_or_default(visit.world.name).name == visit.world.name
        else f"{visit.prefix}/_sandbox"
    )
    path = inside(root, back)
    return f"{path}{'&' if '?' in path else '?'}notice={number}"


def inside(root: str, back: str) -> str:
    """A path below the console; anything else is its first page."""
    path = back if back.startswith("/") and back.isprintable() and len(back) < 2_000 else "/"
    return root + path


def live(visit: Visit) -> Response:
    """What an open page asks for each second: the time, and a mark that changes when the page should be read again."""
    world = visit.world
    now, mark, moves = world.ask(lambda bank: (bank.clock.now, mark_of(bank, world), len(bank.journal)))
    found = {
        "mark": mark,
        "now": clock_text(now),
        "machine": machine(now),
        "calls": world.exchanges_made,
        "moves": moves,
    }
    return Response(orjson.dumps(found), headers=HEADERS, content_type="application/json")


LED = {"/": ("text/html", "/_sandbox/"), "/favicon.ico": ("image/", "/_sandbox/static/console.svg")}


def led(media: str, address: str, environ: dict[str, Any], start_response: Any) -> Iterable[bytes] | None:
    """The bank itself has no such paths and answers 404 there."""
    if environ["REQUEST_METHOD"] != "GET" or media not in environ.get("HTTP_ACCEPT", ""):
        return None
    start_response("302 FOUND", [("Location", address), ("Content-Length", "0"), ("Vary", "Accept")])
    return []


FROM_BARE_ADDRESS: dict[str, Outside] = {path: partial(led, *to) for path, to in LED.items()}
