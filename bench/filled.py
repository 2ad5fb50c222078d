"""A bank that holds many payments already, filled through the door of its world: `python -m bench.filled 200000 4`."""

import gc
import sys
from decimal import Decimal

from bench.servers import CALLBACK
from sandbox.app import assemble, first_beginning
from sandbox.bank import payments
from sandbox.bank.first_replies import Ask
from sandbox.bank.records import Creditor, Order, Origin
from sandbox.banking.money import Money
from sandbox.cli import rest_the_collector
from sandbox.machine import machine_time
from sandbox.serve.server import port_of, server_of
from sandbox.world.registry import Worlds
from sandbox.world.world import World

AMOUNT = Money(Decimal("12.50"), "EUR")
CREDITOR = Creditor("BE68539007547034")


def fill(world: World, count: int) -> None:
    """As so many POSTs would leave it."""
    for number in range(count):
        reference = f"FILLED-{number}"
        order = Order("sepa-credit-transfers", AMOUNT, CREDITOR, "Jan Peeters", reference, unstructured=reference)
        challenge = "S256", f"{'c' * 33}{number:010d}"
        origin = Origin("demo-tpp", CALLBACK, "fr", challenge)
        asked = Ask("demo-tpp", f"{number:08x}-0000-4000-8000-000000000000", number.to_bytes(16))
        world.act(payments.initiate, order, origin, asked)


def main(count: int, threads: int) -> None:
    gc.disable()
    worlds = Worlds(first_beginning(seed=1, rate=0.0), machine_time)
    fill(worlds.get("default"), count)
    gc.enable()
    rest_the_collector()
    server = server_of(assemble(worlds), "127.0.0.1", 0, threads)
    print(f"listening on http://127.0.0.1:{port_of(server)}", flush=True)
    server.run()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
