"""`python -m bench.vary`: what the verdict on a suite of 30 tests costs, of a robust client and of a broken one.

The aim is 5 minutes on 2 cores at strength 2. Seconds of the processor say more than those of the clock where a machine
does other things too, so both are printed.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from subprocess import run
from time import perf_counter

ROOT = Path(__file__).resolve().parents[1]
SUITE = "bench/suite"
PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=line")
VARY = (sys.executable, "-m", "sandbox", "vary", "--fresh", "--frozen")
CLIENTS = {"robust": "", "broken": "one,pair,flaky"}
CORES, SECONDS_MOST = 2, 300


@dataclass(frozen=True)
class Cost:
    """What one verdict took."""

    client: str
    strength: str
    summary: str
    blamed: tuple[str, ...]
    seconds: float
    cpu: float


def cost(client: str, strength: str, jobs: str, folder: Path) -> Cost:
    """The verdict on the suite by `vary`."""
    before, began = processor_seconds(), perf_counter()
    turns, results = folder / "turns", folder / "results"
    turns.unlink(missing_ok=True)
    # What else is installed beside pytest here is no matter of the suite.
    surroundings = os.environ | {
        "BENCH_DEFECTS": CLIENTS[client],
        "BENCH_TURNS": str(turns),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    words = (*VARY, f"--strength={strength}", f"--jobs={jobs}", f"--results={results}", "--json", "--")
    done = run((*words, *PYTEST, "--junitxml={junit}", SUITE), cwd=ROOT, env=surroundings, capture_output=True)
    if done.returncode not in (0, 1):
        sys.exit(done.stderr.decode())
    verdict = json.loads(done.stdout)
    blamed = sorted(
        {",".join(f"{axis}={value}" for axis, value in row["variants"].items()) for row in verdict["breaks"]}
    )
    flaky = [f"flaky: {row['test']}" for row in verdict["flaky"]]
    return Cost(
        client,
        strength,
        verdict["summary"],
        (*blamed, *flaky),
        perf_counter() - began,
        processor_seconds() - before,
    )


def processor_seconds() -> float:
    """Of all commands that ended so far."""
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def costs(clients: list[str], strengths: list[str], jobs: str) -> Iterator[Cost]:
    with tempfile.TemporaryDirectory(prefix="bench-vary-") as folder:
        for client in clients:
            for strength in strengths:
                yield cost(client, strength, jobs, Path(folder))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.vary", description=__doc__)
    parser.add_argument("--client", choices=CLIENTS, action="append", help="default: both")
    parser.add_argument("--strength", choices=("1", "2", "3"), action="append", help="default: 1 and 2")
    parser.add_argument("--jobs", default="2")
    asked = parser.parse_args()
    late = 0
    for found in costs(asked.client or list(CLIENTS), asked.strength or ["1", "2"], asked.jobs):
        late += found.cpu > CORES * SECONDS_MOST
        print(f"{found.client}, strength {found.strength}: {found.seconds:.0f} s, {found.cpu:.0f} s of processors")
        print(f"    {found.summary}")
        for line in found.blamed:
            print(f"    {line}")
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
