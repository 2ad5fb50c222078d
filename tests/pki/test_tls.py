"""The extra [tls], with real handshakes: one laptop, no proxy (choice 9)."""

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path
from time import perf_counter
from typing import Any

import orjson
import pytest

from sandbox.server.server import end, find_port
from sandbox.server.tls import make_tls_server
from tests.pki.conftest import Bank, Issue
from tests.pki.malformed import content_of, der_of, signed_again
from tests.pki.test_certificates import WRONG
from tests.tpp import headers, version

PATIENCE = 20


@pytest.fixture
def port(bank: Bank, pki: Path) -> Iterator[int]:
    app = bank(client_certificates="tls").http.application
    server = make_tls_server(app, "127.0.0.1", 0, 4, pki)
    running = threading.Thread(target=server.run, daemon=True)
    running.start()
    yield find_port(server)
    end(server)
    running.join(PATIENCE)


def line(port: int, pki: Path, certificate: Path | None = None) -> HTTPSConnection:
    context = ssl.create_default_context(cafile=str(pki / "root.pem"))
    context.set_ciphers("DEFAULT:@SECLEVEL=0")  # so that a weak key can be shown at all
    if certificate is not None:
        context.load_cert_chain(certificate, certificate.with_suffix(".key"))
    return HTTPSConnection("127.0.0.1", port, context=context, timeout=PATIENCE)


def ask(connection: HTTPConnection, method: str, path: str, body: bytes | None = None, **more: str) -> tuple[int, Any]:
    connection.request(method, path, body, headers(accept=version(3)) | more)
    reply = connection.getresponse()
    return reply.status, orjson.loads(reply.read())


def test_a_payment_over_tls_with_a_believed_certificate(port: int, pki: Path, issue: Issue) -> None:
    connection = line(port, pki, issue())
    body = orjson.dumps({
        "creditor_account": {"iban": "BE68539007547034"}, "creditor_name": "Jan", "endtoend_identification": "A-1",
        "instructed_amount": {"amount": "1.00"},
    })  # fmt: skip
    path = "/payments/sepa-credit-transfers"
    status, reply = ask(connection, "POST", path, body, **{"Content-Type": "application/json"})
    assert status == 201, reply
    assert reply["_links"]["sca_redirect"]["href"].startswith(f"https://127.0.0.1:{port}/psu/")
    assert ask(connection, "GET", f"{path}/{reply['payment_id']}/status")[0] == 200  # on the same connection
    connection.close()


@pytest.mark.parametrize("wrong, told", WRONG)
def test_each_certificate_failure_is_495_after_a_real_handshake(
    port: int, pki: Path, issue: Issue, wrong: dict[str, str], told: str
) -> None:
    connection = line(port, pki, issue(**wrong))
    status, reply = ask(connection, "GET", "/payments/sepa-credit-transfers/x/status")
    assert (status, reply["error"]) == (495, "CERTIFICATE_ERROR")
    assert told in reply["error_description"]
    connection.close()


def test_a_certificate_that_cannot_be_parsed_is_495_after_a_real_handshake(
    port: int, pki: Path, issue: Issue, tmp_path: Path
) -> None:
    sound, file = issue(), tmp_path / "odd.pem"
    content = content_of(der_of(sound)).replace(b"\xa0\x03\x02\x01\x02", b"\xa0\x03\x02\x01\x0a", 1)  # its version
    file.write_text(ssl.DER_cert_to_PEM_cert(signed_again(der_of(sound), content, pki)))
    file.with_suffix(".key").write_bytes(sound.with_suffix(".key").read_bytes())
    connection = line(port, pki, file)
    status, reply = ask(connection, "GET", "/accounts")
    assert (status, "it is no X.509 certificate" in reply["error_description"]) == (495, True)
    connection.close()


def test_without_a_certificate_it_is_495_and_the_controls_answer(port: int, pki: Path) -> None:
    connection = line(port, pki)
    status, reply = ask(connection, "GET", "/accounts")
    assert (status, "none was given" in reply["error_description"]) == (495, True)
    assert ask(connection, "GET", "/_sandbox/health") == (200, {"status": "ready"})
    connection.close()


def test_a_forged_header_does_not_stand_in_for_a_handshake(port: int, pki: Path, issue: Issue) -> None:
    connection = line(port, pki)
    forged = {"X-Client-Cert": issue().read_text().replace("\n", ""), "Sandbox.certificate": "x"}
    assert ask(connection, "GET", "/accounts", None, **forged)[0] == 495
    connection.close()


def test_fifty_silent_callers_and_fifty_broken_handshakes_hold_nobody_up(port: int, pki: Path) -> None:
    with ExitStack() as stack:
        for begun in (b"", b"\x16\x03\x01"):
            for _ in range(50):
                stack.enter_context(socket.create_connection(("127.0.0.1", port), PATIENCE)).sendall(begun)
            began = perf_counter()
            connection = line(port, pki)
            assert ask(connection, "GET", "/_sandbox/health")[0] == 200
            assert perf_counter() - began < 1
            connection.close()


def test_plain_http_is_refused_in_the_banks_body(port: int) -> None:
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    assert ask(connection, "GET", "/accounts")[1]["error_code"] == "GEN-1202-100002"
    connection.close()


def test_a_large_file_and_a_large_reply_pass(port: int, pki: Path) -> None:
    connection = line(port, pki)
    assert ask(connection, "POST", "/token", bytes(3_000_000))[0] == 495
    connection.request("GET", "/_sandbox/docs/static/swagger-ui-bundle.js")
    assert len(connection.getresponse().read()) > 1_000_000
    connection.close()


def test_what_the_server_refuses_itself_has_the_banks_body(port: int, pki: Path) -> None:
    connection = line(port, pki)
    status, reply = ask(connection, "GET", "/accounts", None, **{"X-Long": "a" * 70_000})
    assert (status, reply["error_code"]) == (400, "GEN-1202-100001")
    connection.close()
