"""A bank that holds many payments already, filled through the door of its world: `python -m bench.filled 200000 4`.

With a path as third argument it keeps them in a state file. `python -m bench.filled due:8000 4` has so many signed
payments, which are all executed at the same instant.
"""

import gc
import sys
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path

from bench.servers import CALLBACK
from sandbox.app import assemble, make_first_beginning
from sandbox.bank import behaviours, payments
from sandbox.bank.initiations import RequestKey
from sandbox.bank.records import Creditor, Debtor, Origin, PaymentRequest
from sandbox.banking.durations import read_instant
from sandbox.banking.money import Money
from sandbox.contract.moves import Status
from sandbox.machine import machine_time, stopwatch
from sandbox.server.server import find_port, make_server
from sandbox.storage import checkpoint
from sandbox.storage.long_work import keep_pauses_short
from sandbox.storage.memory_log import MemoryLog
from sandbox.storage.store import open_store
from sandbox.worlds.clock_moves import move_clock
from sandbox.worlds.registry import WorldRegistry
from sandbox.worlds.world import World

AMOUNT, CENT = (Money(Decimal(amount), "EUR") for amount in ("12.50", "0.01"))
PAYS = Debtor("BE63539100004808", "EUR")
CREDITOR = Creditor("BE68539007547034")


DUE = "due:"
LARGE = 100_000  # payments
NEARLY = 200  # acts before the next checkpoint or compaction
SETTLED = timedelta(minutes=10)  # until nothing falls due soon
CHECKED = timedelta(seconds=5)  # until it may be signed


def fill(world: World, count: int) -> None:
    """As so many POSTs would leave it; a large one then stands a few acts before its next checkpoint."""
    number = 0
    while number < 0.9 * count or (count >= LARGE and acts_left(world) > NEARLY):
        initiate(world, number, AMOUNT)
        number += 1
    move_clock(world, partial(later, SETTLED))


def initiate(world: World, number: int, amount: Money, debtor: Debtor | None = None) -> str:
    """A payment as its POST makes it; the answer is its id."""
    reference = f"FILLED-{number}"
    order = PaymentRequest(
        "sepa-credit-transfers", amount, CREDITOR, "Jan Peeters", reference, debtor=debtor, unstructured=reference
    )
    origin = Origin("demo-tpp", CALLBACK, "fr", ("S256", f"{'c' * 33}{number:010d}"))
    asked = RequestKey("demo-tpp", f"{number:08x}-0000-4000-8000-000000000000", number.to_bytes(16))
    return world.act(payments.initiate, order, origin, asked).payment_id


def fill_due(world: World, count: int) -> None:
    """Signed at the same time, as time stands still."""
    ids = [initiate(world, number, CENT, PAYS) for number in range(count)]
    move_clock(world, partial(later, CHECKED))
    for payment_id in ids:
        world.act(behaviours.force, payment_id, Status.PDNG, None)


def acts_left(world: World) -> int:
    """Before the next checkpoint."""
    log = world.log
    if isinstance(log, MemoryLog):
        return log.count_until_checkpoint(world.bank.settings.acts_kept)
    last = world._checkpoint_acts
    return last + max(checkpoint.EVERY, last // checkpoint.SHARE) - len(log)


def later(span: timedelta, now: datetime) -> tuple[datetime, float]:
    return now + span, 0.0


def main(count: str, threads: int, path: Path | None = None) -> None:
    gc.disable()
    store = None if path is None else open_store(path)
    worlds = WorldRegistry(make_first_beginning(1, read_instant("2027-03-01T08:50:00+01:00"), 0.0), machine_time, store)
    how = fill_due if count.startswith(DUE) else fill
    how(worlds.get("default"), int(count.removeprefix(DUE)))
    gc.enable()
    keep_pauses_short(stopwatch)
    server = make_server(assemble(worlds), "127.0.0.1", 0, threads)
    print(f"listening on http://127.0.0.1:{find_port(server)}", flush=True)
    server.run()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *map(Path, sys.argv[3:]))
