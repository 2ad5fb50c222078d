"""Faults on a real server: late replies hold nobody up, and connections end where they should (choice 13)."""

import os
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from http.client import HTTPConnection, IncompleteRead
from time import perf_counter
from typing import TYPE_CHECKING, Any, cast

import pytest
from flask import Flask
from waitress import create_server

from sandbox.server import bounded_waitress
from sandbox.server.bounded_waitress import BankDispatcher
from sandbox.server.server import end, make_server, serve_in_background
from sandbox.worlds.faults import LINE, LineFault
from tests.stories import faulty
from tests.tpp import SCT, Tpp, headers, refused

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse

DELAY = 1.0
PATH = f"/payments/{SCT}/x/status"


@pytest.fixture
def port(app: Flask) -> Iterator[int]:
    """A server with two workers, as it runs in earnest: what goes wrong is not raised at the test."""
    app.testing = False
    with serve_in_background(app, threads=2) as address:
        yield int(address.rpartition(":")[2])
    app.testing = True


def call(port: int, path: str = PATH) -> tuple[int, bytes, float]:
    """Status, body, and how long it took."""
    began = perf_counter()
    line = HTTPConnection("127.0.0.1", port, timeout=10)
    line.request("GET", path, headers=headers())
    reply = line.getresponse()
    body = reply.read()
    line.close()
    return reply.status, body, perf_counter() - began


def test_late_replies_hold_neither_the_world_nor_the_workers(port: int, tpp: Tpp) -> None:
    faulty(tpp, when={"operation": "payment_status"}, delay=f"{DELAY:g}s")
    began = perf_counter()
    with ThreadPoolExecutor(5) as pool:
        late = [pool.submit(call, port) for _ in range(5)]
        quick = [call(port, "/_sandbox/clock") for _ in range(10)]
        assert all(status == 200 and seconds < DELAY / 2 for status, _, seconds in quick)
        assert not any(one.done() for one in late)
        replies = [one.result() for one in late]
    assert all(status == 404 and seconds >= DELAY for status, _, seconds in replies)
    assert perf_counter() - began < 2 * DELAY  # all at once, not one after the other


def test_calls_beyond_the_bound_of_those_that_wait_are_refused_at_once(
    port: int, tpp: Tpp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded_waitress, "WORLD_WAITING_MAX", 3)
    faulty(tpp, when={"operation": "payment_status"}, delay=f"{DELAY:g}s")
    with ThreadPoolExecutor(9) as pool:
        replies = [one.result() for one in [pool.submit(call, port) for _ in range(9)]]
    late = [seconds for status, _, seconds in replies if status == 404]
    refusals = [(body, seconds) for status, body, seconds in replies if status == 503]
    assert len(late) == 3 and min(late) >= DELAY
    assert len(refusals) == 6 and max(seconds for _, seconds in refusals) < DELAY / 2
    assert all(b"SBX-0503-000001" in body and b"wait already" in body for body, _ in refusals)


def test_a_world_whose_calls_wait_holds_up_no_other(port: int, tpp: Tpp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_waitress, "WORLD_WAITING_MAX", 3)
    for world in ("", "/worlds/other"):
        rule = {"when": {"operation": "payment_status"}, "delay": f"{DELAY:g}s"}
        assert tpp.http.post(f"{world}/_sandbox/faults", json=rule).status_code == 201
    with ThreadPoolExecutor(12) as pool:
        busy = [pool.submit(call, port) for _ in range(9)]
        late = [pool.submit(call, port, f"/worlds/other{PATH}") for _ in range(3)]
        quick = [call(port, "/worlds/other/_sandbox/clock") for _ in range(10)]
        assert all(status == 200 and seconds < DELAY / 2 for status, _, seconds in quick)
        assert all(one.result()[0] == 404 for one in late)
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
    for _ in range(3):
        call(port)
    tpp.control("DELETE", "/faults")
    assert [call(port)[0] for _ in range(20)] == [404] * 20


def test_a_connection_cut_before_the_reply_says_nothing(
    port: int, tpp: Tpp, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
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
    assert "Traceback" not in capsys.readouterr().err + caplog.text
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


def test_another_server_of_the_same_program_stays_as_its_owner_made_it(port: int) -> None:
    def own(environ: dict[str, Any], start: "StartResponse") -> list[bytes]:
        start("200 OK", [("Content-Type", "text/plain")])
        return [b",".join(name.encode() for name in environ if name.startswith("sandbox."))]

    theirs = create_server(own, host="127.0.0.1", port=0)
    thread = threading.Thread(target=theirs.run)
    thread.start()
    try:
        assert call(theirs.effective_port)[:2] == (200, b"")
        assert call(port)[0] == 404
    finally:
        end(theirs)
        thread.join(5)
