"""Two servers, each a process of its own, that hand calls on to each other by TLS."""

import json
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from http.client import HTTPResponse, HTTPSConnection
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest

from sandbox.pki.folder import Folder
from tests.postgres import Cluster
from tests.tpp import headers, version

PATIENCE = 30
KEY = "a-key-of-servers-that-stand-apart"
MEGABYTE = 1_000_000
BODY = 64 * MEGABYTE


class Apart:
    """One of them."""

    def __init__(self, state: str, pki: Path, stack: ExitStack) -> None:
        words = ["--port", "0", "--frozen", "--log", "off", "--state", state, "--peers-key", KEY, "--pki", str(pki)]
        self.child = subprocess.Popen(
            [sys.executable, "-m", "sandbox", "serve", "--tls", "--client-certificates", "off", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        stack.callback(self.end)
        assert self.child.stdout is not None
        self.address = self.child.stdout.readline().split()[-1]
        self.tls = ssl.create_default_context(cafile=str(pki / "root.pem"))

    def end(self) -> None:
        self.child.kill()
        self.child.wait(PATIENCE)
        assert self.child.stdout is not None
        self.child.stdout.close()

    def call(self, method: str, path: str, body: Any = None, **more: str) -> tuple[HTTPResponse, bytes]:
        line = HTTPSConnection(self.address.removeprefix("https://"), context=self.tls, timeout=PATIENCE)
        with closing(line):
            line.request(method, path, body, headers(accept=version(2), **more))
            with line.getresponse() as reply:
                return reply, reply.read()

    def figure(self, name: str) -> float:
        lines = self.call("GET", "/_sandbox/metrics")[1].decode().splitlines()
        return next(float(line.split()[-1]) for line in lines if line.startswith(f"bank_sandbox_{name} "))

    def memory(self, kind: str) -> int:
        lines = Path(f"/proc/{self.child.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(kind))

    def forget_peak(self) -> int:
        """From now on VmHWM is the most memory since now; the answer is what the process has."""
        Path(f"/proc/{self.child.pid}/clear_refs").write_text("5")
        return self.memory("VmRSS")


@pytest.fixture(scope="module")
def apart(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Apart]]:
    pki, url = tmp_path_factory.mktemp("apart") / "pki", cluster.database()
    Folder(pki).init(datetime.now(UTC))
    with ExitStack() as stack:
        yield [Apart(url, pki, stack) for _ in range(2)]


@pytest.fixture(scope="module")
def far(apart: list[Apart]) -> tuple[Apart, Apart, str]:
    """A server, another one, and a world that the other one has."""
    here, there = apart
    for number in range(100):
        before, name = there.figure("worlds_owned"), f"w{number}"
        assert here.call("GET", f"/worlds/{name}/_sandbox/clock")[0].status == 200
        if there.figure("worlds_owned") > before:
            return here, there, name
    raise AssertionError("one server has all worlds")


def test_servers_hand_calls_on_by_tls(far: tuple[Apart, Apart, str]) -> None:
    here, there, name = far
    assert here.address.startswith("https://") and there.address != here.address
    before = here.figure("calls_handed_on_total")
    replies = [one.call("GET", f"/worlds/{name}/_sandbox/clock") for one in (here, there)]
    assert [reply.status for reply, _ in replies] == [200, 200] and replies[0][1] == replies[1][1]
    assert here.figure("calls_handed_on_total") == before + 1


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="not run: this system tells no peak of memory")
def test_64_megabytes_pass_through_both_in_pieces(far: tuple[Apart, Apart, str]) -> None:
    """The bank refuses the body by its type and reads nothing of it: what grows is what the servers hold."""
    here, there, name = far
    handed_on = here.figure("calls_handed_on_total")
    before = [one.forget_peak() for one in (here, there)]
    pieces = repeat(b" " * MEGABYTE, BODY // MEGABYTE)
    path, length = f"/worlds/{name}/bulk-payments/pain.001", str(BODY)
    reply, answer = here.call("POST", path, pieces, content_type="text/csv", content_length=length)
    assert reply.status == 415 and json.loads(answer)["error"] == "UNSUPPORTED_MEDIA_TYPE"
    grown = [one.memory("VmHWM") - then for one, then in zip((here, there), before, strict=True)]
    assert max(grown) < 20 * MEGABYTE
    assert here.figure("calls_handed_on_total") == handed_on + 1
