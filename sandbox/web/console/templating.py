"""Pages out of templates, with the headers that keep them to themselves."""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from flask import Response, request
from jinja2 import ChoiceLoader, Environment, FunctionLoader, PackageLoader
from markupsafe import Markup

from sandbox.bank.records import METHODS
from sandbox.bank.state import Bank
from sandbox.banking.durations import write_instant
from sandbox.contract.languages import SCREENS
from sandbox.contract.moves import STATUS_STYLES, Status
from sandbox.contract.operations import BY_NAME
from sandbox.extension_registry import named, with_rows
from sandbox.lazy import load
from sandbox.web.console import formats
from sandbox.web.console.actions import ACTIONS
from sandbox.web.console.calls import ControlRequest, curl_of
from sandbox.web.console.inbox import Waiting
from sandbox.web.console.initiations import KINDS
from sandbox.web.console.next_steps import address_of
from sandbox.web.console.page_row import MenuEntry
from sandbox.web.console.visits import FILES, ConsoleVisit
from sandbox.web.controls.rows import CONTROLS
from sandbox.web.html.filled import fill_form
from sandbox.web.html.pages import (
    IMMUTABLE,
    NO_CACHE,
    SAME_ORIGIN,
    content_of,
    digest_of,
    environment_of,
    page,
    page_headers,
    policy_of,
    serve,
    source_of,
)
from sandbox.worlds import faults
from sandbox.worlds.holds import PLACES
from sandbox.worlds.world import World

ROOM = "sandbox.web.console"
# In the page itself: the first paint waits for no second request.
STYLE = Markup(content_of(ROOM, "console.css").decode())
assert "</" not in STYLE
# The picture beside the name; it says nothing that the name does not.
DRAWN = content_of(ROOM, "console.svg").decode().strip()
BRAND = Markup(DRAWN.replace("<svg ", '<svg width="24" height="24" aria-hidden="true" ', 1))


def see_file(name: str) -> Response:
    """A file asked for under its own print may be kept for good."""
    named = request.args.get("v") == digest_of(ROOM, name)
    return serve(content_of(ROOM, name), name, request, IMMUTABLE if named else NO_CACHE)


# A form's Origin is told to its own host only: with `no-referrer` browsers would send `null`.
HEADERS = page_headers(
    policy_of("'self'", style=source_of(STYLE), script="'self'", img="'self'", connect="'self'"),
    SAME_ORIGIN,
)

MENU_OF_CORE = (
    MenuEntry("/", "Overview"),
    MenuEntry("/console/new", "New"),
    MenuEntry("/console/values", "Well-known values"),
    *(MenuEntry(f"/console/{kind}", f"{called}s") for kind, called in KINDS.items()),
    MenuEntry("/console/accounts", "Accounts"),
    MenuEntry("/console/inbox", "PSU inbox"),
    MenuEntry("/console/calls", "Calls"),
    MenuEntry("/console/coming", "Coming events"),
    MenuEntry("/console/timeline", "Timeline"),
    MenuEntry("/console/journal", "Journal"),
    MenuEntry("/console/scenario", "Scenario & faults"),
    MenuEntry("/console/settings", "Settings"),
    MenuEntry("/console/worlds", "Worlds"),
)
MENU = with_rows(MENU_OF_CORE, "menu", lambda row: row.path)

READS = {row.path: row for row in CONTROLS if row.method == "GET"}  # of which pages show the curl line


def template_of_extension(name: str) -> str | None:
    """A template that is named by its package and its file: `package/file.html`."""
    package, _, file = name.partition("/")
    return (files(package) / "templates" / file).read_text(encoding="utf-8") if file else None


@cache
def templates() -> Environment:
    made = environment_of(ROOM)
    made.loader = ChoiceLoader([PackageLoader(ROOM), FunctionLoader(template_of_extension)])
    names = ("moment", "local", "took", "wall", "clock_text", "span", "account", "short")
    made.filters |= {name: getattr(formats, name) for name in names} | {
        "money": formats.amount,
        "machine": write_instant,
    }
    made.globals |= {name: getattr(faults, name) for name in ("CALLBACKS", "CHANGES", "CONNECTIONS", "CUTS", "EDGES")}
    made.globals |= {"LOOKS": STATUS_STYLES, "METHODS": METHODS, "PLACES": PLACES, "KINDS": KINDS}
    made.globals["prints"] = {name: digest_of(ROOM, name) for name in FILES}
    made.globals |= {"menu": MENU, "style": STYLE, "brand": BRAND}
    made.globals |= {"STATUSES": tuple(Status), "LANGUAGES": tuple(SCREENS), "OPERATIONS": tuple(BY_NAME)}
    return made


def draw_page(visit: ConsoleVisit, view: str, facts: dict[str, Any]) -> Response:
    """The page of a view, by the facts that it found; the menu shows where it is."""
    module, _, name = view.partition(":")
    package, path = module.rpartition(".")[0], visit.below
    here = next((row.path for row in MENU if path == row.path or path.startswith(f"{row.path}/")), "")
    panels = [load(panel)(visit, facts) for panel in named("panels", name)] if package == ROOM else []
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
    text = (
        templates()
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
            back=back_of(visit),
            now=visit.world.ask(lambda bank: bank.clock.now),
            notice=visit.request.environ.get("sandbox.notice"),
            mark=visit.world.ask(mark_of, visit.world),
            generated=[action for action in ACTIONS.values() if here and action.button.page == here],
            page_of=lambda one: page_of(visit, one),
            curl=lambda action, **fields: curl_of(visit, ACTIONS[action].ask(fields)),
            curl_get=lambda path, **names: curl_of(visit, ControlRequest(READS[path], names)),
        )
    )
    refused = visit.request.environ.get("sandbox.refused")
    if refused is not None:
        text = fill_form(text, refused.address, refused.typed)
    return page(text, HEADERS, status=status)


def page_of(visit: ConsoleVisit, one: Waiting) -> str:
    """The bank's page at which an address is answered."""
    kind, name = (one.row.kind, one.row.id) if one.row else ("consents", one.token[:12])
    return address_of(visit, kind, name, one.token, one.callback)


def back_of(visit: ConsoleVisit) -> str:
    """Where a form of this page returns to: its own path below the console, and its own query but for a notice."""
    if visit.request.method != "GET":
        return "/"  # a page that shows a reply has an address that takes no GET
    query = {name: value for name, value in visit.request.args.items() if name != "notice"}
    return visit.to(visit.below, **query).removeprefix(visit.root)


def mark_of(bank: Bank, world: World) -> str:
    """Changes with everything that a page may show, but for the time itself."""
    pace = world.pace
    parts = (
        world.exchanges_made,
        len(bank.journal),
        bank.agenda.made,
        len(bank.consent_addresses),
        len(bank.sca_addresses),
        len(bank.answered),
        len(bank.sessions),
        len(bank.consents),
        len(bank.pairs),
        sum(map(len, bank.ledger.added().values())),
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
