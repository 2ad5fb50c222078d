"""A PKI in a folder. Its files are in formats that curl, nginx and a TPP's own code can read."""

import json
import os
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from sandbox.pki.certificates import (
    QSEAL,
    QWAC,
    CertificatePair,
    CertificateRequest,
    FileAddresses,
    make_authority,
    make_certificate,
    make_revocation_list,
    make_server_certificate,
)
from sandbox.server_address import URL

FILE_OF = {QWAC: "qwac", QSEAL: "qseal"}
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}\Z")
LOOPBACK = ("localhost", "127.0.0.1", "::1")
LISTS = {"issuing": "crl.pem", "root": "root-crl.pem"}  # the file with the revocation list of each authority
ADDRESS = "address.txt"  # the file with the base address at which a sandbox serves the PKI
BASE = re.compile(r"https?://[A-Za-z0-9.:\[\]-]+(/[A-Za-z0-9._~/-]*)?\Z")
DISCLOSURE = (
    "These certificates are made for tests by bank-sandbox. No trust service provider stands behind them, and they "
    "prove nothing about anybody.\n"
)


@dataclass(frozen=True)
class Folder:
    """A folder with a PKI: the certificates and keys of the root, the issuing authority and the server, the revocation
    lists, and a folder for each TPP."""

    path: Path

    def is_made(self) -> bool:
        return (self.path / "issuing.pem").is_file()

    def init(self, now: datetime, hosts: tuple[str, ...] = (), address: str = URL) -> None:
        """Makes the root, the issuing authority, the server's own certificate and two empty revocation lists. The
        server's certificate is for `hosts` and for the loopback names. Raises ValueError if the folder has a PKI
        already, or if `address` is no address.

        Certificates contain `address`, at which a sandbox with this PKI serves their files."""
        if self.is_made():
            raise ValueError(f"{self.path} holds a PKI already")
        if BASE.match(address) is None:
            raise ValueError(f"an address is like {URL}, and it is {address!r:.100}")
        served = FileAddresses(address.rstrip("/"))
        root = make_authority("Sandbox root authority", now, served)
        issuing = make_authority("Sandbox issuing authority", now, served, root)
        server = make_server_certificate((*hosts, *LOOPBACK), issuing, now, served)
        self.path.mkdir(parents=True, exist_ok=True)
        self._write_pair("root", root)
        self._write_pair("issuing", issuing)
        self._write_pair("server", server)
        self._write("authorities.pem", write_pem(issuing.certificate, root.certificate))
        self._write("server-chain.pem", write_pem(server.certificate, issuing.certificate))
        self._write(ADDRESS, served.base.encode())
        self._write_list("issuing", make_revocation_list(issuing, now))
        self._write_list("root", make_revocation_list(root, now))

    def issue(self, request: CertificateRequest, fault: str | None, now: datetime) -> Path:
        """Issues a certificate of a TPP, with a fault of FAULTS if one is given, and writes its files. Returns the path
        of its PEM file. Raises ValueError if the folder has no PKI, or if the request's name is no name of a folder."""
        if NAME.match(request.name) is None:
            raise ValueError("a name is letters, digits, _, . and -, 64 at most")
        issuing, served = self.read_issuing(), FileAddresses((self.path / ADDRESS).read_text(encoding="utf-8"))
        pair = make_certificate(request, fault, issuing, now, served)
        assert request.statements.kind is not None
        place = f"{request.name}/{FILE_OF[request.statements.kind]}"
        (self.path / request.name).mkdir(exist_ok=True)
        self._write_pair(place, pair)
        self._write(f"{place}-chain.pem", write_pem(pair.certificate, issuing.certificate))
        self._write(f"{place}.jwk", json.dumps(make_jwk(pair.certificate), indent=2).encode())
        if fault == "revoked":
            self.revoke(pair.certificate, now)
        return self.path / f"{place}.pem"

    def revoke(self, certificate: x509.Certificate, now: datetime) -> None:
        """Adds a certificate to the revocation list of the issuing authority, unless it is there already. Running
        servers notice the changed file."""
        before = self.read_revocations()
        if before.get_revoked_certificate_by_serial_number(certificate.serial_number) is None:
            revoked = make_revocation_list(self.read_issuing(), now, before, certificate.serial_number)
            self._write_list("issuing", revoked)

    def read_public_file(self, name: str) -> tuple[bytes, str] | None:
        """Returns the content of a public file of the PKI and its media type. The file is a certificate or a revocation
        list, both in DER, or the disclosure, a text. Returns None for any other name."""
        authority, _, kind = name.partition(".")
        if name == "disclosure.txt":
            return DISCLOSURE.encode(), "text/plain; charset=utf-8"
        if authority not in LISTS:
            return None
        if kind == "cer":
            certificate = read_certificate(self.path / f"{authority}.pem")
            return certificate.public_bytes(Encoding.DER), "application/pkix-cert"
        if kind != "crl":
            return None
        revoked = x509.load_pem_x509_crl((self.path / LISTS[authority]).read_bytes())
        return revoked.public_bytes(Encoding.DER), "application/pkix-crl"

    def read_issuing(self) -> CertificatePair:
        self.demand()
        return self._read_pair("issuing")

    def demand(self) -> None:
        if not self.is_made():
            raise ValueError(f"{self.path} holds no PKI; `bank-sandbox pki init --dir {self.path}` makes one")

    def read_revocations(self) -> x509.CertificateRevocationList:
        self.demand()
        return x509.load_pem_x509_crl((self.path / LISTS["issuing"]).read_bytes())

    def read_certificates(self) -> Iterator[tuple[str, x509.Certificate]]:
        """Yields the certificates of TPPs, with their paths in the folder."""
        for file in sorted(self.path.glob("*/q*.pem")):
            if not file.name.endswith("-chain.pem"):
                yield str(file.relative_to(self.path)), read_certificate(file)

    def _read_pair(self, name: str) -> CertificatePair:
        key = load_pem_private_key((self.path / f"{name}.key").read_bytes(), None)
        assert isinstance(key, ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey)
        return CertificatePair(read_certificate(self.path / f"{name}.pem"), key)

    def _write_pair(self, place: str, pair: CertificatePair) -> None:
        key = pair.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        self._write(f"{place}.key", key, 0o600)
        self._write(f"{place}.pem", write_pem(pair.certificate))

    def _write_list(self, issuer: str, revoked: x509.CertificateRevocationList) -> None:
        self._write(LISTS[issuer], revoked.public_bytes(Encoding.PEM))

    def _write(self, place: str, content: bytes, mode: int = 0o644) -> None:
        """Replaces the file atomically, because a server may read it at this moment."""
        file = self.path / place
        draft = file.with_name(f".{file.name}.new")
        draft.unlink(missing_ok=True)
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as out:
            out.write(content)
        draft.replace(file)


