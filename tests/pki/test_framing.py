"""Where a request begins and ends (RFC 9112): on the plain server and on that with TLS, the same."""

import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from sandbox.app import assemble
from sandbox.server.server import end, find_port, make_server
from sandbox.server.tls import make_tls_server
from sandbox.worlds.registry import WorldRegistry
from tests.logs import Logs

PATIENCE = 20
HEALTH = b"GET /_sandbox/health HTTP/1.1\r\nHost: localhost\r\n\r\n"
MISSING, BAD, UNREADABLE = "GEN-1201-100001", "GEN-1202-100001", "GEN-1202-100002"


class Reply(NamedTuple):
    status: int
    headers: dict[str, str]
    body: Any


class Caller:
    """One connection, and the bytes that it sends."""

    def __init__(self, line: socket.socket) -> None:
        self.line, self.file = line, line.makefile("rb")

    def ask(self, sent: bytes) -> Reply:
        self.line.sendall(sent)
        return self.read()

    def read(self) -> Reply:
        status = int(self.file.readline().split()[1])
        rows = iter(lambda: self.file.readline().strip().decode().lower(), "")
        headers = dict(row.split(": ", 1) for row in rows)
        return Reply(status, headers, json.loads(self.file.read(int(headers["content-length"])) or b"null"))

    def is_closed(self) -> bool:
        return self.file.read(1) == b""


Open = Callable[[], Caller]


@pytest.fixture(params=["plain", "tls"])
def call(request: pytest.FixtureRequest, worlds: WorldRegistry, pki: Path) -> Iterator[Open]:
    app = assemble(worlds)
    plain = request.param == "plain"
    server = make_server(app, "127.0.0.1", 0, 2) if plain else make_tls_server(app, "127.0.0.1", 0, 2, pki)
    running = threading.Thread(target=server.run, daemon=True)
    running.start()
    trusting = ssl.create_default_context(cafile=str(pki / "root.pem"))
    with ExitStack() as stack:

        def opened() -> Caller:
            line = socket.create_connection(("127.0.0.1", find_port(server)), PATIENCE)
            if not plain:
                line = trusting.wrap_socket(line, server_hostname="localhost", suppress_ragged_eofs=True)
            return Caller(stack.enter_context(line))

        yield opened
    end(server)
    running.join(PATIENCE)


def head(*rows: str, target: str = "/accounts", version: str = "HTTP/1.1", method: str = "GET") -> bytes:
    return "\r\n".join((f"{method} {target} {version}", *rows, "", "")).encode("latin-1")


def traces(logs: Logs) -> list[str]:
    return [row.getMessage() for row in logs.records if row.exc_info or row.levelname in ("ERROR", "CRITICAL")]


HOST = "Host: localhost"
REFUSED = [
    (head(HOST, "Content-Length: 3", "Transfer-Encoding: chunked", method="POST"), BAD, "Transfer-Encoding"),
    (head(HOST, "Transfer-Encoding: chunked", "Content-Length: 3", method="POST"), BAD, "Transfer-Encoding"),
    (head(HOST, "transfer-encoding: CHUNKED", "CONTENT-LENGTH: 0", method="POST"), BAD, "Transfer-Encoding"),
    (head(HOST, "Transfer-Encoding: chunked", version="HTTP/1.0", method="POST"), BAD, "Transfer-Encoding"),
    (head(HOST, "Content-Length: 3", "Content-Length: 3", method="POST"), UNREADABLE, "request"),
    (head(HOST, "Content-Length: 3, 4", method="POST"), UNREADABLE, "request"),
    (head(HOST, "Content-Length: +3", method="POST"), UNREADABLE, "request"),
    (head(HOST, "Content-Length : 3", method="POST"), UNREADABLE, "request"),
    (head(), MISSING, "Host"),
    (head(HOST, HOST), BAD, "Host"),
    (head(HOST, "HOST: other"), BAD, "Host"),
    (head(HOST, HOST, version="HTTP/1.0"), BAD, "Host"),
    (head(HOST, version="HTTP/2.0"), UNREADABLE, "version"),
    (head(HOST, target="http://[::1/accounts"), UNREADABLE, "target"),
    (head(HOST, target="http://[x]/accounts"), UNREADABLE, "target"),
    (head(HOST, target="/\xff"), UNREADABLE, "request"),
    (head(HOST, target="/acc ounts"), UNREADABLE, "request"),
    (b"GET /accounts\r\nHost: localhost\r\n\r\n", UNREADABLE, "version"),
    (b"GET\r\n\r\n", UNREADABLE, "request"),
    (b"\x16\x03\x01\x02\x00\x01\r\n\r\n", UNREADABLE, "request"),
]


