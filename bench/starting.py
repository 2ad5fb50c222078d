"""Before the first call: starting, importing, and the memory of a bank that does nothing."""

import subprocess
import sys
from collections.abc import Iterator
from statistics import median
from time import perf_counter

from bench.load import Load
from bench.servers import INITIATION, STATUS, Server, bank, floor
from bench.table import Figure

MEGABYTE = 1_000_000
FLOOR = "import flask, waitress, orjson"
OURS = "import sandbox.app, sandbox.server.server"


def start(load: Load, threads: int, rounds: int) -> Iterator[Figure]:
    """From asking for the process to its first answers; what it holds in memory by then."""

    def timed(server: Server) -> tuple[float, float, float]:
        with server:
            server.ask("GET", "/health")
            ready = server.since_start()
            load.run(server.port, INITIATION, 201, connections=1, calls=1)
            targets = ["-"] if server.name == "flask" else server.payments()
            load.run(server.port, STATUS, 200, connections=1, calls=1, targets=targets)
            return ready, server.since_start(), (server.memory() or 0) / MEGABYTE

    timed(bank(threads))  # compiles what was never compiled
    pairs = [(timed(floor("flask", threads)), timed(bank(threads))) for _ in range(rounds)]
    bare, ours = (tuple(map(median, zip(*sides, strict=True))) for sides in zip(*pairs, strict=True))
    for place, name in enumerate(("start to first answer", "start to first payment status")):
        yield Figure(f"{name}, to bare Flask", ours[place], "s", bare[place], ours[place] / bare[place], most=3)
    yield Figure("memory when idle, after both", ours[2], "MB", bare[2], ours[2] / bare[2])
    yield Figure("memory when idle, aim", ours[2], "MB", most=90)


def imports(rounds: int) -> Iterator[Figure]:
    """The whole bank, beside the libraries that any Flask app on waitress takes; the interpreter's own start is out."""

    def timed(line: str) -> float:
        began = perf_counter()
        subprocess.run([sys.executable, "-c", line], check=True)
        return perf_counter() - began

    for line in (OURS, FLOOR):
        timed(line)
    turns = [(timed("pass"), timed(FLOOR), timed(OURS)) for _ in range(rounds)]
    bare = median(flask - nothing for nothing, flask, _ in turns)
    ours = median(whole - nothing for nothing, _, whole in turns)
    yield Figure("import of the whole bank", ours, "s", bare, ours / bare)
