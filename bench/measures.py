"""What is measured. Two things that are compared take turns in short rounds, and the medians count."""

import gc
import subprocess
import sys
from collections.abc import Callable, Iterator
from statistics import median

from bench.load import Load, Outcome
from bench.servers import INITIATION, RESET, STATUS, Server, bank, floor
from bench.table import Figure

YEAR_MOST = 40  # times a bare heap of the same events
KIB = 1024
Turn = Callable[[], Outcome]


def rates(turns: dict[str, Turn], rounds: int) -> dict[str, list[Outcome]]:
    """Every turn once in each round, there and back, so that what else the machine does falls on all alike."""
    found: dict[str, list[Outcome]] = {name: [] for name in turns}
    for number in range(rounds):
        for name, turn in list(turns.items())[:: -1 if number % 2 else 1]:
            found[name].append(turn())
    return found


def beside(
    name: str, ours: list[Outcome], bare: list[Outcome], least: float | None = None, most: float | None = None
) -> Figure:
    """A rate and the median of its ratios, each to the floor of its own round."""
    return Figure(
        name,
        median(outcome.rate for outcome in ours),
        "calls/s",
        median(outcome.rate for outcome in bare),
        median(one.rate / other.rate for one, other in zip(ours, bare, strict=True)),
        median(outcome.p50 for outcome in ours),
        median(outcome.p99 for outcome in ours),
        least,
        most,
    )


def steadiness(name: str, of: list[Outcome], most: float) -> Figure:
    """How much slower the slowest in a hundred is than the one in the middle."""
    spread = median(outcome.p99 / outcome.p50 for outcome in of)
    return Figure(name, spread, "times", p50=median(o.p50 for o in of), p99=median(o.p99 for o in of), most=most)


def throughput(load: Load, threads: int, seconds: float, rounds: int, connections: int) -> Iterator[Figure]:
    """Rates over real HTTP of a bank that holds little, and the floors."""
    with (
        floor("flask", threads) as bare,
        floor("own", threads) as own,
        floor("wsgi", threads) as wsgi,
        bank(threads) as ours,
        bank(threads, "text") as told,
        bank(threads) as unwatched,
    ):
        unwatched.ask("PATCH", "/settings", referee="off")
        for server in (ours, told, unwatched):
            load.run(server.port, INITIATION, 201, calls=100)

        def asks(server: Server, lines: int = connections) -> Turn:
            targets = server.payments() if server.name == "bank" else []
            return lambda: load.run(server.port, STATUS, 200, connections=lines, seconds=seconds, targets=targets)

        def initiates(server: Server, lines: int = connections) -> Turn:
            def turn() -> Outcome:
                if server.name == "bank":
                    server.ask("POST", "/reset")
                return load.run(server.port, INITIATION, 201, connections=lines, seconds=seconds)

            return turn

        floors = {"wsgi": wsgi, "bare": bare, "own": own}
        got = rates(
            {name: asks(server) for name, server in (floors | {"ours": ours, "told": told, "free": unwatched}).items()}
            | {"bare, one": asks(bare, 1), "ours, one": asks(ours, 1)},
            rounds,
        )
        put = rates(
            {
                name: initiates(server)
                for name, server in {"bare": bare, "own": own, "ours": ours, "free": unwatched}.items()
            }
            | {"bare, one": initiates(bare, 1), "ours, one": initiates(ours, 1)},
            rounds,
        )
        yield beside("bare Flask view, to bare WSGI", got["bare"], got["wsgi"])
        yield beside("GET status, to bare Flask", got["ours"], got["bare"], least=0.8)
        yield beside("GET status, to bare Flask on the bank's own server", got["ours"], got["own"])
        yield beside("GET status on one connection, to bare Flask", got["ours, one"], got["bare, one"], least=0.8)
        yield steadiness("GET status, p99 to p50", got["ours"], most=4)
        yield beside("GET status with a line per call", got["told"], got["bare"])
        yield beside("POST initiation, to bare Flask", put["ours"], put["bare"], least=0.55)
        yield beside("POST initiation, to bare Flask on the bank's own server", put["ours"], put["own"])
        yield beside("POST initiation on one connection, to bare Flask", put["ours, one"], put["bare, one"], least=0.55)
        yield steadiness("POST initiation, p99 to p50", put["ours"], most=4)
        yield beside("GET status with the referee, to without", got["ours"], got["free"], least=0.95)
        yield beside("POST initiation with the referee, to without", put["ours"], put["free"], least=0.95)
        ceiling = max(outcome.rate / outcome.busy for outcome in got["wsgi"])
        most = max(median(outcome.busy for outcome in of) for of in (got["bare"], got["ours"], put["ours"]))
        yield Figure("the load's own rate, were it never to wait", ceiling, "calls/s")
        yield Figure("the load's busiest share of a core", most, "of 1", most=0.8)
        load.run(ours.port, RESET, 200, connections=1, calls=1)
        one = load.run(ours.port, RESET, 200, connections=1, calls=20)
        yield Figure("reset", one.p50, "ms", p50=one.p50, p99=one.p99)


def weight(payments: int = 5_000) -> Iterator[Figure]:
    """By the interpreter's own count, in a process of its own: counting slows a server down."""
    gc.collect()
    told = subprocess.run([sys.executable, "-m", "bench.memory", str(payments)], capture_output=True, check=True)
    yield Figure("memory per stored payment, counted", float(told.stdout) / KIB, "KiB", most=4)


def regular(count: int = 10_000, rounds: int = 1) -> Iterator[Figure]:
    """A year of monthly standing orders, and of twice as many, in processes of their own that take turns."""

    def year(orders: int) -> tuple[float, float, float]:
        told = subprocess.run([sys.executable, "-m", "bench.regular", str(orders)], capture_output=True, check=True)
        seconds, memory, bare = map(float, told.stdout.split())
        return seconds, memory / KIB, bare

    pairs = [(year(count), year(2 * count)) for _ in range(rounds)]
    once, twice = (median(side[0] for side in sides) for sides in zip(*pairs, strict=True))
    ratio = median(double[0] / single[0] for single, double in pairs)
    bare = median(single[2] for single, _ in pairs)
    above = median(single[0] / single[2] for single, _ in pairs)
    yield Figure(f"a year of {count:,} monthly standing orders, to a bare heap", once, "s", bare, above, most=YEAR_MOST)
    yield Figure("all memory of that process, real", max(single[1] for single, _ in pairs), "MiB", most=286)  # 300 MB
    yield Figure(f"a year of {2 * count:,}, to {count:,}", twice, "s", once, ratio, most=2.4)
