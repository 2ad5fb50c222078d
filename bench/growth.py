"""What calls cost in a bank that is full, and in one world among many, beside an empty one."""

from collections.abc import Iterator

from bench.load import Load, Outcome
from bench.measures import Turn, beside, rates
from bench.servers import CALLER, INITIATION, SCT, STATUS, WORLD, Server, bank, written
from bench.table import Figure

FULL, LARGE = 20_000, 200_000  # payments
MANY = (100, 1000)  # worlds
KIB = 1024
# Worlds share what can be shared; what is its own, a processor meets cold in each.
IN_A_WORLD = written("GET", "/worlds/@TARGET@/status", *CALLER)


def filled(count: int, threads: int) -> Server:
    return Server(f"filled with {count}", "-m", "bench.filled", str(count), str(threads))


def fill(load: Load, server: Server) -> Iterator[Figure]:
    """20,000 payments over HTTP, and what they weigh in the server's real memory."""
    load.run(server.port, INITIATION, 201, calls=FULL // 2)  # fills the bounded log of what was asked
    before = server.memory()
    load.run(server.port, INITIATION, 201, calls=FULL // 2)
    after = server.memory()
    if before is not None and after is not None:
        yield Figure("memory per stored payment, real", (after - before) / (FULL // 2) / KIB, "KiB", most=4)


def payments(load: Load, threads: int, seconds: float, rounds: int, connections: int) -> Iterator[Figure]:
    with bank(threads) as empty, bank(threads) as full, filled(LARGE, threads) as large:
        yield from fill(load, full)
        load.run(empty.port, INITIATION, 201, calls=100)

        def asks(server: Server) -> Turn:
            known = server.payments()
            return lambda: load.run(server.port, STATUS, 200, connections=connections, seconds=seconds, targets=known)

        def initiates(server: Server) -> Turn:
            def turn() -> Outcome:
                if server is empty:
                    server.ask("POST", "/reset")
                return load.run(server.port, INITIATION, 201, connections=connections, seconds=seconds)

            return turn

        servers = {"empty": empty, "full": full, "large": large}
        got = rates({name: asks(server) for name, server in servers.items()}, rounds)
        put = rates({name: initiates(server) for name, server in servers.items()}, rounds)
        for call, found in (("GET status", got), ("POST initiation", put)):
            for name, count in (("full", FULL), ("large", LARGE)):
                yield beside(f"{call} at {count:,} payments, to none", found[name], found["empty"], least=0.95)


def worlds(load: Load, threads: int, seconds: float, rounds: int, connections: int) -> Iterator[Figure]:
    """Making them, and the same call that goes to each of them in turn."""
    with bank(threads) as one, bank(threads) as some, bank(threads) as many:
        servers = dict(zip((1, *MANY), (one, some, many), strict=True))
        many.ask("GET", "/clock")
        before = many.memory()
        made = load.run(many.port, WORLD, 201, connections=1, calls=MANY[-1])
        after = many.memory()
        yield Figure(f"making one of {MANY[-1]:,} worlds", 1000 / made.rate, "ms", p50=made.p50, p99=made.p99)
        if before is not None and after is not None:
            yield Figure("memory per world, real", (after - before) / MANY[-1] / KIB, "KiB")

        def asks(server: Server, count: int) -> Turn:
            aims = [f"v{number}/payments/{SCT}/{server.initiate(f'v{number}')}" for number in range(count)]
            return lambda: load.run(
                server.port, IN_A_WORLD, 200, connections=connections, seconds=seconds, targets=aims
            )

        got = rates({str(count): asks(server, count) for count, server in servers.items()}, rounds)
        for count in MANY:
            yield beside(f"GET status over {count:,} worlds, to one", got[str(count)], got["1"], least=0.85)
