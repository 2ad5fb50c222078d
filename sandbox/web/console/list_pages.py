"""The pages of lists: what a world holds, page by page."""

from collections.abc import Sequence
from itertools import islice
from typing import Any, TypeVar

import orjson
from flask import Response

from sandbox.bank.accounts import available
from sandbox.bank.records import Account, Debtor
from sandbox.bank.state import Bank
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.moves import Status
from sandbox.scenario.reading import shipped_scenarios
from sandbox.web.api.call_record import content_of_call, contents_of_calls
from sandbox.web.console import balance_curve
from sandbox.web.console.api_call import bodies_of
from sandbox.web.console.inbox import coming, inbox_of
from sandbox.web.console.initiations import KINDS, kind_of, page_of
from sandbox.web.console.referee_pages import findings_of
from sandbox.web.console.templating import draw
from sandbox.web.console.visits import Visit
from sandbox.web.controls.explanation import remedy_of
from sandbox.web.controls.registers import customer as customer_shown
from sandbox.world.calls import Exchange

T = TypeVar("T")
SIZE = 50
WORLDS_SHOWN = 100
GLIMPSE = 8  # rows of a list on the first page


def overview(visit: Visit) -> Response:
    world = visit.world
    inbox = world.ask(inbox_of, 1, GLIMPSE)
    due, more_due = world.ask(coming, 1, GLIMPSE)
    listed = {kind: world.ask(page_of, kind, 1, "", "") for kind in KINDS}
    return draw(
        visit,
        "overview",
        here="/",
        inbox=inbox,
        due=due,
        more_due=more_due,
        kinds=KINDS,
        listed=listed,
        glimpse=GLIMPSE,
        calls=list(reversed(world.calls_after(world.exchanges_made - GLIMPSE))),
        next_at=due[0].at if due else None,
    )


def initiations(visit: Visit) -> Response:
    kind, asked = visit.path["kind"], visit.request.args
    status, sought = asked.get("status", ""), asked.get("q", "").strip()[:100]
    if status not in Status.__members__:
        status = ""
    listed = visit.world.ask(page_of, kind, visit.number, status, sought)
    return draw(
        visit,
        "initiations",
        here=f"/console/{kind}",
        kind=kind,
        called=KINDS[kind],
        listed=listed,
        status_filter=status,
        sought=sought,
        pages=pages(visit, listed.more, status=status, q=sought),
    )


def pages(visit: Visit, more: bool, **query: object) -> dict[str, Any]:
    """The way to the page before and the page after."""
    path = visit.request.path.removeprefix("/_sandbox")
    number = visit.number
    return {
        "number": number,
        "newer": visit.to(path, **query, page=number - 1) if number > 1 else None,
        "older": visit.to(path, **query, page=number + 1) if more else None,
    }


def part_of(found: Sequence[T], number: int) -> tuple[list[T], bool]:
    """A page of what lies with the newest last: the newest first, and whether older ones follow."""
    end = max(0, len(found) - (number - 1) * SIZE)
    return list(reversed(found[max(0, end - SIZE) : end])), end > SIZE


def inbox(visit: Visit) -> Response:
    messages = visit.world.ask(inbox_of, visit.number, SIZE)
    return draw(visit, "inbox", here="/console/inbox", inbox=messages, pages=pages(visit, messages.more))


FILTERS = ("operation", "status", "client", "text")


def calls(visit: Visit) -> Response:
    world, number = visit.world, visit.number
    filters = {name: visit.request.args.get(name, "").strip()[:100] for name in FILTERS}
    if any(filters.values()):
        calls, more = part_of([one for one in world.calls_after(0) if fits_filters(one, filters)], number)
    else:
        newest = world.exchanges_made - (number - 1) * SIZE
        calls = [one for one in reversed(world.calls_after(newest - SIZE)) if one.seq <= newest]
        more = bool(calls) and calls[-1].seq > (world.exchanges[0].seq if world.exchanges else 0)
    return draw(
        visit,
        "calls",
        here="/console/calls",
        calls=calls,
        contents=contents_of_calls(world),
        total=world.exchanges_made,
        filters=filters,
        pages=pages(visit, more, **filters),
    )


def fits_filters(one: Exchange, filters: dict[str, str]) -> bool:
    """Whether a call fits what was filled in; the first digit of a status stands for its hundred."""
    looked_at = f"{one.path} {one.error} {one.rule} {one.request_id}".casefold()
    return (
        filters["operation"] in ("", one.operation)
        and str(one.status).startswith(filters["status"])
        and filters["client"] in ("", one.client_id)
        and filters["text"].casefold() in looked_at
    )


