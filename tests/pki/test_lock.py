"""The controls' lock (choice 10, 12), and a server that does not open itself to strangers."""

import json
import socket
from collections.abc import Iterator
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from flask import Flask

from sandbox.app import assemble, assemble_controls, make_first_beginning
from sandbox.banking.durations import read_instant
from sandbox.cli import main
from sandbox.machine import machine_time
from sandbox.web.api.addresses import Hosts
from sandbox.web.controls.lock import OPEN, Lock
from sandbox.web.controls.rows import CONTROLS
from sandbox.worlds.registry import WorldRegistry
from tests.conftest import MORNING
from tests.test_cli import PATIENCE, ended, get, serving
from tests.tpp import Tpp, refused

KEY = "a-key-for-the-team"


def opened(worlds: WorldRegistry, lock: Lock) -> Flask:
    app = assemble(worlds, lock=lock)
    app.testing = True
    return app


@pytest.mark.parametrize("shown", [None, "", "wrong", f"{KEY}x", KEY[:-1], "é"])
def test_without_the_key_no_control_answers(worlds: WorldRegistry, shown: str | None) -> None:
    http = opened(worlds, Lock(KEY)).test_client()
    given = {} if shown is None else {"X-Sandbox-Key": shown}
    for method, path, *_ in CONTROLS:
        for prefix in ("", "/worlds/mine"):
            reply = http.open(f"{prefix}/_sandbox{path}", method=method, headers=given)
            assert refused(reply, 401, "SBX-0401-000001", "X-Sandbox-Key")
    assert refused(http.get("/_sandbox/nowhere", headers=given), 401, "SBX-0401")
    assert refused(http.get("/_sandbox", headers=given), 401, "SBX-0401")


def test_with_the_key_they_answer_and_the_bank_needs_none(worlds: WorldRegistry) -> None:
    http = opened(worlds, Lock(KEY)).test_client()
    assert http.get("/_sandbox/health", headers={"X-Sandbox-Key": KEY}).status_code == 200
    assert Tpp(opened(worlds, Lock(KEY))).initiate().status_code == 201


def test_switched_off_they_are_nowhere(worlds: WorldRegistry) -> None:
    http = opened(worlds, Lock(here=False)).test_client()
    for method, path, *_ in CONTROLS:
        assert http.open(f"/_sandbox{path}", method=method).status_code == 404
    assert Tpp(opened(worlds, Lock(here=False))).initiate().status_code == 201


def test_on_a_port_of_their_own_they_move_the_same_worlds_and_are_no_bank(worlds: WorldRegistry) -> None:
    bank = Tpp(opened(worlds, Lock(here=False)))
    apart = assemble_controls(worlds, Lock(KEY), "http://127.0.0.1:8080").test_client()
    bank.initiated()
    given = {"X-Sandbox-Key": KEY}
    assert len(apart.get("/_sandbox/payments", headers=given).get_json()["payments"]) == 1
    assert refused(apart.get("/_sandbox/payments"), 401, "SBX-0401")
    assert apart.post("/payments/sepa-credit-transfers").status_code == 404


def test_a_page_of_another_origin_cannot_move_the_bank(tpp: Tpp) -> None:
    for origin in ("https://evil.example", "null", "http://localhost.evil.example", "http://localhost:9"):
        reply = tpp.http.post("/_sandbox/reset", headers={"Origin": origin})
        assert refused(reply, 403, "SBX-0403-000004", "another origin")
    assert tpp.http.post("/_sandbox/reset", headers={"Origin": "http://localhost"}).status_code == 200


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
@pytest.mark.parametrize("origin", [None, "http://localhost", "https://evil.example"])
def test_what_a_form_can_send_is_no_body_of_a_control_whatever_its_origin(
    tpp: Tpp, kind: str, origin: str | None
) -> None:
    given = {"Content-Type": kind} | ({"Origin": origin} if origin is not None else {})
    assert refused(tpp.http.post("/_sandbox/clock", data=b"x=1", headers=given), 415, "SBX-0415")


@pytest.mark.parametrize("name", ["..", "a/../b", ".hidden", "%2e%2e", "a%00b", "a\\b", "x" * 65, "a b", "é"])
def test_a_world_is_not_named_like_a_path(tpp: Tpp, name: str) -> None:
    assert tpp.http.get(f"/worlds/{name}/_sandbox/clock").status_code in (400, 404)
    assert tpp.http.put(f"/_sandbox/worlds/{name}").status_code in (400, 404, 405)
    assert [row["name"] for row in tpp.listed("worlds")] == ["default"]


# The server


def refused_start(*words: str, **variables: str) -> str:
    done = CliRunner(env=variables).invoke(main, ["serve", "--port", "0", *words])
    assert done.exit_code == 2, done.output
    return done.output


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "bank.example"])
def test_it_does_not_open_its_controls_to_a_network(host: str) -> None:
    told = refused_start("--host", host)
    for way in ("--key", "SANDBOX_KEY", "--controls-port", "--controls off", "--open"):
        assert way in " ".join(told.split())
    refused_start("--controls-port", "0", "--controls-host", host)


