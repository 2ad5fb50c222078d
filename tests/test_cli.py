"""The command, from outside: choice 12."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from threading import Timer
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from sandbox.cli import main
from sandbox.contract.added_settings import load_added_settings
from sandbox.contract.decisions import AXES, SETTINGS
from sandbox.contract.errors import Error
from sandbox.contract.fields import FIELDS
from sandbox.contract.moves import MOVES
from sandbox.contract.operations import OPERATIONS
from sandbox.contract.reasons import Reason

ROOT = Path(__file__).parents[1]
LISTENING = "listening on http://127.0.0.1:"
PATIENCE = 120  # a guard against hanging, not a promise
END_SECONDS_MAX = 2

Server = subprocess.Popen[str]


def environment(**more: str) -> dict[str, str]:
    ours = {name: value for name, value in os.environ.items() if not name.startswith("SANDBOX_")}
    return ours | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"} | more


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "sandbox", *words]


@contextmanager
def serving(*words: str, greets: str = LISTENING, **more: str) -> Iterator[tuple[Server, int]]:
    """A server and its port, as soon as it says so."""
    with subprocess.Popen(
        command("serve", *words), env=environment(**more), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as server:
        guard = Timer(PATIENCE, server.kill)
        guard.start()
        try:
            assert server.stdout is not None
            line = server.stdout.readline()
            assert line.startswith(greets), line
            yield server, int(line.removeprefix(greets))
        finally:
            guard.cancel()
            server.kill()


def ended(server: Server) -> tuple[str, str]:
    """What it still says after SIGTERM, which must end it in order."""
    server.send_signal(signal.SIGTERM)
    out, err = server.communicate(timeout=END_SECONDS_MAX)
    assert server.returncode == 0, err
    return out, err


def get(port: int, path: str) -> Any:
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request("GET", path)
        return json.loads(connection.getresponse().read())
    finally:
        connection.close()


def test_it_says_where_it_listens_and_ends_in_order() -> None:
    with serving("--port", "0", "--seed", "7", "--at", "2027-03-01T09:00", "--frozen") as (server, port):
        assert get(port, "/_sandbox/health") == {"status": "ready"}
        assert get(port, "/_sandbox/clock")["now"] == "2027-03-01T09:00:00+01:00"
        assert get(port, "/_sandbox/clock")["mode"] == "frozen"
        out, err = ended(server)
    assert out == ""  # one line, and it was read
    assert "Seed 7" in err
    assert "demo-tpp" in err


def test_a_scenario_that_is_loaded_later_keeps_the_options_of_the_server() -> None:
    options = "--port", "0", "--client-certificates", "proxy", "--acts-kept", "77"
    with serving(*options) as (_, port), httpx.Client(base_url=f"http://127.0.0.1:{port}") as http:
        http.put("/_sandbox/scenario", json={"name": "default"}).raise_for_status()
        http.put("/_sandbox/worlds/other", json={"scenario": "default"}).raise_for_status()
        http.put("/_sandbox/scenario", json={"scenario": {"settings": {"page_size": 5}}}).raise_for_status()
        shown = [http.get(f"{world}/_sandbox/settings").json()["settings"] for world in ("", "/worlds/other")]
    assert [row["client_certificates"] for row in shown] == ["proxy", "proxy"]
    assert [row["acts_kept"] for row in shown] == [77, 77]
    assert shown[0]["page_size"] == 5


def test_every_option_is_also_an_environment_variable_and_the_option_wins() -> None:
    variables = {
        "SANDBOX_PORT": "0",
        "SANDBOX_SEED": "11",
        "SANDBOX_AT": "2029-01-01T00:00:00Z",
        "SANDBOX_FROZEN": "1",
        "SANDBOX_LOG": "json",
        "SANDBOX_THREADS": "2",
        "SANDBOX_SCENARIO": "default",
        "SANDBOX_HOST": "127.0.0.1",
    }
    with serving("--seed", "12", **variables) as (server, port):
        shown = get(port, "/_sandbox/worlds/default")
        assert shown["seed"] == 12
        assert shown["clock"]["now"] == "2029-01-01T01:00:00+01:00"
        assert shown["clock"]["mode"] == "frozen"
        get(port, "/payments/none/x/status")
        get(port, "/worlds/mine/nowhere")
        _, err = ended(server)
    rows = [json.loads(line) for line in err.splitlines() if line.startswith("{")]
    assert [(row["world"], row["operation"], row["status"]) for row in rows] == [
        ("default", "payment_status", 404),
        ("mine", None, 404),
    ]
    for row in rows:
        assert row["at"] == "2029-01-01T01:00:00+01:00"
        assert row["time"] > "2020" and row["duration_ms"] >= 0
        assert row["request_id"]


def test_a_line_per_call_that_a_person_can_read() -> None:
    with serving("--port", "0", "--at", "2029-01-01T00:00:00Z", "--frozen") as (server, port):
        get(port, "/payments/none/x/status")
        _, err = ended(server)
    (line,) = [line for line in err.splitlines() if "payment_status" in line]
    for part in ("2029-01-01T01:00:00+01:00", "default", "404", " ms"):
        assert part in line


def test_a_taken_port_is_said_kindly() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run(
            command("serve", "--port", str(port)), env=environment(), capture_output=True, text=True, timeout=PATIENCE
        )
    assert done.returncode == 1
    assert done.stdout == ""
    assert f"cannot listen on 127.0.0.1:{port}" in done.stderr
    assert "--port" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("--port", "65536"),
        ("--port", "http"),
        ("--seed", "-1"),
        ("--seed", "7-f00"),
        ("--seed", str(2**53)),
        ("--at", "soon"),
        ("--log", "xml"),
        ("--threads", "0"),
        ("--scenario", "none"),
        ("--nothing",),
    ],
)
def test_a_bad_option_is_refused_before_anything_listens(words: tuple[str, ...]) -> None:
    done = CliRunner().invoke(main, ["serve", *words])
    assert done.exit_code == 2
    assert words[0] in done.output


# The tables

ROWS = {
    "moves": sum(map(len, MOVES.values())),
    "errors": len(Error),
    "reasons": len(Reason),
    "operations": len(OPERATIONS),
    "products": len(FIELDS),
    "settings": len(SETTINGS) + len(load_added_settings()),
    "variants": len(AXES),
}


def printed(*names: str) -> str:
    done = CliRunner().invoke(main, ["tables", *names])
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.parametrize("option", ["--lease", "--advertise", "--peers-key"])
def test_an_option_of_earlier_versions_is_refused_in_one_line(option: str) -> None:
    done = CliRunner().invoke(main, ["serve", "--state", "postgresql://bank@db.example/bank", option, "x"])
    assert done.exit_code == 2 and len(done.stderr.splitlines()) == 1
    assert option in done.stderr and "not needed any more" in done.stderr


@pytest.mark.parametrize("name", ROWS)
def test_a_table_has_all_its_rows_each_with_its_clause(name: str) -> None:
    head, rule, *rows = printed(name).strip().splitlines()
    assert "clause" in head
    assert set(rule) == {"-", " "}
    assert len(rows) == ROWS[name]
    for row in rows:
        assert ("service " in row) != ("choice " in row) or row.endswith("ours"), row
        assert row.endswith("ours") == ("choice " in row), row


def test_without_a_name_every_table_is_printed() -> None:
    whole = printed().splitlines()
    for name in ROWS:
        assert name in whole
        for line in printed(name).strip().splitlines():
            assert line in whole


def test_a_table_that_is_none_is_refused() -> None:
    done = CliRunner().invoke(main, ["tables", "chairs"])
    assert done.exit_code == 2
    assert "chairs" in done.output
