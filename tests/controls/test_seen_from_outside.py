"""Seen from outside: health, figures for Prometheus, a line per call (choice 10)."""

import json
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from flask import Flask
from prometheus_client.parser import text_string_to_metric_families

from sandbox.app import assemble, make_first_beginning
from sandbox.banking.durations import read_instant
from sandbox.machine import stopwatch
from sandbox.server.access_log import make_announcer
from sandbox.server.call_line import LONGEST
from sandbox.storage.sqlite_database import SqliteDatabase
from sandbox.storage.store import open_store
from sandbox.web.controls import monitoring
from sandbox.web.controls.lock import Lock
from sandbox.worlds.registry import Room, WorldRegistry
from tests.conftest import MORNING
from tests.tpp import Tpp, payment, refused

NOW = 1_800_000_000.5


class Kept:
    """A server with a state file and room for two worlds."""

    def __init__(self, path: Path) -> None:
        self.store = open_store(path, stopwatch=stopwatch)
        beginning = make_first_beginning(seed=7, at=read_instant(MORNING), rate=0)
        self.worlds = WorldRegistry(beginning, lambda: NOW, self.store, Room(2))
        self.app = assemble(self.worlds)
        self.tpp = Tpp(self.app)


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    made = Kept(tmp_path / "bank.state")
    yield made
    made.store.close()


def figures(tpp: Tpp, **headers: str) -> dict[tuple[str, ...], float]:
    """By name and labels, from the last to the first letter."""
    reply = tpp.http.get(f"{tpp.prefix}/_sandbox/metrics", headers=headers)
    assert reply.status_code == 200, reply.text
    assert reply.content_type.startswith("text/plain")
    families = text_string_to_metric_families(reply.text)
    return {
        (row.name, *(row.labels[label] for label in sorted(row.labels, reverse=True))): row.value
        for family in families
        for row in family.samples
    }


# Health


def test_ready_while_the_state_file_takes_what_is_done_and_not_after(kept: Kept) -> None:
    assert kept.tpp.control("GET", "/health").get_json()["status"] == "ready"
    assert isinstance(kept.store.database, SqliteDatabase)
    kept.store.database._connection.execute("PRAGMA query_only = ON")  # as a full disk would
    assert kept.tpp.initiate().status_code == 503
    assert refused(kept.tpp.control("GET", "/health"), 503, "SBX-0503-000003", "cannot be written")
    alive = kept.tpp.control("GET", "/health?live")
    assert (alive.status_code, alive.json) == (200, {"status": "live"})
    assert figures(kept.tpp)["bank_sandbox_state_file_writable",] == 0


def test_without_a_state_file_it_is_always_ready(tpp: Tpp) -> None:
    assert tpp.control("GET", "/health").json == {"status": "ready"}
    assert tpp.control("GET", "/health?live").json == {"status": "live"}


# Figures


def test_calls_are_counted_by_operation_and_status(tpp: Tpp) -> None:
    before = figures(tpp)
    first = tpp.initiated()
    tpp.initiate(body=payment(creditor_name=None))
    for _ in range(3):
        tpp.status(first)
    tpp.call("GET", "/seashells")
    after = figures(tpp)

    def more(*name: str) -> float:
        return after[name] - before.get(name, 0)

    assert more("bank_sandbox_calls_total", "201", "payment_initiation") == 1
    assert more("bank_sandbox_calls_total", "400", "payment_initiation") == 1
    assert more("bank_sandbox_calls_total", "200", "payment_status") == 3
    assert more("bank_sandbox_calls_total", "404", "none") == 1
    assert more("bank_sandbox_call_seconds_count", "payment_status") == 3
    assert more("bank_sandbox_call_seconds_bucket", "payment_status", "+Inf") == 3
    assert 0 < more("bank_sandbox_call_seconds_sum", "payment_status") < 60
    assert after["bank_sandbox_initiations", "RCVD", "payment"] == 1


