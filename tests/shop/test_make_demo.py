"""`make demo`, from outside: it starts a bank and a shop, says where, and ends both in order."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from threading import Timer
from urllib.parse import urlsplit

import httpx
import pytest
from flask import Flask

from sandbox.client import Controls
from sandbox.server.server import serve_in_background

ROOT = Path(__file__).parents[2]
PATIENCE = 30  # a guard against hanging, not a promise
END_SECONDS_MAX = 2
WITHIN = 5  # seconds for a page, however many others are connected


def recipe() -> list[str]:
    """What the Makefile says to run."""
    target = (ROOT / "Makefile").read_text().partition("\ndemo:")[2].partition("\n\n")[0]
    words = target.splitlines()[1].split()
    assert words[0] == "$(BIN)/bank-sandbox" and words[-1] == "$(ARGS)"
    return [sys.executable, "-m", "sandbox", *words[1:-1]]


def heed_interrupts() -> None:
    """Undoes what a shell does to programs in its background: they ignore SIGINT, and so does what they start."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def demo(*words: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, str]]]:
    """A demo on free ports, and its addresses."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("SANDBOX_", "SHOP_"))}
    with subprocess.Popen(
        [*recipe(), *words],
        cwd=ROOT,
        env=ours | {"PYTHONPATH": str(ROOT)},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=heed_interrupts,
    ) as running:
        guard = Timer(PATIENCE, running.kill)
        guard.start()
        try:
            assert running.stdout is not None
            lines = [running.stdout.readline().split() for _ in range(5)]
            yield running, {words[0]: words[1] for words in lines[:4]}
        finally:
            guard.cancel()
            running.kill()


def is_closed(url: str) -> bool:
    parts = urlsplit(url)
    line = HTTPConnection(parts.hostname or "", parts.port, timeout=PATIENCE)
    try:
        line.connect()
    except ConnectionRefusedError:
        return True
    finally:
        line.close()
    return False


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_it_starts_a_bank_and_a_shop_and_ends_both_in_order(how: signal.Signals) -> None:
    with demo("--port", "0", "--bank-port", "0") as (running, at), httpx.Client(trust_env=False) as http:
        page = http.get(at["shop"])
        assert page.status_code == 200 and at["console"] in page.text
        assert http.get(f"{at['bank']}/_sandbox/health").json() == {"status": "ready"}
        clock = http.get(f"{at['bank']}/_sandbox/clock").json()
        assert (clock["mode"], clock["rate"]) == ("running", 1)
        assert http.get(at["console"]).status_code == 200
        running.send_signal(how)
        out, err = running.communicate(timeout=END_SECONDS_MAX)
    assert (running.returncode, out, err) == (0, "", "")
    assert is_closed(at["shop"]) and is_closed(at["bank"])


def test_it_stands_beside_a_bank_that_runs_already(app: Flask) -> None:
    with serve_in_background(app) as bank, Controls(bank) as controls:
        with demo("--port", "0", "--bank", f"{bank}/", "--rate", "60") as (running, at):
            assert at["bank"] == bank and httpx.get(at["shop"], trust_env=False).status_code == 200
            assert controls.clock.get().rate == 60
            running.send_signal(signal.SIGTERM)
            running.communicate(timeout=END_SECONDS_MAX)
        assert running.returncode == 0
        assert controls.clock.get().rate == 60  # the bank lives on


@pytest.mark.parametrize("option", ["--port", "--bank-port"])
def test_a_port_that_is_taken_is_said_kindly(option: str, app: Flask) -> None:
    with serve_in_background(app) as bank:
        words = ["--port", "0", "--bank-port", "0", option, str(urlsplit(bank).port)]
        done = subprocess.run([*recipe(), *words], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: cannot listen on 127.0.0.1:") and option in done.stderr


def connect(url: str) -> socket.socket:
    parts = urlsplit(url)
    assert parts.port is not None
    return socket.create_connection((parts.hostname or "", parts.port), timeout=PATIENCE)


def test_connections_that_send_nothing_do_not_stop_the_shop() -> None:
    with demo("--port", "0", "--bank-port", "0") as (_, at), ExitStack() as silent:
        for _ in range(120):
            silent.enter_context(connect(at["shop"]))
        assert httpx.get(at["shop"], trust_env=False, timeout=WITHIN).status_code == 200


def test_the_shop_refuses_a_call_that_two_programs_would_read_differently() -> None:
    with demo("--port", "0", "--bank-port", "0") as (_, at), connect(at["shop"]) as line:
        line.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n")
        assert line.recv(1_000).startswith(b"HTTP/1.1 400 ")
