"""A bank behind a real proxy, on a PKI made now."""

import json
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPSConnection
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from sandbox.cli import main
from sandbox.pki import FAULTS
from tests.test_cli import PATIENCE, serving
from tests.tpp import SCT, headers, payment, version

ROOT = Path(__file__).parents[2]


def made_pki(path: Path) -> Path:
    def run(*words: str) -> None:
        done = CliRunner().invoke(main, ["pki", *words, "--dir", str(path)])
        assert done.exit_code == 0, done.output

    run("init")
    run("issue", "sound", "--organisation", "PSDBE-SBX-DEMO01", "--kind", "qwac")
    for fault in FAULTS:
        run("issue", fault, "--organisation", "PSDBE-SBX-DEMO01", "--kind", "qwac", "--fault", fault)
    return path


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
        return port


def told(name: str, pki: Path, bank: int, port: int) -> str:
    """The shipped file, for this machine."""
    text = (ROOT / "deploy" / name).read_text()
    for shipped, here in (("/etc/bank-sandbox/pki", str(pki)), ("127.0.0.1:8080", f"127.0.0.1:{bank}")):
        assert shipped in text
        text = text.replace(shipped, here)
    return text.replace("8443", str(port))


@contextmanager
def behind(command: list[str], port: int) -> Iterator[None]:
    """A proxy, once it listens."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as proxy:
        try:
            until = time.monotonic() + PATIENCE
            while not listens(port):
                assert proxy.poll() is None and time.monotonic() < until, proxy.communicate()[0]
            yield
        finally:
            proxy.kill()


def listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def bank_for(pki: Path) -> Any:
    return serving("--port", "0", "--pki", str(pki), "--client-certificates", "proxy")


def line(port: int, pki: Path, name: str | None) -> HTTPSConnection:
    context = ssl.create_default_context(cafile=str(pki / "root.pem"))
    context.set_ciphers("DEFAULT:@SECLEVEL=0")
    if name is not None:
        context.load_cert_chain(pki / name / "qwac.pem", pki / name / "qwac.key")
    return HTTPSConnection("localhost", port, context=context, timeout=PATIENCE)


def ask(port: int, pki: Path, name: str | None, **more: str) -> tuple[int, Any]:
    connection = line(port, pki, name)
    try:
        connection.request("GET", "/accounts", headers=headers(accept=version(2)) | more)
        reply = connection.getresponse()
        return reply.status, json.loads(reply.read())
    finally:
        connection.close()


def pay(port: int, pki: Path) -> str:
    """Where the customer of a new payment is sent to."""
    connection = line(port, pki, "sound")
    try:
        given = headers(content_type="application/json")
        connection.request("POST", f"/payments/{SCT}", json.dumps(payment()), given)
        return str(connection.getresponse().headers["Location"])
    finally:
        connection.close()


def hold(port: int, pki: Path) -> None:
    """What must be true behind any proxy."""
    status, body = ask(port, pki, "sound")
    assert (status, body["error_code"]) == (401, "GEN-1203-100003"), body  # past the certificate, up to the token
    for name in (None, *FAULTS):
        status, body = ask(port, pki, name)
        assert (status, body["error"]) == (495, "CERTIFICATE_ERROR"), (name, body)
    forged = "".join((pki / "sound" / "qwac.pem").read_text().split("\n")[1:-2])
    status, body = ask(port, pki, None, **{"X-Client-Cert": forged})
    assert (status, "missing" in body["error_description"]) == (495, True)
    assert pay(port, pki).startswith(f"https://localhost:{port}/psu/sign/")
