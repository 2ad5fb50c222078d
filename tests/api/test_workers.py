"""The workers that answer calls: a call that takes long, more calls than workers, the end of a server."""

import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection, RemoteDisconnected
from typing import Any

import pytest

from sandbox.machine import seconds_passed
from sandbox.server.bounded_waitress import ENDS_WITHIN
from sandbox.server.server import end, find_port, make_server

PATIENCE = 10.0
WORKERS = {"waitress-0", "waitress-1"}
Gate = tuple[threading.Event, threading.Event]  # the call came; it may go on


class App:
    """Answers with the name of the thread; /long waits until the test lets it go on, and /broken fails."""

    def __init__(self) -> None:
        self.gates: deque[Gate] = deque()

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
        if environ["PATH_INFO"] == "/broken":
            raise SystemExit("a fault of the application")
        if environ["PATH_INFO"] == "/long":
            came, goes_on = self.gates.popleft()
            came.set()
            assert goes_on.wait(PATIENCE)
        start("200 OK", [("Content-Type", "text/plain")])
        return [threading.current_thread().name.encode()]


class Bank:
    def __init__(self, app: App) -> None:
        self.app = app
        self.server = make_server(app, "127.0.0.1", 0, 2)
        self.thread = threading.Thread(target=self.server.run, daemon=True)
        self.pool = ThreadPoolExecutor(4)
        self.thread.start()

    def call(self, path: str = "/") -> str:
        with closing(HTTPConnection("127.0.0.1", find_port(self.server), timeout=PATIENCE)) as line:
            line.request("GET", path)
            return line.getresponse().read().decode()

    def begin_long(self) -> Callable[[], str]:
        """A call that is under way; what is returned lets it go on, and gives its answer."""
        came, goes_on = threading.Event(), threading.Event()
        self.app.gates.append((came, goes_on))
        answer = self.pool.submit(self.call, "/long")
        assert came.wait(PATIENCE)

        def finish() -> str:
            goes_on.set()
            return answer.result(PATIENCE)

        return finish

    def wait_for_queue(self, calls: int) -> None:
        ends = seconds_passed() + PATIENCE
        while len(self.server.task_dispatcher.queue) < calls:
            assert seconds_passed() < ends

    def end(self) -> None:
        end(self.server)
        self.thread.join(PATIENCE)
        self.pool.shutdown()
        assert not self.thread.is_alive()


@pytest.fixture
def bank() -> Iterator[Bank]:
    server = Bank(App())
    yield server
    server.end()


def test_a_call_that_takes_long_holds_nobody_up(bank: Bank) -> None:
    finish = bank.begin_long()
    names = {bank.call() for _ in range(20)}
    assert finish() not in names and len(names) == 1


def test_calls_wait_while_every_worker_is_busy_and_are_answered_after_that(bank: Bank) -> None:
    finish = bank.begin_long(), bank.begin_long()
    waiting = bank.pool.submit(bank.call)
    bank.wait_for_queue(1)
    assert not waiting.done()
    names = {answer() for answer in finish}
    assert len(names) == 2 and waiting.result(PATIENCE) in names


def test_a_server_that_ends_waits_for_the_calls_under_way_and_not_longer_than_it_may(bank: Bank) -> None:
    finish = bank.begin_long(), bank.begin_long()
    began = seconds_passed()
    bank.server.task_dispatcher.shutdown()
    assert 0.9 * ENDS_WITHIN < seconds_passed() - began < 1.5 * ENDS_WITHIN
    assert {answer() for answer in finish} == WORKERS


def test_an_application_that_fails_ends_its_connection_and_no_worker(bank: Bank) -> None:
    for _ in range(3):
        with pytest.raises(RemoteDisconnected):
            bank.call("/broken")
        assert bank.call() in WORKERS
