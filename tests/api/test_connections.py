"""Silent, slow and endless callers on a real server: they hold nobody up, and they are not held for ever."""

import re
import resource
import socket
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from select import select
from threading import Event, Semaphore, Thread
from time import perf_counter
from typing import Any

import pytest
from flask import Flask

from sandbox.machine import operating_system
from sandbox.server import bounded_waitress
from sandbox.server.bounded_waitress import Bounds
from sandbox.server.server import end, find_port, limit_connections, make_server, raise_files

PATIENCE = 10
WITHIN = 1.0  # second
BUFFER = 65_536  # bytes
FILES = 8_192  # for both ends of every connection
HEAD = b"GET /_sandbox/health HTTP/1.1\r\nHost: localhost\r\n"
POST = b"POST /token HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\n"


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


class Served:
    """A server on a port, a clock of its connections, and callers that are closed at the end."""

    def __init__(self, server: Any, stack: ExitStack) -> None:
        self.server, self.stack, self.port = server, stack, find_port(server)
        self.clock = server.clock = Clock()

    def call(self, sent: bytes = b"") -> socket.socket:
        line = self.stack.enter_context(socket.create_connection(("127.0.0.1", self.port), PATIENCE))
        if sent:
            line.sendall(sent)
        return line

    def callers(self, count: int, sent: bytes = b"") -> list[socket.socket]:
        return [self.call(sent) for _ in range(count)]

    def honest(self) -> float:
        """How long an honest caller waits for its answer."""
        began = perf_counter()
        line = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        line.request("GET", "/_sandbox/health")
        assert line.getresponse().status == 200
        line.close()
        return perf_counter() - began

    def settle_accepted(self, count: int) -> None:
        """Returns once the server has accepted so many connections. This takes CPU, which a busy machine may not have
        within a second."""
        while len(self.server.active_channels) < count:
            self.honest()

    def settle(self, held: int = 0) -> None:
        """Until all that was asked is answered, and so many bytes of what was not lie here."""
        self.honest()
        channels = self.server.active_channels
        while any(one.requests for one in list(channels.values())) or held > sum(
            sum(channel.bytes_used) for channel in list(channels.values())
        ):
            self.honest()

    def settle_unread(self) -> None:
        """Returns once the system takes no further byte of the replies that nobody reads, and the server knows it."""
        channels = self.server.active_channels
        while any(select([], [one.socket], [], 0)[1] for one in list(channels.values()) if one.total_outbufs_len):
            self.honest()
        self.honest()

    def after(self, seconds: float) -> None:
        """The server looks at its connections again, so much later."""
        self.clock.now += seconds
        self.server.pull_trigger()


Serve = Callable[[Bounds], Served]


@pytest.fixture
def serve(app: Flask) -> Iterator[Serve]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < FILES:
        resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, hard))
    app.testing = False
    with ExitStack() as stack:
        yield lambda bounds: stack.enter_context(served(app, bounds))
    app.testing = True
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@contextmanager
def served(app: Any, bounds: Bounds, threads: int = 4) -> Iterator[Served]:
    server = make_server(app, "127.0.0.1", 0, threads, bounds)
    with ExitStack() as stack:
        found = Served(server, stack)
        thread = Thread(target=server.run, daemon=True)
        thread.start()
        yield found
    end(server)
    thread.join(PATIENCE)
    assert not thread.is_alive()


def is_closed(line: socket.socket) -> bool:
    """Waits for the end; a server that goes on holding the line lets the test fail."""
    try:
        return line.recv(1) == b""
    except ConnectionResetError:
        return True


def reply_on(line: socket.socket) -> bytes:
    """A reply of JSON, on a connection that stays open."""
    heard = b""
    while not heard.endswith(b"}"):
        piece = line.recv(65_536)
        assert piece, "closed before the reply ended"
        heard += piece
    return heard


def all_of(line: socket.socket) -> bytes:
    """Until it is closed."""
    heard = bytearray()
    while piece := line.recv(65_536):
        heard += piece
    return bytes(heard)


