"""A bank that holds many payments already, filled through the door of its world: `python -m bench.filled 200000 4`.

With a path as third argument it keeps them in a state file.
"""

import gc
import sys
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path

from bench.servers import CALLBACK
from sandbox.app import assemble, first_beginning
from sandbox.bank import payments
from sandbox.bank.initiations import Ask
from sandbox.bank.records import Creditor, Order, Origin
from sandbox.banking.durations import read_instant
from sandbox.banking.money import Money
from sandbox.machine import machine_time, stopwatch
from sandbox.serve.server import port_of, server_of
from sandbox.world.log.collector import tend
from sandbox.world.log.store import Store
from sandbox.world.registry import Worlds
from sandbox.world.world import World

AMOUNT = Money(Decimal("12.50"), "EUR")
CREDITOR = Creditor("BE68539007547034")


LARGE = 100_000  # payments
NEARLY = 200  # acts before the next checkpoint or compaction
SETTLED = timedelta(minutes=10)  # until nothing falls due soon


def fill(world: World, count: int) -> None:
    """As so many POSTs would leave it; a large one then stands a few acts before its next checkpoint."""
    number = 0
    while number < 0.9 * count or (count >= LARGE and acts_left(world) > NEARLY):
        reference = f"FILLED-{number}"
        order = Order("sepa-credit-transfers", AMOUNT, CREDITOR, "Jan Peeters", reference, unstructured=reference)
        challenge = "S256", f"{'c' * 33}{number:010d}"
        origin = Origin("demo-tpp", CALLBACK, "fr", challenge)
        asked = Ask("demo-tpp", f"{number:08x}-0000-4000-8000-000000000000", number.to_bytes(16))
        world.act(payments.initiate, order, origin, asked)
        number += 1
    world.set_pace(later)


def acts_left(world: World) -> int:
    return world.log.acts_until_checkpoint(world.bank.settings.acts_kept)


def later(now: datetime) -> tuple[datetime, float]:
    return now + SETTLED, 0.0


def main(count: int, threads: int, path: Path | None = None) -> None:
    gc.disable()
    store = None if path is None else Store(path)
    worlds = Worlds(first_beginning(1, read_instant("2027-03-01T08:50:00+01:00"), 0.0), machine_time, store)
    fill(worlds.get("default"), count)
    gc.enable()
    tend(stopwatch)
    server = server_of(assemble(worlds), "127.0.0.1", 0, threads)
    print(f"listening on http://127.0.0.1:{port_of(server)}", flush=True)
    server.run()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), *map(Path, sys.argv[3:]))
