"""A whole signed payment, and tokens: calls that follow from each other, on one kept connection."""

import json
import re
from base64 import b64encode
from collections.abc import Iterator
from statistics import median
from time import perf_counter
from urllib.parse import quote

from bench.load import Line, Load, Outcome, requests
from bench.measures import Turn, beside, rates
from bench.servers import CALLBACK, SIGNABLE, STATUS, VENDOR, VERIFIER, Server, bank, floor, written
from bench.table import Figure

CODES = 300  # exchanged in a round; each buys tokens once
JOURNEYS = 100  # in a round
SAMPLE = "c" * 43  # as long as a code
LOCATION = re.compile(rb"\r\nLocation: ([^\r]+)")
PAYMENT = re.compile(rb'"payment_id":"([^"]+)"')
CODE = re.compile(rb"[?&]code=([^&\"]+)")
CALLER = (
    "Host: 127.0.0.1",
    "Request-ID: @ID@",
    f"Accept: {VENDOR}3",
    f"Authorization: Basic {b64encode(b'demo-tpp:demo-secret').decode()}",
    "Content-Type: application/x-www-form-urlencoded",
)
FORM = f"grant_type=authorization_code&redirect_uri={quote(CALLBACK, safe='')}&code_verifier={VERIFIER}&code=@TARGET@"
TOKEN = written("POST", "/token", *CALLER, body=FORM, target=SAMPLE)


class Payer:
    """Does one thing after the other; a bare floor is asked the same, and what it answers is not looked into."""

    def __init__(self, server: Server) -> None:
        self.line = Line(server.port)
        self.bare = server.name == "flask"

    def call(self, request: str, target: str = "-", expected: bytes = b"200") -> bytes:
        self.line.send(next(requests(request.encode(), [target])))
        while not self.line.receive():
            pass
        reply = self.line.received
        assert reply.startswith(b"HTTP/1.1 " + expected), reply
        return reply

    def signed(self) -> tuple[str, str]:
        """A payment's id and the code of its callback."""
        reply = self.call(SIGNABLE, expected=b"201")
        address = "-" if self.bare else found(LOCATION, reply)
        body = json.dumps({"address": address, "customer": "alice"})
        approval = self.call(written("POST", "/_sandbox/psu/approve", "Host: 127.0.0.1", body=body))
        return found(PAYMENT, reply), SAMPLE if self.bare else found(CODE, approval)

    def journey(self) -> None:
        payment_id, code = self.signed()
        self.call(TOKEN, code)
        self.call(STATUS, payment_id)


def found(pattern: re.Pattern[bytes], reply: bytes) -> str:
    match = pattern.search(reply)
    assert match is not None, reply
    return match[1].decode()


def journeys(threads: int, rounds: int) -> Iterator[Figure]:
    """Initiation, the customer's yes by a control, token, status: milliseconds of all four."""
    with floor("flask", threads) as bare, bank(threads) as server:

        def took(payer: Payer) -> float:
            began = perf_counter()
            for _ in range(JOURNEYS):
                payer.journey()
            return (perf_counter() - began) * 1000 / JOURNEYS

        sides = Payer(bare), Payer(server)
        turns = [tuple(took(payer) for payer in sides) for _ in range(rounds)]
        ours, least = median(of for _, of in turns), median(of for of, _ in turns)
        yield Figure("a whole signed payment, four calls", ours, "ms", least, ours / least)


def tokens(load: Load, threads: int, rounds: int, connections: int) -> Iterator[Figure]:
    """Every code buys tokens once, so each round begins with as many signed payments; they are not counted."""
    with floor("flask", threads) as bare, bank(threads) as server:
        payer = Payer(server)

        def turn(aim: Server, codes: list[str]) -> Outcome:
            return load.run(aim.port, TOKEN, 200, connections=connections, calls=CODES, targets=codes)

        def ours() -> Outcome:
            return turn(server, [payer.signed()[1] for _ in range(CODES)])

        turns: dict[str, Turn] = {"bare": lambda: turn(bare, [SAMPLE]), "ours": ours}
        got = rates(turns, rounds)
        yield beside("POST token, to bare Flask", got["ours"], got["bare"])
