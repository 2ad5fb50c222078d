"""Payments, standing orders and files for a tester, and the journal of what became of them (choice 6, 7, 10).

Nothing here changes the bank. Whole lists are made of copies of its records, and in slices, so that no call waits.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

import orjson
from flask import Response

from sandbox.bank import standing_orders
from sandbox.bank.records import Fact, Payment
from sandbox.bank.state import Bank
from sandbox.bank.subjects import BulkFile, Execution, Initiation, StandingOrder
from sandbox.banking.countries import published
from sandbox.banking.durations import write_instant
from sandbox.contract import kinds
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.kinds import BY_LIST, InitiationKind
from sandbox.contract.moves import Status
from sandbox.storage.bank_copy import copy_records
from sandbox.storage.long_work import with_pauses
from sandbox.web.api.body_schemas import order_fields
from sandbox.web.api.bulks import bulk_fields
from sandbox.web.api.replies import MEDIA, Reply
from sandbox.web.controls.control_row import Control
from sandbox.worlds.world import World

SLICE = 1_000  # rows of a list
AT_ONCE = 100  # rows between two pauses
COMING = 12  # occurrences shown ahead
ACTIVE = (Status.PATC, Status.PDNG, Status.ACWP)


def every(world: World, row: Control) -> Response:
    """Under the name of the address and, since some clients take no -, under its spelling with _ too."""
    kind = kind_of(row)
    records = world.ask(lambda bank: copy_records(bank.register_of(kind)))
    rows = (show(records.popleft()) for _ in range(len(records)))  # each copy is freed once it is shown
    return list_reply(*dict.fromkeys((kind.list, kind.list.replace("-", "_"))), pieces=pieces_of(rows))


def countries() -> dict[str, Any]:
    """What cross-border payments may have."""
    return published()


def one(bank: Bank, row: Control, payment_id: str) -> dict[str, Any]:
    """A standing order with its executions."""
    found = find(bank, kind_of(row), payment_id)
    return show(found) | ({"occurrences": occurrences_of(bank, found)} if isinstance(found, StandingOrder) else {})


def kind_of(row: Control) -> InitiationKind:
    """The kind under whose list the control stands."""
    return BY_LIST[row.path.split("/")[1]]


def find(bank: Bank, kind: InitiationKind, name: str) -> Initiation:
    found = bank.register_of(kind).get(name)
    if found is None:
        raise Refusal(Error.NOT_FOUND, input=kind.label)
    return found


def show(found: Initiation) -> dict[str, Any]:
    return SHOW[found.kind](found) | {
        "status": found.status.value,
        "client_id": found.origin.client_id,
        "customer": found.customer,
        "history": [
            {"at": write_instant(fact.at), "status": str(fact.target), "reason": fact.reason} for fact in found.history
        ],
    }


def _order(found: Payment | StandingOrder) -> dict[str, Any]:
    return {
        "payment_id": found.id,
        "product": found.order.product,
        "reason": found.reason,
        "order": order_fields(found.order, found.debtor),
    }


def _file(bulk: BulkFile) -> dict[str, Any]:
    return bulk_fields(bulk, None) | {"product": bulk.format, "message_id": bulk.message_id}


SHOW: dict[InitiationKind, Callable[[Any], dict[str, Any]]] = {
    kinds.PAYMENT: _order,
    kinds.STANDING_ORDER: _order,
    kinds.BULK: _file,
}


def occurrences_of(bank: Bank, order: StandingOrder) -> list[dict[str, Any]]:
    """The executions so far, then the coming ones, each with its day and the reason."""
    runs = {run.number: run for run in order.runs}
    return [
        _day(bank, order, number) | (_outcome(runs.get(number)) if number < order.next_number else {"state": "coming"})
        for number in range(1, _end_of(order))
        if not standing_orders.is_left_out(bank, order, number)
    ]


def _end_of(order: StandingOrder) -> int:
    """The number at which the list ends. A contract that is not active has no coming executions."""
    if order.status not in ACTIVE:
        return order.next_number
    last, end = standing_orders.last_of(order), order.next_number + COMING
    return end if last is None else max(order.next_number, min(end, last + 1))


def _outcome(run: Execution | None) -> dict[str, Any]:
    """Executed or failed; what was due before the contract was active is neither."""
    if run is None:
        return {"state": "passed over"}
    state = "executed" if run.amount else "failed"
    return {"state": state, "at": write_instant(run.at), "amount": run.amount and run.amount.text()}


def _day(bank: Bank, order: StandingOrder, number: int) -> dict[str, Any]:
    day = standing_orders.nth(bank, order, number)
    return {"number": number, "planned": day.planned.isoformat(), "on": day.on.isoformat(), "shifted": day.why}


# Whole lists, and the journal


def list_reply(*names: str, pieces: Iterable[bytes]) -> Response:
    """An object with the same list under each name. The pieces are sent as they are: nothing large is copied."""
    rows, body = list(pieces), [b"{"]
    for name in names:
        body += [orjson.dumps(name) + b":", *rows, b","]
    return Reply([*body[:-1], b"}"], content_type=MEDIA)


def pieces_of(rows: Iterable[Any]) -> Iterator[bytes]:
    """JSON of a list in pieces, with pauses for other callers."""
    rest, between = with_pauses(rows, AT_ONCE), b"["
    while part := list(islice(rest, SLICE)):
        yield between + orjson.dumps(part)[1:-1]
        between = b","
    yield b"[]" if between == b"[" else b"]"


def journal(world: World, query: dict[str, Any]) -> Response:
    since = query.get("since", 0)
    bank, count = world.ask(lambda bank: (bank, len(bank.journal)))  # it only grows, so its lines are not copied
    return list_reply("journal", pieces=pieces_of(fact_row(bank.journal[place]) for place in range(since, count)))


def fact_row(fact: Fact) -> dict[str, Any]:
    return {
        "seq": fact.seq,
        "at": write_instant(fact.at),
        "subject": fact.subject,
        "trigger": fact.trigger.value,
        "from": fact.source and fact.source.value,
        "to": fact.target and fact.target.value,
        "reason": fact.reason,
        "rule": fact.rule,
    }
