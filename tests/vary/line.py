"""The way to a bank in this process, as a patient client has it: what is busy is asked again, and all is noted."""

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any
from unittest.mock import patch
from uuid import UUID

import httpx

from sandbox.app import assemble
from sandbox.client import Controls, bodies, flows, transport
from sandbox.machine import machine_time
from sandbox.testing import BankFixture, Start
from sandbox.testing.start import beginning_of
from sandbox.worlds.registry import WorldRegistry
from tests.conftest import HERE

NOT_NOW, LOST = (429, 503), (502, 504)
WAITS = ("61s", "61m", "25h")  # of bank time: longer each time
TRIES = 3
NOTED = ("/_sandbox/psu/",)  # of the controls: the customer's part
OWN_HEADERS = ("accept", "accept-language", "scope", "sca-token", "date")


class Way(httpx.BaseTransport):
    """Sends again what was certainly not done, and what does no harm twice.

    An initiation goes again with its Request-ID; where that is refused, its first reply stays lost."""

    def __init__(self, app: Any) -> None:
        self._app = httpx.WSGITransport(app=app)
        self.patient = True
        self.passed: list[str] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        reply = self._pass(request)
        if not self.patient or "/_sandbox/" in request.url.path:
            return reply
        waits = iter(WAITS)
        for _ in range(TRIES):
            if reply.status_code == 429:
                self._wait(request, next(waits))
            elif not (reply.status_code == 503 or (reply.status_code in LOST and is_harmless(request))):
                break
            again = self._pass(request)
            if reply.status_code in LOST and request.method == "POST" and again.status_code == 400:
                break
            reply = again
        return reply

    def _pass(self, request: httpx.Request) -> httpx.Response:
        found = self._app.handle_request(request)
        assert isinstance(found.stream, httpx.SyncByteStream)
        pieces = list(found.stream)
        reply = httpx.Response(found.status_code, headers=found.headers, content=b"".join(pieces), request=request)
        self._note(request, reply, len(pieces))
        return reply

    def _note(self, request: httpx.Request, reply: httpx.Response, pieces: int) -> None:
        path = request.url.raw_path.decode()
        if "/_sandbox/" in path and not any(part in path for part in NOTED):
            return
        asked = [f"{request.method} {path}", *(request.headers.get(name, "") for name in OWN_HEADERS)]
        asked.append(str(".." in request.headers.get("signature", "")))  # what it holds is new each time
        headers = [f"{name.decode()}: {value.decode()}" for name, value in reply.headers.raw]
        self.passed.append("\n".join([*asked, f"{reply.status_code} {pieces}", *headers, reply.text]))

    def _wait(self, request: httpx.Request, span: str) -> None:
        world = request.url.path.rpartition("/worlds/")[2].partition("/")[0]
        base = f"{HERE}/worlds/{world}" if "/worlds/" in request.url.path else HERE
        asked = httpx.Request("POST", f"{base}/_sandbox/clock", json={"advance": span})
        assert self._app.handle_request(asked).status_code == 200


def is_harmless(request: httpx.Request) -> bool:
    """Whether it may be done twice. A code is good for one exchange, and a file may be paid twice."""
    once = "/bulk-payments/", "/token"
    return request.method != "POST" or not any(part in request.url.path for part in once)


@contextmanager
def bank_here(app: Any = None) -> Iterator[tuple[BankFixture, Way]]:
    """A server of worlds without sockets."""
    way = Way(app or assemble(WorldRegistry(beginning_of(Start()), machine_time)))
    with httpx.Client(transport=way) as http:
        yield BankFixture(Controls(HERE, http), "default"), way


@contextmanager
def same_chance() -> Iterator[None]:
    """Each id and secret of the client is the same in every run, so that what differs comes from the bank."""
    chance = Random(1)

    def fresh_id() -> UUID:
        return UUID(int=chance.getrandbits(128), version=4)

    with (
        patch.object(transport, "uuid4", fresh_id),
        patch.object(bodies, "uuid4", fresh_id),
        patch.object(flows, "token_urlsafe", lambda size: chance.randbytes(size).hex()),
    ):
        yield
