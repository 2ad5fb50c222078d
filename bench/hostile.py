"""What a server keeps of callers who send as much as they may: `python -m bench.hostile`."""

import http.client
import random
from collections.abc import Callable, Iterator
from uuid import UUID

from bench.servers import BODY, CALLBACK, SCT, VENDOR, Server, bank
from bench.table import Figure

MEGABYTE = 1_000_000
LONG = 60_000  # characters: a header, a path or a query of nearly all that the server reads
CALLS = 1_500  # of each kind
MOST = 1_500  # MB, whoever calls: README and SECURITY say so
MOST_OF_ONE = 800  # MB, for the attacks of one caller after the other
NOISE = 12, 40 * MEGABYTE  # files, and bytes of each
NESTS = 3, 60 * MEGABYTE


class Caller:
    """One hostile caller on one connection; everything it sends is drawn from its number."""

    def __init__(self, port: int, number: int, world: str = "") -> None:
        self.port, self.prefix = port, f"/worlds/{world}" if world else ""
        self.random = random.Random(number)
        self.line = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def usual(self) -> dict[str, str]:
        return {
            "Request-ID": str(UUID(int=self.random.getrandbits(128), version=4)),
            "Accept": f"{VENDOR}3",
            "Accept-Language": "fr",
            "Client-ID": "demo-tpp",
            "Redirect-URI": CALLBACK,
            "Code-Challenge-Method": "S256",
            "Code-Challenge": "c" * 43,
            "Content-Type": "application/json",
        }

    def call(self, method: str, path: str, body: bytes | None = None, **more: str) -> int:
        given = {name.replace("_", "-"): value for name, value in more.items()}
        try:
            self.line.request(method, self.prefix + path, body, self.usual() | given)
            reply = self.line.getresponse()
            reply.read()
        except (http.client.HTTPException, OSError):  # the bank hung up
            self.line.close()
            return 0
        return reply.status

    def long(self) -> str:
        """Text that no other call has, so that nothing is shared."""
        return f"{self.random.getrandbits(64):016x}".ljust(LONG, "a")

    def client_id(self) -> None:
        self.call("GET", "/accounts", Client_ID=self.long())

    def path(self) -> None:
        self.call("GET", f"/{self.long()}")

    def query(self) -> None:
        self.call("GET", f"/payments/{SCT}/x/status?paymentIdType={self.long()}")

    def language(self) -> None:
        self.call("GET", "/accounts", Accept_Language=f"fr, {self.long()}")

    def accept(self) -> None:
        self.call("GET", "/accounts", Accept=f"{VENDOR}2, {self.long()}/x")

    def headers(self) -> None:
        more = {f"X-{number}": "a" for number in range(4_000)}
        self.line.request("GET", f"{self.prefix}/accounts", None, self.usual() | more)
        self.line.getresponse().read()

    def redirect_uri(self) -> None:
        number = f"{self.random.getrandbits(32):010d}"
        body = BODY.replace("@NUMBER@", number).encode()
        self.call("POST", f"/payments/{SCT}", body, Redirect_URI=f"{CALLBACK}/{self.long()}")

    def state(self) -> None:
        body = BODY.replace("@NUMBER@", "0").encode()
        self.line.request("POST", f"{self.prefix}/payments/{SCT}", body, self.usual())
        reply = self.line.getresponse()
        reply.read()
        path = reply.headers["Location"].partition(f":{self.port}{self.prefix}")[2]
        self.call("GET", f"{path}?state={self.long()[:4_000]}")

    def noise(self, size: int = NOISE[1]) -> int:
        """A csv that cannot be packed smaller, and waits for its validation."""
        content = self.random.randbytes(size * 6 // 8).translate(PRINTED)
        return self.call("POST", "/bulk-payments/csv", content, Content_Type="text/csv", Accept=f"{VENDOR}2")

    def nest(self, size: int = NESTS[1]) -> int:
        content = b"<a>" * (size // 7) + b"</a>" * (size // 7)
        return self.call(
            "POST", "/bulk-payments/pain.001", content, Content_Type="application/xml", Accept=f"{VENDOR}2"
        )


PRINTED = bytes(32 + byte % 95 for byte in range(256))
SHORT: tuple[Callable[[Caller], None], ...] = (
    Caller.client_id,
    Caller.path,
    Caller.query,
    Caller.language,
    Caller.accept,
    Caller.headers,
    Caller.redirect_uri,
    Caller.state,
)


def attacked(server: Server, calls: int = CALLS) -> Iterator[tuple[str, int]]:
    """Each attack in turn, and the most memory so far."""
    for number, attack in enumerate(SHORT):
        caller = Caller(server.port, number)
        for _ in range(calls):
            attack(caller)
        yield attack.__name__, server.memory("VmHWM") or 0
    caller = Caller(server.port, len(SHORT))
    told = [caller.noise() for _ in range(NOISE[0])]
    yield f"noise {told}", server.memory("VmHWM") or 0
    told = [caller.nest() for _ in range(NESTS[0])]
    yield f"nest {told}", server.memory("VmHWM") or 0


def hostile(threads: int) -> Iterator[Figure]:
    with bank(threads) as server:
        peak = max(most for _, most in attacked(server))
        if peak:
            yield Figure("memory at the most under hostile callers", peak / MEGABYTE, "MB", most=MOST_OF_ONE)


def main() -> None:
    with bank(4) as server:
        print(f"{'idle':20} {(server.memory() or 0) / MEGABYTE:8.0f} MB")
        for name, peak in attacked(server):
            print(
                f"{name:20} {(server.memory() or 0) / MEGABYTE:8.0f} MB, at the most {peak / MEGABYTE:.0f} MB",
                flush=True,
            )


if __name__ == "__main__":
    main()
