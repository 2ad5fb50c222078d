"""Long work ends once nobody waits for it: its caller hung up, or the server ends (choice 10)."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from datetime import datetime
from io import BytesIO
from typing import Any

import pytest
from flask import Flask

from sandbox.bank import timeline
from sandbox.bank.state import Bank
from sandbox.machine import machine_time
from sandbox.server.server import end, find_port, make_server, serve_in_background
from sandbox.storage.long_work import AbandonedError, work_for_caller
from sandbox.storage.transfer.importer import read_export
from sandbox.worlds.clock_moves import move_clock
from sandbox.worlds.registry import WorldRegistry
from tests.exports import sealed
from tests.tpp import Tpp, refused

A_WHILE = 10.0  # seconds, for what comes at once
LAST_DAY = "2199-12-31T00:00:00+00:00"


def exported(tpp: Tpp, **head: Any) -> bytes:
    """An export with another first line."""
    first, *rest = tpp.control("GET", "/export").data.splitlines()
    return sealed([json.dumps(json.loads(first) | head).encode(), *rest])


@pytest.fixture
def living(tpp: Tpp) -> Tpp:
    """A world in which something happens every day."""
    assert tpp.control("PUT", "/worlds/living", life="on").status_code == 201
    return Tpp(tpp.http.application, "living")


def after(looks: int) -> Callable[[], bool]:
    """A caller who is gone after so many looks."""
    left = iter(range(looks))
    return lambda: next(left, None) is None


@pytest.fixture
def slices(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """One item for each part of a way that was gone."""
    advanced: list[object] = []
    advance = timeline.advance_some

    def advance_some(bank: Bank, until: datetime, most: int) -> bool:
        advanced.append(until)
        return advance(bank, until, most)

    monkeypatch.setattr(timeline, "advance_some", advance_some)
    return advanced


def test_a_replay_ends_when_its_caller_is_gone(living: Tpp, slices: list[object]) -> None:
    content = exported(living, now=LAST_DAY)
    with pytest.raises(AbandonedError), work_for_caller(after(8)):
        read_export(BytesIO(content), machine_time)
    assert 0 < len(slices) <= 8


def test_a_replay_that_somebody_waits_for_comes_to_its_end(living: Tpp, slices: list[object]) -> None:
    living.advance("60d")
    content = exported(living)
    with work_for_caller(lambda: False):
        _, life = read_export(BytesIO(content), machine_time)
    assert life.bank.clock.now == life.pace.base and len(slices) > 1


def test_a_fork_at_a_time_ends_so_too_and_makes_no_world(living: Tpp, worlds: WorldRegistry) -> None:
    living.advance("60d")
    now = worlds.get("living").bank.clock.now
    with pytest.raises(AbandonedError), work_for_caller(lambda: True):
        worlds.fork("living", "twin", now)
    assert "twin" not in [world.name for world in worlds.list_all()]
    assert worlds.fork("living", "twin", now).bank.clock.now == now


def test_a_long_move_of_a_clock_stops_between_two_instants_and_goes_on_later(
    living: Tpp, worlds: WorldRegistry
) -> None:
    world = worlds.get("living")
    begin, end = world.bank.clock.now, world.bank.clock.now.replace(year=2030)
    with pytest.raises(AbandonedError), work_for_caller(lambda: True):
        move_clock(world, lambda now: (end, 0.0))
    reached = world.bank.clock.now
    assert begin < reached < end and world.clock.pace.base == reached
    move_clock(world, lambda now: (end, 0.0))
    assert world.bank.clock.now == end
    straight = Tpp(living.http.application, "straight")
    living.control("PUT", "/worlds/straight", life="on", seed=world.beginning.seed)
    straight.control("POST", "/clock", set=end.isoformat())
    assert straight.listed("accounts") == living.listed("accounts")


def test_a_short_move_is_done_whoever_waits_for_it(tpp: Tpp, worlds: WorldRegistry) -> None:
    tpp.initiated()
    world = worlds.get("default")
    end = world.bank.clock.now.replace(hour=12)
    with work_for_caller(lambda: True):
        move_clock(world, lambda now: (end, 0.0))
    assert world.bank.clock.now == end


def test_a_caller_who_is_gone_is_told_that_the_service_is_unavailable(tpp: Tpp, living: Tpp) -> None:
    content = exported(living, now=LAST_DAY)
    gone = {"sandbox.gone": after(30)}
    reply = tpp.http.post("/_sandbox/import?as=x", data=content, environ_overrides=gone)
    assert refused(reply, 503, "SBX-0503-000001") and reply.headers["Retry-After"]
    assert "x" not in [row["name"] for row in tpp.listed("worlds")]


# What a server knows of its caller


class Asking:
    """An application that, once told to, looks whether its caller is gone until they are."""

    def __init__(self) -> None:
        self.called, self.asks, self.found = threading.Event(), threading.Event(), threading.Event()
        self.before: bool | None = None

    def __call__(self, environ: dict[str, Any], start: Any) -> Iterator[bytes]:
        self.before = environ["sandbox.gone"]()
        self.called.set()
        assert self.asks.wait(A_WHILE)
        pause = threading.Event()
        while not environ["sandbox.gone"]() and not pause.wait(0.001):
            pass
        self.found.set()
        start("204 No Content", [])
        return iter(())


CALL = b"POST /_sandbox/import HTTP/1.1\r\nHost: here\r\nContent-Length: 2\r\n\r\n{}"


@pytest.mark.parametrize("more", [b"", b"GET /next HTTP/1.1\r\n"], ids=["nothing", "a piece of another call"])
def test_a_server_knows_that_a_caller_hung_up_during_a_call(more: bytes) -> None:
    app = Asking()
    with serve_in_background(app) as address:
        line = socket.create_connection((address.split("/")[2].split(":")[0], int(address.rpartition(":")[2])))
        line.sendall(CALL)
        assert app.called.wait(A_WHILE) and app.before is False
        line.sendall(more)
        line.close()
        app.asks.set()
        assert app.found.wait(A_WHILE)


def test_a_server_that_ends_says_so_to_long_work() -> None:
    app = Asking()
    server = make_server(app, "127.0.0.1", 0, 4)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    with socket.create_connection(("127.0.0.1", find_port(server))) as line:
        line.sendall(CALL)
        assert app.called.wait(A_WHILE) and app.before is False
        app.asks.set()
        end(server)
        assert app.found.wait(A_WHILE)
    thread.join(A_WHILE)


def test_without_a_server_nobody_is_gone(app: Flask) -> None:
    assert Tpp(app).control("POST", "/clock", advance="1d").status_code == 200
