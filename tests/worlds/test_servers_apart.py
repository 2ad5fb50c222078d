"""Servers, each a process of its own, that share a database and answer by TLS."""

import json
import ssl
from collections.abc import Iterator
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from http.client import HTTPSConnection
from pathlib import Path
from typing import Any

import pytest

from sandbox.pki.folder import Folder
from tests.forked import Forked
from tests.tpp import SCT, headers, payment

PATIENCE = 30


class Apart:
    """One of them."""

    def __init__(self, state: str, pki: Path, stack: ExitStack, waits: bool = True) -> None:
        words = ["--port", "0", "--frozen", "--seed", "7", "--log", "off", "--state", state, "--pki", str(pki)]
        self.child = Forked("serve", "--tls", "--client-certificates", "off", *words)
        stack.callback(self.end)
        self.tls = ssl.create_default_context(cafile=str(pki / "root.pem"))
        if waits:
            self.wait()

    def wait(self) -> "Apart":
        """Until it listens."""
        self.address = self.child.stdout.readline().split()[-1]
        return self

    def end(self) -> None:
        if not self.child.stdout.closed:
            self.child.kill()

    def call(self, method: str, path: str, body: Any = None, **more: str) -> Any:
        line = HTTPSConnection(self.address.removeprefix("https://"), context=self.tls, timeout=PATIENCE)
        with closing(line):
            line.request(method, path, body and json.dumps(body), headers(content_type="application/json", **more))
            with line.getresponse() as reply:
                return json.loads(reply.read())

    def paid(self, world: str) -> str:
        return str(self.call("POST", f"/worlds/{world}/payments/{SCT}", payment())["payment_id"])

    def payments(self, world: str) -> list[str]:
        return [row["payment_id"] for row in self.call("GET", f"/worlds/{world}/_sandbox/payments")["payments"]]


@pytest.fixture
def apart(database: str, pki: Path) -> Iterator[list[Apart]]:
    with ExitStack() as stack:
        yield [Apart(database, pki, stack) for _ in range(2)]


@pytest.fixture(scope="module")
def pki(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("apart") / "pki"
    Folder(folder).init(datetime.now(UTC))
    return folder


def test_any_of_them_answers_and_one_goes_on_where_the_other_was_killed(apart: list[Apart]) -> None:
    one, two = apart
    ids = [server.paid("w") for server in (one, two, one)]
    assert one.payments("w") == two.payments("w") == ids
    one.end()
    ids.append(two.paid("w"))
    assert two.payments("w") == ids


def test_they_start_at_once_on_an_empty_database(database: str, pki: Path) -> None:
    with ExitStack() as stack:
        servers = [Apart(database, pki, stack, waits=False) for _ in range(3)]
        ids = [server.wait().paid("w") for server in servers]
        assert [server.payments("w") for server in servers] == [ids] * 3
