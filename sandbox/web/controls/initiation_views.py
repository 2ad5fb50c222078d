"""Views of payments, standing orders and bulk files, of their forced moves, and of the journal (choice 6, 7, 10).

A list may have 200,000 rows. A call that holds the world's lock or the interpreter for seconds delays every other call.
So the lock is held only while the records are copied. The rows are made from the copies after that, with short pauses
in which other threads run. They are written as JSON in pieces of 1,000 rows. The reply has these pieces as its body, so
that they are not copied into one text. Each copied record is dropped as soon as its row is written. It would be simpler
to make the rows under the lock, but then each list would stop the world.

The journal only grows, so its lines are not copied. Only its length is read under the lock, and the reply has the lines
up to that length.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

import orjson
from flask import Response

from sandbox.bank import behaviours, bulks, payee_checks, returns, standing_orders
from sandbox.bank.records import Batch, BulkFile, Execution, Fact, Initiation, Payment, StandingOrder
from sandbox.bank.state import Bank
from sandbox.banking.countries import copy_published
from sandbox.banking.durations import write_instant
from sandbox.bulkfiles.report import FileStatus
from sandbox.bulkfiles.status_report import write_report
from sandbox.contract import kinds
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.kinds import BY_LIST, InitiationKind
from sandbox.contract.moves import Status
from sandbox.contract.reasons import USUAL_REASONS
from sandbox.storage.bank_copy import copy_records
from sandbox.storage.long_work import pause_between
from sandbox.web.api.body_schemas import list_order_fields
from sandbox.web.api.bulks import make_bulk_fields
from sandbox.web.api.replies import MEDIA, Reply
from sandbox.web.controls.control_row import Control
from sandbox.web.controls.world_views import write_in_portions
from sandbox.worlds.world import World

PIECE = 1_000  # rows
ROWS_BETWEEN_PAUSES = 100
DAYS_AHEAD = 12  # coming days of a standing order that are shown
ACTIVE = (Status.PATC, Status.PDNG, Status.ACWP)


# One initiation


def show_initiation(bank: Bank, row: Control, payment_id: str) -> dict[str, Any]:
    initiation = find(bank, _find_kind(row), payment_id)
    days = {"occurrences": list_days(bank, initiation)} if isinstance(initiation, StandingOrder) else {}
    return make_initiation_row(initiation) | days


def _find_kind(row: Control) -> InitiationKind:
    return BY_LIST[row.path.split("/")[1]]


def find(bank: Bank, kind: InitiationKind, name: str) -> Initiation:
    initiation = bank.find_register(kind).get(name)
    if initiation is None:
        raise Refusal(Error.NOT_FOUND, input=kind.label)
    return initiation


def make_initiation_row(initiation: Initiation) -> dict[str, Any]:
    return ROW_FIELDS[initiation.kind](initiation) | {
        "status": initiation.status.value,
        "client_id": initiation.origin.client_id,
        "customer": initiation.customer,
        "history": [
            {"at": write_instant(fact.at), "status": str(fact.target), "reason": fact.reason}
            for fact in initiation.history
        ],
    }


def _list_order_fields(order: Payment | StandingOrder) -> dict[str, Any]:
    return {
        "payment_id": order.id,
        "product": order.order.product,
        "reason": order.reason,
        "order": list_order_fields(order.order, order.debtor),
    }


ROW_FIELDS: dict[InitiationKind, Callable[[Any], dict[str, Any]]] = {
    kinds.PAYMENT: _list_order_fields,
    kinds.STANDING_ORDER: _list_order_fields,
    kinds.BULK: lambda bulk: make_bulk_fields(bulk, None) | {"product": bulk.format, "message_id": bulk.message_id},
}


def list_days(bank: Bank, order: StandingOrder) -> list[dict[str, Any]]:
    """Returns the executions of a standing order until now. If the order is active, adds at most the next DAYS_AHEAD
    executions. Leaves out an execution that the bank skips because its month lacks the day."""
    end = order.next_number
    if order.status in ACTIVE:
        last = standing_orders.find_last_execution(order)
        end = max(end, end + DAYS_AHEAD if last is None else min(end + DAYS_AHEAD, last + 1))
    executions = {execution.number: execution for execution in order.runs}
    rows = []
    for number in range(1, end):
        if not standing_orders.is_left_out(bank, order, number):
            day = standing_orders.compute_nth_execution(bank, order, number)
            row = {"number": number, "planned": day.planned.isoformat(), "on": day.on.isoformat(), "shifted": day.why}
            is_coming = number >= order.next_number
            rows.append(row | ({"state": "coming"} if is_coming else _describe_outcome(executions.get(number))))
    return rows


def _describe_outcome(execution: Execution | None) -> dict[str, Any]:
    """Returns the result of an execution as fields of a row. Its state is `executed` or `failed`. If `execution` is
    None, because nothing was executed on the planned day, the state is `passed over`."""
    if execution is None:
        return {"state": "passed over"}
    state = "executed" if execution.amount else "failed"
    amount = execution.amount and execution.amount.text()
    return {"state": state, "at": write_instant(execution.at), "amount": amount}


def move(world: World, body: dict[str, Any], payment_id: str) -> dict[str, Any]:
    world.act(behaviours.force, payment_id, body["status"], body.get("reason"))
    return world.ask(_make_moved_row, payment_id)


def send_back(world: World, row: Control, body: dict[str, Any], payment_id: str) -> dict[str, Any]:
    """Sends the money of a payment back to the debtor, and returns the payment's row. The last part of the control's
    path, `return` or `recall`, says in which way."""
    way = row.list_name
    world.act(returns.send_back_now, payment_id, way, body.get("reason") or USUAL_REASONS[way])
    return world.ask(_make_moved_row, payment_id)


def _make_moved_row(bank: Bank, subject_id: str) -> dict[str, Any]:
    subject = bank.demand_subject(subject_id)
    if isinstance(subject, Batch):
        return {"payment_id": subject.id, "status": subject.status.value, "reason": subject.reason}
    return make_initiation_row(subject)


def check_payee(bank: Bank, body: dict[str, Any]) -> dict[str, Any]:
    """Returns the outcome of the verification of a payee's name and IBAN. Changes nothing in the world."""
    outcome = payee_checks.check(bank, body["iban"], body["name"])
    return {"outcome": outcome.outcome} | ({"name": outcome.name} if outcome.name else {})


