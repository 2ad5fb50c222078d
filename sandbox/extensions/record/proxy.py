"""A reverse proxy that records the calls and replies that it passes on.

Why not mitmproxy: it demands other versions of Flask, cryptography and ruamel.yaml than the sandbox has (see
`recordings/mitmproxy_flows`), and so cannot be installed beside it. The task here is small: there is only one bank, all
calls go to it, and each message is passed on as a whole.

The proxy does not change bodies and headers, because a signature may cover them. Only headers that belong to one
connection are replaced, such as Host, which gets the name of the bank. The proxy masks a call before it writes the call
to the file: it replaces secrets and personal data. So no secret reaches the file, even if the process is killed.

The proxy calls the bank with the client's certificate. So everybody who can reach the proxy could act as this client.
Therefore the proxy listens only on this machine. It also refuses calls that a web page may have made: calls whose Host
is not this machine, whose Origin is not the proxy's own address, or whose Sec-Fetch-Site names another site.
"""

import ssl
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from sandbox.machine import machine_time
from sandbox.people.fixtures import Fixtures
from sandbox.recordings import RecordedCall
from sandbox.recordings.har import HarWriter
from sandbox.recordings.masking import Masker
from sandbox.recordings.pseudonyms import Pseudonyms
from sandbox.recordings.recorded_calls import decode_text, read_headers
from sandbox.scenarios.reading import load

HOST = "127.0.0.1"
TIMEOUT = 90.0  # seconds; banks wait long for other banks
BODY_MAX = 100_000_000  # bytes
LINE_MAX = 65_536  # bytes of the head of a chunk
OF_CONNECTION = {
    "connection", "keep-alive", "proxy-authenticate", "proxy-connection", "te", "trailer", "transfer-encoding",
    "upgrade", "content-length", "host", "expect",
}  # fmt: skip
OWN_NAMES = ("127.0.0.1", "localhost")
FROM_A_PAGE = ("cross-site", "same-site")
Pairs = list[tuple[str, str]]


class RecordError(ValueError):
    """Raised if the recording cannot begin."""