@pytest.mark.parametrize("words", [("--host", "0.0.0.0"), ("--controls-port", "0", "--controls-host", "192.0.2.1")])
def test_a_short_key_is_no_lock_on_a_network(words: tuple[str, ...]) -> None:
    for key in ("k", "k" * 15):
        assert "at least 16 characters" in " ".join(refused_start(*words, "--key", key).split())
        assert "at least 16 characters" in " ".join(refused_start(*words, "--open", SANDBOX_KEY=key).split())


def test_a_short_key_will_do_on_loopback_and_a_long_one_anywhere() -> None:
    for host, key in (("127.0.0.1", "k"), ("0.0.0.0", "k" * 16)):
        with serving("--port", "0", "--host", host, "--key", key, greets="listening on http://127.0.0.1:") as (
            server,
            _,
        ):
            ended(server)


@pytest.mark.parametrize("names", ["http://bank.example", "bank.example:8080", "a b", "bank.example/x", "*.example"])
def test_names_of_hosts_are_read_before_anything_listens(names: str) -> None:
    assert "no name of a host" in " ".join(refused_start("--allowed-hosts", names).split())


def test_the_controls_answer_under_their_names_and_the_bank_under_any() -> None:
    with serving("--port", "0", SANDBOX_ALLOWED_HOSTS="bank.example, .lab.example") as (server, port):
        for host in ("localhost", f"127.0.0.1:{port}", "[::1]", "bank.example", "BANK.example.:81", "a.lab.example"):
            assert ask(port, "GET", "/_sandbox/clock", Host=host)[0] == 200, host
        for host in ("evil.example", "lab.example", "localhost.evil.example", "192.0.2.1", "bank", "", "a@localhost"):
            status, body = ask(port, "GET", "/_sandbox/clock", Host=host)
            assert (status, body["error_code"]) == (403, "SBX-0403-000005"), host
            assert ask(port, "GET", "/accounts", Host="evil.example")[0] == 406
        ended(server)


def test_other_mistakes_are_told_before_anything_listens(tmp_path: Path) -> None:
    assert "empty key" in refused_start("--key", "")
    assert "--pki" in refused_start("--tls")
    assert "holds no PKI" in refused_start("--pki", str(tmp_path))


@pytest.mark.parametrize("words", [("--open",), ("--controls", "off"), ("--controls-port", "0")])
def test_one_of_these_is_enough(words: tuple[str, ...]) -> None:
    with serving("--port", "0", "--host", "127.0.0.1", *words) as (server, port):
        assert ask(port, "GET", "/accounts")[0] == 406
        ended(server)


def asked_of(host: str, bound: str) -> bool:
    return Hosts(bound).is_own_name(host)


@pytest.mark.parametrize(
    "host", ["bank", "bank:8080", "192.0.2.7", "[2001:db8::1]:80", "bank.svc", "x.internal", "a.local"]
)
def test_on_a_network_private_names_and_addresses_are_allowed(host: str) -> None:
    for bound in ("0.0.0.0", "::", "192.0.2.1", ""):
        assert asked_of(host, bound)
    assert not asked_of(host, "127.0.0.1") and not asked_of(host, "::1") and not asked_of(host, "localhost")


@pytest.mark.parametrize(
    "host", ["evil.example", "bank.example:80", "internal.evil.example", "x.svc.example", "1.2.3.4.5"]
)
def test_on_a_network_other_names_are_listed_or_refused(host: str) -> None:
    for bound in ("0.0.0.0", "192.0.2.1", "127.0.0.1", ""):
        assert not asked_of(host, bound)
        assert Hosts(bound, frozenset({"*"})).is_own_name(host)


def test_the_address_that_is_listened_on_is_a_name_of_it() -> None:
    assert (
        asked_of("bank.example:81", "bank.example") and asked_of("[::]:81", "::") and asked_of("10.0.0.1", "10.0.0.1")
    )


def ask(port: int, method: str, path: str, **headers: str) -> tuple[int, Any]:
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request(method, path, headers=headers)
        reply = connection.getresponse()
        return reply.status, json.loads(reply.read())
    finally:
        connection.close()


def test_a_key_from_the_environment_locks_and_is_told_to_nobody() -> None:
    with serving("--port", "0", SANDBOX_KEY=KEY) as (server, port):
        assert ask(port, "GET", "/_sandbox/health")[0] == 401
        assert ask(port, "GET", "/_sandbox/health", **{"X-Sandbox-Key": KEY})[0] == 200
        out, err = ended(server)
    assert KEY not in out + err


