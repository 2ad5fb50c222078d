"""Many short lives, one after the other: `python -m tests.simulation --seconds 600`, or `--seed 7/12` for one."""

import argparse
import json
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from sandbox.world.log import checkpoint, connection
from tests.simulation.director import STEPS, life


def live(seed: str) -> Counter[str]:
    """One life; what fails names what repeats it."""
    with TemporaryDirectory() as folder, life(Path(folder), seed) as director:
        for number in range(STEPS):
            director.last = "nothing yet"
            try:
                director.step()
            except Exception as fault:
                text = f"step {number} ({director.last}); again: python -m tests.simulation --seed {seed}"
                raise AssertionError(text) from fault
        director.counts["steps"] = STEPS
        return director.counts


def main() -> None:
    words = argparse.ArgumentParser(prog="python -m tests.simulation")
    words.add_argument("--seed", default="1", help="of all lives, or with a slash of one")
    words.add_argument("--seconds", type=float, default=600)
    words.add_argument("--lives", type=int, default=1_000_000)
    given = words.parse_args()
    checkpoint.EVERY = 5
    vars(connection)["LOCK_WAITS"] = 0.02  # read there, and made elsewhere
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a file that may grow no more is an error of the write
    counts, ends = Counter[str](), time.monotonic() + given.seconds
    if "/" in given.seed:
        counts += live(given.seed)
    else:
        for number in range(given.lives):
            counts += live(f"{given.seed}/{number}")
            counts["lives"] += 1
            if time.monotonic() > ends:
                break
    sys.stdout.write(f"{json.dumps(counts, indent=1, sort_keys=True)}\n")


if __name__ == "__main__":
    main()
