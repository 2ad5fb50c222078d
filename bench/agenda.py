"""How fast ten years go by: `python -m bench.agenda 1000`, a process of its own."""

import gc
import subprocess
import sys
from collections.abc import Iterator
from statistics import median
from time import process_time

from bench.regular import filled
from bench.table import Figure
from sandbox.bank import timeline
from sandbox.banking.durations import read_instant
from sandbox.machine import stopwatch
from sandbox.world.log.collector import tend

YEARS = 10


def main(orders: int) -> None:
    """Prints how many events a second a core got through: executions of monthly standing orders, each booked."""
    bank = filled(orders)
    gc.collect()
    tend(stopwatch)
    began = process_time()
    timeline.advance(bank, read_instant(f"{2027 + YEARS}-01-01T09:00:00+01:00"))
    seconds = process_time() - began
    events = sum(len(order.runs) for order in bank.standing_orders.values())
    assert events == 12 * YEARS * orders, f"{events} executions of {orders} orders"
    print(events / seconds)


def agenda(orders: int = 1_000, rounds: int = 3) -> Iterator[Figure]:
    def rate() -> float:
        told = subprocess.run([sys.executable, "-m", "bench.agenda", str(orders)], capture_output=True, check=True)
        return float(told.stdout)

    name = f"agenda: booked executions a second, {orders:,} orders over {YEARS} years"
    yield Figure(name, median(rate() for _ in range(rounds)), "1/s", least=100_000)


if __name__ == "__main__":
    main(int(sys.argv[1]))