def test_controls_on_a_port_of_their_own_say_where() -> None:
    with serving("--port", "0", "--controls-port", "0") as (server, port):
        assert ask(port, "GET", "/_sandbox/health")[0] == 404
        assert server.stderr is not None
        told = next(line for line in server.stderr if "Controls: " in line)
        apart = int(told.partition("http://127.0.0.1:")[2].partition("/")[0])
        assert get(apart, "/_sandbox/health") == {"status": "ready"}
        document = get(apart, "/_sandbox/openapi.json")
        assert document["servers"][0]["url"] == f"http://127.0.0.1:{port}"
        ended(server)


def test_controls_on_a_port_of_their_own_lead_to_the_bank_on_its_port(worlds: WorldRegistry) -> None:
    bank, apart = "https://127.0.0.1:8443", "http://127.0.0.1:9001"
    address = Tpp(assemble(worlds), "b").initiate().headers["Location"]
    path = address.removeprefix("http://localhost")
    http = assemble_controls(worlds, OPEN, bank).test_client()
    for page in ("/_sandbox/", "/_sandbox/console/inbox"):
        text = http.get(f"/worlds/b{page}", base_url=apart).text
        assert f'href="{bank}{path}?console=1"' in text and f'name="address" value="{bank}{path}"' in text
        assert f'href="{bank}/worlds/b/psu/channel"' in text and f"{apart}/worlds/b/psu" not in text
        assert f"curl -X POST {apart}/worlds/b/_sandbox/clock" in text
    assert f"curl -i {bank}/worlds/b/payments/" in http.get("/worlds/b/_sandbox/console/calls/1", base_url=apart).text
    assert f"<code>{bank}/worlds/b</code>" in http.get("/worlds/b/_sandbox/docs", base_url=apart).text
    document = http.get("/worlds/b/_sandbox/openapi.json", base_url=apart).get_json()
    assert document["servers"][0]["url"] == f"{bank}/worlds/b"


@pytest.mark.parametrize(
    "listens, called, found",
    [
        ("http://0.0.0.0:8080", "http://bank.example:9001", "http://bank.example:8080"),
        ("http://[::]:8080", "http://[::1]:9001", "http://[::1]:8080"),
        ("http://192.0.2.1:8080", "http://127.0.0.1:9001", "http://192.0.2.1:8080"),
    ],
)
def test_a_bank_that_listens_everywhere_is_found_under_the_name_that_was_called(
    listens: str, called: str, found: str, worlds: WorldRegistry
) -> None:
    lock = Lock(hosts=Hosts("0.0.0.0", frozenset({"bank.example"})))
    http = assemble_controls(worlds, lock, listens).test_client()
    assert f'href="{found}/psu/channel"' in http.get("/_sandbox/", base_url=called).text


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """The port of a server, which must end in order."""
    with serving("--port", "0") as (server, port):
        yield port
        ended(server)


@pytest.mark.parametrize(
    "raw, status, code",
    [
        (b"GET /accounts HTTP/1.1\r\nHost: x\r\nX-Long: ".ljust(65_536, b"a"), 400, "GEN-1202-100001"),
        (b"nonsense\r\n\r\n", 400, "GEN-1202-100002"),
        (b"POST /token HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 400, "GEN-1202-100001"),
        (b"POST /token HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999\r\n\r\n", 400, "GEN-1202-100002"),
    ],
)
def test_what_the_server_refuses_itself_has_the_banks_body(port: int, raw: bytes, status: int, code: str) -> None:
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as line:
        line.sendall(raw)
        reply = b""
        while piece := line.recv(65_536):
            reply += piece
    head, _, body = reply.decode().partition("\r\n\r\n")
    assert head.split()[1] == str(status)
    assert json.loads(body)["error_code"] == code
    assert "response-id: " in head.lower()


# Secrets


def test_after_a_whole_run_no_secret_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    from sandbox.server.access_log import make_announcer

    beginning = replace(make_first_beginning(seed=7, at=read_instant(MORNING), rate=0))
    for kind in ("text", "json"):
        worlds = WorldRegistry(beginning, machine_time)
        app = assemble(worlds, make_announcer(kind, machine_time), lock=Lock(KEY))
        tpp = Tpp(app)
        tpp.http.environ_base["HTTP_X_SANDBOX_KEY"] = KEY
        token = tpp.token_for("alice")
        tpp.initiate(authorization=f"Bearer {token}")
        views = [
            tpp.control("GET", path.replace("/export", "/export?secrets=strip")).text  # whole, it is meant to hold all
            for method, path, *_ in CONTROLS
            if method == "GET" and "<" not in path and "reference" not in path
        ]
        bank = worlds.get("default").bank
        secrets = [KEY, token, *bank.codes, *bank.refresh_tokens, *(client.secret for client in bank.clients.values())]
        said = capsys.readouterr()
        for text in (*views, said.out, said.err):
            for secret in secrets:
                assert secret not in text
