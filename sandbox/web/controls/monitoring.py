"""What watches a server: whether it is ready, and figures for Prometheus by the extra [metrics] (choice 10).

The figures are read when they are asked for, so that calls hardly pay for them.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from flask import Response

from sandbox.contract.errors import Error, Refusal
from sandbox.contract.kinds import KINDS
from sandbox.storage.format import StateFileError
from sandbox.storage.store import Store
from sandbox.worlds.counts import UP_TO, Tally
from sandbox.worlds.registry import Worlds
from sandbox.worlds.world import World

if TYPE_CHECKING:
    from prometheus_client.core import Metric

PREFIX = "bank_sandbox"
BOUNDS = (*map(str, UP_TO), "+Inf")


def health(worlds: Worlds, query: dict[str, Any]) -> dict[str, Any]:
    """Ready: calls are answered, and what they do is kept. `?live` asks only whether anybody is there."""
    if "live" in query:
        return {"status": "live"}
    store = worlds.store
    if store is None:
        return {"status": "ready"}
    try:
        store.demand_writable()  # asks the file again, if it could not be written
    except StateFileError as trouble:
        raise Refusal(Error.NOT_READY, why=str(trouble)) from None
    shown = {"notes": list(store.notes)} if store.notes else {}
    return {"status": "ready"} | ({"state_file": shown} if shown else {})


def tally_if_on() -> Tally | None:
    """Nothing is counted where nobody could read it."""
    return Tally() if find_spec("prometheus_client") else None


def metrics(worlds: Worlds) -> Response:
    if worlds.tally is None:
        raise Refusal(Error.METRICS_MISSING)
    from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, ProcessCollector, generate_latest

    registry = CollectorRegistry()
    registry.register(Figures(worlds, worlds.tally))
    ProcessCollector(registry=registry)
    return Response(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


class Figures:
    """A collector, as the library asks for one. No label bears a world's name, or anything that a client sent."""

    def __init__(self, worlds: Worlds, tally: Tally) -> None:
        self.worlds = worlds
        self.tally = tally

    def collect(self) -> "Iterator[Metric]":
        for world in self.worlds.in_memory():
            with suppress(StateFileError, Refusal):  # a world that is gone or cannot be read back costs no figure
                world.deliver_calls()
        text = "Calls of the bank's interface, as they were answered."
        calls = _family("Counter", "calls", text, labels=("operation", "status"))
        for (operation, status), count in sorted(self.tally.calls().items()):
            calls.add_metric((operation, str(status)), count)
        yield calls
        times = _family("Histogram", "call_seconds", "How long calls took.", labels=("operation",))
        for operation, (buckets, seconds) in sorted(self.tally.times().items()):
            rising = list(zip(BOUNDS, accumulate(buckets), strict=True))
            times.add_metric((operation,), buckets=rising, sum_value=seconds)
        yield times
        yield from self._size_metrics()
        if self.worlds.store is not None:
            yield from _state_file(self.worlds.store)

    def _size_metrics(self) -> "Iterator[Metric]":
        here = self.worlds.in_memory()
        worlds = _family("Gauge", "worlds", "Worlds in memory, and put away to the state file.", labels=("state",))
        worlds.add_metric(("away",), self.worlds.counts[1] - len(here))
        worlds.add_metric(("live",), len(here))
        yield worlds
        held: Counter[tuple[str, str]] = Counter()
        acts = 0
        for world in here:
            with suppress(StateFileError, Refusal):
                held.update(statuses_of(world))
            acts += world.acts
        text = "Initiations by status, of worlds in memory."
        initiations = _family("Gauge", "initiations", text, labels=("kind", "status"))
        for labels, count in sorted(held.items()):
            initiations.add_metric(labels, count)
        yield initiations
        yield _family("Gauge", "acts", "Acts in the logs of worlds in memory.", value=acts)


def _state_file(store: Store) -> "Iterator[Metric]":
    written = {"count_value": store.commits, "sum_value": store.commit_seconds}
    yield _family("Summary", "state_file_flush_seconds", "How long writing acts to the state took.", **written)
    yield _family("Gauge", "state_file_bytes", "What is stored.", value=store.database.size())
    is_writable = store.database.trouble is None
    yield _family("Gauge", "state_file_writable", "0 after a write failed.", value=int(is_writable))


def _family(kind: str, name: str, text: str, **given: Any) -> Any:
    """A family of metrics of the library: a Counter, Gauge, Histogram or Summary, with its value or its labels."""
    from prometheus_client import core

    return getattr(core, f"{kind}MetricFamily")(f"{PREFIX}_{name}", text, **given)


def statuses_of(world: World) -> Counter[tuple[str, str]]:
    """As they stand in memory: a world that is unloaded at this moment counts as nothing, and is not reloaded."""
    if world.in_memory is None:
        return Counter()
    held = world.look(lambda bank: [(name, list(bank.register_of(kind).values())) for name, kind in KINDS.items()])
    return Counter((name, one.status.value) for name, found in held for one in found)
