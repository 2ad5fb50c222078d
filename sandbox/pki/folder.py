"""A PKI in a folder: files that curl, nginx and a TPP's own code can use as they are."""

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

from sandbox.pki import making
from sandbox.pki.making import Pair, Wanted
from sandbox.pki.statements import QSEAL, QWAC

FILE_OF = {QWAC: "qwac", QSEAL: "qseal"}
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}\Z")
LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Folder:
    """Root, issuing authority, server, revocation list; and a folder for each TPP."""

    path: Path

    def exists(self) -> bool:
        return (self.path / "issuing.pem").is_file()

    def init(self, now: datetime, hosts: tuple[str, ...] = ()) -> None:
        """Root, issuing authority and the server's own certificate. What is there is not overwritten."""
        if self.exists():
            raise ValueError(f"{self.path} holds a PKI already")
        root = making.authority("Sandbox root authority", now)
        issuing = making.authority("Sandbox issuing authority", now, root)
        server = making.server((*LOOPBACK, *hosts), issuing, now)
        self.path.mkdir(parents=True, exist_ok=True)
        self._write_pair("root", root)
        self._write_pair("issuing", issuing)
        self._write_pair("server", server)
        self._write("authorities.pem", pem(issuing.certificate, root.certificate))
        self._write("server-chain.pem", pem(server.certificate, issuing.certificate))
        self._write("crl.pem", making.revocations(issuing, None, None, now).public_bytes(Encoding.PEM))

    def issue(self, wanted: Wanted, fault: str | None, now: datetime) -> Path:
        """One certificate of a TPP; the path is its PEM."""
        if NAME.match(wanted.name) is None:
            raise ValueError("a name is letters, digits, _, . and -, 64 at most")
        issuing = self.issuing()
        pair = making.made(wanted, fault, issuing, now)
        assert wanted.said.kind is not None
        place = f"{wanted.name}/{FILE_OF[wanted.said.kind]}"
        (self.path / wanted.name).mkdir(exist_ok=True)
        self._write_pair(place, pair)
        self._write(f"{place}-chain.pem", pem(pair.certificate, issuing.certificate))
        self._write(f"{place}.jwk", json.dumps(jwk_of(pair.certificate), indent=2).encode())
        if fault == "revoked":
            self.revoke(pair.certificate, now)
        return self.path / f"{place}.pem"

    def revoke(self, certificate: x509.Certificate, now: datetime) -> None:
        """On the list from now on; servers that run read it again."""
        before = self.revocations()
        if before.get_revoked_certificate_by_serial_number(certificate.serial_number) is None:
            after = making.revocations(self.issuing(), before, certificate.serial_number, now)
            self._write("crl.pem", after.public_bytes(Encoding.PEM))

    def issuing(self) -> Pair:
        self.demand()
        key = load_pem_private_key((self.path / "issuing.key").read_bytes(), None)
        assert isinstance(key, ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey)
        return Pair(read_certificate(self.path / "issuing.pem"), key)

    def demand(self) -> None:
        if not self.exists():
            raise ValueError(f"{self.path} holds no PKI; `bank-sandbox pki init --dir {self.path}` makes one")

    def revocations(self) -> x509.CertificateRevocationList:
        self.demand()
        return x509.load_pem_x509_crl((self.path / "crl.pem").read_bytes())

    def certificates(self) -> Iterator[tuple[str, x509.Certificate]]:
        """Those of TPPs, by their place in the folder."""
        for file in sorted(self.path.glob("*/q*.pem")):
            if not file.name.endswith("-chain.pem"):
                yield str(file.relative_to(self.path)), read_certificate(file)

    def _write_pair(self, place: str, pair: Pair) -> None:
        key = pair.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        self._write(f"{place}.key", key, 0o600)
        self._write(f"{place}.pem", pem(pair.certificate))

    def _write(self, place: str, content: bytes, mode: int = 0o644) -> None:
        """Whole or not at all: a server may read it at this moment."""
        file = self.path / place
        draft = file.with_name(f".{file.name}.new")
        draft.unlink(missing_ok=True)
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as out:
            out.write(content)
        draft.replace(file)


def read_certificate(file: Path) -> x509.Certificate:
    return x509.load_pem_x509_certificate(file.read_bytes())


def pem(*chain: x509.Certificate) -> bytes:
    return b"".join(certificate.public_bytes(Encoding.PEM) for certificate in chain)


def jwk_of(certificate: x509.Certificate) -> dict[str, object]:
    """The public key as a JWK, to be registered or shown in a signature's header."""
    key = certificate.public_key()
    if isinstance(key, rsa.RSAPublicKey):
        numbers = key.public_numbers()
        size = (numbers.n.bit_length() + 7) // 8
        public = {"kty": "RSA", "n": _b64(numbers.n.to_bytes(size)), "e": _b64(numbers.e.to_bytes(3))}
    else:
        assert isinstance(key, ec.EllipticCurvePublicKey)
        point = key.public_numbers()
        public = {"kty": "EC", "crv": "P-256", "x": _b64(point.x.to_bytes(32)), "y": _b64(point.y.to_bytes(32))}
    return {
        **public,
        "use": "sig",
        "kid": certificate.fingerprint(hashes.SHA256()).hex()[:16],
        "x5c": [b64encode(certificate.public_bytes(Encoding.DER)).decode()],
    }


def _b64(raw: bytes) -> str:
    return urlsafe_b64encode(raw).rstrip(b"=").decode()
