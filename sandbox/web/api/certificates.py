"""Checks the client's certificate before all other checks. Every failure is refused with the status 495 (service 5.1,
choice 9)."""

import re
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Any
from urllib.parse import unquote_to_bytes

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from joserfc.jwk import ECKey, RSAKey

from sandbox.bank.records import RegisteredClient
from sandbox.contract.decisions import Decisions
from sandbox.contract.errors import Error, Refusal
from sandbox.pki import trust as believing
from sandbox.pki.certificates import QSEAL, QWAC, ROLE_OF
from sandbox.pki.trust import Bearer, Trust, Untrusted
from sandbox.web.api.signatures import Key, make_refusal

TLS_KEY = "sandbox.certificate"  # where our own server puts what the handshake gave: DER, or nothing
LONGEST = 32_768
PLACEHOLDER = re.compile(r"\{[a-z0-9_.]+\}\Z")  # what Caddy sends for a client without a certificate


def demand_certificate(
    environ: dict[str, Any],
    settings: Decisions,
    trust: Trust | None,
    client: RegisteredClient | None,
    role: str | None,
    now: datetime,
) -> None:
    """Refuses a caller whose certificate is missing, is not trusted, or lacks the PSD2 role that the call needs.
    Refuses every caller if the server was started without --pki. If the call names a client, refuses a certificate of
    another organisation than the client's, and a client without a registered organisation."""
    try:
        if trust is None:
            raise Untrusted("the server was started without --pki, so it trusts nobody")
        bearer = trust.judge(believing.parse_certificate(_read_presented(environ, settings)), QWAC, now)
        _demand_role(bearer, role)
        if client is not None and not client.organisation:
            raise Untrusted(f"the client {client.id} has registered no organisation")
        if client is not None and bearer.organisation != client.organisation:
            raise Untrusted(
                f"it is of the organisation {bearer.organisation[:100]!a}, and the client {client.id} "
                f"is registered as {client.organisation!a}"
            )
    except Untrusted as fault:
        raise Refusal(Error.CERTIFICATE_REFUSED, why=str(fault), decided_by=fault.decided_by) from None


def _read_presented(environ: dict[str, Any], settings: Decisions) -> bytes:
    """Returns the caller's certificate in PEM or DER. The setting `client_certificates` says whether it comes from the
    TLS handshake or from a header. Raises Untrusted if there is no certificate, or if the header does not come from a
    trusted proxy."""
    if settings.client_certificates == "tls":
        certificate = environ.get(TLS_KEY)
        if not certificate:
            raise Untrusted("none was given in the TLS handshake")
        return bytes(certificate)
    name = settings.certificate_header
    value = environ.get("HTTP_" + name.upper().replace("-", "_"), "")
    if not value or PLACEHOLDER.match(value):
        raise Untrusted(f"the header {name} is missing")
    sender = environ.get("REMOTE_ADDR", "")
    if not is_trusted(sender, settings.trusted_proxies):
        raise Untrusted(f"the header {name} comes from {sender[:60]}, which is none of the trusted proxies")
    return read_header(value)


@lru_cache(maxsize=256)
def is_trusted(sender: str, proxies: tuple[str, ...]) -> bool:
    try:
        address = ip_address(sender)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return any((mapped or address) in network for network in map(read_network, proxies) if network is not None)


def read_network(text: str) -> IPv4Network | IPv6Network | None:
    """Returns the IP network of a text such as `10.0.0.0/8`, or None if the text is not a network."""
    try:
        return ip_network(text, strict=False)
    except ValueError:
        return None


def read_header(value: str) -> bytes:
    """Decodes a certificate in a header: URL-encoded PEM as nginx sends it, or DER in Base64 as Caddy sends it. The
    Base64 may have a colon at each end (RFC 9440). Raises Untrusted for anything else, also for two headers, because a
    proxy may have added its own to that of the caller."""
    if len(value) > LONGEST:
        raise Untrusted("the header is too long")
    if "," in value:
        raise Untrusted("the header has a comma, as if it was sent twice")
    if value.startswith("-----BEGIN"):
        return unquote_to_bytes(value)
    try:
        return b64decode(value.strip(":"), validate=True)
    except (Base64Error, ValueError):
        raise Untrusted("the header holds neither URL-encoded PEM nor Base64 of DER") from None


def _demand_role(bearer: Bearer, role: str | None) -> None:
    """Refuses a certificate that lacks the PSD2 role of the call. If the call needs no role, refuses a certificate
    without any role of a TPP."""
    borne = ", ".join(bearer.statements.roles) or "none"
    if role is not None and ROLE_OF[role] not in bearer.statements.roles:
        raise Untrusted(f"the call needs the role {ROLE_OF[role]}, and it bears {borne}")
    if not set(ROLE_OF.values()) & set(bearer.statements.roles):
        raise Untrusted(f"it bears neither PSP_PI nor PSP_AI, but {borne}")


def seal_key(
    trust: Trust | None, client: RegisteredClient, role: str | None, now: Callable[[], datetime], der: bytes
) -> Key:
    """Returns the public key of a certificate that came in the header `x5c` of a JWS signature. Refuses a certificate
    that is not a trusted QSealC, that is of another organisation than the client's, or that lacks the role of the call.
    Refuses every certificate if the server was started without --pki."""
    if trust is None:
        raise make_refusal("Signature", "the server was started without --pki, so it believes no x5c")
    try:
        bearer = trust.judge(believing.parse_certificate(der), QSEAL, now())
        believing.demand_signing_key(bearer.certificate)
        if not client.organisation or bearer.organisation != client.organisation:
            raise Untrusted(
                f"it is of the organisation {bearer.organisation[:100]!a}, and the client is registered as "
                f"{client.organisation!a}"
            )
        _demand_role(bearer, role)
    except Untrusted as fault:
        raise make_refusal("Signature", f"the certificate in x5c is not believed: {fault}") from None
    return make_key(bearer.certificate)


def make_key(certificate: x509.Certificate) -> Key:
    key = certificate.public_key()
    pem = key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return RSAKey.import_key(pem) if isinstance(key, rsa.RSAPublicKey) else ECKey.import_key(pem)
