"""What is measured. Two things that are compared take turns in short rounds, and the medians count."""

import gc
import subprocess
import sys
from collections.abc import Callable, Iterator
from statistics import median

from bench.load import Load, Outcome
from bench.servers import INITIATION, RESET, STATUS, WORLD, Server, bank, floor
from bench.table import Figure

FILLED = 20_000  # payments
KIB = 1024


def start(load: Load, threads: int, rounds: int) -> Iterator[Figure]:
    """From asking for the process to its first answers."""

    def timed(server: Server) -> tuple[float, float]:
        with server:
            server.ask("GET", "/health")
            ready = server.since_start()
            load.run(server.port, INITIATION, 201, connections=1, calls=1)
            targets = ["-"] if server.name == "flask" else server.payments()
            load.run(server.port, STATUS, 200, connections=1, calls=1, targets=targets)
            return ready, server.since_start()

    timed(bank(threads))  # compiles what was never compiled
    pairs = [(timed(floor("flask", threads)), timed(bank(threads))) for _ in range(rounds)]
    for place, name in enumerate(("start to first answer", "start to first payment status")):
        bare, ours = (median(side[place] for side in sides) for sides in zip(*pairs, strict=True))
        yield Figure(name, ours, "s", bare, ours / bare)
    yield Figure("start to first payment status, aim", ours, "s", most=0.8)


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


def fill(load: Load, server: Server) -> Iterator[Figure]:
    """20,000 payments, and what they weigh in the server's real memory."""
    load.run(server.port, INITIATION, 201, calls=FILLED // 2)  # fills the bounded log of what was asked
    before = server.memory()
    load.run(server.port, INITIATION, 201, calls=FILLED // 2)
    after = server.memory()
    if before is not None and after is not None:
        yield Figure("memory per stored payment, real", (after - before) / (FILLED // 2) / KIB, "KiB", most=4)


def throughput(load: Load, threads: int, seconds: float, rounds: int, connections: int) -> Iterator[Figure]:
    """Rates over real HTTP: an empty bank, one with 20,000 payments, and the floors."""
    with (
        floor("flask", threads) as bare,
        floor("wsgi", threads) as wsgi,
        bank(threads) as empty,
        bank(threads) as full,
        bank(threads, "text") as told,
        bank(threads) as watched,
        bank(threads) as unwatched,
    ):
        yield from fill(load, full)
        unwatched.ask("PATCH", "/settings", referee="off")
        for server in (empty, told, watched, unwatched):
            load.run(server.port, INITIATION, 201, calls=100)

        def round_of(server: Server, request: str, expected: int, targets: list[str], *, anew: bool = False) -> Turn:
            def turn() -> Outcome:
                if anew:
                    server.ask("POST", "/reset")
                return load.run(
                    server.port, request, expected, connections=connections, seconds=seconds, targets=targets
                )

            return turn

        got = rates(
            {
                "wsgi": round_of(wsgi, STATUS, 200, []),
                "bare": round_of(bare, STATUS, 200, []),
                "empty": round_of(empty, STATUS, 200, empty.payments()),
                "full": round_of(full, STATUS, 200, full.payments()),
                "told": round_of(told, STATUS, 200, told.payments()),
                "watched": round_of(watched, STATUS, 200, watched.payments()),
                "unwatched": round_of(unwatched, STATUS, 200, unwatched.payments()),
            },
            rounds,
        )
        put = rates(
            {
                "bare": round_of(bare, INITIATION, 201, []),
                "empty": round_of(empty, INITIATION, 201, [], anew=True),
                "full": round_of(full, INITIATION, 201, []),
                "watched": round_of(watched, INITIATION, 201, []),
                "unwatched": round_of(unwatched, INITIATION, 201, []),
            },
            rounds,
        )
        yield beside("bare Flask view, to bare WSGI", got["bare"], got["wsgi"])
        yield beside("GET status, to bare Flask", got["empty"], got["bare"], least=0.5)
        yield beside("GET status with a line per call", got["told"], got["bare"])
        yield beside("GET status at 20,000, to empty", got["full"], got["empty"], least=0.9)
        yield beside("POST initiation, to bare Flask", put["empty"], put["bare"], least=1 / 3)
        yield beside("POST initiation at 20,000, to empty", put["full"], put["empty"], least=0.9)
        yield beside("GET status with the referee, to without", got["watched"], got["unwatched"], least=0.95)
        yield beside("POST initiation with the referee, to without", put["watched"], put["unwatched"], least=0.95)
        ceiling = max(outcome.rate / outcome.busy for outcome in got["wsgi"])
        most = max(median(outcome.busy for outcome in of) for of in (got["bare"], got["empty"], put["empty"]))
        yield Figure("the load's own rate, were it never to wait", ceiling, "calls/s")
        yield Figure("the load's busiest share of a core", most, "of 1", most=0.8)
        load.run(full.port, RESET, 200, connections=1, calls=1)
        one = load.run(full.port, RESET, 200, connections=1, calls=20)
        yield Figure("reset", one.p50, "ms", p50=one.p50, p99=one.p99)


def worlds(load: Load, threads: int, count: int = 1000) -> Iterator[Figure]:
    """A thousand worlds on one server, one after the other over HTTP."""
    with bank(threads) as server:
        server.ask("GET", "/clock")
        before = server.memory()
        made = load.run(server.port, WORLD, 201, connections=1, calls=count)
        after = server.memory()
        yield Figure(f"making one of {count:,} worlds", 1000 / made.rate, "ms", p50=made.p50, p99=made.p99)
        if before is not None and after is not None:
            yield Figure("memory per world, real", (after - before) / count / KIB, "KiB")


def weight(payments: int = 5_000) -> Iterator[Figure]:
    """By the interpreter's own count, in a process of its own: counting slows a server down."""
    gc.collect()
    told = subprocess.run([sys.executable, "-m", "bench.memory", str(payments)], capture_output=True, check=True)
    yield Figure("memory per stored payment, counted", float(told.stdout) / KIB, "KiB", most=4)


def regular(count: int = 10_000, rounds: int = 3) -> Iterator[Figure]:
    """A year of monthly standing orders, and of twice as many, in processes of their own that take turns."""

    def year(orders: int) -> tuple[float, float]:
        told = subprocess.run([sys.executable, "-m", "bench.regular", str(orders)], capture_output=True, check=True)
        seconds, memory = told.stdout.split()
        return float(seconds), float(memory) / KIB

    pairs = [(year(count), year(2 * count)) for _ in range(rounds)]
    once, twice = (median(side[0] for side in sides) for sides in zip(*pairs, strict=True))
    ratio = median(double[0] / single[0] for single, double in pairs)
    yield Figure(f"a year of {count:,} monthly standing orders", once, "s", most=6)
    yield Figure("all memory of that process, real", max(single[1] for single, _ in pairs), "MiB", most=286)  # 300 MB
    yield Figure(f"a year of {2 * count:,}, to {count:,}", twice, "s", once, ratio, most=2.4)
