"""Faults on a real server: late replies hold nobody up, and connections end where they should (choice 13)."""

import os
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import nullcontext
from http.client import HTTPConnection, IncompleteRead
from itertools import islice
from time import perf_counter
from typing import TYPE_CHECKING, Any, cast

import pytest
from flask import Flask
from waitress import create_server

from sandbox.server import bounded_waitress
from sandbox.server.bounded_waitress import BankDispatcher
from sandbox.server.server import end, make_server, serve_in_background
from sandbox.worlds.faults import LINE, LineFault
from tests.logs import Logs
from tests.stories import faulty
from tests.tpp import SCT, Tpp, headers, refused

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse

PATIENCE = 30.0  # seconds until a test that hangs fails
PATH = f"/payments/{SCT}/x/status"


@pytest.fixture
def port(app: Flask) -> Iterator[int]:
    """A server with two workers, as it runs in earnest: what goes wrong is not raised at the test."""
    app.testing = False
    with serve_in_background(app, threads=2) as address:
        yield int(address.rpartition(":")[2])
    app.testing = True


def call(port: int, path: str = PATH) -> tuple[int, bytes]:
    line = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    line.request("GET", path, headers=headers())
    reply = line.getresponse()
    body = reply.read()
    line.close()
    return reply.status, body


class Delays:
    """The delays of all calls. They end when the test says so."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.are_over = threading.Event()
        self._begun = threading.Semaphore(0)

    def wait(self, seconds: float) -> None:
        self.seconds.append(seconds)
        self._begun.release()
        assert self.are_over.wait(PATIENCE)

    def wait_until_begun(self, count: int) -> None:
        assert all(self._begun.acquire(timeout=PATIENCE) for _ in range(count))


@pytest.fixture
def delays(monkeypatch: pytest.MonkeyPatch) -> Iterator[Delays]:
    delays = Delays()
    monkeypatch.setattr(BankDispatcher, "wait", lambda workers, seconds: delays.wait(seconds))
    yield delays
    delays.are_over.set()


def test_late_replies_hold_neither_the_world_nor_the_workers(port: int, tpp: Tpp, delays: Delays) -> None:
    faulty(tpp, when={"operation": "payment_status"}, delay="7s")
    with ThreadPoolExecutor(5) as pool:
        late = [pool.submit(call, port) for _ in range(5)]
        delays.wait_until_begun(5)  # all at once, not one after the other
        assert [call(port, "/_sandbox/clock")[0] for _ in range(10)] == [200] * 10
        assert not any(one.done() for one in late)
        delays.are_over.set()
        assert [one.result()[0] for one in late] == [404] * 5
    assert delays.seconds == [7.0] * 5


def test_calls_beyond_the_bound_of_those_that_wait_are_refused_at_once(
    port: int, tpp: Tpp, delays: Delays, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded_waitress, "WORLD_WAITING_MAX", 3)
    faulty(tpp, when={"operation": "payment_status"}, delay="7s")
    with ThreadPoolExecutor(9) as pool:
        calls = as_completed([pool.submit(call, port) for _ in range(9)], PATIENCE)
        refusals = [one.result() for one in islice(calls, 6)]  # while the others wait
        delays.are_over.set()
        late = [one.result() for one in calls]
    assert [status for status, _ in late] == [404] * 3 and delays.seconds == [7.0] * 3
    for status, body in refusals:
        assert status == 503 and b"SBX-0503-000001" in body and b"wait already" in body


def test_a_world_whose_calls_wait_holds_up_no_other(
    port: int, tpp: Tpp, delays: Delays, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded_waitress, "WORLD_WAITING_MAX", 3)
    for world in ("", "/worlds/other"):
        rule = {"when": {"operation": "payment_status"}, "delay": "7s"}
        assert tpp.http.post(f"{world}/_sandbox/faults", json=rule).status_code == 201
    with ThreadPoolExecutor(12) as pool:
        busy = [pool.submit(call, port) for _ in range(9)]
        late = [pool.submit(call, port, f"/worlds/other{PATH}") for _ in range(3)]
        delays.wait_until_begun(6)
        assert [call(port, "/worlds/other/_sandbox/clock")[0] for _ in range(10)] == [200] * 10
        assert not any(one.done() for one in late)
        delays.are_over.set()
        assert [one.result()[0] for one in late] == [404] * 3
        assert sum(one.result()[0] == 404 for one in busy) == 3


def test_a_call_that_may_not_wait_did_nothing(tpp: Tpp) -> None:
    faulty(tpp, when={"operation": "payment_initiation"}, delay="1s")
    environ = cast("dict[str, Any]", tpp.http.environ_base)
    environ["sandbox.reserve"] = lambda world: nullcontext(False)
    reply = tpp.initiate()
    assert refused(reply, 503, "SBX-0503-000001") and reply.headers["Retry-After"] == "5"
    assert tpp.listed("payments") == []


def test_a_page_that_may_not_wait_says_when_to_come_back(tpp: Tpp) -> None:
    faulty(tpp, when={"operation": "psu_page"}, delay="1s")
    page = tpp.http.get("/psu/channel", environ_overrides={"sandbox.reserve": lambda world: nullcontext(False)})
    assert (page.status_code, page.headers["Retry-After"]) == (503, "5")


def test_each_world_has_its_bound_and_the_server_one_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_waitress, "WORLD_WAITING_MAX", 2)
    monkeypatch.setattr(bounded_waitress, "WAITING_MAX", 3)
    workers = BankDispatcher(1)
    try:
        with workers.reserve("a") as first, workers.reserve("a") as second, workers.reserve("a") as third:
            assert (first, second, third) == (True, True, False)
            with workers.reserve("b") as fourth, workers.reserve("c") as fifth:
                assert (fourth, fifth) == (True, False)
            with workers.reserve("c") as sixth:
                assert sixth
        assert not workers.waiting
    finally:
        workers.shutdown()


def test_a_thread_that_the_system_does_not_start_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    workers = BankDispatcher(1)
    try:
        with monkeypatch.context() as broken:
            broken.setattr(threading.Thread, "start", _no_thread)
            with workers.reserve("a") as has_room:
                assert not has_room
        assert len(workers.threads) == 1 and not workers.waiting["a"]
        with workers.reserve("a") as has_room:
            assert has_room and len(workers.threads) == 2
    finally:
        workers.shutdown()


def _no_thread(thread: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")


def test_workers_that_were_lent_are_given_back(port: int, tpp: Tpp) -> None:
    faulty(tpp, when={"operation": "payment_status"}, delay="0.05s")
    began = perf_counter()
    for _ in range(3):
        call(port)
    assert perf_counter() - began > 3 * 0.05
    tpp.control("DELETE", "/faults")
    assert [call(port)[0] for _ in range(20)] == [404] * 20


def test_a_connection_cut_before_the_reply_says_nothing(
    port: int, tpp: Tpp, capsys: pytest.CaptureFixture[str], logs: Logs
) -> None:
    faulty(tpp, when={"operation": "payment_status"}, cut="before")
    with socket.create_connection(("127.0.0.1", port), 10) as line:
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers().items())
        line.sendall(f"GET {PATH} HTTP/1.1\r\nHost: x\r\n{lines}\r\n".encode())
        try:
            heard = line.recv(10_000)
        except ConnectionResetError:
            heard = b""
    assert heard == b""
    assert "Traceback" not in capsys.readouterr().err + logs.text
    tpp.control("DELETE", "/faults")
    assert call(port)[0] == 404


def test_a_connection_cut_within_the_reply_ends_before_the_length_that_it_promised(port: int, tpp: Tpp) -> None:
    whole = call(port)[1]
    faulty(tpp, when={"operation": "payment_status"}, cut="within")
    line = HTTPConnection("127.0.0.1", port, timeout=10)
    line.request("GET", PATH, headers=headers())
    reply = line.getresponse()
    assert (reply.status, reply.headers["Content-Length"]) == (404, str(len(whole)))
    with pytest.raises((IncompleteRead, ConnectionResetError)) as ended:
        reply.read()
    reply.close()
    line.close()
    if isinstance(ended.value, IncompleteRead):
        assert b"Traceback" not in ended.value.partial and len(ended.value.partial) < len(whole)


def test_a_server_that_ends_does_not_wait_for_late_replies(app: Flask) -> None:
    waiting = threading.Event()
    server = make_server(app, "127.0.0.1", 0, threads=2)
    workers = server.task_dispatcher

    def wait() -> None:
        waiting.set()
        workers.wait(60)

    late = threading.Thread(target=wait)
    late.start()
    assert waiting.wait(5)
    began = perf_counter()
    workers.shutdown()
    late.join(5)
    app.config[LINE].remove_listener(server.line_faults.order)  # other tests use the same application
    server.close()
    assert not late.is_alive() and perf_counter() - began < 2


def test_a_fault_of_connections_that_outlives_its_server_writes_to_no_file(app: Flask) -> None:
    server, before = make_server(app, "127.0.0.1", 0, threads=2), set(threading.enumerate())
    thread = threading.Thread(target=server.run)
    thread.start()
    faults, wakes = server.line_faults, server.trigger.trigger
    reader, writer = os.pipe()
    app.config[LINE].order("silent", 600.0)
    while not (timers := [one for one in set(threading.enumerate()) - before if isinstance(one, threading.Timer)]):
        pass
    end(server)
    thread.join(5)
    os.dup2(writer, wakes)  # as a file that is opened next gets the descriptor
    timers[0].function()
    timers[0].cancel()
    faults.order(LineFault("silent", 600.0))
    os.set_blocking(reader, False)
    with pytest.raises(BlockingIOError):
        os.read(reader, 1)
    for file in (reader, writer, wakes):
        os.close(file)


def test_a_fault_that_ends_while_the_server_ends_does_not_open_the_port_again(app: Flask) -> None:
    server, before = make_server(app, "127.0.0.1", 0, threads=2), set(threading.enumerate())
    thread = threading.Thread(target=server.run)
    thread.start()
    app.config[LINE].order("closed", 600.0)
    while not (timers := [one for one in set(threading.enumerate()) - before if isinstance(one, threading.Timer)]):
        pass
    app.config[LINE].end()
    timers[0].function()
    timers[0].cancel()
    is_done = threading.Event()
    server.trigger.pull_trigger(is_done.set)
    assert is_done.wait(PATIENCE)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", int(server.effective_port)))
    end(server)
    thread.join(5)


def test_another_server_of_the_same_program_stays_as_its_owner_made_it(port: int) -> None:
    def own(environ: dict[str, Any], start: "StartResponse") -> list[bytes]:
        start("200 OK", [("Content-Type", "text/plain")])
        return [b",".join(name.encode() for name in environ if name.startswith("sandbox."))]

    theirs = create_server(own, host="127.0.0.1", port=0)
    thread = threading.Thread(target=theirs.run)
    thread.start()
    try:
        assert call(theirs.effective_port) == (200, b"")
        assert call(port)[0] == 404
    finally:
        end(theirs)
        thread.join(5)
