"""A state file with 100,000 acts: what it costs to write it, and to start from it."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING
from uuid import UUID

from bench.servers import CALLBACK, SCT
from bench.table import Figure

if TYPE_CHECKING:
    from sandbox.worlds.world import World

ACTS = 100_000
MORNING = "2027-03-01T09:00:00+01:00"


def filled(path: Path, acts: int) -> list[float]:
    """A state file with so many acts; milliseconds of each."""
    from sandbox.app import make_first_beginning
    from sandbox.banking.durations import read_instant
    from sandbox.machine import machine_time
    from sandbox.storage.store import open_store
    from sandbox.worlds.registry import WorldRegistry

    store = open_store(path)
    took = fill(
        WorldRegistry(make_first_beginning(1, read_instant(MORNING), 0.0), machine_time, store).get("default"), acts
    )
    store.close()
    return took


def fill(world: "World", acts: int) -> list[float]:
    """Payments that are initiated and then declined, each act stored before the next; milliseconds of each."""
    from sandbox.bank import payments, psu_actions
    from sandbox.bank.initiations import RequestKey
    from sandbox.bank.records import Creditor, Origin, PaymentRequest
    from sandbox.banking.money import Money

    order = PaymentRequest(SCT, Money.read("12.50", "EUR"), Creditor("BE68539007547034"), "Jan Peeters", "INVOICE-1")
    origin = Origin("demo-tpp", CALLBACK, "fr", ("S256", "c" * 43))
    took = []
    for number in range(acts // 2):
        began = perf_counter()
        made = world.act(
            payments.initiate, order, origin, RequestKey("demo-tpp", str(UUID(int=number, version=4)), b"")
        )
        between = perf_counter()
        world.act(psu_actions.refuse, made.sca_token, "alice", None)
        took += [(between - began) * 1000, (perf_counter() - between) * 1000]
    return took


def started(path: Path) -> float:
    """Seconds until a server that was killed listens again."""
    words = ["serve", "--port", "0", "--frozen", "--log", "off", "--state", str(path)]
    began = perf_counter()
    server = subprocess.Popen(
        [sys.executable, "-m", "sandbox", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert server.stdout is not None
    server.stdout.readline()
    took = perf_counter() - began
    server.send_signal(signal.SIGKILL)
    server.wait()
    server.stdout.close()
    return took


def lasting(acts: int = ACTS) -> Iterator[Figure]:
    with TemporaryDirectory() as folder:
        path = Path(folder, "bank.state")
        took = filled(path, acts)
        cuts = quantiles(took, n=100)
        yield Figure(f"acts into a state file, {acts:,}", acts / sum(took) * 1000, "acts/s", p50=cuts[49], p99=cuts[98])
        yield Figure("the longest of them", max(took), "ms")
        yield Figure(f"start with {acts:,} acts", min(started(path) for _ in range(3)), "s", most=3)
        yield Figure("the state file", path.stat().st_size / 2**20, "MiB")
