"""One call to another server, and its answer back: byte for byte, in pieces, over lines that are kept open.

A header of such a call shows the key of the servers, and says what the caller's own line said.
"""

import select
import socket
import ssl
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from hmac import compare_digest
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple
from urllib.parse import quote, urlsplit

from sandbox.web.api.certificates import TLS_KEY

HEADER = "X-Sandbox-Peer"
IN_ENVIRON = "HTTP_X_SANDBOX_PEER"
NOT_HERE = "elsewhere"  # the header's value in the answer of a server that has not the world: nothing was done
PIECE = 65_536  # bytes that memory holds of a body
CONNECT_WAITS = 1.0  # seconds
SENDING_WAITS = 30.0  # seconds in which the other server takes no byte
KEPT_MAX = 32  # open lines to one server
KEPT_FOR = 20.0  # seconds; the other server closes a silent one later
# Of one line alone (RFC 9110, 7.6.1), or made anew for the next one.
ITS_OWN = {"connection", "keep-alive", "proxy-connection", "te", "transfer-encoding", "upgrade"}
DROPPED = {"HTTP_CONNECTION", "HTTP_TRANSFER_ENCODING", "HTTP_EXPECT", "HTTP_KEEP_ALIVE", "HTTP_TE", IN_ENVIRON}


class Hop(NamedTuple):
    """Of a call that was handed on."""

    door: str  # the bank's address, or that of the controls
    caller: str  # the caller's IP address
    scheme: str
    certificate: bytes = b""

    def header_value(self, key: str) -> str:
        return " ".join((key, self.door, self.caller or "-", self.scheme, b64encode(self.certificate).decode()))

    def apply_to(self, environ: dict[str, Any]) -> None:
        """As if the caller had called here."""
        environ["REMOTE_ADDR"] = self.caller
        environ["wsgi.url_scheme"] = self.scheme
        environ[TLS_KEY] = self.certificate


def hop_of(door: str, environ: dict[str, Any]) -> Hop:
    caller, scheme = environ.get("REMOTE_ADDR", ""), environ["wsgi.url_scheme"]
    return Hop(door, caller, scheme, bytes(environ.get(TLS_KEY) or b""))


def take_hop(environ: dict[str, Any], key: str | None) -> Hop | None:
    """Takes the header off a call. What does not show the key is no server's, and nothing of it counts."""
    value = environ.pop(IN_ENVIRON, None)
    shown, _, rest = str(value or "").partition(" ")
    if not key or not compare_digest(shown.encode("utf-8", "replace"), key.encode()):
        return None
    door, caller, scheme, certificate = (*rest.split(" "), "", "", "", "")[:4]
    return Hop(door, "" if caller == "-" else caller, scheme, b64decode(certificate))


def tls_context(trusted: Path | None) -> ssl.SSLContext:
    """Servers with certificates of the PKI folder know each other by it; others by what this machine trusts."""
    context = ssl.create_default_context()
    if trusted is not None:
        context.load_verify_locations(trusted / "authorities.pem")
    return context


class UnreachedError(Exception):
    """Nothing of the call arrived."""


class LostError(Exception):
    """The line broke before an answer came: the call may have been done."""


class Answer(NamedTuple):
    """Of another server; the body is read as it is sent on."""

    status: str
    headers: list[tuple[str, str]]
    body: Iterable[bytes]
    closes: bool
    note: str  # what it says to the server that asked


