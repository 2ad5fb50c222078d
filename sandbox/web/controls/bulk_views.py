"""Bulk files for a tester (choice 7)."""

from typing import Any

from sandbox.bank.bulk_records import Bulk
from sandbox.bank.state import Bank
from sandbox.contract.errors import Error, Refusal
from sandbox.web.api.bulks import bulk_fields
from sandbox.web.controls.long_lists import read_list
from sandbox.web.controls.registers import history_of
from sandbox.world.world import World


def every(world: World) -> dict[str, Any]:
    """Under the name of the address and, since some clients take no -, under its spelling with _ too."""
    rows = read_list(world, lambda bank: map(shown, bank.bulks.values()))
    return {"bulk-payments": rows, "bulk_payments": rows}


def one(world: World, payment_id: str) -> dict[str, Any]:
    return world.ask(_one, payment_id)


def _one(bank: Bank, payment_id: str) -> dict[str, Any]:
    bulk = bank.bulks.get(payment_id)
    if bulk is None:
        raise Refusal(Error.NOT_FOUND, input="bulk payment")
    return shown(bulk)


def shown(bulk: Bulk) -> dict[str, Any]:
    return bulk_fields(bulk, None) | {
        "product": bulk.format,
        "client_id": bulk.origin.client_id,
        "customer": bulk.customer,
        "message_id": bulk.message_id,
        "history": history_of(bulk),
    }