def test_worlds_are_counted_and_those_that_are_away_are_not_woken(kept: Kept) -> None:
    for name in ("a", "b", "c"):
        Tpp(kept.app, name).initiated()
    away = {world.name for world in kept.worlds.list_all() if world.is_unloaded}
    found = figures(kept.tpp)
    assert {world.name for world in kept.worlds.list_all() if world.is_unloaded} == away == {"a", "b"}
    assert (found["bank_sandbox_worlds", "live"], found["bank_sandbox_worlds", "away"]) == (2, 2)
    assert found["bank_sandbox_initiations", "RCVD", "payment"] == 1
    assert found["bank_sandbox_acts",] == 1
    assert found["bank_sandbox_state_file_flush_seconds_count",] >= 3
    assert found["bank_sandbox_state_file_flush_seconds_sum",] > 0
    assert found["bank_sandbox_state_file_bytes",] > 10_000
    assert found["bank_sandbox_state_file_writable",] == 1


def test_no_label_bears_a_name_that_a_client_made_up(tpp: Tpp, app: Flask) -> None:
    Tpp(app, "my-secret-world").initiate(client_id="my-secret-client", endtoend_identification="x")
    tpp.call("GET", "/my-secret-path")
    told = tpp.control("GET", "/metrics").text
    assert "secret" not in told


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(monitoring, "find_spec", lambda name: None)
    worlds = WorldRegistry(make_first_beginning(seed=7, at=read_instant(MORNING), rate=0), lambda: NOW)
    app = assemble(worlds)
    assert worlds.tally is None and Tpp(app).initiate().status_code == 201
    assert refused(Tpp(app).control("GET", "/metrics"), 501, "SBX-0501-000001", "bank-sandbox[metrics]")


def test_figures_are_guarded_like_every_control(worlds: WorldRegistry) -> None:
    tpp = Tpp(assemble(worlds, lock=Lock("open sesame")))
    assert refused(tpp.control("GET", "/metrics"), 401, "SBX-0401-000001")
    assert figures(tpp, **{"X-Sandbox-Key": "open sesame"})
    assert Tpp(assemble(worlds, lock=Lock(here=False))).control("GET", "/metrics").status_code == 404


# A line per call


Said = pytest.CaptureFixture[str]


def test_a_line_of_json_tells_of_a_call_what_a_log_needs(worlds: WorldRegistry, capsys: Said) -> None:
    tpp = Tpp(assemble(worlds, make_announcer("json", lambda: NOW)), "mine")
    payment_id = tpp.initiated()
    tpp.call("GET", f"/payments/sepa-credit-transfers/{payment_id}/status?secret=hush")
    said = capsys.readouterr().err
    first, second = (json.loads(line) for line in said.splitlines())
    assert {name: first[name] for name in ("time", "world", "operation", "method", "path", "status", "client_id")} == {
        "time": "2027-01-15T08:00:00.500+00:00",
        "world": "mine",
        "operation": "payment_initiation",
        "method": "POST",
        "path": "/payments/sepa-credit-transfers",
        "status": 201,
        "client_id": "demo-tpp",
    }
    assert first["duration_ms"] > 0 and len(first["request_id"]) == 36 and first["at"] == MORNING
    assert second["error"] == "INPUT_INVALID" and "hush" not in said


@pytest.mark.parametrize("kind", ["text", "json"])
def test_a_call_makes_one_line_whatever_it_sends(worlds: WorldRegistry, capsys: Said, kind: str) -> None:
    tpp = Tpp(assemble(worlds, make_announcer(kind, lambda: NOW)))
    tpp.http.get("/seashells%0A%0D%1B[2J%00/x", headers={"Client-ID": "n\x1b[2J" + "y" * 5_000})
    tpp.http.get("/worlds/a%0Ab/payments")
    tpp.http.open("/" + "z" * 9_000, method="PURR")
    lines = capsys.readouterr().err.split("\n")
    assert len(lines) == 4 and lines[-1] == ""
    for line in lines[:-1]:
        assert line.isprintable() and len(line) < 4 * LONGEST + 600


def test_a_reader_that_went_away_stops_no_bank(worlds: WorldRegistry, monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone(StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    tpp = Tpp(assemble(worlds, make_announcer("json", lambda: NOW)))
    monkeypatch.setattr(sys, "stderr", Gone())
    assert tpp.initiate().status_code == 201
