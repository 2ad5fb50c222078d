"""Nobody gets round the lock of the controls: each route, each spelling of its path, each way to come without right."""

import json
import socket
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import create_environ, run_wsgi_app

from sandbox.app import assemble, assemble_controls
from sandbox.server.server import serve_in_background
from sandbox.web.api.addresses import Hosts
from sandbox.web.console.visits import FILES
from sandbox.web.controls.lock import OPEN, Lock
from sandbox.worlds.registry import WorldRegistry
from tests.long_runs import is_long
from tests.pki.spelling import BODIES, routes, spellings
from tests.tpp import Tpp

KEY = "a-key-for-the-team"
PATIENCE = 30
LOCKED = Lock(KEY)
RIGHT = {"X-Sandbox-Key": KEY}
WAYS: dict[str, tuple[Lock, dict[str, str]]] = {
    "no key": (LOCKED, {}),
    "a wrong key": (LOCKED, {"X-Sandbox-Key": "wrong"}),
    "a wrong cookie": (LOCKED, {"Cookie": "sandbox-console-key=wrong"}),
    "a foreign Origin": (OPEN, {"Origin": "https://evil.example"}),
    "a foreign Origin and the key": (LOCKED, RIGHT | {"Origin": "https://evil.example"}),
    "no Origin of a page": (OPEN, {"Origin": "null"}),
    "a foreign Host": (OPEN, {"Host": "evil.example"}),
    "a foreign Host and the key": (LOCKED, RIGHT | {"Host": "evil.example:8080"}),
}
REFUSED = (401, 403, 404)
HOSTS = ("localhost", "127.0.0.1:8080", "[::1]:8080", "a.localhost", "bank.example", "x.internal.example")
ALL_SPELLINGS = "no key"  # this way tries each spelling of each route, and others a share of the spellings
SHARE = 10
PUBLIC = {f"console file {name}" for name in FILES}  # the form that asks for the key needs them


def beginning(worlds: WorldRegistry) -> Any:
    """All that a control could change."""
    world = worlds.get("default")
    bank = world.bank
    clients = {name: replace(client) for name, client in bank.clients.items()}
    return (
        sorted(world.name for world in worlds.list_all()),
        (
            bank.clock.now,
            world.clock.pace.rate,
            bank.settings,
            clients,
            dict(world.faults.met),
            len(world.faults.rules),
        ),
        (len(bank.journal), len(bank.payments), sum(map(len, bank.ledger.list_added_lines().values()))),
        (world.opening, world.beginning, world.bank is bank),
    )


def tries(app: Flask, way: str, address: str, share: int) -> Iterator[tuple[str, str, bytes]]:
    """Each route as it is, and one of so many of its other spellings: others from route to route and from way to way.

    The guard judges a way by a route and a route by a spelling, so each pair of these is tried."""
    first = list(WAYS).index(way)
    for number, (endpoint, method, path) in enumerate(routes(app), first):
        if endpoint in PUBLIC and way in ("no key", "a wrong key", "a wrong cookie"):
            continue
        body = b"" if method == "GET" else json.dumps(BODIES.get(path, {})).encode()
        # In absolute form the target names the host, so that a foreign Host is no way there.
        as_it_is, *others = spellings(path, "evil.example" if "Host" in way else address).values()
        for target in (as_it_is, *others[number % share :: share]):
            yield method, target, body


APART = ("no key", "a foreign Origin")  # the guard is the same, so these will do for a port of their own
BY_LINE = ("no key", "a wrong key", "a foreign Origin", "a foreign Host and the key")


@pytest.mark.parametrize(("way", "apart"), [*((way, False) for way in WAYS), *((way, True) for way in APART)])
def test_no_spelling_leads_past_the_lock(worlds: WorldRegistry, way: str, apart: bool) -> None:
    lock, given = WAYS[way]
    app = assemble_controls(worlds, lock, "http://127.0.0.1:8080") if apart else assemble(worlds, lock=lock)
    usual, before = create_environ(headers=given, content_type="application/json"), beginning(worlds)
    share = 1 if is_long() or (way == ALL_SPELLINGS and not apart) else SHARE
    for method, target, body in tries(app, way, "127.0.0.1", share):
        # As a server would hand it over; a client would make another path of some.
        path = {"REQUEST_URI": target, "RAW_URI": target, "PATH_INFO": target.partition("?")[0]}
        sent = {"REQUEST_METHOD": method, "CONTENT_LENGTH": str(len(body)), "wsgi.input": BytesIO(body)}
        reply, status, _ = run_wsgi_app(app, usual | path | sent, buffered=True)
        assert int(status[:3]) in REFUSED, f"{method} {target}: {status} {b''.join(reply)[:200]!r}"
    assert beginning(worlds) == before


