"""Says whether a server is ready, and gives figures to Prometheus if the extra `metrics` is installed (choice 10).

The figures are computed only when somebody asks for them, so calls stay fast. No label contains a world's name, or
anything that a client sent.
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
from sandbox.worlds.counts import UP_TO, Tally
from sandbox.worlds.registry import WorldRegistry
from sandbox.worlds.world import World

if TYPE_CHECKING:
    from prometheus_client.core import Metric

BUCKETS = (*map(str, UP_TO), "+Inf")


def health(worlds: WorldRegistry, query: dict[str, Any]) -> dict[str, Any]:
    """Replies that the server is ready, with facts about its state file if it has one. Raises Refusal while the server
    cannot store calls. With `?live` in the query, replies at once and checks nothing."""
    if "live" in query:
        return {"status": "live"}
    store = worlds.store
    if store is None:
        return {"status": "ready"}
    try:
        store.demand_writable()  # asks the file again, if it could not be written
    except StateFileError as trouble:
        raise Refusal(Error.NOT_READY, why=str(trouble)) from None
    state_row: dict[str, Any] = {
        "bytes": store.read_size(),
        "worlds_expire_after_seconds": worlds.room.worlds_expire,
        "acts_kept": worlds.room.acts_kept,
    }
    if store.notes:
        state_row["notes"] = list(store.notes)
    return {"status": "ready", "state_file": state_row}


def find_tally() -> Tally | None:
    """Returns the counter of calls, or None if the extra `metrics` is not installed."""
    return Tally() if find_spec("prometheus_client") else None


def metrics(worlds: WorldRegistry) -> Response:
    if worlds.tally is None:
        raise Refusal(Error.METRICS_MISSING)
    from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, ProcessCollector, generate_latest

    registry = CollectorRegistry()
    registry.register(Figures(worlds, worlds.tally))
    ProcessCollector(registry=registry)
    return Response(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


class Figures:
    """The collector that prometheus_client asks for the figures of a server. Leaves out the initiations of a world that
    was dropped or cannot be loaded."""

    def __init__(self, worlds: WorldRegistry, tally: Tally) -> None:
        self.worlds = worlds
        self.tally = tally

    def collect(self) -> "Iterator[Metric]":
        for world in self.worlds.list_in_memory():
            with suppress(StateFileError, Refusal):
                world.calls.deliver()
        text = "Calls of the bank's interface, as they were answered."
        calls = _make_family("Counter", "calls", text, labels=("operation", "status"))
        for (operation, status), count in sorted(self.tally.copy_calls().items()):
            calls.add_metric((operation, str(status)), count)
        yield calls
        times = _make_family("Histogram", "call_seconds", "How long calls took.", labels=("operation",))
        for operation, (counts, seconds) in sorted(self.tally.copy_times().items()):
            buckets = list(zip(BUCKETS, accumulate(counts), strict=True))
            times.add_metric((operation,), buckets=buckets, sum_value=seconds)
        yield times
        yield from self._list_world_metrics()
        yield from self._list_state_metrics()

    def _list_world_metrics(self) -> "Iterator[Metric]":
        in_memory = self.worlds.list_in_memory()
        worlds = _make_family("Gauge", "worlds", "Worlds in memory, and put away to the state file.", labels=("state",))
        worlds.add_metric(("away",), self.worlds.counts[1] - len(in_memory))
        worlds.add_metric(("live",), len(in_memory))
        yield worlds
        statuses: Counter[tuple[str, str]] = Counter()
        for world in in_memory:
            with suppress(StateFileError, Refusal):
                statuses.update(count_statuses(world))
        text = "Initiations by status, of worlds in memory."
        initiations = _make_family("Gauge", "initiations", text, labels=("kind", "status"))
        for labels, count in sorted(statuses.items()):
            initiations.add_metric(labels, count)
        yield initiations
        acts = sum(world.acts for world in in_memory)
        yield _make_family("Gauge", "acts", "Acts in the logs of worlds in memory.", value=acts)

    def _list_state_metrics(self) -> "Iterator[Metric]":
        store = self.worlds.store
        if store is not None:
            text = "How long writing acts to the state took."
            written = {"count_value": store.commits, "sum_value": store.commit_seconds}
            yield _make_family("Summary", "state_file_flush_seconds", text, **written)
            yield _make_family("Gauge", "state_file_bytes", "What is stored.", value=store.read_size())
            is_writable = store.database.trouble is None
            yield _make_family("Gauge", "state_file_writable", "0 after a write failed.", value=int(is_writable))


def _make_family(kind: str, name: str, text: str, **content: Any) -> Any:
    """Makes a metric family of prometheus_client, with a value or with labels. `kind` is Counter, Gauge, Histogram or
    Summary."""
    from prometheus_client import core

    return getattr(core, f"{kind}MetricFamily")(f"bank_sandbox_{name}", text, **content)


def count_statuses(world: World) -> Counter[tuple[str, str]]:
    """Counts the initiations by kind and status. Returns no counts for a world that is not in memory, because loading
    it would take long."""
    if world.in_memory is None:
        return Counter()
    registers = world.look(
        lambda bank: [(name, list(bank.find_register(kind).values())) for name, kind in KINDS.items()]
    )
    return Counter((name, initiation.status.value) for name, register in registers for initiation in register)
