"""Each shipped race many times, in a row: the same steps with the same results every time, and how long that takes."""

import argparse
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from time import monotonic

import httpx

from sandbox.app import assemble, make_first_beginning
from sandbox.client import Controls
from sandbox.machine import machine_time
from sandbox.player.playback import play
from sandbox.player.runs import OPENING, SEED, TIMEOUT, make_stage, make_world_name, read_script
from sandbox.player.step_result import RecordingTransport
from sandbox.scenarios.reading import SHIPPED
from sandbox.worlds.registry import WorldRegistry

RACES = tuple(name for name in SHIPPED if "parallel:" in SHIPPED[name])
TIMES = 1_000
Outcome = tuple[tuple[str, tuple[str, ...]], ...]


def rounds(name: str, times: int) -> Iterator[Outcome]:
    """What each round came to, step by step, in one world that is reset between them; without a socket."""
    script = read_script(name)
    app = assemble(WorldRegistry(make_first_beginning(SEED, OPENING, rate=0.0), machine_time))
    transport = RecordingTransport(httpx.WSGITransport(app))
    with httpx.Client(transport=transport, timeout=TIMEOUT, trust_env=False) as line:
        server = Controls("http://127.0.0.1:8080", line)
        stage = make_stage(script, server, make_world_name(script), transport)
        for _ in range(times):
            yield tuple((step.text, step.faults) for step in play(stage, machine_time))
            stage.controls.call("POST", "/reset", {})


def outcomes(name: str, times: int) -> set[Outcome]:
    return set(rounds(name, times))


def measure(pool: ProcessPoolExecutor, name: str, times: int, jobs: int) -> tuple[float, set[Outcome]]:
    """The rounds in equal parts, each part in a process and a world of its own."""
    parts = [times // jobs + (at < times % jobs) for at in range(jobs)]
    began = monotonic()
    found = list(pool.map(outcomes, [name] * jobs, parts))
    return monotonic() - began, set().union(*found)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=RACES, metavar="RACE")
    parser.add_argument("--times", type=int, default=TIMES)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    failed = 0
    with ProcessPoolExecutor(given.jobs) as pool:
        for name in given.names:
            seconds, found = measure(pool, name, given.times, given.jobs)
            faults = {fault for outcome in found for _, texts in outcome for fault in texts}
            holds = len(found) == 1 and not faults
            failed += not holds
            result = "the same each time" if holds else f"{len(found)} outcomes; {'; '.join(sorted(faults))}"
            print(f"{name:60} {given.times:6} times  {seconds:6.1f} s  {result}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
