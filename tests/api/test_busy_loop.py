"""What the loop of a server does while its workers are busy: nothing, unless something came."""

from collections import Counter
from threading import Event
from typing import Any

import pytest

from sandbox.server import bounded_waitress
from sandbox.server.bounded_waitress import Bounds
from tests.api.test_connections import HEAD, PATIENCE, reply_on, served
from tests.logs import Logs

CALLS = 20


def test_calls_that_wait_for_a_worker_are_not_logged(logs: Logs) -> None:
    gate = Event()

    def app(environ: Any, start_response: Any) -> list[bytes]:
        gate.wait(PATIENCE)
        start_response("200 OK", [("Content-Length", "2")])
        return [b"{}"]

    with served(app, Bounds()) as bank:
        lines = bank.callers(8, HEAD + b"\r\n")
        while len(bank.server.task_dispatcher.queue) < 4:
            pass
        gate.set()
        assert all(reply_on(line).startswith(b"HTTP/1.1 200") for line in lines)
    assert not logs.records


def test_the_loop_rests_while_a_worker_sends(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, goes_on, send = Event(), Event(), bounded_waitress.BankChannel.send

    def send_later(channel: Any, data: Any, do_close: bool = True) -> Any:
        if b"later" in bytes(data):
            begun.set()
            goes_on.wait(PATIENCE)
        return send(channel, data, do_close)

    def app(environ: Any, start_response: Any) -> list[bytes]:
        start_response("200 OK", [("Content-Length", "9")])
        return [b'["later"]' if environ["PATH_INFO"] == "/later" else b'["soon_"]']

    monkeypatch.setattr(bounded_waitress.BankChannel, "send", send_later)
    with served(app, Bounds()) as bank:
        line = bank.call(b"GET /later HTTP/1.1\r\nHost: x\r\n\r\n")
        assert begun.wait(PATIENCE)
        rounds, readable = Counter[str](), bank.server.readable
        bank.server.readable = lambda: rounds.update(["loop"]) or readable()
        for _ in range(CALLS):
            bank.honest()
        assert rounds["loop"] < 20 * CALLS
        goes_on.set()
        assert line.recv(65_536).startswith(b"HTTP/1.1 200")
