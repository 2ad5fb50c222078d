"""Time travel: waiting, looking ahead and forking; and where customers arrived in the meantime (choice 10)."""

from collections.abc import Iterable
from contextlib import suppress
from datetime import timedelta
from itertools import islice
from threading import Lock
from typing import Any

import orjson

from sandbox.bank.records import Callback
from sandbox.bank.state import Bank
from sandbox.bank.timeline import coming as timeline_of
from sandbox.banking.durations import write_instant
from sandbox.web.api.edge_faults import WayBack, way_back
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


def timeline(bank: Bank) -> list[dict[str, Any]]:
    """What will happen next, soonest first; what no longer matters is left out."""
    return [
        {"at": write_instant(promise.at), "subject": promise.subject_id, "trigger": promise.trigger.value}
        for promise in islice(timeline_of(bank), SHOWN_MAX)
    ]


def fork(worlds: Worlds, name: str, body: dict[str, Any]) -> dict[str, Any]:
    """Makes a copy of the world as it is, or was at a time; both go on apart."""
    twin = worlds.fork(name, body["as"], body.get("at"), replacing=body.get("replace", False))
    return shown(twin)


def rewind(worlds: Worlds, name: str, body: dict[str, Any]) -> dict[str, Any]:
    """Takes the world back to a time; what came later is gone."""
    return shown(worlds.fork(name, name, body["at"], replacing=True))


KEEPS = "arrivals"


class Arrivals:
    """The way back of each callback, decided once, when it is first looked at."""

    def __init__(self, ways: dict[int, WayBack] | None = None) -> None:
        self._ways = ways or {}
        self._lock = Lock()

    def packed(self) -> bytes:
        return orjson.dumps([[seq, *way] for seq, way in self._ways.items()])

    copied = packed

    def rows(self, world: World, callbacks: Iterable[Callback]) -> list[dict[str, Any]]:
        """A callback that was lost has no address; one that came twice has `times`."""
        with self._lock:  # a late one is late for everyone who looks
            return [self._row(world, callback) for callback in callbacks]

    def forget(self, before: int) -> None:
        """Drops the ways of callbacks that the bank has dropped."""
        self._ways = {seq: way for seq, way in self._ways.items() if seq >= before}

    def _row(self, world: World, callback: Callback) -> dict[str, Any]:
        way = self._ways.get(callback.seq)
        if way is None:
            way = self._ways[callback.seq] = way_back(world, callback.redirect)
        row = callback._asdict() | {"at": write_instant(callback.at), "redirect": way.address}
        return row | ({"times": way.times} if way.times > 1 else {})


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
