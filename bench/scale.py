"""What worlds cost in a shared database: `python -m bench.scale --state postgresql://... --worlds 200`."""

import argparse
import json
import sys
from pathlib import Path
from time import perf_counter, process_time

from sandbox.app import assemble, first_beginning
from sandbox.machine import machine_time, seconds_since_boot
from sandbox.world.log.stores import open_store
from sandbox.world.registry import Worlds
from tests.tpp import Tpp

PAYMENTS = 10  # of each world


def resident() -> int:
    """Bytes of memory that this process holds."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def measured(state: str, count: int) -> dict[str, float]:
    store = open_store(state, seconds_since_boot, lease=30.0)
    try:
        worlds = Worlds(first_beginning(seed=7), machine_time, store)
        app = assemble(worlds)
        Tpp(app, "default").initiated()  # what is loaded once
        before, disk, cpu, began = resident(), store.size(), process_time(), perf_counter()
        for number in range(count):
            tpp = Tpp(app, f"w{number}")
            for _ in range(PAYMENTS):
                tpp.initiated()
        calls = count * PAYMENTS
        found = {
            "memory_kb_each_world": (resident() - before) / count / 1000,
            "database_kb_each_world": (store.size() - disk) / count / 1000,
            "cpu_ms_each_payment": (process_time() - cpu) / calls * 1000,
            "wall_ms_each_payment": (perf_counter() - began) / calls * 1000,
        }
        away = [world for world in worlds.in_memory() if worlds.put_away(world)]
        began = perf_counter()
        for world in away:
            world.loaded()
        found["take_over_ms"] = (perf_counter() - began) / len(away) * 1000
        return {name: round(value, 2) for name, value in found.items()}
    finally:
        store.close()


def main() -> None:
    words = argparse.ArgumentParser(prog="python -m bench.scale")
    words.add_argument("--state", required=True, help="an empty PostgreSQL database")
    words.add_argument("--worlds", type=int, default=200)
    given = words.parse_args()
    sys.stdout.write(f"{json.dumps(measured(given.state, given.worlds), indent=1)}\n")


if __name__ == "__main__":
    main()