@pytest.mark.parametrize(("sent", "code", "named"), REFUSED)
def test_what_has_two_readings_or_none_is_refused_and_ends_the_connection(
    call: Open, logs: Logs, sent: bytes, code: str, named: str
) -> None:
    caller = call()
    reply = caller.ask(sent + b"3\r\nabc\r\n0\r\n\r\n" + HEALTH)
    assert (reply.status, reply.body["error_code"]) == (400, code), reply
    assert named in reply.body["error_description"]
    assert set(reply.body) == {"error", "error_code", "error_description"}
    assert reply.headers["connection"] == "close" and reply.headers["response-id"]
    assert caller.is_closed()  # so that what follows is not taken for a request
    assert traces(logs) == []


@pytest.mark.parametrize(
    "sent",
    [
        HEALTH,
        head(target="/_sandbox/health", version="HTTP/1.0"),
        head(HOST, "Content-Length: 0", target="/_sandbox/health"),
        head("Host: other.example", target="http://localhost/_sandbox/health"),
        b"\r\n" + HEALTH,
    ],
)
def test_what_has_one_reading_is_answered(call: Open, sent: bytes) -> None:
    assert call().ask(sent).status == 200


def test_a_chunked_body_alone_leaves_the_connection_open(call: Open) -> None:
    caller = call()
    rows = (HOST, "Transfer-Encoding: chunked", "Content-Type: application/json")
    chunks = b'12\r\n{"advance": "10m"}\r\n0\r\n\r\n'
    assert caller.ask(head(*rows, target="/_sandbox/clock", method="POST") + chunks).status == 200
    assert caller.ask(HEALTH).status == 200


NOWHERE = ["/%zz", "/a\\b", "//", "*", "/\x7f", "/%00", "accounts", "localhost:80", "/?%zz"]


@pytest.mark.parametrize("target", NOWHERE)
def test_a_target_that_is_no_path_of_ours_is_refused_in_the_banks_body(call: Open, logs: Logs, target: str) -> None:
    reply = call().ask(head(HOST, target=target))
    assert (reply.status, reply.body["error"]) == (404, "NOT_FOUND")
    assert reply.headers["response-id"] and traces(logs) == []


def test_no_bytes_at_all_are_a_stack_trace(call: Open, logs: Logs) -> None:
    chance = Random(15)
    odd = [b"[", b"]", b"\x00", b"\xff", b"%", b"//", b"@"]
    for _ in range(300):
        sent = bytearray(head(HOST, "Accept: */*", "Content-Length: 0", target="http://localhost:80/accounts?a=b#c"))
        for _ in range(chance.randint(1, 4)):
            place = chance.randrange(len(sent) - 6)  # the end stays, so that the request has one
            sent[place : place + chance.randint(0, 2)] = chance.choice(odd)
        reply = call().ask(bytes(sent))
        assert 400 <= reply.status < 500, (sent, reply)
        assert set(reply.body) == {"error", "error_code", "error_description"}, (sent, reply)
    assert traces(logs) == []


@pytest.mark.parametrize("value", ["other", "100-continue, other", "100-continue=1", "\xff", "x" * 5_000, "100"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_expectation_that_is_not_known_is_417(call: Open, value: str, method: str) -> None:
    caller = call()
    reply = caller.ask(head("Host: localhost", f"Expect: {value}", "Content-Length: 0", method=method))
    assert (reply.status, reply.body["error_code"]) == (417, "SBX-0417-000001")
    assert "100-continue" in reply.body["error_description"] and reply.headers["response-id"]
    assert caller.is_closed()  # what follows may be a body that the caller holds back


@pytest.mark.parametrize(
    "rows", [["Expect: 100-Continue"], ["Expect:"], ["Expect: 100-continue", "Expect: 100-continue"]]
)
def test_an_expectation_that_is_known_is_met(call: Open, rows: list[str]) -> None:
    reply = call().ask(head("Host: localhost", *rows, target="/_sandbox/health"))
    assert reply.status == 200
