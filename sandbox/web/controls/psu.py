"""The PSU without a browser: the same verbs as the pages (choice 10)."""

from typing import Any

from sandbox.bank import behaviours, consents, psu_actions, signing
from sandbox.bank.state import Bank
from sandbox.bank.subjects import Part
from sandbox.contract.errors import Error, Refusal
from sandbox.web.api.edge_faults import way_back
from sandbox.web.controls import initiations
from sandbox.web.controls.request_bodies import refuse as refusal
from sandbox.world.world import World


def approve(world: World, body: dict[str, Any]) -> dict[str, Any]:
    (token, state), ibans = body["address"], body.get("accounts", ())
    if state is None and world.variant("no_state") == "refused":
        raise refusal("state", "the bank opens no address without it")
    chosen = body.get("customer"), body.get("account"), ibans, state
    return _sent_back(world, world.act(psu_actions.approve, token, *chosen, *_method(body)))


def _method(body: dict[str, Any]) -> tuple[str, ...]:
    """How the customer signs, where the tester says so."""
    return (body["method"],) if "method" in body else ()


def _sent_back(world: World, address: str) -> dict[str, Any]:
    """As a fault rule has it: lost is null, twice is said by `times`."""
    way = way_back(world, address)
    return {"redirect": way.address} | ({"times": way.times} if way.times > 1 else {})


def refuse(world: World, body: dict[str, Any]) -> dict[str, Any]:
    if "payment_id" in body:
        return _refuse_in_channel(world, body)
    if "address" not in body:
        raise Refusal(Error.INPUT_MISSING, input="address")
    token, state = body["address"]
    return _sent_back(world, world.act(psu_actions.decline, token, body.get("customer"), state))


def _refuse_in_channel(world: World, body: dict[str, Any]) -> dict[str, Any]:
    """A further signer refuses what waits in the bank's own channel."""
    for name in body:
        if name not in ("payment_id", "customer"):
            raise refusal(name, "with payment_id only customer is sent")
    if "customer" not in body:
        raise Refusal(Error.INPUT_MISSING, input="customer")
    status = world.act(signing.refuse_in_channel, body["payment_id"], body["customer"])
    return {"payment_id": body["payment_id"], "status": status.value, "reason": signing.PSU_REFUSED}


def sign(world: World, body: dict[str, Any]) -> dict[str, Any]:
    status = world.act(signing.sign_in_channel, body["payment_id"], body["customer"], *_method(body))
    return {"payment_id": body["payment_id"], "status": status.value}


def withdraw(world: World, body: dict[str, Any]) -> dict[str, Any]:
    return {"withdrawn": world.act(consents.withdraw, body["client_id"], body["customer"], body["scope"])}


def move(world: World, body: dict[str, Any], payment_id: str) -> dict[str, Any]:
    world.act(behaviours.force, payment_id, body["status"], body.get("reason"))
    return world.ask(shown, payment_id)


def shown(bank: Bank, subject_id: str) -> dict[str, Any]:
    subject = bank.subject(subject_id)
    if isinstance(subject, Part):
        return {"payment_id": subject.id, "status": subject.status.value, "reason": subject.reason}
    return initiations.show(subject)