def test_five_hundred_slow_and_a_thousand_idle_connections_hold_nobody_up(serve: Serve) -> None:
    bank = serve(Bounds())
    slow = bank.callers(500, HEAD + b"X-Slow: a")
    bank.settle_accepted(500)
    assert bank.honest() < WITHIN
    bank.callers(1_000)
    bank.settle_accepted(1_500)
    assert bank.honest() < WITHIN
    for line in slow:
        line.sendall(b"a")
    assert bank.honest() < WITHIN


def test_one_more_than_the_limit_closes_the_longest_silent_and_spares_who_was_served(serve: Serve) -> None:
    bank = serve(Bounds(connections=3))
    proven = bank.call(HEAD + b"\r\n")
    assert reply_on(proven).startswith(b"HTTP/1.1 200")
    first = bank.call()
    bank.after(1)
    bank.call()
    assert bank.honest() < WITHIN
    assert is_closed(first)
    proven.sendall(HEAD + b"\r\n")
    assert reply_on(proven).startswith(b"HTTP/1.1 200")


def test_a_connection_at_work_is_never_closed_to_make_room() -> None:
    entered, gate = Semaphore(0), Event()

    def app(environ: Any, start_response: Any) -> list[bytes]:
        if environ["PATH_INFO"] == "/slow":
            entered.release()
            gate.wait(PATIENCE)
        start_response("200 OK", [("Content-Length", "2")])
        return [b"{}"]

    with served(app, Bounds(connections=2)) as bank:
        working = bank.callers(2, b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
        assert all(entered.acquire(timeout=PATIENCE) for _ in working)
        newcomer = bank.call(HEAD + b"\r\n")  # waits until one of them is answered
        gate.set()
        for line in (*working, newcomer):
            assert reply_on(line).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    "sent, seconds",
    [
        (b"", bounded_waitress.FIRST_SECONDS),
        (HEAD, bounded_waitress.REQUEST_SECONDS),
        (POST + b"Content-Length: 10\r\n\r\nhalf", bounded_waitress.REQUEST_SECONDS),
        (POST + b"Content-Length: 60000\r\n\r\n".ljust(50_000), bounded_waitress.REQUEST_SECONDS + 5),
    ],
)
def test_a_silent_or_slow_caller_has_so_many_seconds(serve: Serve, sent: bytes, seconds: float) -> None:
    bank = serve(Bounds())
    line = bank.call(sent)
    bank.settle(len(sent))
    bank.after(seconds - 1)
    bank.honest()
    line.settimeout(0)
    with pytest.raises(BlockingIOError):
        line.recv(1)
    line.settimeout(PATIENCE)
    bank.after(2)
    assert is_closed(line)


def test_a_connection_that_was_used_may_rest_longer(serve: Serve) -> None:
    bank = serve(Bounds())
    line = bank.call(HEAD + b"\r\n")
    assert reply_on(line).startswith(b"HTTP/1.1 200")
    bank.settle()
    bank.after(bounded_waitress.IDLE_SECONDS - 1)
    line.sendall(HEAD + b"\r\n")
    assert reply_on(line).startswith(b"HTTP/1.1 200")
    bank.settle()
    bank.after(bounded_waitress.IDLE_SECONDS + 1)
    assert is_closed(line)