class Relay:
    """Lines to other servers."""

    def __init__(self, elapsed: Callable[[], float], tls: ssl.SSLContext | None = None) -> None:
        self._elapsed = elapsed
        self._tls = tls
        self._kept: dict[str, list[tuple[float, socket.socket]]] = {}

    def send(self, url: str, environ: dict[str, Any], hop: str, is_alive: Callable[[], bool]) -> Answer:
        """Waits for the answer for as long as the other server lives."""
        line = self._line(url)
        try:
            with suppress(OSError):  # it may have answered without reading all of it
                for piece in encode_request(environ, hop):
                    line.sendall(piece)
            response = self._begun(line, environ["REQUEST_METHOD"], is_alive)
        except BaseException:
            line.close()
            raise
        return Answer(
            f"{response.status} {response.reason}",
            [row for row in response.getheaders() if row[0].lower() not in ITS_OWN],
            self._pieces(url, line, response),
            response.getheader("Connection", "").lower() == "close",
            response.getheader(HEADER, ""),
        )

    def reaches(self, url: str) -> bool:
        """Whether somebody listens there."""
        with suppress(OSError):
            self._open(url).close()
            return True
        return False

    def close(self) -> None:
        for kept in self._kept.values():
            while kept:
                kept.pop()[1].close()

    def _line(self, url: str) -> socket.socket:
        now, kept = self._elapsed(), self._kept.setdefault(url, [])
        while kept:
            with suppress(IndexError):  # of another thread
                since, line = kept.pop()
                if now - since < KEPT_FOR and not _readable(line, 0):
                    line.settimeout(SENDING_WAITS)
                    return line
                line.close()
        try:
            return self._open(url)
        except OSError as error:
            raise UnreachedError(str(error)) from error

    def _open(self, url: str) -> socket.socket:
        parts = urlsplit(url)
        secure = parts.scheme == "https"
        place = (parts.hostname or "", parts.port or (443 if secure else 80))
        line = socket.create_connection(place, CONNECT_WAITS)
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if secure:
            line = (self._tls or ssl.create_default_context()).wrap_socket(line, server_hostname=parts.hostname)
        line.settimeout(SENDING_WAITS)
        return line

    def _begun(self, line: socket.socket, method: str, is_alive: Callable[[], bool]) -> HTTPResponse:
        while not _readable(line, 0.5):
            if not is_alive():
                raise LostError("the server's lease ended before its answer came")
        response = HTTPResponse(line, method=method)
        try:
            response.begin()
        except (HTTPException, OSError) as error:
            response.close()
            raise LostError(f"the line broke before an answer came: {error}") from error
        return response

    def _pieces(self, url: str, line: socket.socket, response: HTTPResponse) -> Iterator[bytes]:
        """A body that is cut short breaks the caller's line as well."""
        try:
            while piece := response.read1(PIECE):
                yield piece
            if response.length:
                raise ConnectionResetError("the answer of another server was cut short")
            if not response.will_close and len(self._kept[url]) < KEPT_MAX:
                self._kept[url].append((self._elapsed(), line))
                return
            line.close()
        except BaseException:
            response.close()
            line.close()
            raise


def _readable(line: socket.socket, seconds: float) -> bool:
    """Also one that the other side closed."""
    if isinstance(line, ssl.SSLSocket) and line.pending():
        return True
    poll = select.poll()
    poll.register(line, select.POLLIN)
    return bool(poll.poll(int(seconds * 1000)))


def encode_request(environ: dict[str, Any], hop: str) -> Iterator[bytes]:
    """The call as it came: its target, its headers and its body."""
    target = environ.get("REQUEST_URI") or environ.get("RAW_URI")
    if not target:
        query = environ.get("QUERY_STRING", "")
        path = environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")
        target = quote(path, encoding="latin-1") + (f"?{query}" if query else "")
    lines = [f"{environ['REQUEST_METHOD']} {target} HTTP/1.1", f"{HEADER}: {hop}"]
    for name, value in environ.items():
        if name.startswith("HTTP_") and name not in DROPPED:
            lines.append(f"{name[5:].replace('_', '-').title()}: {value}")
    if environ.get("CONTENT_TYPE"):
        lines.append(f"Content-Type: {environ['CONTENT_TYPE']}")
    chunked = bool(environ.get("sandbox.chunked"))
    if chunked:
        lines.append("Transfer-Encoding: chunked")
    elif environ.get("CONTENT_LENGTH"):
        lines.append(f"Content-Length: {environ['CONTENT_LENGTH']}")
    yield "\r\n".join((*lines, "", "")).encode("latin-1")
    if chunked or environ.get("CONTENT_LENGTH"):
        yield from _body(environ["wsgi.input"], chunked)


def _body(given: BinaryIO, chunked: bool) -> Iterator[bytes]:
    """Left as it was: it may be sent again, or be read here."""
    begins = given.tell()
    try:
        while piece := given.read(PIECE):
            yield b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece
    finally:
        given.seek(begins)
    if chunked:
        yield b"0\r\n\r\n"