def read_certificate(file: Path) -> x509.Certificate:
    return x509.load_pem_x509_certificate(file.read_bytes())


def write_pem(*chain: x509.Certificate) -> bytes:
    return b"".join(certificate.public_bytes(Encoding.PEM) for certificate in chain)


def make_jwk(certificate: x509.Certificate) -> dict[str, object]:
    """Returns the public key of a certificate as a JWK, which a client registers or puts into a signature's header."""
    key = certificate.public_key()
    if isinstance(key, rsa.RSAPublicKey):
        numbers = key.public_numbers()
        size = (numbers.n.bit_length() + 7) // 8
        public = {
            "kty": "RSA",
            "n": _encode_base64url(numbers.n.to_bytes(size)),
            "e": _encode_base64url(numbers.e.to_bytes(3)),
        }
    else:
        assert isinstance(key, ec.EllipticCurvePublicKey)
        point = key.public_numbers()
        public = {
            "kty": "EC",
            "crv": "P-256",
            "x": _encode_base64url(point.x.to_bytes(32)),
            "y": _encode_base64url(point.y.to_bytes(32)),
        }
    return {
        **public,
        "use": "sig",
        "kid": certificate.fingerprint(hashes.SHA256()).hex()[:16],
        "x5c": [b64encode(certificate.public_bytes(Encoding.DER)).decode()],
    }


def _encode_base64url(raw: bytes) -> str:
    return urlsafe_b64encode(raw).rstrip(b"=").decode()
