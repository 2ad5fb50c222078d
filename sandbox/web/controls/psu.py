"""The PSU without a browser: the same verbs as the pages (choice 10)."""

from typing import Any

from sandbox.bank import consents, forced_moves, psu_actions, signing
from sandbox.bank.bulk_records import Bulk
from sandbox.bank.records import Payment
from sandbox.bank.standing_order_records import StandingOrder
from sandbox.bank.state import Bank
from sandbox.web.controls import bulk_views, registers, standing_order_views
from sandbox.world.world import World


def approve(world: World, body: dict[str, Any]) -> dict[str, Any]:
    (token, state), ibans = body["address"], body.get("accounts", ())
    return {"redirect": world.act(psu_actions.approve, token, body.get("customer"), body.get("account"), ibans, state)}


def refuse(world: World, body: dict[str, Any]) -> dict[str, Any]:
    token, state = body["address"]
    return {"redirect": world.act(psu_actions.decline, token, body.get("customer"), state)}


def sign(world: World, body: dict[str, Any]) -> dict[str, Any]:
    status = world.act(signing.sign_in_channel, body["payment_id"], body["customer"])
    return {"payment_id": body["payment_id"], "status": status.value}


def withdraw(world: World, body: dict[str, Any]) -> dict[str, Any]:
    return {"withdrawn": world.act(consents.withdraw, body["client_id"], body["customer"], body["scope"])}


def move(world: World, body: dict[str, Any], payment_id: str) -> dict[str, Any]:
    world.act(forced_moves.force, payment_id, body["status"], body.get("reason"))
    return world.ask(shown, payment_id)


def shown(bank: Bank, subject_id: str) -> dict[str, Any]:
    match bank.subject(subject_id):
        case StandingOrder() as order:
            return standing_order_views.shown(order)
        case Payment() as payment:
            return registers.shown(payment)
        case Bulk() as bulk:
            return bulk_views.shown(bulk)
        case part:
            return {"payment_id": part.id, "status": part.status.value, "reason": part.reason}
