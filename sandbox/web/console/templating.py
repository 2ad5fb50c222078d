"""Renders the console's pages from templates, with headers that protect the pages against other sites."""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from inspect import isfunction
from typing import Any

import orjson
from flask import Response, request
from jinja2 import Environment, FunctionLoader
from markupsafe import Markup

from sandbox.bank.records import METHODS
from sandbox.bank.state import Bank
from sandbox.banking.durations import write_instant
from sandbox.contract.languages import SCREENS
from sandbox.contract.moves import STATUS_STYLES, Status
from sandbox.contract.operations import BY_NAME
from sandbox.extension_registry import find_addresses, with_rows
from sandbox.lazy import load
from sandbox.web.console import formats
from sandbox.web.console.actions import ACTIONS
from sandbox.web.console.calls import LANGUAGES, ApiCall, ControlRequest, make_api_call
from sandbox.web.console.initiations import KINDS
from sandbox.web.console.page_row import MenuEntry
from sandbox.web.console.visits import FILES, ConsoleVisit
from sandbox.web.controls.rows import CONTROLS
from sandbox.web.html.filled import fill_form
from sandbox.web.html.pages import (
    IMMUTABLE,
    NO_CACHE,
    SAME_ORIGIN,
    compute_digest,
    compute_source,
    make_environment,
    make_page_headers,
    make_page_response,
    read_content,
    read_inline_style,
    serve,
    write_policy,
)
from sandbox.worlds import faults
from sandbox.worlds.holds import PLACES
from sandbox.worlds.world import World

ROOM = "sandbox.web.console"
STYLE = read_inline_style(ROOM, "console.css")
SVG = read_content(ROOM, "console.svg").decode().strip()
BRAND = Markup(SVG.replace("<svg ", '<svg width="24" height="24" aria-hidden="true" ', 1))


def see_file(name: str) -> Response:
    """Returns a static file. A browser may cache it forever if the address has the file's checksum (`?v=`)."""
    is_versioned = request.args.get("v") == compute_digest(ROOM, name)
    return serve(read_content(ROOM, name), name, request, IMMUTABLE if is_versioned else NO_CACHE)


# With `no-referrer` browsers would send `null` as the Origin of a form.
HEADERS = make_page_headers(
    write_policy("'self'", style=compute_source(STYLE), script="'self'", img="'self'", connect="'self'"),
    SAME_ORIGIN,
)

MENU_OF_CORE = (
    MenuEntry("/", "Overview"),
    MenuEntry("/console/new", "New", section="Try"),
    MenuEntry("/console/values", "Well-known values"),
    *(
        MenuEntry(f"/console/{kind}", f"{called}s", section="" if at else "Bank")
        for at, (kind, called) in enumerate(KINDS.items())
    ),
    MenuEntry("/console/accounts", "Accounts"),
    MenuEntry("/console/inbox", "PSU inbox"),
    MenuEntry("/console/calls", "Calls", section="Look"),
    MenuEntry("/console/coming", "Coming events"),
    MenuEntry("/console/timeline", "Timeline"),
    MenuEntry("/console/journal", "Journal"),
    MenuEntry("/console/scenario", "Scenario & faults", section="Set up"),
    MenuEntry("/console/settings", "Settings"),
    MenuEntry("/console/worlds", "Worlds"),
)
MENU = with_rows(MENU_OF_CORE, "menu", lambda row: row.path)

READS = {row.path: row for row in CONTROLS if row.method == "GET"}  # of which pages show the curl line


def read_extension_template(name: str) -> str | None:
    """Returns the source of an extension's template, which is named `package/file.html`. Returns None for a name
    without a package."""
    package, _, file = name.partition("/")
    return (files(package) / "templates" / file).read_text(encoding="utf-8") if file else None


