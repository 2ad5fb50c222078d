"""The pages of lists: what a world holds, page by page."""

from itertools import islice
from typing import Any

import orjson
from flask import Response

from sandbox.bank.accounts import available
from sandbox.bank.records import Account, Debtor
from sandbox.bank.state import Bank
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.moves import Status
from sandbox.scenario.reading import shipped_scenarios
from sandbox.web.api.call_contents import content_of_call, contents_of_calls
from sandbox.web.console import balance_curve
from sandbox.web.console.call_page import bodies_of
from sandbox.web.console.inbox import coming, inbox_of
from sandbox.web.console.initiations import KINDS, page_of, register_of
from sandbox.web.console.referee_pages import findings_of
from sandbox.web.console.templating import draw
from sandbox.web.console.visits import Visit
from sandbox.web.controls.explanation import remedy_of
from sandbox.web.controls.registers import customer_shown
from sandbox.world.calls import Exchange

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


def inbox(visit: Visit) -> Response:
    messages = visit.world.ask(inbox_of, visit.number, SIZE)
    return draw(visit, "inbox", here="/console/inbox", inbox=messages, pages=pages(visit, messages.more))


FILTERS = ("operation", "status", "client", "text")


def calls(visit: Visit) -> Response:
    world, number = visit.world, visit.number
    filters = {name: visit.request.args.get(name, "").strip()[:100] for name in FILTERS}
    if any(filters.values()):
        fitting = [one for one in world.calls_after(0) if fits_filters(one, filters)]
        end = max(0, len(fitting) - (number - 1) * SIZE)
        calls, more = fitting[max(0, end - SIZE) : end], end > SIZE
    else:
        newest = world.exchanges_made - (number - 1) * SIZE
        calls = [one for one in world.calls_after(newest - SIZE) if one.seq <= newest]
        more = bool(calls) and calls[0].seq > (world.exchanges[0].seq if world.exchanges else 0)
    return draw(
        visit,
        "calls",
        here="/console/calls",
        calls=list(reversed(calls)),
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
        kind=kind_about(visit, found),
        content=content,
        bodies=bodies_of(visit, found, content) if content else None,
        findings=findings_of(visit, found.seq),
        decided=orjson.loads(found.decided) if found.decided else {},
        remedy=remedy_of(found),
        kept=visit.world.settings.contents_kept,
    )


def kind_about(visit: Visit, found: Exchange) -> str | None:
    """Where the subject of a call is shown."""
    if found.subject is None:
        return None
    return visit.world.ask(_kind_named, found.subject)


def _kind_named(bank: Bank, name: str) -> str | None:
    return next((kind for kind in KINDS if name in register_of(bank, kind)), None)


def events(visit: Visit) -> Response:
    due, more = visit.world.ask(coming, visit.number, SIZE)
    return draw(visit, "coming", here="/console/coming", due=due, pages=pages(visit, more))


def journal(visit: Visit) -> Response:
    number = visit.number

    def read(bank: Bank) -> tuple[list[Any], int]:
        end = max(0, len(bank.journal) - (number - 1) * SIZE)
        facts = bank.journal[max(0, end - SIZE) : end]
        named = [(fact, _kind_named(bank, fact.subject.partition("/")[0])) for fact in reversed(facts)]
        return named, end - SIZE

    facts, left = visit.world.ask(read)
    return draw(visit, "journal", here="/console/journal", facts=facts, pages=pages(visit, left > 0))


def accounts(visit: Visit) -> Response:
    def read(bank: Bank) -> list[Any]:
        return [
            (account, [bank.customers[name].name for name in account.owners], balances(bank, account))
            for account in bank.accounts.values()
        ]

    clients, customers = visit.world.ask(
        lambda bank: (list(bank.clients.values()), [customer_shown(bank, name) for name in bank.customers])
    )
    return draw(
        visit,
        "accounts",
        here="/console/accounts",
        rows=visit.world.ask(read),
        clients=clients,
        customers=customers,
    )


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

    def read(bank: Bank) -> Any:
        found = bank.accounts.get(iban)
        if found is None:
            raise Refusal(Error.NOT_FOUND, input="account")
        filters = asked.get("currency", "")
        currency = filters if filters in found.currencies else found.first_currency
        lines = bank.ledger.lines(iban, currency)
        end = max(0, len(lines) - (visit.number - 1) * SIZE)
        page = list(reversed(lines[max(0, end - SIZE) : end]))
        curve = balance_curve.curve_of(bank, iban, currency, balance_curve.RANGES[span])
        owners = [bank.customers[name].name for name in found.owners]
        return found, owners, currency, balances(bank, found), curve, page, end > SIZE, len(lines)

    found, owners, currency, held, curve, lines, more, total = visit.world.ask(read)
    return draw(
        visit,
        "account",
        here="/console/accounts",
        account_here=found,
        owners=owners,
        currency=currency,
        held=held,
        curve=curve,
        lines=lines,
        total=total,
        span=span,
        ranges=tuple(balance_curve.RANGES),
        pages=pages(visit, more, range=span, currency=currency),
    )


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
