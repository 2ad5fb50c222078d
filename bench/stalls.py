"""The longest call of a full world while something large goes on in it: `python -m bench.stalls`."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from threading import Thread

from bench import works
from bench.load import Load, Outcome
from bench.servers import INITIATION, STATUS, Server
from bench.table import Figure, printed

LARGE = 200_000  # payments
MIDDLE = 20_000  # of the world that is imported
DUE = 8_000
CONNECTIONS = 2
ROUND = 0.25  # seconds: the load asks in short rounds until the work beside it is done
AFTER = 8  # rounds after that, as some of it goes on when its call is answered
LONGEST = 50  # ms
INSTANT = 150  # ms

Work = Callable[[], object]
Ask = tuple[str, int]

WORKS: tuple[tuple[str, Callable[[Server], None]], ...] = (
    ("an export", works.export),
    ("a list of all payments", works.list_payments),
    ("the whole journal", works.list_journal),
    ("a fork", works.fork),
    ("a rewind", works.rewind),
    ("the end of a world as large", works.drop),
    ("ten years of another world", works.travel),
    ("a file of 60 MB for another world", works.upload),
    (f"a validation of {works.LINES:,} lines", works.validate),
)
PUT: Ask = (INITIATION, 201)
GET: Ask = (STATUS, 200)


def filled(count: int, folder: str | None) -> Server:
    """A world of so many payments, a few acts before its next checkpoint or compaction."""
    kept = (str(Path(folder, f"{count}.state")),) if folder else ()
    return Server(f"filled with {count}", "-m", "bench.filled", str(count), "4", *kept)


def longest(load: Load, server: Server, ask: Ask, work: Work | None = None, targets: Sequence[str] = ()) -> Outcome:
    """Medians of rounds of the same call while the work lasts and a little longer, and the longest call of all."""
    beside = Thread(target=work)
    beside.start()
    outcomes: list[Outcome] = []
    left = AFTER
    while left:
        left = AFTER if beside.is_alive() else left - 1
        outcomes.append(load.run(server.port, *ask, connections=CONNECTIONS, seconds=ROUND, targets=list(targets)))
    beside.join()
    p50, p99 = median(one.p50 for one in outcomes), median(one.p99 for one in outcomes)
    calls, rate = sum(one.calls for one in outcomes), median(one.rate for one in outcomes)
    return Outcome(calls, 0, rate, p50, p99, max(one.longest for one in outcomes), 0.0)


def stalls(load: Load, folder: str | None = None) -> Iterator[Figure]:
    """The floor is the same call in a world that holds little, in the same run, with nothing beside it."""
    kept = "with a state file" if folder else "in memory"
    with filled(100, folder) as empty, filled(LARGE, folder) as full:
        few, many = empty.payments(100), full.payments(100)
        floors = {ask: longest(load, empty, ask, targets=few) for ask in (PUT, GET)}

        def figure(name: str, ask: Ask, work: Work | None = None) -> Figure:
            found, floor = longest(load, full, ask, work, many), floors[ask]
            return Figure(
                f"longest call during {name}, {kept}", found.longest, "ms", floor.longest, None,
                found.p50, found.p99, None, LONGEST,
            )  # fmt: skip

        yield figure("a checkpoint" if folder else "a compaction", PUT)
        with filled(MIDDLE, None) as middle:
            file = works.exported(middle)
        for name, work in WORKS:
            yield figure(name, GET, partial(work, full))
        yield figure("an import", GET, lambda: works.take_in(full, file))
        yield figure(f"nothing else, at {LARGE:,} payments", PUT)


def at_one_instant(load: Load) -> Figure:
    """One instant is never divided: a call sees all of it, or nothing."""
    with Server("due", "-m", "bench.filled", f"due:{DUE}", "4") as server:
        found = longest(load, server, GET, partial(works.settle, server), server.payments(100))
    name = f"longest call while {DUE:,} payments are executed at one instant"
    return Figure(name, found.longest, "ms", None, None, found.p50, found.p99, None, INSTANT)


def both(load: Load) -> Iterator[Figure]:
    yield at_one_instant(load)
    yield from stalls(load)
    with TemporaryDirectory() as folder:
        yield from stalls(load, folder)


def main() -> None:
    with Load() as load:
        print(printed(list(both(load))))


if __name__ == "__main__":
    main()
