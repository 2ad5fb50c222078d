"""Records the flows of the reference client at a bank that may differ, as a HAR."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any

import httpx

from sandbox.app import assemble
from sandbox.client import CallbackRefused, Controls, ForeignCallback, NoCallback
from sandbox.machine import machine_time
from sandbox.testing import BankFixture, Start
from sandbox.testing.start import beginning_of, world_of
from sandbox.worlds.registry import WorldRegistry
from tests.conftest import HERE
from tests.vary.flows import FLOWS
from tests.vary.line import Way, same_chance
from tests.vary.steps import patiently
from tests.vary.trying import FAILURES

Entries = list[dict[str, Any]]
WORLD = "hidden"
PSU = "/_sandbox/psu/"
ENDS = (*FAILURES, CallbackRefused, ForeignCallback, NoCallback)


class RecordingWay(Way):
    """A patient way to a bank, on which each call is noted with the bank's time."""

    def __init__(self, app: Any, worlds: WorldRegistry) -> None:
        super().__init__(app)
        self.worlds = worlds
        self.entries: Entries = []

    def _pass(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path
        if request.method == "PATCH" and path.endswith("/_sandbox/settings"):
            raise AssertionError("the flow goes on at another bank")
        is_noted = path.startswith(f"/worlds/{WORLD}/") and ("/_sandbox/" not in path or PSU in path)
        began = self.worlds.get(WORLD).ask(lambda bank: bank.clock.now) if is_noted else None
        sent = request.read()
        reply = super()._pass(request)
        if began is not None:
            self.entries.append(har_entry(request, sent, reply, began))
        return reply

    def _note(self, request: httpx.Request, reply: httpx.Response, pieces: int) -> None:
        """Nothing is compared here."""


def har_entry(request: httpx.Request, sent: bytes, reply: httpx.Response, began: datetime) -> dict[str, Any]:
    return {
        "startedDateTime": began.isoformat(),
        "time": 0,
        "request": {
            "method": request.method,
            "url": str(request.url),
            "headers": har_headers(request.headers),
            "postData": {"text": sent.decode("utf-8", "replace")},
        },
        "response": {
            "status": reply.status_code,
            "headers": har_headers(reply.headers),
            "content": {"text": reply.text},
        },
    }


def har_headers(headers: httpx.Headers) -> list[dict[str, str]]:
    return [{"name": name.decode("latin-1"), "value": value.decode("latin-1")} for name, value in headers.raw]


def har(entries: Sequence[Mapping[str, Any]]) -> bytes:
    return json.dumps({"log": {"version": "1.2", "entries": entries}}).encode()


@contextmanager
def hidden_bank(
    variants: Mapping[str, str], seed: int = 1, settings: Mapping[str, Any] = {}
) -> Iterator[tuple[BankFixture, RecordingWay]]:
    worlds = WorldRegistry(beginning_of(Start()), machine_time)
    way = RecordingWay(assemble(worlds), worlds)
    with httpx.Client(transport=way) as http, same_chance():
        server = BankFixture(Controls(HERE, http), "default")
        with world_of(server, WORLD, Start(seed=seed, settings=settings), variants) as bank:
            yield bank, way


def record(variants: Mapping[str, str], names: Sequence[str] = tuple(FLOWS), seed: int = 1) -> Entries:
    """The entries of a HAR: what the flows sent and received, one after the other at one bank."""
    with hidden_bank(variants, seed) as (bank, way):
        run_flows(bank, names)
        return way.entries


def run_flows(bank: BankFixture, names: Sequence[str]) -> None:
    for name in names:
        with suppress(*ENDS):  # what was sent until then is in the record
            patiently(FLOWS[name], bank)
        bank.clock.advance("2h")


def without_customers(entries: Entries) -> Entries:
    """The calls of the bank's interface alone, as a real bank's client has them."""
    return [entry for entry in entries if PSU not in entry["request"]["url"]]
