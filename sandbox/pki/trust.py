"""What is believed of a certificate: its chain, its key, its dates, whether it was revoked, and what it says."""

from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID

from sandbox.pki import statements
from sandbox.pki.folder import Folder, read_certificate
from sandbox.pki.statements import Qualified

RSA_BITS_MIN = 2048
EC_BITS_MIN = 256
KEPT_MAX = 256


class Untrusted(ValueError):
    """Why a certificate is not believed; the text is for the caller."""


@dataclass(frozen=True, slots=True)
class Bearer:
    """What a certificate says of who bears it."""

    certificate: x509.Certificate
    organisation: str
    said: Qualified


class Trust:
    """The authorities of a folder. The revocation list is read again when it changes."""

    def __init__(self, folder: Path) -> None:
        self._folder = Folder(folder)
        self._folder.demand()
        self._authorities = [read_certificate(folder / "issuing.pem"), read_certificate(folder / "root.pem")]
        self._authorities[0].verify_directly_issued_by(self._authorities[1])
        self._list_changed = -1
        self._revoked: dict[int, datetime] = {}
        self._believed: OrderedDict[x509.Certificate, Bearer] = OrderedDict()

    def judge(self, certificate: x509.Certificate, kind: str, at: datetime) -> Bearer:
        """Who bears it, or Untrusted with the first reason against it."""
        bearer = self._believed.get(certificate)
        if bearer is None:
            bearer = self._examined(certificate)
            self._believed[certificate] = bearer
            while len(self._believed) > KEPT_MAX:
                self._believed.popitem(last=False)
        demand_dates(certificate, at)
        revoked_on = self._revocations().get(certificate.serial_number)
        if revoked_on is not None:
            raise Untrusted(f"it was revoked on {_told(revoked_on)}")
        if bearer.said.kind != kind:
            raise Untrusted(f"a {kind} is needed, and it is {bearer.said.kind or 'neither QWAC nor QSealC'}")
        return bearer

    def _examined(self, certificate: x509.Certificate) -> Bearer:
        """All that does not change with time."""
        self._demand_chain(certificate)
        demand_key(certificate)
        return bearer_of(certificate)

    def _demand_chain(self, certificate: x509.Certificate) -> None:
        name = certificate.issuer.rfc4514_string()[:200]
        issuer = next((known for known in self._authorities if known.subject == certificate.issuer), None)
        if issuer is None:
            raise Untrusted(f"its issuer {name} is no authority that the bank trusts")
        try:
            certificate.verify_directly_issued_by(issuer)
        except (InvalidSignature, ValueError, TypeError):
            raise Untrusted(f"its chain is broken: the key of its issuer {name} has not signed it") from None
        if certificate.subject in {known.subject for known in self._authorities}:
            raise Untrusted("it is an authority's own, not a client's")

    def _revocations(self) -> dict[int, datetime]:
        changed = (self._folder.path / "crl.pem").stat().st_mtime_ns
        if changed != self._list_changed:
            found = self._folder.revocations()
            key = self._authorities[0].public_key()
            assert isinstance(key, ec.EllipticCurvePublicKey | rsa.RSAPublicKey)
            if not found.is_signature_valid(key):
                raise Untrusted("the revocation list of the PKI is not signed by its authority")
            self._revoked = {row.serial_number: row.revocation_date_utc for row in found}
            self._list_changed = changed
        return self._revoked


def demand_dates(certificate: x509.Certificate, at: datetime) -> None:
    if at < certificate.not_valid_before_utc:
        raise Untrusted(f"it is not valid before {_told(certificate.not_valid_before_utc)}, and it is {_told(at)}")
    if at > certificate.not_valid_after_utc:
        raise Untrusted(f"it expired on {_told(certificate.not_valid_after_utc)}, and it is {_told(at)}")


def demand_key(certificate: x509.Certificate) -> None:
    try:
        key = certificate.public_key()
    except ValueError:
        raise Untrusted("its key cannot be read") from None
    if isinstance(key, rsa.RSAPublicKey):
        if key.key_size < RSA_BITS_MIN:
            raise Untrusted(f"its key is weak: RSA of {key.key_size} bits, {RSA_BITS_MIN} are the least")
    elif not isinstance(key, ec.EllipticCurvePublicKey) or key.key_size < EC_BITS_MIN:
        raise Untrusted("its key is neither RSA of 2048 bits or more nor EC of 256 bits or more")


def bearer_of(certificate: x509.Certificate) -> Bearer:
    """What it says, whoever has signed it."""
    try:
        names = certificate.subject.get_attributes_for_oid(NameOID.ORGANIZATION_IDENTIFIER)
        row = certificate.extensions.get_extension_for_oid(x509.ObjectIdentifier(statements.EXTENSION))
        assert isinstance(row.value, x509.UnrecognizedExtension)
        said = statements.read(row.value.value)
    except x509.ExtensionNotFound:
        raise Untrusted("it has no qcStatements, so it is no PSD2 certificate") from None
    except ValueError as error:
        raise Untrusted(str(error) if "qcStatements" in str(error) else "it cannot be read") from None
    return Bearer(certificate, str(names[0].value) if names else "", said)


def read(content: bytes) -> x509.Certificate:
    """PEM or DER; Untrusted where it is neither."""
    try:
        if content.lstrip().startswith(b"-----BEGIN"):
            return x509.load_pem_x509_certificate(content)
        return x509.load_der_x509_certificate(content)
    except ValueError:
        raise Untrusted("it is no X.509 certificate") from None


def _told(when: datetime) -> str:
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")
