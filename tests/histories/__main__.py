"""A long history: `python -m tests.histories --faults 200 --seed 5`. The seed repeats its faults."""

import argparse
import sys

from tests.histories.history import play, shown
from tests.postgres import started


def main() -> None:
    words = argparse.ArgumentParser(prog="python -m tests.histories")
    words.add_argument("--faults", type=int, default=200)
    words.add_argument("--seed", default="1")
    words.add_argument("--pause", type=float, default=1.0, help="seconds between two faults, about")
    given = words.parse_args()
    with started() as cluster:
        sys.stdout.write(f"{shown(play(cluster, given.faults, given.seed, given.pause))}\n")


if __name__ == "__main__":
    main()