def call(visit: Visit) -> Response:
    number = visit.path["seq"]
    found = next((one for one in visit.world.calls_after(int(number) - 1)[:1] if str(one.seq) == number), None)
    if found is None:
        raise Refusal(Error.NOT_FOUND, input="call")
    content = content_of_call(visit.world, found.seq)
    return draw(
        visit,
        "call",
        here="/console/calls",
        call=found,
        kind=visit.world.ask(kind_of, found.subject) if found.subject else None,
        content=content,
        bodies=bodies_of(visit, found, content) if content else None,
        findings=findings_of(visit, found.seq),
        decided=orjson.loads(found.decided) if found.decided else {},
        remedy=remedy_of(found),
        kept=visit.world.settings.contents_kept,
    )


def events(visit: Visit) -> Response:
    due, more = visit.world.ask(coming, visit.number, SIZE)
    return draw(visit, "coming", here="/console/coming", due=due, pages=pages(visit, more))


def journal(visit: Visit) -> Response:
    def read(bank: Bank) -> tuple[list[Any], bool]:
        facts, more = part_of(bank.journal, visit.number)
        return [(fact, kind_of(bank, fact.subject.partition("/")[0])) for fact in facts], more

    facts, more = visit.world.ask(read)
    return draw(visit, "journal", here="/console/journal", facts=facts, pages=pages(visit, more))


def accounts(visit: Visit) -> Response:
    def read(bank: Bank) -> dict[str, Any]:
        rows = [
            (account, [bank.customers[name].name for name in account.owners], balances(bank, account))
            for account in bank.accounts.values()
        ]
        customers = [customer_shown(bank, name) for name in bank.customers]
        return {"rows": rows, "clients": list(bank.clients.values()), "customers": customers}

    return draw(visit, "accounts", here="/console/accounts", **visit.world.ask(read))


def balances(bank: Bank, account: Account) -> list[Any]:
    """Of each compartment: what is there, and what is left of it."""
    return [
        (bank.ledger.balance(account.iban, currency), available(bank, Debtor(account.iban, currency)))
        for currency in account.currencies
    ]


def account(visit: Visit) -> Response:
    iban, asked = visit.path["iban"], visit.request.args
    span = asked.get("range", "90d")
    span = span if span in balance_curve.RANGES else "90d"

    def read(bank: Bank) -> dict[str, Any]:
        found = bank.accounts.get(iban)
        if found is None:
            raise Refusal(Error.NOT_FOUND, input="account")
        filters = asked.get("currency", "")
        currency = filters if filters in found.currencies else found.first_currency
        lines = bank.ledger.lines(iban, currency)
        page, more = part_of(lines, visit.number)
        return {
            "account_here": found,
            "owners": [bank.customers[name].name for name in found.owners],
            "currency": currency,
            "held": balances(bank, found),
            "curve": balance_curve.curve_of(bank, iban, currency, balance_curve.RANGES[span]),
            "lines": page,
            "total": len(lines),
            "pages": pages(visit, more, range=span, currency=currency),
        }

    ranges = tuple(balance_curve.RANGES)
    return draw(visit, "account", here="/console/accounts", span=span, ranges=ranges, **visit.world.ask(read))


def scenario(visit: Visit) -> Response:
    world = visit.world
    faults = [(rule, world.faults.met.get(at, 0)) for at, rule in enumerate(world.faults.rules)]
    return draw(
        visit,
        "scenario",
        here="/console/scenario",
        scenarios=shipped_scenarios(),
        faults=faults,
        holds=world.holds.all(),
        rules=world.ask(lambda bank: list(bank.rulebook.rules)),
    )


def worlds(visit: Visit) -> Response:
    after = visit.request.args.get("after", "")
    found = list(islice(visit.worlds.each(after, WORLDS_SHOWN + 1), WORLDS_SHOWN + 1))
    more, shown = found[WORLDS_SHOWN:], found[:WORLDS_SHOWN]
    places = visit.worlds.places(shown)
    rows = [(world, world.standing(), places.get(world.row)) for world in shown]
    names = [name for name, _, _ in shipped_scenarios()]
    last = shown[-1].name if more else ""
    return draw(visit, "worlds", here="/console/worlds", rows=rows, scenarios=names, after=after, last=last)
