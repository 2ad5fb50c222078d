"""The PSU without a browser: the same verbs as the pages, and where customers were sent back to (choice 10)."""

from collections.abc import Iterable
from contextlib import suppress
from threading import Lock
from typing import Any

import orjson

from sandbox.bank import behaviours, consents, psu_actions, returns, signing
from sandbox.bank.records import CallbackNote
from sandbox.bank.state import Bank
from sandbox.bank.subjects import Batch
from sandbox.banking.durations import write_instant
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.reasons import USUAL_REASONS, Reason
from sandbox.web.api.faults import WayBack, way_back
from sandbox.web.controls import initiations
from sandbox.web.controls.control_row import Control
from sandbox.web.controls.request_bodies import refuse as refusal
from sandbox.worlds.world import World


def approve(world: World, body: dict[str, Any]) -> dict[str, Any]:
    (token, state), ibans = body["address"], body.get("accounts", ())
    if state is None and world.decisions.no_state == "refused":
        raise refusal("state", "the bank opens no address without it")
    chosen = body.get("customer"), body.get("account"), ibans, state
    return _way_shown(way_back(world, world.act(psu_actions.approve, token, *chosen, *_method(body))))


def _method(body: dict[str, Any]) -> tuple[str, ...]:
    """How the customer signs, where the tester says so."""
    return (body["method"],) if "method" in body else ()


def _way_shown(way: WayBack) -> dict[str, Any]:
    """As a fault rule has it: lost is null, twice is said by `times`."""
    return {"redirect": way.address} | ({"times": way.times} if way.times > 1 else {})


def refuse(world: World, body: dict[str, Any]) -> dict[str, Any]:
    if "payment_id" in body:
        return _refuse_in_channel(world, body)
    if "address" not in body:
        raise Refusal(Error.INPUT_MISSING, input="address")
    token, state = body["address"]
    return _way_shown(way_back(world, world.act(psu_actions.refuse, token, body.get("customer"), state)))


def _refuse_in_channel(world: World, body: dict[str, Any]) -> dict[str, Any]:
    """A further signer refuses what waits in the bank's own channel."""
    for name in body:
        if name not in ("payment_id", "customer"):
            raise refusal(name, "with payment_id only customer is sent")
    if "customer" not in body:
        raise Refusal(Error.INPUT_MISSING, input="customer")
    status = world.act(signing.refuse_in_channel, body["payment_id"], body["customer"])
    return {"payment_id": body["payment_id"], "status": status.value, "reason": Reason.PSU_REFUSED.code}


def sign(world: World, body: dict[str, Any]) -> dict[str, Any]:
    status = world.act(signing.sign_in_channel, body["payment_id"], body["customer"], *_method(body))
    return {"payment_id": body["payment_id"], "status": status.value}


def withdraw(world: World, body: dict[str, Any]) -> dict[str, Any]:
    return {"withdrawn": world.act(consents.withdraw, body["client_id"], body["customer"], body["scope"])}


def move(world: World, body: dict[str, Any], payment_id: str) -> dict[str, Any]:
    world.act(behaviours.force, payment_id, body["status"], body.get("reason"))
    return world.ask(shown, payment_id)


def send_back(world: World, row: Control, body: dict[str, Any], payment_id: str) -> dict[str, Any]:
    """A return or a recall, as the last word of the path says."""
    back = row.list_name
    world.act(returns.send_back_now, payment_id, back, body.get("reason") or USUAL_REASONS[back])
    return world.ask(shown, payment_id)


def shown(bank: Bank, subject_id: str) -> dict[str, Any]:
    subject = bank.subject(subject_id)
    if isinstance(subject, Batch):
        return {"payment_id": subject.id, "status": subject.status.value, "reason": subject.reason}
    return initiations.show(subject)


KEEPS = "arrivals"


class Arrivals:
    """The way back of each callback, decided once, when it is first looked at."""

    def __init__(self, ways: dict[int, WayBack] | None = None) -> None:
        self._ways = ways or {}
        self._lock = Lock()

    def packed(self) -> bytes:
        return orjson.dumps([[seq, *way] for seq, way in self._ways.items()])

    copied = packed

    def rows(self, world: World, callbacks: Iterable[CallbackNote]) -> list[dict[str, Any]]:
        with self._lock:  # a late one is late for everyone who looks
            return [self._row(world, callback) for callback in callbacks]

    def forget(self, before: int) -> None:
        """Drops the ways of callbacks that the bank has dropped."""
        self._ways = {seq: way for seq, way in self._ways.items() if seq >= before}

    def _row(self, world: World, callback: CallbackNote) -> dict[str, Any]:
        way = self._ways.get(callback.seq)
        if way is None:
            way = self._ways[callback.seq] = way_back(world, callback.redirect)
        return callback._asdict() | {"at": write_instant(callback.at)} | _way_shown(way)


def made(content: bytes | None) -> Arrivals:
    """From what was packed; what cannot be read is decided anew."""
    with suppress(ValueError, TypeError):
        if content is not None:
            return Arrivals({seq: WayBack(address, times) for seq, address, times in orjson.loads(content)})
    return Arrivals()


def callbacks(world: World, query: dict[str, Any]) -> list[dict[str, Any]]:
    """Where customers were sent back to. Those before `since` are decided too: a fault's `nth` counts each of them."""
    found = world.ask(lambda bank: tuple(bank.callbacks))
    arrivals = world.keep(KEEPS, made)
    assert isinstance(arrivals, Arrivals)
    arrivals.forget(found[0].seq if found else 0)
    return [row for row in arrivals.rows(world, found) if row["seq"] > query.get("since", 0)]
