"""The extra [tls]: a server that asks for client certificates itself, so that a laptop needs no proxy (choice 9).

It lets every certificate through the handshake, also one that nobody trusts: the bank answers 495 in its own body.
"""

import select
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

from cheroot import server, wsgi
from cheroot.errors import FatalSSLAlert, NoSSLError
from cheroot.makefile import MakeFile
from cheroot.ssl import Adapter
from OpenSSL import SSL
from OpenSSL.crypto import FILETYPE_ASN1, dump_certificate

from sandbox.files.admission import FILE_BYTES_MAX
from sandbox.web.api.certificates import TLS_KEY
from sandbox.web.api.unread_requests import unread

HEADER_BYTES_MAX = 65_536
BODY_BYTES_MAX = FILE_BYTES_MAX + 1_000_000
PATIENCE = 10  # seconds for a sender that says nothing

Application = Callable[[dict[str, Any], Any], Iterable[bytes]]


class Line:
    """A TLS connection that behaves like a plain socket with a timeout; the handshake comes with the first read."""

    def __init__(self, context: SSL.Context, plain: socket.socket) -> None:
        self._plain = plain
        self._tls = SSL.Connection(context, plain)
        self._tls.set_accept_state()

    def _wait(self, act: Callable[..., Any], *given: Any) -> Any:
        while True:
            try:
                return act(*given)
            except SSL.WantReadError:
                ready = select.select([self._plain], [], [], self._plain.gettimeout())[0]
            except SSL.WantWriteError:
                ready = select.select([], [self._plain], [], self._plain.gettimeout())[1]
            except (SSL.ZeroReturnError, SSL.SysCallError):
                return 0
            except SSL.Error as fault:
                raise (NoSSLError if "http request" in str(fault) else FatalSSLAlert)(*fault.args) from None
            if not ready:
                raise TimeoutError("timed out")

    def recv_into(self, buffer: Any, count: int | None = None) -> int:
        return int(self._wait(self._tls.recv_into, buffer, count or len(buffer)))

    def send(self, content: Any) -> int:
        sent = int(self._wait(self._tls.send, bytes(content)))
        if content and not sent:
            raise BrokenPipeError("the caller is gone")
        return sent

    def certificate(self) -> bytes | None:
        """What the caller showed, DER; nothing is parsed yet, so that the bank refuses what cannot be parsed."""
        found = self._tls.get_peer_certificate()
        return None if found is None else dump_certificate(FILETYPE_ASN1, found)

    def shutdown(self, how: int) -> None:
        with suppress(SSL.Error):
            self._tls.shutdown()
        self._plain.shutdown(how)

    def close(self) -> None:
        self._plain.close()

    def pending(self) -> int:
        return int(self._tls.pending())

    def __getattr__(self, name: str) -> Any:
        """The rest is the plain socket's."""
        return getattr(self._plain, name)


class Handshake:
    """What is only known once the first request was read; a mapping, as far as `update` needs one."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def keys(self) -> Iterator[str]:
        return iter(("wsgi.url_scheme", TLS_KEY))

    def __getitem__(self, key: str) -> Any:
        return self._line.certificate() if key == TLS_KEY else "https"


class AskingAdapter(Adapter):
    """Asks for a certificate and requires none."""

    def __init__(self, certificate: str, private_key: str) -> None:
        super().__init__(certificate, private_key)
        context = SSL.Context(SSL.TLS_SERVER_METHOD)
        context.set_min_proto_version(SSL.TLS1_2_VERSION)
        # A weak key is for the bank to refuse, with a reason; by itself OpenSSL would break the handshake.
        context.set_cipher_list(b"DEFAULT:@SECLEVEL=0")
        context.use_privatekey_file(private_key)
        context.use_certificate_chain_file(certificate)
        context.set_verify(SSL.VERIFY_PEER, lambda *seen: True)
        context.set_session_cache_mode(SSL.SESS_CACHE_OFF)
        context.set_session_id(b"sandbox")
        self.context = context

    def bind(self, sock: socket.socket) -> socket.socket:
        return sock

    def wrap(self, sock: socket.socket) -> tuple[Line, Handshake]:
        line = Line(self.context, sock)
        return line, Handshake(line)

    def get_environ(self) -> dict[str, Any]:
        return {}

    def makefile(self, sock: Line, mode: str = "r", bufsize: int = -1) -> Any:
        return MakeFile(sock, mode, bufsize)


class Request(server.HTTPRequest):
    """What the server refuses by itself, in the bank's body."""

    def simple_response(self, status: Any, msg: str = "") -> None:
        number = int(str(status)[:3])
        given = {name.lower(): value.decode("latin-1") for name, value in self.inheaders.items()}
        length = given.get(b"content-length", "0")
        if number in (413, 414) and not (length.isdigit() and int(length) > BODY_BYTES_MAX):
            number = 431
        response = unread(number, given.get(b"request-id", ""))
        self.close_connection = True
        head = f"HTTP/1.1 {response.status}\r\nConnection: close\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in response.headers)
        self.conn.wfile.write(f"{head}\r\n".encode("latin-1") + response.get_data())


class Connection(server.HTTPConnection):
    RequestHandlerClass = Request


def whole_body(inner: Application) -> Application:
    """Reads the body before the bank is entered, so that a slow sender holds up nobody else."""

    def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        environ["sandbox.chunked"] = "chunked" in environ.get("HTTP_TRANSFER_ENCODING", "").lower()
        body = environ["wsgi.input"].read(BODY_BYTES_MAX)
        environ["wsgi.input"], environ["CONTENT_LENGTH"] = BytesIO(body), str(len(body))
        return inner(environ, start_response)

    return application


class Server(wsgi.Server):
    def error_log(self, msg: str = "", level: int = 20, traceback: bool = False) -> None:
        """A caller who hangs up is no trouble of ours."""

    def run(self) -> None:
        """Serves until the process is told to stop, and ends its threads then."""
        try:
            self.serve()
        finally:
            self.stop()


def tls_server_of(app: Application, host: str, port: int, threads: int, pki: Path) -> Any:
    """A server that listens already; `run` serves."""
    made = Server((host, port), whole_body(app), numthreads=threads, timeout=PATIENCE, server_name="")
    made.ssl_adapter = AskingAdapter(str(pki / "server-chain.pem"), str(pki / "server.key"))
    made.ConnectionClass = Connection
    made.max_request_header_size = HEADER_BYTES_MAX
    made.max_request_body_size = BODY_BYTES_MAX
    made.shutdown_timeout = 1
    made.prepare()
    return made
