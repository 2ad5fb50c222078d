"""An HTTPS server that asks callers for a certificate. It needs the extra [tls], and no proxy in front of it (choice
9).

The handshake accepts every certificate, also one that is not trusted. So the bank itself can refuse the certificate,
with the status 495 and its error body. A handshake continues whenever bytes come, beside all other connections. So a
silent caller delays nobody.
"""

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from errno import ECONNABORTED, ECONNRESET, EWOULDBLOCK
from pathlib import Path
from typing import Any

from OpenSSL import SSL
from OpenSSL.crypto import FILETYPE_ASN1, dump_certificate

from sandbox.server.bounded_waitress import DEFAULT_BOUNDS, Bounds, TlsChannel
from sandbox.server.server import Transport, make_server
from sandbox.web.api.failures import make_unreadable_reply


class TlsSocket:
    """A TLS connection with the methods of a non-blocking socket. The handshake happens in the first reads."""

    def __init__(self, context: SSL.Context, plain: socket.socket) -> None:
        plain.setblocking(False)
        self._plain = plain
        self._tls = SSL.Connection(context, plain)
        self._tls.set_accept_state()
        self._lock = threading.Lock()  # workers write while the loop reads
        self.wants_write = False  # a read can only go on once something was written

    def _try(self, function: Callable[..., Any], argument: Any) -> Any:
        with self._lock:
            self.wants_write = False
            try:
                return function(argument)
            except (SSL.WantReadError, SSL.WantWriteError) as error:
                self.wants_write = isinstance(error, SSL.WantWriteError)
                raise BlockingIOError(EWOULDBLOCK, "later") from None
            except SSL.ZeroReturnError:
                return b""
            except SSL.SysCallError:
                raise ConnectionResetError(ECONNRESET, "the caller is gone") from None
            except SSL.Error as error:
                if "http request" in str(error):
                    self._refuse_plain()
                raise ConnectionAbortedError(ECONNABORTED, "no TLS") from None

    def _refuse_plain(self) -> None:
        """Sends a refusal (400) in plain HTTP to a caller that speaks HTTP instead of TLS."""
        response = make_unreadable_reply(400)
        head = "".join(f"{name}: {value}\r\n" for name, value in response.headers)
        with suppress(OSError):
            reply = f"HTTP/1.1 {response.status}\r\nConnection: close\r\n{head}\r\n".encode("latin-1")
            self._plain.send(reply + response.get_data())

    def recv(self, count: int) -> bytes:
        return bytes(self._try(self._tls.recv, count))

    def send(self, content: bytes) -> int:
        return int(self._try(self._tls.send, bytes(content)) or 0)

    def certificate(self) -> bytes | None:
        """Returns the caller's certificate as DER, or None if the caller showed none. Does not parse the certificate,
        so that the bank itself can refuse one that cannot be parsed."""
        with self._lock:
            certificate = self._tls.get_peer_certificate()
            return None if certificate is None else dump_certificate(FILETYPE_ASN1, certificate)

    def _end_tls(self) -> None:
        with self._lock, suppress(SSL.Error):
            self._tls.shutdown()

    def shutdown(self, how: int) -> None:
        self._end_tls()
        self._plain.shutdown(how)

    def close(self) -> None:
        self._end_tls()
        self._plain.close()

    def __getattr__(self, name: str) -> Any:
        """Returns any other attribute from the plain socket."""
        return getattr(self._plain, name)


def make_context(pki: Path) -> SSL.Context:
    """Makes a TLS context that asks callers for a certificate. It accepts every certificate, and also callers without a
    certificate."""
    context = SSL.Context(SSL.TLS_SERVER_METHOD)
    context.set_min_proto_version(SSL.TLS1_2_VERSION)
    # A weak key is for the bank to refuse, with a reason; by itself OpenSSL would break the handshake.
    context.set_cipher_list(b"DEFAULT:@SECLEVEL=0")
    context.set_options(SSL.OP_NO_RENEGOTIATION)
    context.use_privatekey_file(str(pki / "server.key"))
    context.use_certificate_chain_file(str(pki / "server-chain.pem"))
    context.set_verify(SSL.VERIFY_PEER, lambda *chain: True)
    context.set_session_cache_mode(SSL.SESS_CACHE_OFF)
    context.set_session_id(b"sandbox")
    return context


def make_tls_server(app: Any, host: str, port: int, threads: int, pki: Path, bounds: Bounds = DEFAULT_BOUNDS) -> Any:
    """Makes an HTTPS server that already listens. Its method `run` answers calls. The folder `pki` has the server's key
    and certificate."""
    context = make_context(pki)
    transport = Transport("https", TlsChannel, lambda line: TlsSocket(context, line))
    return make_server(app, host, port, threads, bounds, transport)
