"""What worlds cost in a shared database: `python -m bench.scale --state postgresql://... --worlds 200`.

With `--listed 100000`, so many worlds are put into the database as rows, and the list of worlds is read page by page.
"""

import argparse
import json
import sys
from pathlib import Path
from time import perf_counter, process_time

from sandbox.app import assemble, first_beginning
from sandbox.machine import machine_time
from sandbox.world.log.marks import mark_of
from sandbox.world.log.store import Store, open_store, seal_of
from sandbox.world.registry import Worlds
from tests.tpp import Tpp

PAYMENTS = 10  # of each world
SLICE = 2_000  # worlds that are put into the database at once


def resident() -> int:
    """Bytes of memory that this process holds."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def measured(state: str, count: int) -> dict[str, float]:
    store = open_store(state)
    try:
        worlds = Worlds(first_beginning(seed=7), machine_time, store)
        app = assemble(worlds)
        Tpp(app, "default").initiated()  # what is loaded once
        before, disk, cpu, began = resident(), store.database.size(), process_time(), perf_counter()
        for number in range(count):
            tpp = Tpp(app, f"w{number}")
            for _ in range(PAYMENTS):
                tpp.initiated()
        calls = count * PAYMENTS
        found = {
            "memory_kb_each_world": (resident() - before) / count / 1000,
            "database_kb_each_world": (store.database.size() - disk) / count / 1000,
            "cpu_ms_each_payment": (process_time() - cpu) / calls * 1000,
            "wall_ms_each_payment": (perf_counter() - began) / calls * 1000,
        }
        away = [world for world in worlds.in_memory() if worlds.put_away(world)]
        began = perf_counter()
        for world in away:
            assert world.bank  # loads it
        found["load_ms"] = (perf_counter() - began) / len(away) * 1000
        return {name: round(value, 2) for name, value in found.items()}
    finally:
        store.close()


def add_worlds(store: Store, count: int) -> None:
    """Worlds that begin as the default one does and were never called, each with its marks."""
    default = store.find("default")
    assert default is not None and not default.acts
    for begin in range(0, count, SLICE):
        values: list[object] = []
        for number in range(begin + 1, min(begin + SLICE, count) + 1):
            world, name = default.id ^ number, f"listed-{number}"
            values += [
                world,
                name,
                mark_of(world, name, default.beginning),
                seal_of(default.position._replace(world=world), default.until),
            ]
        places = ", ".join(["(?, ?, ?, ?)"] * (len(values) // 4))
        query = f"""INSERT INTO worlds
  SELECT n.id, n.name, beginning, n.mark, acts, head, noted, version, until, n.seal, used
  FROM worlds d, (VALUES {places}) AS n (id, name, mark, seal) WHERE d.name = 'default'"""
        store.database.write(query, *values)


def listed(state: str, count: int) -> dict[str, float]:
    """Seconds of a page of the list, by the machine's clock."""
    store = open_store(state)
    try:
        client = assemble(Worlds(first_beginning(seed=7), machine_time, store)).test_client()
        add_worlds(store, count)
        took, names, after, cpu = [], 0, "", process_time()
        while True:
            began = perf_counter()
            page = client.get(f"/_sandbox/worlds?limit=1000{after and f'&after={after}'}").get_json()
            took.append(perf_counter() - began)
            names += len(page["worlds"])
            if "next" not in page:
                break
            after = page["next"]
        assert names == count + 1, names
        found = {"pages": len(took), "median_s": sorted(took)[len(took) // 2], "most_s": max(took), "all_s": sum(took)}
        return {name: round(value, 3) for name, value in {**found, "cpu_s": process_time() - cpu}.items()}
    finally:
        store.close()


def main() -> None:
    words = argparse.ArgumentParser(prog="python -m bench.scale")
    words.add_argument("--state", required=True, help="an empty PostgreSQL database")
    words.add_argument("--worlds", type=int, default=200)
    words.add_argument("--listed", type=int, help="only fill the list with so many worlds, and read it")
    given = words.parse_args()
    found = listed(given.state, given.listed) if given.listed else measured(given.state, given.worlds)
    sys.stdout.write(f"{json.dumps(found, indent=1)}\n")


if __name__ == "__main__":
    main()