class ClientCallError(ValueError):
    """Raised for a call that is not passed on to the bank. `status` is the status of the reply to the client."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class BankRecorder:
    """Passes calls to one bank, and records each call with pseudonyms and without secrets."""

    def __init__(self, bank: str, out: Path, context: ssl.SSLContext | bool = True) -> None:
        """Opens the file `out` and writes an empty recording to it. Raises RecordError if `bank` is no valid address,
        and OSError if the file cannot be written."""
        self.address = read_bank_address(bank)
        parts = urlsplit(self.address)
        self._client = httpx.Client(verify=context, timeout=TIMEOUT, trust_env=False)
        self._masker = Masker(make_own_pseudonyms(load("default").fixtures), [parts.netloc], parts.path)
        self._writer = HarWriter(out)
        self._lock = threading.Lock()
        self._begun = 0
        self.failures: list[str] = []  # the kinds of errors for which a call is not in the file

    @property
    def count(self) -> int:
        return self._writer.count

    def close(self) -> None:
        with self._lock:
            self._client.close()
            self._writer.close()

    def forward(self, method: str, target: str, headers: Pairs, body: bytes) -> tuple[int, Pairs, bytes]:
        """Passes a call to the bank, records it, and returns the bank's reply. If no reply came, records the call
        without a reply and raises httpx.HTTPError. Raises httpx.InvalidURL, and records nothing, if `target` makes no
        valid address."""
        began = machine_time()
        forwarded_headers = [pair for pair in headers if pair[0].lower() not in OF_CONNECTION]
        request = httpx.Request(
            method,
            self.address + target,
            headers=[(name.encode("latin-1"), value.encode("latin-1")) for name, value in forwarded_headers],
            content=body or None,
        )
        if method in ("POST", "PUT", "PATCH"):
            request.headers["content-length"] = str(len(body))
        try:
            response = self._client.send(request, stream=True)
            try:
                raw = b"".join(response.iter_raw())
            finally:
                response.close()
        except httpx.HTTPError:
            self._record(request, body, None, b"", began)
            raise
        self._record(request, body, response, raw, began)
        pairs = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers.raw]
        return response.status_code, [pair for pair in pairs if pair[0].lower() not in OF_CONNECTION], raw

    def _record(
        self, request: httpx.Request, body: bytes, response: httpx.Response | None, raw: bytes, began: float
    ) -> None:
        """Masks a call (replaces its secrets and personal data), and writes it to the file. If an error occurs, the
        call is not written and the error is noted in `failures`. The client gets its reply in both cases."""
        with self._lock, suppress_and_count(self.failures):
            self._begun += 1
            call = RecordedCall(
                self._begun,
                request.method.upper(),
                str(request.url),
                read_headers(request.headers.multi_items()),
                decode_text(body),
                0 if response is None else response.status_code,
                read_headers(() if response is None else response.headers.multi_items()),
                "" if response is None else decode_reply(response, raw),
                datetime.fromtimestamp(began, UTC),
                datetime.fromtimestamp(machine_time(), UTC),
                reply_names=list_names(response),
            )
            self._writer.add(self._masker.mask(call))


def list_names(response: httpx.Response | None) -> tuple[str, ...]:
    """Returns the names of the reply's headers in the letters in which the server wrote them. Returns no names for
    HTTP/2, because all names are in lower case there, and for a lost reply."""
    if response is None or not response.http_version.startswith("HTTP/1"):
        return ()
    return tuple(name.decode("latin-1") for name, _ in response.headers.raw)


@contextmanager
def suppress_and_count(failures: list[str]) -> Iterator[None]:
    """Suppresses an error in the block, and adds the name of the error's type to `failures`. Does not store the text of
    the error, because it may contain a secret."""
    try:
        yield
    except Exception as fault:
        failures.append(type(fault).__name__)


def make_own_pseudonyms(fixtures: Fixtures) -> Pseudonyms:
    """Returns pseudonyms that keep two things unchanged: the sandbox's own accounts, and the beneficiaries' names on
    which rules of its default scenario depend. They are not data of real people, and a scenario that is made from the
    recording needs them."""
    rules = load("default").rules
    patterns = tuple(rule.when.creditor_name for rule in rules if rule.when.creditor_name)
    return Pseudonyms(set(fixtures.accounts), patterns)


def decode_reply(response: httpx.Response, raw: bytes) -> str:
    """Returns the body of a reply as text. Returns an empty text if the body cannot be decompressed."""
    try:
        return decode_text(httpx.Response(response.status_code, headers=response.headers, content=raw).content)
    except httpx.DecodingError:
        return ""


def read_bank_address(text: str) -> str:
    """Returns the bank's address without slashes at its end. Raises RecordError if the text is not an address of http
    or https, or if it has a query, a fragment or a user name."""
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as fault:
        raise RecordError(f"{text!a} is no address of a bank ({fault})") from None
    is_address = parts.scheme in ("http", "https") and parts.hostname and port != 0
    if not is_address or parts.query or parts.fragment or "@" in parts.netloc:
        raise RecordError(f"{text!a} is no address of a bank: expected is such as https://test.bank.example/psd2")
    return text.rstrip("/")


def read_certificates(cert: Path | None, key: Path | None, ca: Path | None) -> ssl.SSLContext:
    """Returns the TLS context for calls to the bank. The client shows the certificate `cert` with its `key`, or no
    certificate if `cert` is None. If `key` is None, the file `cert` has the key too. The bank's certificate is checked
    by the certificates `ca`, or by those of the system if `ca` is None.

    Raises RecordError if a file has no certificate or no key, if the key has a password, or if the key does not belong
    to the certificate.
    """
    try:
        context = ssl.create_default_context(cafile=ca)
    except (ssl.SSLError, OSError) as fault:
        raise RecordError(f"{ca}: expected are certificates in PEM ({fault})") from None
    if cert is not None:
        try:
            context.load_cert_chain(cert, key, password=_refuse_password)
        except (ssl.SSLError, OSError, ValueError) as fault:
            files = f"{cert}" if key is None else f"{cert} and {key}"
            reason = f"expected are a certificate and its key in PEM, without a password ({fault})"
            raise RecordError(f"{files}: {reason}") from None
    return context


def _refuse_password() -> str:
    raise ValueError("the key has a password")


# The server


class ProxyServer(ThreadingHTTPServer):
    """A server with one thread for each connection."""

    daemon_threads = True

    def __init__(self, recorder: BankRecorder, port: int) -> None:
        super().__init__((HOST, port), ProxyHandler)
        self.recorder = recorder

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Prints a traceback of the error, unless it is about the connection, such as a client that closed it."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class ProxyHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ProxyServer

    def do_GET(self) -> None:
        try:
            self._demand_no_foreign_page()
            target = read_target(self.path)
            headers = [(name, value) for name, value in self.headers.items()]
            reply = self.server.recorder.forward(self.command, target, headers, self._read_body())
        except ClientCallError as fault:
            self.close_connection = True
            reply = fault.status, [], f"{fault}\n".encode()
        except httpx.InvalidURL as fault:
            reply = 400, [], f"The bank cannot be called at this address: {fault}\n".encode()
        except httpx.HTTPError as fault:
            reply = 502, [], f"The bank did not reply: {type(fault).__name__} {fault}\n".encode()
        self._send(*reply)

    do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_GET  # noqa: N815

    def log_message(self, format: str, *args: Any) -> None:
        """Writes nothing, because the address of a call may contain a secret."""

    def _demand_no_foreign_page(self) -> None:
        host = self.headers.get("Host") or ""
        name = host.rpartition(":")[0] or host
        is_from_own_page = self.headers.get("Origin") in (None, f"http://{host}")
        if name not in OWN_NAMES or not is_from_own_page or self.headers.get("Sec-Fetch-Site") in FROM_A_PAGE:
            raise ClientCallError(403, f"Only calls to http://{HOST}:{self.server.server_port} are passed on.")

    def _read_body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            return self._read_chunks()
        text = self.headers.get("Content-Length", "0")
        if not text.isdecimal() or not text.isascii() or int(text) > BODY_MAX:
            raise ClientCallError(413, f"A body has up to {BODY_MAX:,} bytes.")
        body = self.rfile.read(int(text))
        if len(body) < int(text):
            raise ClientCallError(400, "The body ended before its length.")
        return body

    def _read_chunks(self) -> bytes:
        content = bytearray()
        while True:
            line = self.rfile.readline(LINE_MAX).partition(b";")[0].strip()
            try:
                size = int(line, 16)
            except ValueError:
                raise ClientCallError(400, "A chunk of the body has no length.") from None
            if not 0 <= size <= BODY_MAX - len(content):
                raise ClientCallError(413, f"A body has up to {BODY_MAX:,} bytes.")
            content += self.rfile.read(size)
            if size == 0:
                break
            self.rfile.readline(LINE_MAX)
        while self.rfile.readline(LINE_MAX).strip():
            pass  # trailers
        return bytes(content)

    def _send(self, status: int, headers: Pairs, body: bytes) -> None:
        self.send_response_only(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def read_target(target: str) -> str:
    """Returns the path and the query of a call. Raises ClientCallError for a whole address such as `http://host/path`.
    A client sends this form if it is configured to use the proxy as a forward proxy."""
    if not target.startswith("/") or target.startswith("//"):
        raise ClientCallError(400, "Expected is a path: give this proxy to your client as the address of the bank.")
    return target
