"""Large work that a test of stalls has a server do, each piece of it one or two calls."""

import gzip
import http.client
from collections.abc import Iterator

from bench.bulks import AT, Desk, pain
from bench.servers import Server

JSON, LINES_MEDIA, XML = "application/json", "application/x-ndjson", "application/xml"
LINES = 100_000  # of a bulk file
MOST = 200_000  # lines: 60 MB, about what a file may have


def validate(server: Server) -> None:
    """A file goes to the same world, and its time moves past the end of its validation."""
    desk = Desk(server.port)
    sent = desk.call("POST", "/bulk-payments/pain.001", pain(LINES), media=XML)
    desk.call("POST", "/_sandbox/clock", b'{"advance": "120s"}', media=JSON)
    path = f"/bulk-payments/pain.001/{sent['payment_file_id']}/status"
    assert desk.call("GET", path)["status"] == "PATC"


def upload(server: Server) -> None:
    """To another world, whose time stands still: the file waits there."""
    desk = Desk(server.port)
    at = f'{{"clock": {{"at": "{AT}", "frozen": true}}, "replace": true}}'.encode()
    desk.call("PUT", "/_sandbox/worlds/files", at, media=JSON)
    desk.call("POST", "/worlds/files/bulk-payments/pain.001", pain(MOST), media=XML)


def pieces(server: Server, path: str) -> Iterator[bytes]:
    line = http.client.HTTPConnection("127.0.0.1", server.port)
    line.request("GET", path)
    reply = line.getresponse()
    assert reply.status == 200, reply.read()
    while piece := reply.read(1 << 20):
        yield piece


def export(server: Server) -> None:
    end = b""
    for piece in pieces(server, "/_sandbox/export"):
        end = (end + piece)[-1000:]
    assert b'"end"' in end, end


def list_payments(server: Server) -> None:
    assert sum(map(len, pieces(server, "/_sandbox/payments"))) > 1_000_000


def list_journal(server: Server) -> None:
    assert sum(map(len, pieces(server, "/_sandbox/journal"))) > 1_000_000


def fork(server: Server) -> None:
    server.ask("POST", "/worlds/default/fork", **{"as": "second", "replace": True})


def rewind(server: Server) -> None:
    """The second world, by a minute: its acts are done again."""
    server.ask("POST", "/worlds/second/rewind", at="2027-03-01T08:59:00+01:00")


def drop(server: Server) -> None:
    Desk(server.port).call("PUT", "/_sandbox/worlds/second", b'{"replace": true}', media=JSON)


def exported(server: Server) -> bytes:
    return gzip.compress(b"".join(pieces(server, "/_sandbox/export")), 1)


def take_in(server: Server, file: bytes) -> None:
    Desk(server.port).call("POST", "/_sandbox/import?as=imported&replace=true", file, media=LINES_MEDIA)


def travel(server: Server) -> None:
    """Ten years of a world whose people live."""
    desk = Desk(server.port)
    at = f'{{"clock": {{"at": "{AT}", "frozen": true}}, "life": "on", "replace": true}}'.encode()
    desk.call("PUT", "/_sandbox/worlds/old", at, media=JSON)
    desk.call("POST", "/worlds/old/_sandbox/clock", b'{"advance": "3650d"}', media=JSON)


def settle(server: Server) -> None:
    """All that is signed is executed, at one instant."""
    Desk(server.port).call("POST", "/_sandbox/clock", b'{"advance": "60s"}', media=JSON)
