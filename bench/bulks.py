"""What a large bulk file costs, and what those who ask other worlds meanwhile feel of it."""

import http.client
import json
from collections.abc import Iterator
from statistics import median
from threading import Thread
from time import perf_counter, sleep
from typing import Any
from uuid import uuid4

from bench.bare import pass_seconds
from bench.servers import CALLBACK, INITIATION, SCT, Server, bank
from bench.table import Figure

MEGABYTE = 1_000_000
DEBTOR = "BE63539100004808"
AT = "2027-03-01T09:00"
PASSES_MOST, PASSES_MOST_BESIDE = 12, 16  # bare passes over the same file: alone, and while others ask
EVERY = 0.01  # seconds between status calls of another world
HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09"><CstmrCdtTrfInitn>'
    "<GrpHdr><MsgId>BENCH-{0}</MsgId>"
    "<CreDtTm>2027-03-01T08:00:00</CreDtTm><NbOfTxs>{0}</NbOfTxs><InitgPty><Nm>Bakkerij</Nm></InitgPty></GrpHdr>"
    "<PmtInf><PmtInfId>WAGES</PmtInfId><PmtMtd>TRF</PmtMtd><BtchBookg>true</BtchBookg><ReqdExctnDt><Dt>2027-03-02</Dt>"
    f"</ReqdExctnDt><Dbtr><Nm>Bakkerij</Nm></Dbtr><DbtrAcct><Id><IBAN>{DEBTOR}</IBAN></Id></DbtrAcct>"
    "<DbtrAgt><FinInstnId/></DbtrAgt>"
)
TRANSACTION = (
    '<CdtTrfTxInf><PmtId><EndToEndId>WAGE-{0}</EndToEndId></PmtId><Amt><InstdAmt Ccy="EUR">0.01</InstdAmt></Amt>'
    "<Cdtr><Nm>Jan Peeters {0}</Nm></Cdtr><CdtrAcct><Id><IBAN>{1}</IBAN></Id></CdtrAcct>"
    "<RmtInf><Ustrd>Wages of March, number {0}</Ustrd></RmtInf></CdtTrfTxInf>\n"
)
TAIL = "</PmtInf></CstmrCdtTrfInitn></Document>"


def pain(transactions: int) -> bytes:
    """A file of one bulk, each transaction to an account of its own."""
    from sandbox.banking.iban import make_belgian

    rows = (TRANSACTION.format(number, make_belgian("152", number)) for number in range(transactions))
    return f"{HEAD.format(transactions)}{''.join(rows)}{TAIL}".encode()


class Desk:
    """One kept connection to a server."""

    def __init__(self, port: int) -> None:
        self.line = http.client.HTTPConnection("127.0.0.1", port)

    def call(self, method: str, path: str, body: bytes | None = None, version: int = 2, media: str = "") -> Any:
        headers = {
            "Request-ID": str(uuid4()),
            "Accept": f"application/vnd.service.api+json; version={version}",
            "Accept-Language": "fr",
            "Client-ID": "demo-tpp",
            "Redirect-URI": CALLBACK,
        }
        self.line.request(method, path, body, headers | ({"Content-Type": media} if media else {}))
        reply = self.line.getresponse()
        answer = json.loads(reply.read())
        assert reply.status < 300, answer
        return answer


def validation(server: Server, world: str, content: bytes) -> float:
    """Seconds that the bank's time stands while a file is validated in a world."""
    desk = Desk(server.port)
    at = json.dumps({"clock": {"at": AT, "frozen": True}, "replace": True}).encode()
    desk.call("PUT", f"/_sandbox/worlds/{world}", at, media="application/json")
    sent = desk.call("POST", f"/worlds/{world}/bulk-payments/pain.001", content, media="application/xml")
    began = perf_counter()
    desk.call("POST", f"/worlds/{world}/_sandbox/clock", b'{"advance": "120s"}', media="application/json")
    took = perf_counter() - began
    path = f"/worlds/{world}/bulk-payments/pain.001/{sent['payment_file_id']}/status"
    assert desk.call("GET", path)["status"] == "PATC"
    return took


def waits_of(server: Server, payment_id: str, work: Thread) -> list[float]:
    """Milliseconds that status calls of the default world take until the work is done."""
    desk, waits = Desk(server.port), []
    while work.is_alive():
        began = perf_counter()
        desk.call("GET", f"/payments/{SCT}/{payment_id}/status", version=3)
        waits.append((perf_counter() - began) * 1000)
        sleep(EVERY)
    return sorted(waits)


def of(waits: list[float], share: float) -> float:
    return waits[int(share * (len(waits) - 1))]


def files(load: Any, threads: int, rounds: int = 3) -> Iterator[Figure]:
    """Small files alone; the largest while others ask."""
    with bank(threads) as server:
        small, double, large = (pain(count) for count in (10_000, 20_000, 100_000))
        pairs = [
            (validation(server, f"s{turn}", small), validation(server, f"d{turn}", double)) for turn in range(rounds)
        ]
        took, bare = median(one for one, _ in pairs), min(pass_seconds(small) for _ in range(rounds))
        yield Figure("10,000 transactions validated, to a bare pass", took, "s", bare, took / bare, most=PASSES_MOST)
        ratio = median(two / one for one, two in pairs)
        yield Figure("20,000 transactions, to 10,000", median(two for _, two in pairs), "s", None, ratio, most=2.5)
    with bank(threads) as server:
        load.run(server.port, INITIATION, 201, connections=1, calls=1)
        (payment_id,) = server.payments()
        idle, beside = server.memory(), list[float]()
        work = Thread(target=lambda: beside.append(validation(server, "large", large)))
        work.start()
        waits = waits_of(server, payment_id, work)
        work.join()
        bare = pass_seconds(large)
        name = "100,000 transactions validated while others ask, to a bare pass"
        yield Figure(name, beside[0], "s", bare, beside[0] / bare, most=PASSES_MOST_BESIDE)
        p50, p99 = of(waits, 0.5), of(waits, 0.99)
        yield Figure("their status calls meanwhile, p99", p99, "ms", p50=p50, p99=p99, most=100)
        peak = server.memory("VmHWM")
        if idle is not None and peak is not None:
            yield Figure("memory above idle at the most", (peak - idle) / MEGABYTE, "MB", most=400)
