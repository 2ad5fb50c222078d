"""Time travel: waiting, looking ahead, forking, and asking why (choice 10)."""

from datetime import timedelta
from itertools import islice
from typing import Any

from flask import Response

from sandbox.bank.state import Bank
from sandbox.bank.timeline import coming as timeline_of
from sandbox.banking.durations import write_instant
from sandbox.web.api.replies import json_response
from sandbox.web.controls.arrivals import arrived
from sandbox.web.controls.world_views import shown
from sandbox.world.await_status import foresee
from sandbox.world.registry import Worlds
from sandbox.world.world import World

WITHIN = timedelta(days=400)  # when the caller names none: beyond any execution date
SHOWN_MAX = 1_000


def wait(world: World, body: dict[str, Any]) -> dict[str, Any]:
    """Moves bank time from event to event until the status holds."""
    payment_id, status, within = body["payment_id"], body["status"], body.get("within", WITHIN)
    before = world.ask(lambda bank: bank.clock.now)
    held = foresee(world, payment_id, status, within)
    world.set_pace(lambda now: (max(now, held), world.pace.rate))
    waited = (held - before).total_seconds()
    return {
        "payment_id": payment_id,
        "status": status.value,
        "at": write_instant(held),
        "waited": int(waited) if waited == int(waited) else waited,
    }


def timeline(world: World) -> dict[str, Any]:
    """What will happen next, soonest first; what no longer matters is left out."""
    return {"timeline": world.ask(_coming)}


def _coming(bank: Bank) -> list[dict[str, Any]]:
    return [
        {"at": write_instant(promise.at), "subject": promise.subject_id, "trigger": promise.trigger.value}
        for promise in islice(timeline_of(bank), SHOWN_MAX)
    ]


def fork(worlds: Worlds, name: str, body: dict[str, Any]) -> Response:
    """Makes a copy of the world as it is, or was at a time; both go on apart."""
    twin = worlds.fork(name, body["as"], body.get("at"), replacing=body.get("replace", False))
    return json_response(shown(twin), 201)


def rewind(worlds: Worlds, name: str, body: dict[str, Any]) -> dict[str, Any]:
    """Takes the world back to a time; what came later is gone."""
    return shown(worlds.fork(name, name, body["at"], replacing=True))


def callbacks(world: World, query: dict[str, Any]) -> dict[str, Any]:
    """Where customers without a browser were sent back to."""
    return {"callbacks": arrived(world, query.get("since", 0))}
