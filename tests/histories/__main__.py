"""A long history: `python -m tests.histories --faults 200 --seed 5`. The seed repeats its faults."""

import argparse
import sys
import time

from tests.histories.fleet import Conditions
from tests.histories.history import play
from tests.postgres import started


def main() -> None:
    words = argparse.ArgumentParser(prog="python -m tests.histories")
    words.add_argument("--faults", type=int, default=200)
    words.add_argument("--seed", default="1")
    words.add_argument("--pause", type=float, default=1.0, help="seconds between two faults, about")
    words.add_argument("--isolation", default="read committed", help="the default of the database's transactions")
    words.add_argument("--conflicts", action="store_true", help="a quarter of all that is sent fails with 40001")
    words.add_argument("--pooler", action="store_true", help="through PgBouncer in transaction mode")
    given = words.parse_args()
    conditions = Conditions(given.isolation, has_conflicts=given.conflicts, has_pooler=given.pooler)
    began = time.monotonic()
    with started(wants_small_disk=True) as cluster:
        outcome = play(cluster, given.faults, given.seed, given.pause, conditions)
    seconds = time.monotonic() - began
    sys.stdout.write(f"{outcome.describe()}\n{conditions}, seed {given.seed}: {seconds:.0f} s\n")


if __name__ == "__main__":
    main()