def countries() -> dict[str, Any]:
    return copy_published()


def report(world: World, payment_id: str) -> Response:
    """Replies with the status report of a file. What the report needs is copied under the world's lock. The report is
    written when the lock is released."""
    file = world.ask(_read_file_status, payment_id)
    pieces = pause_between(write_report(file), ROWS_BETWEEN_PAUSES)
    ending, media = ("csv", "text/csv") if file.kind == "csv" else ("xml", "application/xml")
    return Response(
        write_in_portions(pieces),
        content_type=media,
        headers={
            "Content-Disposition": f'attachment; filename="report-{file.file_id}.{ending}"',
            "X-Content-Type-Options": "nosniff",
        },
    )


def _read_file_status(bank: Bank, payment_id: str) -> FileStatus:
    bulk = find(bank, kinds.BULK, payment_id)
    assert isinstance(bulk, BulkFile)
    return bulks.make_file_status(bank, bulk)


# Whole lists, and the journal


def list_initiations(world: World, row: Control) -> Response:
    """Replies with a list of all initiations of one kind, under the name of the kind's list. If that name has a hyphen,
    the reply has the list a second time under the name with `_`, because some clients cannot write a hyphen."""
    kind = _find_kind(row)
    records = world.ask(lambda bank: copy_records(bank.find_register(kind)))
    rows = (make_initiation_row(records.popleft()) for _ in range(len(records)))
    return _list_reply(rows, *dict.fromkeys((kind.list, kind.list.replace("-", "_"))))


def journal(world: World, query: dict[str, Any]) -> Response:
    bank, length = world.ask(lambda bank: (bank, len(bank.journal)))
    return _list_reply(
        (make_fact_row(bank.journal[place]) for place in range(query.get("since", 0), length)), "journal"
    )


def _list_reply(rows: Iterable[Any], *names: str) -> Response:
    """Returns a JSON reply with one object, which has the same list under each name."""
    pieces, body = list(write_json_pieces(rows)), [b"{"]
    for name in names:
        body += [orjson.dumps(name) + b":", *pieces, b","]
    return Reply([*body[:-1], b"}"], content_type=MEDIA)


def write_json_pieces(rows: Iterable[Any]) -> Iterator[bytes]:
    """Yields the JSON of a list in pieces of PIECE rows. Pauses between the rows, so that other threads can run."""
    remaining_rows, between = pause_between(rows, ROWS_BETWEEN_PAUSES), b"["
    while piece := list(islice(remaining_rows, PIECE)):
        yield between + orjson.dumps(piece)[1:-1]
        between = b","
    yield b"[]" if between == b"[" else b"]"


def make_fact_row(fact: Fact) -> dict[str, Any]:
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
