"""The thread that reads answers brief calls itself, and holds nobody up with one that takes long."""

import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection, RemoteDisconnected
from typing import Any

import pytest

from sandbox.machine import seconds_passed
from sandbox.serve.server import end, port_of, server_of
from sandbox.serve.workers import ENDS_WITHIN
from sandbox.world.faults import WAITS

PATIENCE = 10.0
Gate = tuple[threading.Event, threading.Event]  # the call came; it may go on


class App:
    """Answers with the name of the thread; /long waits until the test lets it go on, and /broken fails."""

    def __init__(self, waits: bool) -> None:
        self.config = {WAITS: waits}
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
        self.server = server_of(app, "127.0.0.1", 0, 2)
        self.thread = threading.Thread(target=self.server.run, daemon=True)
        self.pool = ThreadPoolExecutor(4)
        self.thread.start()

    def call(self, path: str = "/", body: bytes | None = None) -> str:
        with closing(HTTPConnection("127.0.0.1", port_of(self.server), timeout=PATIENCE)) as line:
            line.request("GET" if body is None else "POST", path, body)
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

    def end(self) -> None:
        end(self.server)
        self.thread.join(PATIENCE)
        self.pool.shutdown()
        assert not self.thread.is_alive()


def is_read_again(bank: Bank) -> bool:
    """Whether the thread that reads answers soon: an answer comes a moment before its thread is free."""
    return any(bank.call().startswith("reader-") for _ in range(1_000))


@pytest.fixture
def bank() -> Iterator[Bank]:
    made = Bank(App(waits=False))
    yield made
    made.end()


def test_brief_calls_are_answered_by_the_thread_that_reads(bank: Bank) -> None:
    assert bank.call().startswith("reader-")


@pytest.mark.parametrize(
    ("path", "body"), [("/_sandbox/export", None), ("/worlds/w/_sandbox/x", None), ("/", b"x" * 100_001)]
)
def test_what_may_take_long_goes_to_a_worker(bank: Bank, path: str, body: bytes | None) -> None:
    assert bank.call(path, body).startswith("waitress-")


def test_calls_that_wait_for_a_disk_go_to_workers_so_that_they_share_a_write() -> None:
    bank = Bank(App(waits=True))
    assert bank.call().startswith("waitress-")
    bank.end()


def test_a_call_that_takes_long_holds_nobody_up(bank: Bank) -> None:
    first = bank.begin_long()
    assert bank.call().startswith("waitress-")  # answered meanwhile, and by no thread that reads
    second = bank.begin_long()  # nor does this one hold anybody up
    assert bank.call().startswith("waitress-")
    assert first().startswith("reader-") and second().startswith("waitress-")
    assert is_read_again(bank)


def test_reading_changes_hands_with_every_call_that_takes_long(bank: Bank) -> None:
    for _ in range(4):
        finish = bank.begin_long()
        bank.call()  # which is answered once the other thread reads
        assert finish().startswith("reader-")
        assert is_read_again(bank)


def test_a_server_that_ends_gives_the_thread_that_reads_and_the_workers_one_time_together(
    bank: Bank,
) -> None:
    finish = bank.begin_long(), bank.begin_long()  # the thread that reads has one, and a worker the other
    began = seconds_passed()
    bank.server.task_dispatcher.shutdown()
    assert seconds_passed() - began < 1.5 * ENDS_WITHIN
    assert [answer() for answer in finish][0].startswith("reader-")


def test_an_application_that_fails_ends_no_thread_that_reads(bank: Bank) -> None:
    for _ in range(3):
        with pytest.raises(RemoteDisconnected):
            bank.call("/broken")
        assert is_read_again(bank)
