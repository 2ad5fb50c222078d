"""The checks of a certificate: its chain, key, dates, revocation and statements."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID

from sandbox.pki.certificates import STATEMENTS, Qualified, read_statements
from sandbox.pki.folder import Folder, read_certificate

RSA_BITS_MIN = 2048
EC_BITS_MIN = 256
CACHED_MAX = 256

Part = TypeVar("Part")


class Untrusted(ValueError):
    """Raised for a certificate that is not trusted. The text says why, and `decided_by` has the dates or numbers that
    were compared."""

    def __init__(self, reason: str, **decided_by: object) -> None:
        super().__init__(reason)
        self.decided_by = decided_by


@dataclass(frozen=True, slots=True)
class Bearer:
    """The organisation that a certificate is for, with the certificate and its statements."""

    certificate: x509.Certificate
    organisation: str
    statements: Qualified


class Trust:
    """Checks certificates against the authorities of a folder. Reloads the revocation list when its file changes."""

    def __init__(self, folder: Path) -> None:
        self.folder = Folder(folder)
        self.folder.demand()
        self._authorities = [read_certificate(folder / "issuing.pem"), read_certificate(folder / "root.pem")]
        self._authorities[0].verify_directly_issued_by(self._authorities[1])
        self._list_changed_at = -1
        self._revoked: dict[int, datetime] = {}
        self._bearers: OrderedDict[x509.Certificate, Bearer] = OrderedDict()

    def judge(self, certificate: x509.Certificate, kind: str, at: datetime) -> Bearer:
        """Returns the bearer of a certificate that is valid at the time `at` and of the type `kind` (QWAC or QSealC).
        Raises Untrusted with the first reason against the certificate."""
        bearer = self._bearers.get(certificate)
        if bearer is None:  # only these checks are cached, because their result does not change with time
            self._demand_chain(certificate)
            demand_key(certificate)
            bearer = self._bearers[certificate] = read_bearer(certificate)
            while len(self._bearers) > CACHED_MAX:
                self._bearers.popitem(last=False)
        demand_dates(certificate, at)
        revoked_on = self._read_revocations().get(parse_part("its serial number", lambda: certificate.serial_number))
        if revoked_on is not None:
            raise Untrusted(f"it was revoked on {_write_time(revoked_on)}")
        if bearer.statements.kind != kind:
            raise Untrusted(f"a {kind} is needed, and it is {bearer.statements.kind or 'neither QWAC nor QSealC'}")
        return bearer

    def _demand_chain(self, certificate: x509.Certificate) -> None:
        issuer_name, subject = parse_part("its issuer or subject", lambda: (certificate.issuer, certificate.subject))
        name = parse_part("its issuer", issuer_name.rfc4514_string)[:200]
        issuer = next((authority for authority in self._authorities if authority.subject == issuer_name), None)
        if issuer is None:
            raise Untrusted(f"its issuer {name} is no authority that the bank trusts")
        try:
            certificate.verify_directly_issued_by(issuer)
        except (InvalidSignature, UnsupportedAlgorithm, ValueError, TypeError):
            raise Untrusted(f"its chain is broken: the key of its issuer {name} has not signed it") from None
        if subject in {authority.subject for authority in self._authorities}:
            raise Untrusted("it is an authority's own, not a client's")

    def _read_revocations(self) -> dict[int, datetime]:
        """Returns the dates of revocation by serial number. Reads the revocation list only if its file has changed.
        Raises Untrusted if the list cannot be read, is damaged, or is not signed by the issuing authority."""
        try:
            changed_at = (self.folder.path / "crl.pem").stat().st_mtime_ns
            if changed_at == self._list_changed_at:
                return self._revoked
            key = self._authorities[0].public_key()
            assert isinstance(key, ec.EllipticCurvePublicKey | rsa.RSAPublicKey)
            revocations = self.folder.read_revocations()
            is_signed = revocations.is_signature_valid(key)
            revoked = {row.serial_number: row.revocation_date_utc for row in revocations}
        except OSError:
            raise Untrusted("the revocation list of the PKI is missing or cannot be read") from None
        except (UnsupportedAlgorithm, x509.InvalidVersion, ValueError, TypeError):
            raise Untrusted("the revocation list of the PKI is damaged") from None
        if not is_signed:
            raise Untrusted("the revocation list of the PKI is not signed by its authority")
        self._revoked, self._list_changed_at = revoked, changed_at
        return revoked


def parse_part(part: str, read: Callable[[], Part]) -> Part:
    """Returns one part of a certificate, as `read` parses it. Raises Untrusted for any exception, because the library
    raises many types."""
    try:
        return read()
    except Exception:
        raise Untrusted(f"{part} cannot be read") from None


def read_dates(certificate: x509.Certificate) -> tuple[datetime, datetime]:
    return parse_part("its dates", lambda: (certificate.not_valid_before_utc, certificate.not_valid_after_utc))


def demand_dates(certificate: x509.Certificate, at: datetime) -> None:
    begins, ends = read_dates(certificate)
    if at < begins:
        reason = f"it is not valid before {_write_time(begins)}, and it is {_write_time(at)}"
        raise Untrusted(reason, valid_from=begins, judged_at=at)
    if at > ends:
        raise Untrusted(
            f"it expired on {_write_time(ends)}, and it is {_write_time(at)}", valid_until=ends, judged_at=at
        )


def demand_key(certificate: x509.Certificate) -> None:
    key = parse_part("its key", certificate.public_key)
    if isinstance(key, rsa.RSAPublicKey):
        if key.key_size < RSA_BITS_MIN:
            raise Untrusted(f"its key is weak: RSA of {key.key_size} bits, {RSA_BITS_MIN} are the least")
    elif not isinstance(key, ec.EllipticCurvePublicKey) or key.key_size < EC_BITS_MIN:
        raise Untrusted("its key is neither RSA of 2048 bits or more nor EC of 256 bits or more")


def demand_signing_key(certificate: x509.Certificate) -> None:
    """Raises Untrusted for an EC key on a curve other than P-256, because ES256 signs with P-256 only (RFC 7518
    3.4)."""
    key = certificate.public_key()
    if isinstance(key, ec.EllipticCurvePublicKey) and not isinstance(key.curve, ec.SECP256R1):
        raise Untrusted(f"its key is on the curve {key.curve.name}, and a signature needs RSA or the curve P-256")


def read_bearer(certificate: x509.Certificate) -> Bearer:
    """Reads the bearer and the statements of a certificate. Checks no signature. Raises Untrusted if the certificate
    has no qcStatements, or if its content cannot be read."""
    subject, extensions = parse_part("its content", lambda: (certificate.subject, certificate.extensions))
    names = subject.get_attributes_for_oid(NameOID.ORGANIZATION_IDENTIFIER)
    try:
        row = extensions.get_extension_for_oid(x509.ObjectIdentifier(STATEMENTS))
    except x509.ExtensionNotFound:
        raise Untrusted("it has no qcStatements, so it is no PSD2 certificate") from None
    assert isinstance(row.value, x509.UnrecognizedExtension)
    try:
        qualified = read_statements(row.value.value)
    except ValueError as error:
        raise Untrusted(str(error)) from None
    return Bearer(certificate, str(names[0].value) if names else "", qualified)


def parse_certificate(content: bytes) -> x509.Certificate:
    """Reads a certificate in PEM or DER. Raises Untrusted if the content is neither."""
    is_pem = content.lstrip().startswith(b"-----BEGIN")
    load = x509.load_pem_x509_certificate if is_pem else x509.load_der_x509_certificate
    return parse_part("it is no X.509 certificate: it", lambda: load(content))


def _write_time(when: datetime) -> str:
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")