def test_callers_who_never_read_their_replies_hold_no_worker_and_are_closed() -> None:
    piece = bytes(100_000)

    def app(environ: Any, start_response: Any) -> Iterator[bytes]:
        start_response("200 OK", [])
        return iter([b"{}"] if environ["PATH_INFO"] == "/_sandbox/health" else [piece] * 200)

    with served(app, Bounds(), threads=2) as bank:
        # With the usual buffers, the system takes so much that waitress alone would also hold no worker.
        bank.server.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)  # connections inherit it
        deaf = bank.callers(3)  # more than there are workers
        for line in deaf:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
            line.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        bank.settle(3 * 200 * len(piece) // 2)  # the rest lies with the system
        assert bank.honest() < WITHIN
        bank.settle_unread()
        bank.after(bounded_waitress.UNREAD_SECONDS + 1)
        bank.honest()
        for line in deaf:
            assert len(all_of(line)) < 200 * len(piece)


@pytest.mark.parametrize(
    "begins, goes_on",
    [
        (b"GET /", b"a"),
        (HEAD + b"X-Long: ", b"a"),
        (HEAD, b"X-A: b\r\n"),
        (POST + b"Content-Length: 70000000\r\n\r\n", b"a"),
        (POST + b"Transfer-Encoding: chunked\r\n\r\n", b"1;ext="),
        (POST + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"X-T: a\r\n"),
    ],
)
def test_bytes_without_end_are_refused_and_the_refusal_arrives(serve: Serve, begins: bytes, goes_on: bytes) -> None:
    bank = serve(Bounds())
    line = bank.call(begins)
    line.sendall(goes_on * (1_000_000 // len(goes_on)))
    reply = all_of(line)
    assert re.match(rb"HTTP/1.[01] 400 ", reply)
    assert b"GEN-1202-10000" in reply
    assert bank.honest() < WITHIN


@pytest.mark.parametrize(
    "sent, later",
    [
        (HEAD + b"Expect: 100-continue\r\n\r\n", b""),
        (POST + b"Expect: 100-continue\r\nContent-Length: 0\r\n\r\n", b""),
        (POST + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}", b""),
        (POST + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n", b"{}"),
        (POST + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{", b"}"),
    ],
)
def test_a_caller_that_may_go_on_is_told_so_where_it_has_more_to_send(serve: Serve, sent: bytes, later: bytes) -> None:
    bank = serve(Bounds())
    line = bank.call(sent)
    if later:
        assert line.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        line.sendall(later)
    assert re.match(rb"(HTTP/1.1 100 Continue\r\n\r\n)?HTTP/1.1 [24]", reply_on(line))


def test_unfinished_bodies_are_bounded_in_bytes_and_the_longest_waiting_goes(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded_waitress, "SWEEP_BYTES", -1)  # look after every piece
    bank = serve(Bounds(memory=1_200_000, disk=5_000_000))
    body = POST + b"Content-Length: 3000000\r\n\r\n"
    lines = []
    for _ in range(3):
        lines.append(bank.call(body + b"a" * 2_000_000))
        bank.after(1)
    assert is_closed(lines[0])
    for line in lines[1:]:
        line.sendall(b"a" * 1_000_000)
        assert re.match(rb"HTTP/1.1 4", reply_on(line))


def test_replies_to_many_requests_at_once_that_nobody_reads_leave_memory() -> None:
    def app(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        start_response("200 OK", [("Content-Length", "100000")])
        return [b"a" * 99_999 + b"}"]

    with served(app, Bounds()) as bank:
        line = bank.call((HEAD + b"\r\n") * 150)
        while not (channels := list(bank.server.active_channels.values())) or channels[0].total_outbufs_len < 8_000_000:
            pass
        assert (
            sum(len(buffer) for buffer in channels[0].outbufs if not buffer.overflowed) < 2 * bounded_waitress.OVERFLOW
        )
        heard = Counter[int]()
        while heard[ord("}")] < 150:
            heard.update(line.recv(1_000_000))
        assert heard[ord("a")] >= 150 * 99_999


def test_as_many_files_as_the_connections_need_are_asked_for_and_no_more_are_promised(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limits = [1_024, 4_096]
    monkeypatch.setattr(operating_system.resource, "getrlimit", lambda kind: tuple(limits))
    monkeypatch.setattr(
        operating_system.resource, "setrlimit", lambda kind, given: limits.__setitem__(slice(None), given)
    )
    assert limit_connections(4_000) == 448
    raise_files(100)
    assert limits == [1_024, 4_096]
    raise_files(1_000)
    assert limits == [2_128, 4_096]
    raise_files(4_000)
    assert limits == [4_096, 4_096]
    assert limit_connections(4_000) == 1_984
