"""Certificates made on the spot: the sandbox's authorities, and QWAC and QSealC for any TPP, also wrong on purpose."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from ipaddress import ip_address

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from sandbox.pki import statements
from sandbox.pki.statements import QWAC, Qualified

PrivateKey = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey

LIFE = timedelta(days=365)
AUTHORITY_LIFE = timedelta(days=20 * 365)
AUTHORITY_AGE = timedelta(days=5 * 365)  # it is older than what expired

# Each way to be wrong on purpose, and what is wrong then.
FAULTS = {
    "expired": "it ended yesterday",
    "not-yet-valid": "it begins in 30 days",
    "revoked": "it is on the revocation list",
    "wrong-role": "it bears PSP_IC alone",
    "wrong-organisation": "it names another organisation",
    "unknown-issuer": "an authority that nobody knows has issued it",
    "broken-chain": "it names the right issuer, and another key has signed it",
    "weak-key": "its key is RSA of 1024 bits",
}


@dataclass(frozen=True)
class Pair:
    """A certificate and its private key."""

    certificate: x509.Certificate
    key: PrivateKey


@dataclass(frozen=True)
class Wanted:
    """What is asked of a new certificate."""

    name: str
    organisation: str
    said: Qualified
    begins: datetime
    ends: datetime
    key: str = "ec"  # ec, rsa or weak
    hosts: tuple[str, ...] = ()


def new_key(kind: str) -> PrivateKey:
    if kind == "ec":
        return ec.generate_private_key(ec.SECP256R1())
    return rsa.generate_private_key(65537, 1024 if kind == "weak" else 2048)


def named(name: str, organisation: str = "", country: str = "BE") -> x509.Name:
    parts = [x509.NameAttribute(NameOID.COUNTRY_NAME, country), x509.NameAttribute(NameOID.ORGANIZATION_NAME, name)]
    if organisation:
        parts.append(x509.NameAttribute(NameOID.ORGANIZATION_IDENTIFIER, organisation))
    return x509.Name([*parts, x509.NameAttribute(NameOID.COMMON_NAME, name)])


def usage(*names: str) -> x509.KeyUsage:
    every = (
        "digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement",
        "key_cert_sign", "crl_sign", "encipher_only", "decipher_only",
    )  # fmt: skip
    return x509.KeyUsage(**{name: name in names for name in every})


def authority(name: str, now: datetime, above: Pair | None = None) -> Pair:
    """A root, or an authority below one."""
    key = new_key("ec")
    subject = named(name)
    issuer = subject if above is None else above.certificate.subject
    builder = (
        _begun(subject, issuer, key, now - AUTHORITY_AGE, now + AUTHORITY_LIFE)
        .add_extension(x509.BasicConstraints(True, None if above is None else 0), critical=True)
        .add_extension(usage("key_cert_sign", "crl_sign", "digital_signature"), critical=True)
    )
    signer = key if above is None else above.key
    builder = builder.add_extension(_authority_key(signer), critical=False)
    return Pair(builder.sign(signer, hashes.SHA256()), key)


def leaf(wanted: Wanted, issuer: Pair, signer: PrivateKey | None = None) -> Pair:
    """A certificate of a TPP; `signer` is another key than the issuer's where the chain is to be broken."""
    key = new_key(wanted.key)
    kind = wanted.said.kind
    builder = _below(wanted.name, wanted.organisation, issuer, key, wanted.begins, wanted.ends)
    if kind == QWAC:
        builder = builder.add_extension(usage("digital_signature"), critical=True).add_extension(
            x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH]), critical=False
        )
    else:
        builder = builder.add_extension(usage("digital_signature", "content_commitment"), critical=True)
    builder = builder.add_extension(
        x509.UnrecognizedExtension(x509.ObjectIdentifier(statements.EXTENSION), statements.write(wanted.said)),
        critical=False,
    ).add_extension(_hosts(wanted.hosts or (f"{_host_of(wanted.name)}.example",)), critical=False)
    return Pair(builder.sign(signer or issuer.key, hashes.SHA256()), key)


def server(hosts: tuple[str, ...], issuer: Pair, now: datetime) -> Pair:
    """The sandbox's own certificate for TLS."""
    key = new_key("ec")
    builder = (
        _below("Sandbox bank", "", issuer, key, now - timedelta(days=1), now + LIFE)
        .add_extension(usage("digital_signature"), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(_hosts(hosts), critical=False)
    )
    return Pair(builder.sign(issuer.key, hashes.SHA256()), key)


def spoilt(wanted: Wanted, fault: str | None, now: datetime) -> Wanted:
    """The same, with the fault that lies in the certificate itself."""
    match fault:
        case "expired":
            return replace(wanted, begins=now - LIFE, ends=now - timedelta(days=1))
        case "not-yet-valid":
            return replace(wanted, begins=now + timedelta(days=30), ends=now + timedelta(days=30) + LIFE)
        case "wrong-role":
            return replace(wanted, said=replace(wanted.said, roles=("PSP_IC",)))
        case "wrong-organisation":
            return replace(wanted, organisation="PSDBE-SBX-STRANGER")
        case "weak-key":
            return replace(wanted, key="weak")
    return wanted


def made(wanted: Wanted, fault: str | None, issuer: Pair, now: datetime) -> Pair:
    """A certificate as wanted, or with one fault; revoking is the folder's work."""
    if fault == "unknown-issuer":
        issuer = authority("Unknown authority", now)
    return leaf(spoilt(wanted, fault, now), issuer, new_key("ec") if fault == "broken-chain" else None)


def revocations(
    issuer: Pair, before: x509.CertificateRevocationList | None, serial: int | None, now: datetime
) -> x509.CertificateRevocationList:
    """The list with one more on it."""
    builder = (
        x509.CertificateRevocationListBuilder()
        .issuer_name(issuer.certificate.subject)
        .last_update(now)
        .next_update(now + AUTHORITY_LIFE)
    )
    for known in before or ():
        builder = builder.add_revoked_certificate(known)
    if serial is not None:
        builder = builder.add_revoked_certificate(
            x509.RevokedCertificateBuilder().serial_number(serial).revocation_date(now).build()
        )
    return builder.sign(issuer.key, hashes.SHA256())


def _begun(
    subject: x509.Name, issuer: x509.Name, key: PrivateKey, begins: datetime, ends: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begins)
        .not_valid_after(ends)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _below(
    name: str, organisation: str, issuer: Pair, key: PrivateKey, begins: datetime, ends: datetime
) -> x509.CertificateBuilder:
    builder = _begun(named(name, organisation), issuer.certificate.subject, key, begins, ends)
    return builder.add_extension(x509.BasicConstraints(False, None), critical=True).add_extension(
        _authority_key(issuer.key), critical=False
    )


def _authority_key(key: PrivateKey) -> x509.AuthorityKeyIdentifier:
    return x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key())


def _hosts(hosts: tuple[str, ...]) -> x509.SubjectAlternativeName:
    return x509.SubjectAlternativeName([_host(host) for host in hosts])


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _host_of(name: str) -> str:
    """A name as a label of an address."""
    return "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name.lower()).strip("-")
