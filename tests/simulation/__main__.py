"""Many short lives, one after the other: `python -m tests.simulation --seconds 600`, or `--seed 7/12` for one."""

import argparse
import json
import signal
import sys
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from sandbox.storage import checkpoint, sqlite_database, store
from tests.simulation import file_director
from tests.simulation.director import STEPS, Director

if TYPE_CHECKING:
    from tests.postgres import Cluster

# Checkpoints come often, and what waits for another server or program waits briefly.
IMPATIENT = ((checkpoint, "EVERY", 5), (sqlite_database, "LOCK_WAITS", 0.02), (store, "ASKED_FOR", 0.2))


def live(seed: str, cluster: "Cluster | None") -> Counter[str]:
    """One life; what fails names what repeats it."""
    with ExitStack() as held:
        folder = Path(held.enter_context(TemporaryDirectory()))
        director: Director
        if cluster is None:
            director = held.enter_context(file_director.life(folder, seed))
        else:
            from tests.simulation import database_director

            director = held.enter_context(database_director.life(folder, seed, cluster))
        for number in range(STEPS):
            director.last = "nothing yet"
            try:
                director.step()
            except Exception as fault:
                where = " --database" if cluster else ""
                text = f"step {number} ({director.last}); again: python -m tests.simulation{where} --seed {seed}"
                raise AssertionError(text) from fault
        director.counts["steps"] = STEPS
        return director.counts


def lives(given: argparse.Namespace, cluster: "Cluster | None") -> Counter[str]:
    if "/" in given.seed:
        return live(given.seed, cluster)
    counts, ends = Counter[str](), time.monotonic() + given.seconds
    for number in range(given.lives):
        counts += live(f"{given.seed}/{number}", cluster)
        counts["lives"] += 1
        if time.monotonic() > ends:
            break
    return counts


def main() -> None:
    words = argparse.ArgumentParser(prog="python -m tests.simulation")
    words.add_argument("--seed", default="1", help="of all lives, or with a slash of one")
    words.add_argument("--seconds", type=float, default=600)
    words.add_argument("--lives", type=int, default=1_000_000)
    words.add_argument("--database", action="store_true", help="in PostgreSQL, not in files")
    given = words.parse_args()
    for module, name, value in IMPATIENT:
        setattr(module, name, value)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a file that may grow no more is an error of the write
    with ExitStack() as held:
        cluster = None
        if given.database:
            from tests.postgres import started

            cluster = held.enter_context(started())
        counts = lives(given, cluster)
    sys.stdout.write(f"{json.dumps(counts, indent=1, sort_keys=True)}\n")


if __name__ == "__main__":
    main()
