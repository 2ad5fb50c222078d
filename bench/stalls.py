"""The longest call of a full world while something large goes on in it: `python -m bench.stalls`."""

import http.client
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from threading import Thread

from bench.bulks import Desk, pain
from bench.load import Load, Outcome
from bench.servers import INITIATION, STATUS, Server
from bench.table import Figure, printed

LARGE = 200_000  # payments
LINES = 100_000  # of a bulk file
CONNECTIONS = 2
ROUND = 0.25  # seconds: the load asks in short rounds until the work beside it is done
AFTER = 8  # rounds after that, as some of it goes on when its call is answered
LONGEST = 50  # ms

Work = Callable[[], object]
Ask = tuple[str, int]

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


def validate(server: Server) -> None:
    """A file goes to the same world, and its time moves past the end of its validation."""
    desk = Desk(server.port)
    sent = desk.call("POST", "/bulk-payments/pain.001", pain(LINES), media="application/xml")
    desk.call("POST", "/_sandbox/clock", b'{"advance": "120s"}', media="application/json")
    path = f"/bulk-payments/pain.001/{sent['payment_file_id']}/status"
    assert desk.call("GET", path)["status"] == "PATC"


def export(server: Server) -> None:
    line = http.client.HTTPConnection("127.0.0.1", server.port)
    line.request("GET", "/_sandbox/export")
    reply, end = line.getresponse(), b""
    while piece := reply.read(1 << 20):
        end = (end + piece)[-200:]
    assert b'"end"' in end, end


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
        yield figure("an export", GET, lambda: export(full))
        yield figure(f"a validation of {LINES:,} lines", GET, lambda: validate(full))
        yield figure(f"nothing else, at {LARGE:,} payments", PUT)


def both(load: Load) -> Iterator[Figure]:
    yield from stalls(load)
    with TemporaryDirectory() as folder:
        yield from stalls(load, folder)


def main() -> None:
    with Load() as load:
        print(printed(list(both(load))))


if __name__ == "__main__":
    main()
