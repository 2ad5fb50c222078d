"""The pages of lists, and of one row of them: what a world holds, page by page."""

from typing import Any

import orjson

from sandbox.bank.accounts import available
from sandbox.bank.records import Account, BulkFile, Debtor, Fact, Initiation, Payment, StandingOrder
from sandbox.bank.state import Bank
from sandbox.banking.names import is_world_name
from sandbox.contract import moves
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.kinds import BY_LIST
from sandbox.contract.moves import Status
from sandbox.contract.reasons import USUAL_REASONS
from sandbox.scenarios.reading import shipped_scenarios
from sandbox.web.api.call_records import content_of_call, contents_of_calls
from sandbox.web.console import balance_curve
from sandbox.web.console.calls import bodies_of
from sandbox.web.console.inbox import cosigning_of, due_of, inbox_of
from sandbox.web.console.initiations import KINDS, PAGE, kind_of, lines_of, page_of, part_of, row_of, rows_of
from sandbox.web.console.next_steps import of_initiation
from sandbox.web.console.state_picture import picture_of
from sandbox.web.console.visits import ConsoleVisit, Facts
from sandbox.web.controls.call_views import remedy_of
from sandbox.web.controls.initiation_views import days_of, find
from sandbox.web.controls.people_views import show_customer
from sandbox.worlds.calls import Exchange

WORLDS_SHOWN = 100
GLIMPSE = 8  # rows of a list on the first page
PARTS_MAX = 50
FACTS_MAX = 200


def overview(visit: ConsoleVisit) -> Facts:
    world = visit.world
    due, _ = world.ask(due_of, 1, GLIMPSE)
    return {
        "inbox": world.ask(inbox_of, 1, GLIMPSE),
        "due": due,
        "listed": {kind: world.ask(rows_of, kind, 1, "", "") for kind in KINDS},
        "glimpse": GLIMPSE,
        "calls": list(reversed(world.calls_after(world.exchanges_made - GLIMPSE))),
    }


def initiations(visit: ConsoleVisit) -> Facts:
    kind, asked = visit.path["kind"], visit.request.args
    status, sought = asked.get("status", ""), asked.get("q", "").strip()[:100]
    if status not in Status.__members__:
        status = ""
    listed = visit.world.ask(rows_of, kind, visit.number, status, sought)
    return {
        "kind": kind,
        "listed": listed,
        "status_filter": status,
        "sought": sought,
        "pages": pages(visit, listed["more"], status=status, q=sought),
    }


def pages(visit: ConsoleVisit, more: bool, **query: object) -> dict[str, Any]:
    """The way to the page before and the page after."""
    number = visit.number
    return {
        "number": number,
        "newer": visit.to(visit.below, **query, page=number - 1) if number > 1 else None,
        "older": visit.to(visit.below, **query, page=number + 1) if more else None,
    }


def initiation(visit: ConsoleVisit) -> Facts:
    kind, name = visit.path["kind"], visit.path["id"]
    return visit.world.ask(view_of, kind, name) | {"steps": of_initiation(visit, kind, name)}


def view_of(bank: Bank, kind: str, name: str) -> Facts:
    found = find(bank, BY_LIST[kind], name)
    history, parts = found.history, found.parts if isinstance(found, BulkFile) else []
    return {
        "kind": kind,
        "row": row_of(found),
        "lines": lines_of(found),
        "picture": picture_of(found.path, history),
        "facts": [(fact, clause_of(found, fact)) for fact in history[-FACTS_MAX:]],
        "more_facts": max(0, len(history) - FACTS_MAX),
        "parts": [part_of(part) for part in parts[:PARTS_MAX]],
        "more_parts": max(0, len(parts) - PARTS_MAX),
        "findings": [(one.place, one.code, one.text) for one in found.findings] if isinstance(found, BulkFile) else [],
        "occurrences": days_of(bank, found)[-40:] if isinstance(found, StandingOrder) else [],
        "targets": targets_of(bank, found),
        "ahead": sorted(moves.reachable(found.path, found.status) - {found.status}),
        "backs": USUAL_REASONS if isinstance(found, Payment) and found.settled and not found.returned else {},
        "cosigning": cosigning_of(bank, found) if found.signatures and found.status is Status.PATC else None,
    }


def clause_of(found: Initiation, fact: Fact) -> str:
    """The row of the table behind a line of the history."""
    if fact.source is None or fact.target is None:
        return ""
    rows = moves.rows_to(found.path, fact.source, fact.target)
    return next((row.clause for row in rows if row.trigger is fact.trigger), "")


def targets_of(bank: Bank, found: Initiation) -> list[str]:
    """Where it may be forced to now."""
    rows = [row for row in moves.MOVES[found.path] if row.source is found.status and row.target is not row.source]
    return sorted({row.target.value for row in rows if bank.can(found, row.trigger)})


def inbox(visit: ConsoleVisit) -> Facts:
    messages = visit.world.ask(inbox_of, visit.number, PAGE)
    return {"inbox": messages, "pages": pages(visit, messages["more"])}


FILTERS = ("operation", "status", "client", "text")


