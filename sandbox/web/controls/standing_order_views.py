"""Standing orders for a tester: what was executed, and what comes on which day, and why (choice 6)."""

from typing import Any

from sandbox.bank import standing_orders
from sandbox.bank.standing_order_records import Run, StandingOrder
from sandbox.bank.state import Bank
from sandbox.banking.durations import write_instant
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.moves import Status
from sandbox.web.api.standing_order_bodies import contract_fields
from sandbox.web.controls.long_lists import read_list
from sandbox.web.controls.registers import history_of
from sandbox.world.world import World

COMING = 12  # occurrences shown ahead
LIVING = (Status.PATC, Status.PDNG, Status.ACWP)


def every(world: World) -> dict[str, Any]:
    """Under the name of the address and, since some clients take no -, under its spelling with _ too."""
    rows = read_list(world, lambda bank: map(shown, bank.standing_orders.values()))
    return {"standing-orders": rows, "standing_orders": rows}


def one(world: World, payment_id: str) -> dict[str, Any]:
    return world.ask(one_of, payment_id)


def one_of(bank: Bank, payment_id: str) -> dict[str, Any]:
    order = bank.standing_orders.get(payment_id)
    if order is None:
        raise Refusal(Error.NOT_FOUND, input="standing order")
    return shown(order) | {"occurrences": _past(order) + _coming(order)}


def shown(order: StandingOrder) -> dict[str, Any]:
    return {
        "payment_id": order.id,
        "product": "sepa-credit-transfers",
        "status": order.status.value,
        "reason": order.reason,
        "client_id": order.origin.client_id,
        "customer": order.customer,
        "history": history_of(order),
        "order": contract_fields(order.order, order.debtor),
    }


def _past(order: StandingOrder) -> list[dict[str, Any]]:
    runs = {run.number: run for run in order.runs}
    return [_day(order, number) | _outcome(runs.get(number)) for number in range(1, order.next_number)]


def _outcome(run: Run | None) -> dict[str, Any]:
    """Executed or failed; what was due before the contract was active is neither."""
    if run is None:
        return {"state": "passed over"}
    state = "executed" if run.amount else "failed"
    return {"state": state, "at": write_instant(run.at), "amount": run.amount and run.amount.text()}


def _coming(order: StandingOrder) -> list[dict[str, Any]]:
    if order.status not in LIVING:
        return []
    last = standing_orders.last_of(order)
    end = order.next_number + COMING
    numbers = range(order.next_number, end if last is None else min(end, last + 1))
    return [_day(order, number) | {"state": "coming"} for number in numbers]


def _day(order: StandingOrder, number: int) -> dict[str, Any]:
    day = standing_orders.nth(order, number)
    return {"number": number, "planned": day.planned.isoformat(), "on": day.on.isoformat(), "shifted": day.why}
