"""Views of the console's pages: the lists of the bank, a page for each row of a list, the scenario, the settings and
the worlds (choice 10, 13)."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

import orjson
from flask import Response
from markupsafe import escape

from sandbox.bank.accounts import compute_available_funds
from sandbox.bank.records import Account, BulkFile, Debtor, Fact, Initiation, Payment, StandingOrder
from sandbox.bank.state import Bank
from sandbox.banking.names import is_world_name
from sandbox.contract import moves
from sandbox.contract.decision_rows import Topic
from sandbox.contract.decisions import AXES, SETTINGS, Decisions
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.kinds import BY_LIST
from sandbox.contract.moves import Status
from sandbox.contract.reasons import USUAL_REASONS
from sandbox.reader.tree import ScenarioErrors
from sandbox.scenarios.reading import SHIPPED, list_shipped, read_changes
from sandbox.web.api.call_records import find_content, read_contents
from sandbox.web.api.call_texts import write_address, write_reply, write_request
from sandbox.web.console.actions import LISTS, WAS
from sandbox.web.console.calls import ControlRequest, call_again
from sandbox.web.console.demo_tpp import list_steps
from sandbox.web.console.formats import event
from sandbox.web.console.initiations import (
    KINDS,
    PAGE,
    cut_page,
    describe_batch,
    describe_cosigning,
    find_kind,
    list_due,
    list_lines,
    list_rows,
    make_row,
    read_inbox,
)
from sandbox.web.console.pictures import RANGES, draw_curve, draw_states
from sandbox.web.console.templating import draw
from sandbox.web.console.visits import ConsoleVisit, Facts
from sandbox.web.controls.call_views import find_remedy
from sandbox.web.controls.initiation_views import find, list_days
from sandbox.web.controls.people_views import show_customer
from sandbox.web.controls.world_views import make_settings_row
from sandbox.worlds.calls import Exchange

WORLDS_SHOWN = 100
GLIMPSE = 8  # rows of a list on the first page
CALLS_LOOKED_AT = 20  # the last calls, of which the first page shows the errors first
FOUND_MAX = 20  # rows of each list of the search
BATCHES_MAX = 50
FACTS_MAX = 200
DAYS_MAX = 40  # of a standing order
FILTERS = ("operation", "status", "client", "text")
CALL_SORTS = ("seq", "status", "path", "client_id", "rule", "clause", "at")


def overview(visit: ConsoleVisit) -> Facts:
    world = visit.world
    due, _ = world.ask(list_due, 1, GLIMPSE)
    calls = reversed(world.calls.list_after(world.calls.made - CALLS_LOOKED_AT))
    return {
        "inbox": world.ask(read_inbox, visit, 1, GLIMPSE),
        "due": due,
        "listed": {kind: world.ask(list_rows, kind, 1, "", "") for kind in KINDS},
        "glimpse": GLIMPSE,
        "calls": sorted(calls, key=lambda call: call.status < 400)[:GLIMPSE],  # errors first
        "tpps": world.ask(map_tpp_names),
    }


def map_tpp_names(bank: Bank) -> dict[str, str]:
    """Returns the names of the registered TPPs by their Client-ID."""
    return {client.id: client.name for client in bank.clients.values()}


def list_page_links(visit: ConsoleVisit, more: bool) -> Facts:
    """Returns the number of this page of the list, and the addresses of the newer and the older page. An address is
    None if there is no such page."""
    number = visit.number
    return {
        "number": number,
        "newer": visit.again(page=number - 1) if number > 1 else None,
        "older": visit.again(page=number + 1) if more else None,
    }


def inbox(visit: ConsoleVisit) -> Facts:
    messages = visit.world.ask(read_inbox, visit, visit.number, PAGE)
    return {"inbox": messages, "pages": list_page_links(visit, messages["more"])}


def coming(visit: ConsoleVisit) -> Facts:
    background = visit.request.args.get("background") == "1"
    due, more = visit.world.ask(list_due, visit.number, PAGE, background)
    return {"due": due, "background": background, "pages": list_page_links(visit, more)}


def journal(visit: ConsoleVisit) -> Facts:
    args = visit.request.args
    status, sought = args.get("status", ""), args.get("text", "").strip()[:100]

    def fits(fact: Fact) -> bool:
        text = f"{fact.subject} {event(fact.trigger.value)} {fact.reason or ''}".casefold()
        return status in ("", str(fact.target)) and sought.casefold() in text

    def read(bank: Bank) -> Facts:
        facts, more = cut_page(filter(fits, reversed(bank.journal)), visit.number)
        rows = [(fact, find_kind(bank, fact.subject.partition("/")[0])) for fact in facts]
        return {"facts": rows, "status_filter": status, "sought": sought, "pages": list_page_links(visit, more)}

    return visit.world.ask(read)


def search(visit: ConsoleVisit) -> Facts:
    """Returns the initiations, accounts and calls that contain the text of the query, at most FOUND_MAX in each list.
    An account is also found by its owners. Without a text, returns empty lists."""
    world, sought = visit.world, visit.request.args.get("q", "").strip()[:100]
    number = sought.replace(" ", "").casefold()

    def read(bank: Bank) -> Facts:
        owned = [(account, _list_owners(bank, account)) for account in bank.accounts.values()]
        accounts = [
            (account, owners)
            for account, owners in owned
            if number in account.iban.casefold() or sought.casefold() in " ".join([*account.owners, *owners]).casefold()
        ]
        return {
            "listed": {kind: list_rows(bank, kind, 1, "", sought)["rows"][:FOUND_MAX] for kind in KINDS},
            "accounts": accounts[:FOUND_MAX],
        }

    facts = world.ask(read) if sought else {"listed": {}, "accounts": []}
    filters = dict.fromkeys(FILTERS, "") | {"text": sought}
    fitting = (call for call in reversed(world.calls.list_after(0)) if sought and _fits(call, filters))
    calls, _ = cut_page(fitting, 1, FOUND_MAX)
    has_results = any(facts["listed"].values()) or facts["accounts"] or calls
    tpps = world.ask(map_tpp_names)
    return facts | {"sought": sought, "calls": calls, "tpps": tpps, "found": has_results}


# Initiations


def initiations(visit: ConsoleVisit) -> Facts:
    kind, args = visit.path["kind"], visit.request.args
    status, sought = args.get("status", ""), args.get("q", "").strip()[:100]
    if status not in Status.__members__:
        status = ""
    sort = args.get("sort", "")[:20]
    listed = visit.world.ask(list_rows, kind, visit.number, status, sought, sort)
    return {
        "kind": kind,
        "listed": listed,
        "status_filter": status,
        "sought": sought,
        "sort": sort,
        "pages": list_page_links(visit, listed["more"]),
    }


def initiation(visit: ConsoleVisit) -> Facts:
    kind, name = visit.path["kind"], visit.path["id"]
    return visit.world.ask(_read_initiation, kind, name) | {"steps": list_steps(visit, kind, name)}


def _read_initiation(bank: Bank, kind: str, name: str) -> Facts:
    initiation = find(bank, BY_LIST[kind], name)
    history, status = initiation.history, initiation.status
    parts = initiation.parts if isinstance(initiation, BulkFile) else []
    findings = initiation.findings if isinstance(initiation, BulkFile) else ()
    may_come_back = isinstance(initiation, Payment) and initiation.settled and not initiation.returned
    return {
        "kind": kind,
        "row": make_row(initiation),
        "lines": list_lines(initiation),
        "picture": draw_states(initiation.path, history),
        "facts": [(fact, _find_clause(initiation, fact)) for fact in history[-FACTS_MAX:]],
        "more_facts": max(0, len(history) - FACTS_MAX),
        "parts": [describe_batch(part) for part in parts[:BATCHES_MAX]],
        "more_parts": max(0, len(parts) - BATCHES_MAX),
        "has_report": isinstance(initiation, BulkFile) and initiation.is_validated,
        "findings": [(finding.place, finding.code, finding.text) for finding in findings],
        "occurrences": list_days(bank, initiation)[-DAYS_MAX:] if isinstance(initiation, StandingOrder) else [],
        "targets": _list_targets(bank, initiation),
        "ahead": sorted(moves.find_reachable(initiation.path, status) - {status}),
        "backs": USUAL_REASONS if may_come_back else {},
        "cosigning": describe_cosigning(bank, initiation) if initiation.signatures and status is Status.PATC else None,
    }


def _find_clause(initiation: Initiation, fact: Fact) -> str:
    """Returns the clause of the move that a line of the history records. Returns an empty text if the line is not a
    move, or if the table of moves does not have it."""
    if fact.source is None or fact.target is None:
        return ""
    rows = moves.find_moves_to(initiation.path, fact.source, fact.target)
    return next((row.clause for row in rows if row.trigger is fact.trigger), "")


def _list_targets(bank: Bank, initiation: Initiation) -> list[str]:
    """Returns the statuses to which a tester may force the initiation now."""
    status = initiation.status
    rows = [row for row in moves.MOVES[initiation.path] if row.source is status and row.target is not status]
    return sorted({row.target.value for row in rows if bank.can(initiation, row.trigger)})


# Accounts

# By what the accounts may be sorted: rows of an account, its owners and its balances
ACCOUNT_SORTS: dict[str, Callable[[Any], Any]] = {
    "owner": lambda row: row[1],
    "iban": lambda row: row[0].iban,
    "type": lambda row: row[0].is_savings,
    "balance": lambda row: row[2][0][0].number,
}


def accounts(visit: ConsoleVisit) -> Facts:
    def read(bank: Bank) -> Facts:
        rows = [
            (account, _list_owners(bank, account), _list_balances(bank, account)) for account in bank.accounts.values()
        ]
        sort = visit.request.args.get("sort", "")
        if key := ACCOUNT_SORTS.get(sort.lstrip("-")):
            rows.sort(key=key, reverse=sort.startswith("-"))
        customers = [show_customer(bank, name) for name in bank.customers]
        return {"rows": rows, "customers": customers, "clients": list(bank.clients.values())}

    return visit.world.ask(read)


def _list_owners(bank: Bank, account: Account) -> list[str]:
    return [bank.customers[name].name for name in account.owners]


def _list_balances(bank: Bank, account: Account) -> list[Any]:
    """Returns the balance and the available amount of each compartment of an account."""
    return [
        (
            bank.ledger.read_balance(account.iban, currency),
            compute_available_funds(bank, Debtor(account.iban, currency)),
        )
        for currency in account.currencies
    ]


def account(visit: ConsoleVisit) -> Facts:
    iban, args = visit.path["iban"], visit.request.args
    span = args.get("range", "")
    span = span if span in RANGES else "90d"

    def read(bank: Bank) -> Facts:
        account = bank.accounts.get(iban)
        if account is None:
            raise Refusal(Error.NOT_FOUND, input="account")
        currency = args.get("currency", "")
        currency = currency if currency in account.currencies else account.first_currency
        lines = bank.ledger.list_lines(iban, currency)
        page, more = cut_page(reversed(lines), visit.number)
        return {
            "account_here": account,
            "owners": _list_owners(bank, account),
            "currency": currency,
            "balances": _list_balances(bank, account),
            "curve": draw_curve(bank, iban, currency, RANGES[span]),
            "lines": page,
            "total": len(lines),
            "pages": list_page_links(visit, more),
            "span": span,
            "ranges": tuple(RANGES),
        }

    return visit.world.ask(read)


# Calls


def read_filters(visit: ConsoleVisit) -> dict[str, str]:
    """Returns the text of each filter for calls, by the filter's name. The text is empty if the query does not have the
    filter."""
    return {name: visit.request.args.get(name, "").strip()[:100] for name in FILTERS}


def list_selected_calls(visit: ConsoleVisit) -> list[Exchange]:
    """Returns the calls that the filters of the query select, newest first."""
    filters = read_filters(visit)
    return [call for call in reversed(visit.world.calls.list_after(0)) if _fits(call, filters)]


def calls(visit: ConsoleVisit) -> Facts:
    world, number, filters = visit.world, visit.number, read_filters(visit)
    sort = visit.request.args.get("sort", "")[:20]
    key = sort.lstrip("-") if sort.lstrip("-") in CALL_SORTS else ""
    if key or any(filters.values()):
        fitting = list_selected_calls(visit)
        if key:
            fitting.sort(key=lambda call: getattr(call, key) or "", reverse=sort.startswith("-"))
        calls, more = cut_page(fitting, number)
    else:
        newest = world.calls.made - (number - 1) * PAGE
        calls = [call for call in reversed(world.calls.list_after(newest - PAGE)) if call.seq <= newest]
        more = bool(calls) and calls[-1].seq > (world.calls.list_all()[0].seq if world.calls.list_all() else 0)
    return {
        "calls": calls,
        "tpps": world.ask(map_tpp_names),
        "contents": read_contents(world),
        "total": world.calls.made,
        "filters": filters,
        "sort": sort,
        "pages": list_page_links(visit, more),
    }


def _fits(call: Exchange, filters: dict[str, str]) -> bool:
    """Whether the call fits all filters. An empty filter fits each call. A filter for the status may be its first
    digits: `4` selects all statuses from 400 to 499. A filter `text` selects the calls that have it in the path, the
    error, the rule or the Request-ID."""
    text = f"{call.path} {call.error} {call.rule} {call.request_id}".casefold()
    return (
        filters["operation"] in ("", call.operation)
        and str(call.status).startswith(filters["status"])
        and filters["client"] in ("", call.client_id)
        and filters["text"].casefold() in text
    )


def call(visit: ConsoleVisit) -> Facts:
    number, world = visit.path["seq"], visit.world
    call = next((call for call in world.calls.list_after(int(number) - 1)[:1] if str(call.seq) == number), None)
    if call is None:
        raise Refusal(Error.NOT_FOUND, input="call")
    content, bodies = find_content(world, call.seq), None
    if content is not None:
        address = write_address(call.path, content)
        code = call_again(visit, call.method, address, content)
        bodies = {"address": address, "request": write_request(content), "reply": write_reply(content), "code": code}
    return {
        "call": call,
        "kind": world.ask(find_kind, call.subject) if call.subject else None,
        "content": content,
        "bodies": bodies,
        "decided": orjson.loads(call.decided) if call.decided else {},
        "remedy": find_remedy(call),
        "kept": world.settings.contents_kept,
    }


# Scenario


def scenario(visit: ConsoleVisit) -> Facts:
    world = visit.world
    return {
        "scenarios": list_shipped(),
        "faults": [(rule, world.faults.met.get(place, 0)) for place, rule in enumerate(world.faults.rules)],
        "holds": world.holds.list_all(),
        "rules": world.ask(lambda bank: list(bank.rulebook.rules)),
    }


STEPS_PLACE = "<!-- the steps -->"
MARKS = {"holds": "✓", "fails": "✗", "skipped": "–"}


def play(visit: ConsoleVisit) -> Response:
    """Plays a shipped scenario in a new world, and returns a page with the outcome of each step. Sends the page in
    pieces, so that each step appears as soon as it is done. Raises Refusal for an unknown scenario, and if the server
    cannot play scenarios."""
    name = visit.path["name"]
    if name not in SHIPPED or visit.state.worlds.play is None:
        raise Refusal(Error.NOT_FOUND, input="scenario")
    page = draw(visit, "play", here="/console/scenario", name=name, place=STEPS_PLACE)
    before, _, after = page.get_data(as_text=True).partition(STEPS_PLACE)
    prefix = visit.prefix  # read now: the request is over when the pieces are made
    steps = visit.state.worlds.play(name)

    def pieces() -> Iterator[str]:
        yield before
        counts = {"holds": 0, "fails": 0, "skipped": 0}
        world = ""
        for step in steps:
            if step.word == "world":
                world = step.text
                continue
            counts[step.word] += 1
            faults = "".join(f'<br><span class="mono">{escape(fault)}</span>' for fault in step.faults)
            kind = "f-error" if step.word == "fails" else ""
            yield f'<li class="{kind}"><b>{MARKS[step.word]}</b> {escape(step.text)}{faults}</li>\n'
        verdict = "Failed." if counts["fails"] else f"All {counts['holds']} steps held."
        link = escape(f"{prefix}/worlds/{quote(world)}/_sandbox/")
        yield f'</ul><p id="verdict"><b>{verdict}</b> <a class="button" href="{link}">Open its world</a></p><ul>'
        yield after

    page.response = (piece.encode() for piece in pieces())
    page.headers.pop("Content-Length", None)
    return page


# Settings

NO_VALUES: Mapping[str, str] = {}


def settings(visit: ConsoleVisit, form: Mapping[str, str] = NO_VALUES, reasons: Mapping[str, str] = NO_VALUES) -> Facts:
    """Returns the settings, grouped by topic. If the bank has refused changes, `form` has the values that were typed,
    and `reasons` has the reason for each refused setting. Otherwise both are empty."""
    now, first = visit.world.ask(lambda bank: make_settings_row(bank.settings)), make_settings_row(Decisions())
    topics: dict[Topic, list[Facts]] = {topic: [] for topic in Topic}
    for name, setting in SETTINGS.items():
        was = form.get(WAS + name, _write_setting(now[name]))
        row = {
            "name": name,
            "about": setting.about,
            "clause": setting.clause,
            "words": setting.words,
            "title": name.replace("_", " "),
            "value": form.get(name, was),
            "was": was,
            "default": _write_setting(first[name]),
            "is_list": name in LISTS,
            "refused": reasons.get(name, ""),
        }
        topics[setting.topic].append(row)
    return {"topics": topics, "faults": len(reasons), "axes": AXES}


def draw_refused_settings(visit: ConsoleVisit, call: ControlRequest, refusal: Refusal) -> Response:
    """Returns the page of settings after the control refused a change. None of the changes was saved. The page shows
    the reason beside each refused setting. If these reasons cannot be found, it shows the refusal's text beside the
    first setting that was changed."""
    body = call.body or {}
    reasons = _read_reasons(body) or dict.fromkeys(list(body)[:1], refusal.text)
    facts = settings(visit, visit.request.form, reasons)
    return draw(visit, "settings", here="/console/settings", status=400, **facts)


def _read_reasons(body: Mapping[str, Any]) -> dict[str, str]:
    """Returns the reason for each refused setting, by the name of the setting. Reads the refused body once more to find
    the reasons."""
    reasons: dict[str, str] = {}
    try:
        read_changes(body)
    except ScenarioErrors as errors:
        for error in errors.errors:
            name = error.path.partition(".")[0].partition("[")[0]
            text = f"{error.text} ({error.hint})" if error.hint else error.text
            if name in body:
                reasons[name] = f"{reasons[name]}; {text}" if name in reasons else text
    return reasons


def _write_setting(value: Any) -> str:
    """Returns the text of a setting in its form field. A list or a mapping has one line for each entry."""
    if isinstance(value, dict):
        return "\n".join(f"{name}: {word}" for name, word in value.items())
    return "\n".join(value) if isinstance(value, tuple | list) else str(value)


# Worlds


def worlds(visit: ConsoleVisit) -> Facts:
    after = visit.request.args.get("after", "")
    after = after if is_world_name(after) else ""
    page_worlds, last = visit.state.worlds.list_page(after, WORLDS_SHOWN)
    return {
        "rows": [(world, world.read_clock()) for world in page_worlds],
        "scenarios": [name for name, _, _ in list_shipped()],
        "after": after,
        "last": last,
    }
