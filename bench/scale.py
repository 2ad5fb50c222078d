"""What worlds cost in a shared database: `python -m bench.scale --state postgresql://... --worlds 200`.

With `--listed 100000`, so many worlds are put into the database as rows, and the list of worlds is read page by page.
With `--made 100000`, a server makes so many worlds; then another one starts, lists them and is called for some of them.
The state of these two may be a file too.
"""

import argparse
import gc
import json
import sys
from pathlib import Path
from time import perf_counter, process_time

from sandbox.app import assemble, make_first_beginning
from sandbox.machine import machine_time
from sandbox.storage.marks import compute_checksum
from sandbox.storage.store import Store, compute_seal, open_store
from sandbox.worlds.registry import Room, WorldRegistry
from tests.tpp import Tpp

PAYMENTS = 10  # of each world
KEPT = 2_000  # worlds that the servers of `made` have in memory
CALLED = 1_000  # worlds of `made` that are called
SLICE = 2_000  # worlds that are put into the database at once


def resident() -> int:
    """Bytes of memory that this process holds."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def measured(state: str, count: int) -> dict[str, float]:
    store = open_store(state)
    try:
        worlds = WorldRegistry(make_first_beginning(seed=7), machine_time, store)
        app = assemble(worlds)
        Tpp(app, "default").initiated()  # what is loaded once
        before, disk, cpu, began = resident(), store.database.read_size(), process_time(), perf_counter()
        for number in range(count):
            tpp = Tpp(app, f"w{number}")
            for _ in range(PAYMENTS):
                tpp.initiated()
        calls = count * PAYMENTS
        found = {
            "memory_kb_each_world": (resident() - before) / count / 1000,
            "database_kb_each_world": (store.database.read_size() - disk) / count / 1000,
            "cpu_ms_each_payment": (process_time() - cpu) / calls * 1000,
            "wall_ms_each_payment": (perf_counter() - began) / calls * 1000,
        }
        away = [world for world in worlds.list_in_memory() if worlds.put_away(world)]
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
                compute_checksum(world, name, default.beginning),
                compute_seal(default.position._replace(world=world), default.until),
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
        client = assemble(WorldRegistry(make_first_beginning(seed=7), machine_time, store)).test_client()
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


def made(state: str, count: int) -> dict[str, float]:
    """Worlds that a server makes one by one, and another server that starts among them."""
    beginning = make_first_beginning(seed=7)
    store = open_store(state)
    try:
        worlds = WorldRegistry(beginning, machine_time, store, Room(worlds_max=KEPT))
        cpu, disk = process_time(), store.database.read_size()
        for number in range(count):
            worlds.get(f"made-{number}")
        found = {"make_ms_each": (process_time() - cpu) / count * 1000}
    finally:
        store.close()
    del worlds
    gc.collect()  # what this server had in memory is not to be collected while the next one is measured
    cpu, began = process_time(), perf_counter()
    store = open_store(state)
    try:
        worlds = WorldRegistry(beginning, machine_time, store, Room(worlds_max=KEPT))
        client = assemble(worlds).test_client()
        assert client.get("/_sandbox/clock").status_code == 200
        found |= {"start_s": perf_counter() - began, "start_cpu_s": process_time() - cpu}
        if not store.is_shared:  # a database counts what grows with calls, and no beginnings
            found["state_kb_each"] = (store.database.read_size() - disk) / count / 1000
        cpu = process_time()
        assert len(client.get("/_sandbox/worlds?limit=1000").get_json()["worlds"]) == 1000
        found["page_cpu_s"] = process_time() - cpu
        Tpp(client.application, "default").initiated()  # what is loaded once
        called = range(0, count, count // CALLED)
        cpu = process_time()
        for number in called:
            Tpp(client.application, f"made-{number}").initiated()
        found["first_call_cpu_ms"] = (process_time() - cpu) / len(called) * 1000
        return {name: round(value, 3) for name, value in found.items()}
    finally:
        store.close()


def main() -> None:
    words = argparse.ArgumentParser(prog="python -m bench.scale")
    words.add_argument("--state", required=True, help="an empty PostgreSQL database, or a new file")
    words.add_argument("--worlds", type=int, default=200)
    words.add_argument("--listed", type=int, help="only fill the list with so many worlds, and read it")
    words.add_argument("--made", type=int, help="make so many worlds, and start among them")
    given = words.parse_args()
    if given.made:
        found = made(given.state, given.made)
    else:
        found = listed(given.state, given.listed) if given.listed else measured(given.state, given.worlds)
    sys.stdout.write(f"{json.dumps(found, indent=1)}\n")


if __name__ == "__main__":
    main()