@pytest.mark.parametrize("way", BY_LINE)
def test_no_bytes_on_the_line_lead_past_the_lock(worlds: WorldRegistry, way: str) -> None:
    lock, given = WAYS[way]
    app, before = assemble(worlds, lock=lock), beginning(worlds)
    with serve_in_background(app) as url:
        address = url.removeprefix("http://")
        sent = list(tries(app, way, address, 1 if is_long() else SHARE))
        host = given.get("Host", address)
        more = "".join(f"{name}: {value}\r\n" for name, value in given.items() if name != "Host")
        with Line(address) as line:
            for method, target, body in sent:
                head = f"{method} {target} HTTP/1.1\r\nHost: {host}\r\n{more}Content-Type: application/json\r\n"
                status = line.ask(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
                assert status in (*REFUSED, 400), f"{method} {target}: {status}"
                assert status != 400 or not target.startswith(("/", "http")), f"{method} {target}: {status}"
    assert beginning(worlds) == before


class Line:
    """A connection that is opened again where the server closed it."""

    def __init__(self, address: str) -> None:
        host, _, port = address.partition(":")
        self._address = (host, int(port))
        self._open()

    def _open(self) -> None:
        self._socket = socket.create_connection(self._address, PATIENCE)
        self._file = self._socket.makefile("rb")

    def ask(self, request: bytes) -> int:
        self._socket.sendall(request)
        status = int(self._file.readline().split()[1])
        length, closes = 0, False
        while (row := self._file.readline().strip().lower()) != b"":
            name, _, value = row.partition(b": ")
            length = int(value) if name == b"content-length" else length
            closes = closes or (name == b"connection" and value == b"close")
        self._file.read(length)
        if closes:
            self._close()
            self._open()
        return status

    def _close(self) -> None:
        self._file.close()
        self._socket.close()

    def __enter__(self) -> "Line":
        return self

    def __exit__(self, *failure: object) -> None:
        self._close()


@pytest.mark.parametrize("lock", [LOCKED, OPEN], ids=["with the key", "without any"])
def test_whoever_may_is_let_through_under_each_name_of_the_server(worlds: WorldRegistry, lock: Lock) -> None:
    app = assemble(worlds, lock=replace(lock, hosts=Hosts(listed=frozenset({"bank.example", ".internal.example"}))))
    reads = [path for _, method, path in routes(app) if method == "GET"]
    for number, host in enumerate(HOSTS):
        given = {"Host": host, "Origin": f"http://{host}"} | (RIGHT if lock.key else {})
        for path in reads[number :: 1 if is_long() else len(HOSTS)]:
            reply = app.test_client().get(f"/_sandbox{path}", headers=given)
            assert reply.status_code not in (401, 403, 421), f"{path}: {reply.text[:200]}"
        assert app.test_client().post("/_sandbox/clock", json={"advance": "1s"}, headers=given).status_code == 200


FORMS = [
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "text/plain",
    "TEXT/PLAIN;charset=utf-8",
]


@pytest.mark.parametrize("content_type", [*FORMS, "", "application/json, text/plain", "text/json", "*/*"])
def test_what_a_form_can_send_changes_nothing(worlds: WorldRegistry, content_type: str) -> None:
    app, before = assemble(worlds), beginning(worlds)
    for endpoint, method, path in routes(app):
        if method != "GET" and endpoint.startswith("control "):
            for body in (b"", json.dumps(BODIES.get(path, {})).encode()):
                reply = app.test_client().open(
                    f"/_sandbox{path}", method=method, data=body, headers={"Content-Type": content_type}
                )
                assert (reply.status_code, reply.get_json()["error"]) == (415, "UNSUPPORTED_MEDIA_TYPE"), (
                    f"{method} {path}"
                )
    assert beginning(worlds) == before


@pytest.mark.parametrize("given", [{}, {"Content-Type": "application/json"}, {"Content-Type": "application/JSON; a=b"}])
def test_a_call_without_a_body_needs_no_content_type(tpp: Tpp, given: dict[str, str]) -> None:
    assert tpp.http.post("/_sandbox/reset", headers=given).status_code == 200
    assert tpp.http.delete("/_sandbox/faults", headers=given).status_code == 204
    assert tpp.http.put("/_sandbox/worlds/mine", headers=given).status_code == 201


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_browser_that_tells_of_another_site_changes_nothing(tpp: Tpp, site: str) -> None:
    reply = tpp.http.post("/_sandbox/reset", headers={"Sec-Fetch-Site": site})
    assert (reply.status_code, reply.get_json()["error_code"]) == (403, "SBX-0403-000004")
    assert tpp.http.get("/_sandbox/clock", headers={"Sec-Fetch-Site": site}).status_code == 200
    for own in ("same-origin", "none"):
        assert tpp.http.post("/_sandbox/reset", headers={"Sec-Fetch-Site": own}).status_code == 200
