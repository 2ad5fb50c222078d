"""How fast ten years go by: `python -m bench.agenda 1000`, a process of its own."""

import gc
import subprocess
import sys
from collections.abc import Iterator
from statistics import median
from time import process_time

from bench.bare import heap_seconds
from bench.regular import filled
from bench.table import Figure
from sandbox.bank import timeline
from sandbox.banking.durations import read_instant
from sandbox.machine import stopwatch
from sandbox.storage.long_work import keep_pauses_short

YEARS = 10
LEAST = 0.05  # of a bare heap's events


def main(orders: int) -> None:
    """Prints how many events a second a core got through, executions of monthly standing orders, each booked; and how
    many a bare heap of the same events."""
    bank = filled(orders)
    gc.collect()
    keep_pauses_short(stopwatch)
    began = process_time()
    timeline.advance(bank, read_instant(f"{2027 + YEARS}-01-01T09:00:00+01:00"))
    seconds = process_time() - began
    events = sum(len(order.runs) for order in bank.standing_orders.values())
    assert events == 12 * YEARS * orders, f"{events} executions of {orders} orders"
    print(events / seconds, events / heap_seconds(orders, 12 * YEARS))


def agenda(orders: int = 1_000, rounds: int = 3) -> Iterator[Figure]:
    def rates() -> tuple[float, float]:
        told = subprocess.run([sys.executable, "-m", "bench.agenda", str(orders)], capture_output=True, check=True)
        ours, bare = map(float, told.stdout.split())
        return ours, bare

    pairs = [rates() for _ in range(rounds)]
    ours, bare = (median(side) for side in zip(*pairs, strict=True))
    name = f"agenda: booked executions a second, {orders:,} orders over {YEARS} years, to a bare heap"
    yield Figure(name, ours, "1/s", bare, median(one / other for one, other in pairs), least=LEAST)


if __name__ == "__main__":
    main(int(sys.argv[1]))
