"""Callbacks of customers without a browser, as they arrive: faults and axes of the way back count for them too."""

from collections.abc import Iterable
from contextlib import suppress
from threading import Lock
from typing import Any

import orjson

from sandbox.bank.records import Callback
from sandbox.banking.durations import write_instant
from sandbox.web.api.edge_faults import WayBack, way_back
from sandbox.world.world import World

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


def arrived(world: World, since: int) -> list[dict[str, Any]]:
    """The callbacks after a number. All before them are decided first: a fault's `nth` counts each of them."""
    callbacks = world.ask(lambda bank: tuple(bank.callbacks))
    arrivals = world.keep(KEEPS, made)
    assert isinstance(arrivals, Arrivals)
    arrivals.forget(callbacks[0].seq if callbacks else 0)
    rows = arrivals.rows(world, callbacks)
    return [row for row in rows if row["seq"] > since]
