"""The command `python -m bench`."""

import argparse
import json
import os
import platform
from collections.abc import Callable, Iterable
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from time import perf_counter

from bench import (
    agenda,
    bulks,
    console,
    database,
    fixture,
    growth,
    hostile,
    journey,
    lasting,
    life,
    measures,
    reading,
    stalls,
    starting,
)
from bench.load import Load
from bench.table import Figure, printed
from bench.travel import travel
from sandbox.commands.screen import show_progress

HOW = """\
Ratios are medians of short rounds in which both sides took turns, on {threads} threads and {connections} connections.
The load is a process of its own. It is not the bottleneck: it waits for the rest of the time that it is not busy,
and the same load gets more out of a bare WSGI callable on the same server than out of anything measured beside it.
"""


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--threads", type=int, default=4, help="of every server (default: the bank's own, 4)")
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=0.4, help="of one round")
    parser.add_argument("--rounds", type=int, default=13)
    parser.add_argument("--json", type=Path, metavar="FILE", help="writes the figures there too")
    return parser.parse_args()


def measured(asked: argparse.Namespace) -> list[Figure]:
    threads, seconds, rounds, connections = asked.threads, asked.seconds, asked.rounds, asked.connections
    fewer = (rounds + 1) // 2
    with Load() as load:
        groups: list[Callable[[], Iterable[Figure]]] = [
            lambda: starting.start(load, threads, fewer),
            lambda: starting.imports(fewer),
            lambda: measures.throughput(load, threads, seconds, rounds, connections),
            lambda: journey.tokens(load, threads, fewer, connections),
            lambda: journey.journeys(threads, fewer),
            lambda: reading.reading(load, threads, seconds, fewer, connections),
            lambda: growth.payments(load, threads, seconds, fewer, connections),
            lambda: growth.worlds(load, threads, seconds, fewer, connections),
            lambda: measures.weight(),
            lambda: measures.regular(),
            lambda: agenda.agenda(),
            lambda: life.life(),
            lambda: travel(),
            lambda: fixture.cost(),
            lambda: bulks.files(load, threads),
            lambda: console.console(),
            lambda: hostile.hostile(threads),
            lambda: lasting.lasting(),
            lambda: database.database(fewer),
            lambda: stalls.both(load),
        ]
        return [figure for group in show_progress(groups, len(groups), "measuring") for figure in group()]


def main() -> None:
    asked = read_arguments()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # else each server that is started compiles anew what was changed
    began = perf_counter()
    figures = measured(asked)
    print(printed(figures))
    print()
    print(HOW.format(threads=asked.threads, connections=asked.connections))
    machine = f"Python {platform.python_version()}, Flask {version('flask')}, {os.cpu_count()} cores"
    print(f"{machine}; the run took {perf_counter() - began:.0f} s.")
    if asked.json:
        asked.json.write_text(json.dumps({"machine": machine, "figures": [asdict(row) for row in figures]}, indent=1))


if __name__ == "__main__":
    main()
