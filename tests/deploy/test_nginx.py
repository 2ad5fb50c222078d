"""deploy/nginx.conf with a real nginx: 495 in the bank's body for every certificate failure (choice 9). And
deploy/nginx-shared.conf: calls of one world go to one bank, and to another one where that is gone."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from sandbox.client import Controls
from tests.deploy.proxies import ROOT, bank_for, behind, free_port, hold, made_pki, pay, told
from tests.deploy.test_compose import team
from tests.test_cli import PATIENCE

MAIN = """
pid nginx.pid;
error_log stderr;
daemon off;
events {{ }}
http {{
    access_log off;
    client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    {server}
}}
"""


def test_the_shipped_file_passes_every_certificate_on(tmp_path: Path) -> None:
    pki, port = made_pki(tmp_path / "pki"), free_port()
    with bank_for(pki) as (_, bank):
        conf = tmp_path / "nginx.conf"
        conf.write_text(MAIN.format(server=told("nginx.conf", pki, bank, port)))
        with behind(["nginx", "-p", str(tmp_path), "-c", str(conf)], port):
            hold(port, pki)


def test_behind_it_the_team_of_the_compose_file_pays_and_signs(tmp_path: Path) -> None:
    pki, port = made_pki(tmp_path / "pki"), free_port()
    with team(tmp_path, pki) as (bank, controls), Controls(f"http://127.0.0.1:{controls}", key="k") as tester:
        conf = tmp_path / "nginx.conf"
        conf.write_text(MAIN.format(server=told("nginx.conf", pki, bank, port)))
        with behind(["nginx", "-p", str(tmp_path), "-c", str(conf)], port):
            hold(port, pki)
            tester.psu.approve(pay(port, pki), customer="alice")
            *_, signed = tester.call("GET", "/payments").body["payments"]
            assert signed["customer"] == "alice" and signed["status"] in ("PDNG", "ACSP", "ACSC")


@contextmanager
def server_that_says(name: str) -> Iterator[int]:
    """Answers each GET with its name."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(name.encode())

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.server_port
        finally:
            server.shutdown()


def shared_conf(port: int, banks: dict[str, int]) -> str:
    """The shipped file with addresses for names: Debian's nginx is too old to look names up again."""
    text = (ROOT / "deploy" / "nginx-shared.conf").read_text().replace("listen 8080;", f"listen 127.0.0.1:{port};")
    for name, bank in banks.items():
        assert f"{name}:8080 resolve " in text
        text = text.replace(f"{name}:8080 resolve ", f"127.0.0.1:{bank} ")
    lines = [line for line in text.splitlines() if not line.strip().startswith("resolver")]
    assert len(lines) == len(text.splitlines()) - 2
    return "\n".join(lines)


def who_answers(port: int, path: str) -> str:
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request("GET", path)
        reply = connection.getresponse()
        assert reply.status == 200, path
        return reply.read().decode()
    finally:
        connection.close()


def test_calls_of_a_world_go_to_one_bank_while_it_is_there(tmp_path: Path) -> None:
    port, paths = free_port(), [f"/worlds/w{number}/payments" for number in range(20)]
    conf = tmp_path / "nginx.conf"
    with server_that_says("first") as first:
        with server_that_says("second") as second:
            server = shared_conf(port, {"bank-1": first, "bank-2": second})
            conf.write_text(MAIN.format(server=server))
            with behind(["nginx", "-p", str(tmp_path), "-c", str(conf)], port):
                at = {path: who_answers(port, path) for path in paths}
                assert set(at.values()) == {"first", "second"}
                assert at == {path: who_answers(port, path) for path in paths}
                assert at[paths[3]] == who_answers(port, "/worlds/w3/_sandbox/clock?a=1")
                assert len({who_answers(port, path) for path in ("/accounts", "/_sandbox/clock", "/")}) == 1
        with behind(["nginx", "-p", str(tmp_path), "-c", str(conf)], port):  # the second one is gone
            assert {who_answers(port, path) for path in paths} == {"first"}
