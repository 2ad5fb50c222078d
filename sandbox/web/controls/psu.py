"""The PSU without a browser: the same verbs as the pages (choice 10)."""

from typing import Any

from flask import Request

from sandbox.bank import consents, forced_moves, psu_actions, signing
from sandbox.bank.bulk_records import Bulk
from sandbox.bank.records import Payment
from sandbox.bank.standing_order_records import StandingOrder
from sandbox.bank.state import Bank
from sandbox.banking.callbacks import end_of, state_of
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.moves import Status
from sandbox.web.controls import bulk_views, registers, standing_order_views
from sandbox.web.controls.request_bodies import body_of, value_of
from sandbox.web.controls.request_bodies import refuse as refusal
from sandbox.world.world import World


def text(value: Any) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= 4096 or not value.isprintable():
        raise ValueError("it must be a text without line breaks and control characters")
    return value


def texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) > 1000:
        raise ValueError("it must be a list of texts")
    return tuple(text(item) for item in value)


def required(content: dict[str, Any], name: str) -> str:
    if name not in content:
        raise Refusal(Error.INPUT_MISSING, input=name)
    return value_of(content, name, text)


def optional(content: dict[str, Any], name: str) -> str | None:
    return value_of(content, name, text) if content.get(name) is not None else None


def address_of(content: dict[str, Any]) -> tuple[str, str | None]:
    """The token at the address's end, and the state that the TPP appended."""
    address = required(content, "address")
    try:
        return end_of(address), state_of(address)
    except ValueError:
        raise refusal("address", "it is no address") from None


def approve(world: World, request: Request) -> dict[str, Any]:
    content = body_of(request, "address", "customer", "account", "accounts")
    token, state = address_of(content)
    customer, account = optional(content, "customer"), optional(content, "account")
    ibans = value_of(content, "accounts", texts) if content.get("accounts") is not None else ()
    return {"redirect": world.act(psu_actions.approve, token, customer, account, ibans, state)}


def refuse(world: World, request: Request) -> dict[str, Any]:
    content = body_of(request, "address", "customer", "account", "accounts")
    token, state = address_of(content)
    return {"redirect": world.act(psu_actions.decline, token, optional(content, "customer"), state)}


def sign(world: World, request: Request) -> dict[str, Any]:
    content = body_of(request, "payment_id", "customer")
    payment_id, customer = required(content, "payment_id"), required(content, "customer")
    status = world.act(signing.sign_in_channel, payment_id, customer)
    return {"payment_id": payment_id, "status": status.value}


def withdraw(world: World, request: Request) -> dict[str, Any]:
    content = body_of(request, "client_id", "customer", "scope")
    client_id, customer, scope = (required(content, name) for name in ("client_id", "customer", "scope"))
    return {"withdrawn": world.act(consents.withdraw, client_id, customer, scope)}


def move(world: World, request: Request, payment_id: str) -> dict[str, Any]:
    content = body_of(request, "status", "reason")
    required(content, "status")
    status = value_of(content, "status", Status)
    world.act(forced_moves.force, payment_id, status, optional(content, "reason"))
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
