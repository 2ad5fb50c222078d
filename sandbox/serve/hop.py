"""The header by which one server hands a call on to another: their key, and what the caller's own line said."""

from base64 import b64decode, b64encode
from hmac import compare_digest
from typing import Any, NamedTuple

from sandbox.web.api.certificates import TLS_KEY

HEADER = "X-Sandbox-Peer"
IN_ENVIRON = "HTTP_X_SANDBOX_PEER"
NOT_HERE = "elsewhere"  # the header's value in the answer of a server that has not the world: nothing was done


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