@cache
def load_templates() -> Environment:
    environment = make_environment(ROOM, FunctionLoader(read_extension_template))
    environment.filters |= {name: value for name, value in vars(formats).items() if isfunction(value)}
    environment.filters |= {"money": formats.amount, "machine": write_instant}
    words = ("CALLBACKS", "CHANGES", "CONNECTIONS", "CUTS", "EDGES")
    environment.globals |= {name: getattr(faults, name) for name in words}
    environment.globals |= {"STYLES": STATUS_STYLES, "METHODS": METHODS, "PLACES": PLACES, "KINDS": KINDS}
    environment.globals |= {"STATUSES": tuple(Status), "LANGUAGES": tuple(SCREENS), "OPERATIONS": tuple(BY_NAME)}
    environment.globals |= {"CODE_LANGUAGES": LANGUAGES, "menu": MENU, "style": STYLE, "brand": BRAND}
    environment.globals["checksums"] = {name: compute_digest(ROOM, name) for name in FILES}
    return environment


def draw_page(visit: ConsoleVisit, view: str, facts: dict[str, Any]) -> Response:
    module, _, name = view.partition(":")
    package, path = module.rpartition(".")[0], visit.below
    here = next((row.path for row in MENU if path == row.path or path.startswith(f"{row.path}/")), "")
    panels = [load(panel)(visit, facts) for panel in find_addresses("panels", name)] if package == ROOM else []
    return draw(visit, name if package == ROOM else f"{package}/{name}", here=here, panels=panels, **facts)


def draw(
    visit: ConsoleVisit,
    template: str,
    *,
    status: int = 200,
    here: str = "",
    panels: Sequence[Markup] = (),
    **context: Any,
) -> Response:
    codes: dict[str, ApiCall] = {}
    if visit.notice is not None:
        codes["notice"] = visit.notice.call

    def add_code(key: str, title: str, call: ControlRequest) -> str:
        """Adds a call to the code samples of the page, unless a sample with this key exists. Returns an empty text,
        because the template shows nothing in this place."""
        if key not in codes:
            codes[key] = make_api_call(visit, title, call)
        return ""

    text = (
        load_templates()
        .get_template(f"{template}.html")
        .render(
            context,
            visit=visit,
            to=visit.to,
            root=visit.root,
            proof=visit.proof,
            numbers={row.path: load(row.number)(visit.world) for row in MENU if row.number},
            here=here,
            panels=panels,
            back=find_way_back(visit),
            now=visit.world.ask(lambda bank: bank.clock.now),
            notice=visit.notice,
            mark=visit.world.ask(compute_mark, visit.world),
            generated=[action for action in ACTIONS.values() if here and action.button.page == here],
            codes=codes,
            kept_form=visit.refused.typed if visit.refused else {},
            json_of=lambda action, form: orjson.dumps(
                ACTIONS[action].ask(form).body, option=orjson.OPT_INDENT_2
            ).decode(),
            sample=lambda title, action, /, **form: add_code(action, title, ACTIONS[action].ask(form)),
            sample_call=lambda call: "" if codes.setdefault(call.title, call) else "",
            sample_get=lambda title, path, /, **names: add_code(path, title, ControlRequest(READS[path], names)),
        )
    )
    if visit.refused is not None:
        text = fill_form(text, *visit.refused[1:])
    return make_page_response(text, HEADERS, status=status)


def find_way_back(visit: ConsoleVisit) -> str:
    """Returns the path and query of this page, to which the page's forms return. For the reply to a POST, returns the
    path of the first page, because the address of a POST cannot be opened."""
    if visit.request.method != "GET":
        return "/"
    query = {name: value for name, value in visit.request.args.items() if name != "notice"}
    return visit.to(visit.below, **query).removeprefix(visit.root)


def compute_mark(bank: Bank, world: World) -> str:
    """Returns a text that changes with everything that a page may show, except the time itself. An open page is loaded
    again if this text has changed."""
    pace = world.clock.pace
    parts = (
        world.calls.made,
        len(bank.journal),
        bank.agenda.made,
        len(bank.consent_addresses),
        len(bank.sca_addresses),
        len(bank.answered),
        len(bank.sessions),
        len(bank.consents),
        len(bank.pairs),
        sum(map(len, bank.ledger.list_added_lines().values())),
        len(world.faults.rules),
        sum(world.faults.met.values()),
        *(load(row.mark)(world) for row in MENU if row.mark),
        hash(bank.settings) & 0xFFFF,
        pace.rate,
        pace.base.timestamp(),
        world.opening.timestamp(),
        world.beginning.scenario,
    )
    return ".".join(map(str, parts))
