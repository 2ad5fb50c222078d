"""The proxy passes calls on as they are, and writes them without anybody's data."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

import sandbox
from sandbox.cli import main
from sandbox.client import Client, Refused
from sandbox.extensions.lift.lifting import lift_file
from sandbox.extensions.record.proxy import BankRecorder, ProxyServer
from sandbox.machine import machine_time
from sandbox.player.runs import Script, serve_worlds
from sandbox.recordings import read_recording
from sandbox.scenarios import read_scenario
from tests.lift.plays import play

PERSON = {"creditor_iban": "NL91ABNA0417164300", "creditor_name": "Juliette Vraie"}


@contextmanager
def recording(bank: str, out: Path) -> Iterator[str]:
    recorder = BankRecorder(bank, out)
    server = ProxyServer(recorder, 0)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        recorder.close()
        assert recorder.failures == []


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "calls.har"


def test_a_recording_has_nobodys_data_and_still_lifts_and_plays(out: Path) -> None:
    secrets = [*PERSON.values(), "INV-77", "demo-secret"]
    with sandbox.running() as bank, recording(bank.base_url, out) as url:
        client = Client(base_url=url, http=bank.controls.http)
        payment = client.pay(**PERSON, amount="12.50", endtoend_identification="INV-77")  # type: ignore[arg-type]
        assert payment.sca_address is not None
        callback = bank.psu.approve(payment.sca_address, customer="alice")
        tokens = client.tokens_from(callback, payment.flow)
        bank.clock.advance("1d")
        client.status(payment)
        consent = client.consent_addresses()
        tokens_of_accounts = client.tokens_from(bank.psu.approve(consent.address, customer="alice"), consent.flow)
        accounts = client.accounts(tokens_of_accounts)
        with pytest.raises(Refused):
            client.account("unknown-77", tokens_of_accounts)
        for pair in (tokens, tokens_of_accounts):
            secrets += [pair.access, pair.refresh, payment.flow.verifier, payment.payment_id]
        secrets += [callback.partition("code=")[2].partition("&")[0], *(row.logical_id for row in accounts)]
    text = out.read_text()
    assert [secret for secret in secrets if secret and secret in text] == []
    recorded = read_recording(out.read_bytes())
    assert recorded.notes == [] and recorded.addresses == [bank.base_url]
    assert len({call.headers["request-id"] for call in recorded.calls}) == len(recorded.calls)
    scenario, unexplained = lift_file(out.read_bytes(), "Recorded")
    assert unexplained == ["call 7, GET /accounts: its account is not in the record"] or unexplained == []
    with serve_worlds(machine_time, jobs=1) as server:
        again = play(Script(read_scenario(scenario, "recorded"), scenario), server)
    assert again.report.passed and again.states == [("sepa-credit-transfers", "ACSC", None)]


class Echo(BaseHTTPRequestHandler):
    """A bank that replies with what it got."""

    protocol_version = "HTTP/1.1"
    got: list[tuple[str, str, list[tuple[str, str]], bytes]] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.got.append((self.command, self.path, list(self.headers.items()), body))
        self.send_response_only(201)
        self.send_header("Set-Cookie", "a=1")
        self.send_header("Set-Cookie", "b=2")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""


@pytest.fixture
def echo() -> Iterator[str]:
    Echo.got = []
    server = HTTPServer(("127.0.0.1", 0), Echo)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/psd2"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_call_is_passed_on_as_it_is(out: Path, echo: str) -> None:
    body = b'{"a" :1}\n'
    target = "/payments/x%2Fy/status?a=%7e&b"
    with recording(echo, out) as url, httpx.Client() as client:
        headers = [("X-Odd", "caf\xe9".encode("latin-1")), ("Signature", "a..b"), ("A", "1"), ("A", "2")]
        reply = client.post(url + target, content=body, headers=headers)  # type: ignore[arg-type]
        chunked = client.post(url + "/token", content=iter([b"grant_type=", b"x"]))
    assert (reply.status_code, reply.content, reply.headers.get_list("set-cookie")) == (201, body, ["a=1", "b=2"])
    assert chunked.content == b"grant_type=x"
    written = json.loads(out.read_bytes())["log"]["entries"][0]["response"]["headers"]
    assert [row["name"] for row in written] == ["Set-Cookie"] * 2
    method, path, sent, content = Echo.got[0]
    assert (method, path, content) == ("POST", f"/psd2{target}", body)
    assert [value for name, value in sent if name in ("X-Odd", "Signature", "A")] == ["caf\xe9", "a..b", "1", "2"]
    assert ("Host", echo.split("/")[2]) in sent


def test_a_page_of_a_browser_cannot_call_the_bank(out: Path, echo: str) -> None:
    with recording(echo, out) as url:
        foreign = httpx.post(f"{url}/payments/x", headers={"Host": "evil.example"})
        page = httpx.post(f"{url}/payments/x", headers={"Sec-Fetch-Site": "cross-site"})
    assert (foreign.status_code, page.status_code, Echo.got) == (403, 403, [])
    assert json.loads(out.read_text())["log"]["entries"] == []


@pytest.mark.parametrize("origin", ["http://evil.example", "http://127.0.0.1", "https://127.0.0.1:{port}", "null", ""])
def test_a_call_from_another_origin_is_refused(out: Path, echo: str, origin: str) -> None:
    with recording(echo, out) as url:
        headers = {"Origin": origin.format(port=url.rpartition(":")[2])}
        refused = httpx.post(f"{url}/payments/x", headers=headers)
    assert (refused.status_code, Echo.got) == (403, [])
    assert json.loads(out.read_text())["log"]["entries"] == []


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_a_call_from_the_proxys_own_address_is_passed_on(out: Path, echo: str, name: str) -> None:
    with recording(echo, out) as url:
        own = url.replace("127.0.0.1", name)
        passed = httpx.post(f"{url}/payments/x", headers={"Host": own.removeprefix("http://"), "Origin": own})
    assert (passed.status_code, len(Echo.got)) == (201, 1)


def test_a_call_that_the_bank_does_not_reply_to_is_recorded_as_lost(out: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        with recording(f"http://127.0.0.1:{free.getsockname()[1]}", out) as url:
            reply = httpx.get(f"{url}/payments/sepa-credit-transfers/77/status")
    assert reply.status_code == 502 and "The bank did not reply" in reply.text
    assert [call.is_lost for call in read_recording(out.read_bytes()).calls] == [True]


def test_a_call_for_a_forward_proxy_is_refused(out: Path, echo: str) -> None:
    with recording(echo, out) as url, socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2]))) as line:
        line.sendall(b"POST http://x.example/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n")
        assert b" 400 " in line.recv(1_000)
    assert Echo.got == []


ADDRESSES = [
    "",
    "bank.example",
    "ftp://bank.example",
    "https://",
    "https://a:b@bank.example",
    "https://x/?a=1",
    "http://[::1",
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_what_is_no_address_of_a_bank_is_refused(tmp_path: Path, address: str) -> None:
    result = CliRunner().invoke(main, ["record", "--to", address, "--out", str(tmp_path / "x.har")])
    assert result.exit_code == 1 and "is no address of a bank" in result.output


def test_a_file_without_a_certificate_is_refused(tmp_path: Path) -> None:
    wrong = tmp_path / "client.pem"
    wrong.write_text("no certificate")
    words = ["record", "--to", "https://bank.example", "--out", str(tmp_path / "x.har")]
    for option in ("--cert", "--ca"):
        result = CliRunner().invoke(main, [*words, option, str(wrong)])
        assert result.exit_code == 1 and f"{wrong}: expected are" in result.output
    assert not (tmp_path / "x.har").exists()
    assert CliRunner().invoke(main, [*words, "--key", str(wrong)]).exit_code == 2