def calls(visit: ConsoleVisit) -> Facts:
    world, number = visit.world, visit.number
    filters = {name: visit.request.args.get(name, "").strip()[:100] for name in FILTERS}
    if any(filters.values()):
        fitting = (one for one in reversed(world.calls_after(0)) if fits_filters(one, filters))
        calls, more = page_of(fitting, number)
    else:
        newest = world.exchanges_made - (number - 1) * PAGE
        calls = [one for one in reversed(world.calls_after(newest - PAGE)) if one.seq <= newest]
        more = bool(calls) and calls[-1].seq > (world.exchanges[0].seq if world.exchanges else 0)
    return {
        "calls": calls,
        "contents": contents_of_calls(world),
        "total": world.exchanges_made,
        "filters": filters,
        "pages": pages(visit, more, **filters),
    }


def fits_filters(one: Exchange, filters: dict[str, str]) -> bool:
    """Whether a call fits what was filled in; the first digit of a status stands for its hundred."""
    looked_at = f"{one.path} {one.error} {one.rule} {one.request_id}".casefold()
    return (
        filters["operation"] in ("", one.operation)
        and str(one.status).startswith(filters["status"])
        and filters["client"] in ("", one.client_id)
        and filters["text"].casefold() in looked_at
    )


def call(visit: ConsoleVisit) -> Facts:
    number = visit.path["seq"]
    found = next((one for one in visit.world.calls_after(int(number) - 1)[:1] if str(one.seq) == number), None)
    if found is None:
        raise Refusal(Error.NOT_FOUND, input="call")
    content = content_of_call(visit.world, found.seq)
    return {
        "call": found,
        "kind": visit.world.ask(kind_of, found.subject) if found.subject else None,
        "content": content,
        "bodies": bodies_of(visit, found, content) if content else None,
        "decided": orjson.loads(found.decided) if found.decided else {},
        "remedy": remedy_of(found),
        "kept": visit.world.settings.contents_kept,
    }


def coming(visit: ConsoleVisit) -> Facts:
    due, more = visit.world.ask(due_of, visit.number, PAGE)
    return {"due": due, "pages": pages(visit, more)}


def journal(visit: ConsoleVisit) -> Facts:
    def read(bank: Bank) -> tuple[list[Any], bool]:
        facts, more = page_of(reversed(bank.journal), visit.number)
        return [(fact, kind_of(bank, fact.subject.partition("/")[0])) for fact in facts], more

    facts, more = visit.world.ask(read)
    return {"facts": facts, "pages": pages(visit, more)}


def accounts(visit: ConsoleVisit) -> Facts:
    def read(bank: Bank) -> Facts:
        rows = [(account, owners(bank, account), balances(bank, account)) for account in bank.accounts.values()]
        customers = [show_customer(bank, name) for name in bank.customers]
        return {"rows": rows, "clients": list(bank.clients.values()), "customers": customers}

    return visit.world.ask(read)


def owners(bank: Bank, account: Account) -> list[str]:
    return [bank.customers[name].name for name in account.owners]


def balances(bank: Bank, account: Account) -> list[Any]:
    """Of each compartment: what is there, and what is left of it."""
    return [
        (bank.ledger.balance(account.iban, currency), available(bank, Debtor(account.iban, currency)))
        for currency in account.currencies
    ]


def account(visit: ConsoleVisit) -> Facts:
    iban, asked = visit.path["iban"], visit.request.args
    span = asked.get("range", "90d")
    span = span if span in balance_curve.RANGES else "90d"

    def read(bank: Bank) -> Facts:
        found = bank.accounts.get(iban)
        if found is None:
            raise Refusal(Error.NOT_FOUND, input="account")
        filters = asked.get("currency", "")
        currency = filters if filters in found.currencies else found.first_currency
        lines = bank.ledger.lines(iban, currency)
        page, more = page_of(reversed(lines), visit.number)
        return {
            "account_here": found,
            "owners": owners(bank, found),
            "currency": currency,
            "held": balances(bank, found),
            "curve": balance_curve.curve_of(bank, iban, currency, balance_curve.RANGES[span]),
            "lines": page,
            "total": len(lines),
            "pages": pages(visit, more, range=span, currency=currency),
            "span": span,
            "ranges": tuple(balance_curve.RANGES),
        }

    return visit.world.ask(read)


def scenario(visit: ConsoleVisit) -> Facts:
    world = visit.world
    return {
        "scenarios": shipped_scenarios(),
        "faults": [(rule, world.faults.met.get(at, 0)) for at, rule in enumerate(world.faults.rules)],
        "holds": world.holds.all(),
        "rules": world.ask(lambda bank: list(bank.rulebook.rules)),
    }


def worlds(visit: ConsoleVisit) -> Facts:
    asked = visit.request.args.get("after", "")
    after = asked if is_world_name(asked) else ""
    shown, last = visit.desk.worlds.page(after, WORLDS_SHOWN)
    return {
        "rows": [(world, world.standing()) for world in shown],
        "scenarios": [name for name, _, _ in shipped_scenarios()],
        "after": after,
        "last": last,
    }
