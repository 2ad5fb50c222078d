"""What it costs that customers live on: ten years in one jump, and the weight of worlds whose clock stands."""

import gc
import tracemalloc
from collections.abc import Iterator
from statistics import median
from time import process_time

from bench.table import Figure
from sandbox.app import make_first_beginning
from sandbox.bank import timeline
from sandbox.banking.durations import read_instant
from sandbox.contract.decisions_sandbox import OnOff
from sandbox.machine import machine_time
from sandbox.people import open_bank
from sandbox.worlds.registry import WorldRegistry

OPENING = "2027-03-01T09:00:00+01:00"
YEARS = 10
WORLDS = 300


def jump() -> float:
    """Seconds for ten years of all customers, from books that are open."""
    beginning = make_first_beginning(seed=1, life="on")
    bank = open_bank(beginning.fixtures, 1, read_instant(OPENING), beginning.settings)
    assert bank.ledger.past.count
    gc.collect()
    began = process_time()
    timeline.advance(bank, read_instant(f"{2027 + YEARS}-03-01T09:00:00+01:00"))
    assert bank.ledger.posted > 20_000
    return process_time() - began


def weight(life: OnOff) -> float:
    """Bytes of a world that was called and whose clock stands."""
    worlds = WorldRegistry(make_first_beginning(1, read_instant(OPENING), 0.0, life=life), machine_time)
    worlds.get("first").ask(lambda bank: bank.next_at)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for number in range(WORLDS):
        worlds.get(f"world-{number}").ask(lambda bank: bank.next_at)
    gc.collect()
    weighed = (tracemalloc.get_traced_memory()[0] - before) / WORLDS
    tracemalloc.stop()
    return weighed


def life(rounds: int = 3) -> Iterator[Figure]:
    yield Figure(
        f"life: {YEARS} years of all customers in one jump", median(jump() for _ in range(rounds)), "s", most=2
    )
    without, living = weight("off"), weight("on")
    yield Figure("life: a world whose clock stands", living, "bytes", without, living / without, most=1.1)
