"""State files with a flipped bit or a zeroed block: each is told, or tells all that it told before.

SQLite ends its write-ahead log at the first frame that is not as it was written. So damage there may also take the
file back to what it was some commits ago.

`python -m tests.worlds.damage FLIPS BLOCKS SEED` does so many; a failure names what repeats it.
"""

import os
import shutil
import signal
import sys
from collections import Counter
from contextlib import closing
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from sandbox.storage import checkpoint
from sandbox.storage.format import StateFileError
from sandbox.storage.state_hash import hash_state
from sandbox.storage.store import Store, open_store
from sandbox.worlds.clock_moves import move_clock
from sandbox.worlds.faults import CallCondition, Fault, FaultAnswer
from sandbox.worlds.registry import WorldRegistry
from tests.worlds.killed import BEGINNING, initiate

MACHINE = 1_900_000_000.0
ENDS = ("", "-wal")
BLOCK = 512
BLOCKS = (BLOCK, 4096)


def opened(path: Path | str) -> tuple[Store, WorldRegistry]:
    store = open_store(path)
    try:
        return store, WorldRegistry(BEGINNING, lambda: MACHINE, store)
    except BaseException:
        store.close()
        raise


def fill(path: Path | str, killed: bool) -> None:
    """Worlds of all kinds, some with a checkpoint; of a file that was killed, the end is in its WAL alone."""
    checkpoint.EVERY = 10
    store, worlds = opened(path)
    default = worlds.get("default")
    for number in range(14):
        initiate(default, number)
    default.faults.add(Fault("slow", CallCondition(operation="token", nth=3), FaultAnswer(503)))
    worlds.fork("default", "forked", None)
    for number in range(12):
        initiate(worlds.get("forked"), 100 + number)
    running = worlds.make("running", replace(BEGINNING, rate=1.0))
    move_clock(running, lambda now: (now, 2.0))
    initiate(running, 200)
    worlds.make("empty")
    for thread in list(store._background):
        thread.join()
    if killed:
        initiate(default, 300)
        os.kill(os.getpid(), signal.SIGKILL)
    store.close()


def made(folder: Path, killed: bool) -> Path:
    path = folder / ("killed" if killed else "closed")
    child = get_context("fork").Process(target=fill, args=(path, killed))
    child.start()
    child.join(60)
    assert child.exitcode == (-signal.SIGKILL if killed else 0)
    return path


def content(path: Path) -> dict[str, Any]:
    """All that a file holds: each world's bank, acts, clock and faults."""
    store, worlds = opened(path)
    with closing(store):
        found = {world.name: content_of(world) for world in worlds.list_all()}
        if store.notes:
            raise StateFileError("; ".join(store.notes))
        return found


def content_of(world: Any) -> Any:
    faults = world.faults
    return (
        world.ask(hash_state),
        list(world.log),
        world.beginning,
        world.opening,
        world.clock.pace,
        faults.rules,
        faults.met,
    )


def damaged(path: Path, random: Random, zeroed: bool) -> str:
    """One place of a file or of its WAL."""
    sizes = {end: place.stat().st_size for end in ENDS if (place := path.with_name(path.name + end)).exists()}
    at = random.randrange(sum(sizes.values()))
    end = next(end for end in sizes if end or at < sizes[""])
    at -= sizes[""] if end else 0
    place = path.with_name(path.name + end)
    raw = bytearray(place.read_bytes())
    if zeroed:
        length = random.choice(BLOCKS)
        at -= at % length
        raw[at : at + length] = bytes(len(raw[at : at + length]))
        told = f"{length} zeroed at {at} of {path.name}{end}"
    else:
        bit = random.randrange(8)
        raw[at] ^= 1 << bit
        told = f"bit {bit} at {at} of {path.name}{end}"
    place.write_bytes(raw)
    return told


def outcome_of(path: Path, before: dict[str, Any], *, in_wal: bool = False) -> str:
    """Told, or the same as before, or earlier; anything else is a fault of ours."""
    try:
        after = content(path)
    except StateFileError as error:
        return f"told: {error}"
    if in_wal and after != before:
        assert is_earlier(after, before), "it tells what never was"
        return "earlier"
    assert after == before, "it tells something else, and does not say so"
    return "the same"


def is_earlier(after: dict[str, Any], before: dict[str, Any]) -> bool:
    """Whether each world has the first of the acts that it had."""
    logs = [(content[1], before[name][1] if name in before else []) for name, content in after.items()]
    return all(acts == known[: len(acts)] for acts, known in logs)


def main(flips: int, blocks: int, seed: int) -> Counter[str]:
    counts = Counter[str]()
    with TemporaryDirectory() as folder:
        origins = [made(Path(folder), killed) for killed in (False, True)]
        there = Path(folder, "there")
        known = {}
        for origin in origins:
            there.mkdir()
            known[origin.name] = content(copied(origin, there))
            shutil.rmtree(there)
        for number in range(flips + blocks):
            random = Random(f"{seed}/{number}")
            origin = random.choice(origins)
            there.mkdir()
            path = copied(origin, there)
            what = damaged(path, random, zeroed=number >= flips)
            try:
                outcome = outcome_of(path, known[origin.name], in_wal="-wal" in what)
            except Exception as fault:
                raise AssertionError(f"seed {seed}, number {number}, {what}") from fault
            counts[outcome.partition(":")[0]] += 1
            shutil.rmtree(there)
    return counts


def copied(origin: Path, folder: Path) -> Path:
    for end in ENDS:
        beside = origin.with_name(origin.name + end)
        if beside.exists():
            shutil.copyfile(beside, folder / beside.name)
    return folder / origin.name


if __name__ == "__main__":
    sys.stdout.write(f"{dict(main(*map(int, sys.argv[1:])))}\n")
