"""Certificates made on the spot: the sandbox's authorities, and QWAC and QSealC for any TPP, also wrong on purpose."""

import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from ipaddress import ip_address

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from sandbox.pki import extensions
from sandbox.pki.extensions import QWAC, FileAddresses, Qualified, addresses_of, policies

COUNTRY = re.compile(r"[A-Z]{2}")
PrivateKey = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey

LIFE = timedelta(days=365)
AUTHORITY_LIFE = timedelta(days=20 * 365)
CRITICAL = (x509.BasicConstraints, x509.KeyUsage)  # who does not understand such an extension must refuse (RFC 5280)
AUTHORITY_AGE = timedelta(days=5 * 365)  # it is older than what expired


@dataclass(frozen=True)
class CertificatePair:
    """A certificate and its private key."""

    certificate: x509.Certificate
    key: PrivateKey


@dataclass(frozen=True)
class CertificateRequest:
    """The content of a new certificate."""

    name: str
    organisation: str
    statements: Qualified
    begins: datetime
    ends: datetime
    key: str = "ec"  # ec, rsa or weak
    hosts: tuple[str, ...] = ()


def new_key(kind: str) -> PrivateKey:
    if kind == "ec":
        return ec.generate_private_key(ec.SECP256R1())
    return rsa.generate_private_key(65537, 1024 if kind == "weak" else 2048)


def make_name(*parts: tuple[x509.ObjectIdentifier, str]) -> x509.Name:
    return x509.Name([x509.NameAttribute(oid, text) for oid, text in parts])


def subject_of(request: CertificateRequest) -> x509.Name:
    """A QWAC bears the name of its address and what extended validation asks for; a QSealC the name alone."""
    organisation = request.organisation
    country, _, number = organisation[3:].partition("-")
    if not COUNTRY.fullmatch(country):
        country = "BE"
    place, who = (NameOID.COUNTRY_NAME, country), (NameOID.ORGANIZATION_NAME, request.name)
    identifier = (NameOID.ORGANIZATION_IDENTIFIER, organisation)
    if request.statements.kind != QWAC:
        return make_name(place, who, identifier, (NameOID.COMMON_NAME, request.name))
    return make_name(
        place,
        (NameOID.LOCALITY_NAME, "Sandbox"),
        who,
        (NameOID.COMMON_NAME, hosts_of(request)[0]),
        (NameOID.BUSINESS_CATEGORY, "Private Organization"),
        (NameOID.JURISDICTION_COUNTRY_NAME, country),
        (NameOID.SERIAL_NUMBER, number or organisation),
        identifier,
    )


def hosts_of(request: CertificateRequest) -> tuple[str, ...]:
    """The host names that the request asks for, else one made of its subject's name."""
    label = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in request.name.lower())
    return request.hosts or (f"{label.strip('-')}.example",)


def usage(*names: str) -> x509.KeyUsage:
    every = (
        "digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement",
        "key_cert_sign", "crl_sign", "encipher_only", "decipher_only",
    )  # fmt: skip
    return x509.KeyUsage(**{name: name in names for name in every})


def make_pair(
    subject: x509.Name,
    above: CertificatePair | None,
    key: PrivateKey,
    life: tuple[datetime, datetime],
    *more: x509.ExtensionType,
    signer: PrivateKey | None = None,
) -> CertificatePair:
    """A certificate with its extensions, and its key. A root is signed by itself; `signer` breaks the chain."""
    issuing_key = key if above is None else above.key
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject if above is None else above.certificate.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(life[0])
        .not_valid_after(life[1])
    )
    for extension in (x509.SubjectKeyIdentifier.from_public_key(key.public_key()), _authority_key(issuing_key), *more):
        builder = builder.add_extension(extension, critical=isinstance(extension, CRITICAL))
    return CertificatePair(builder.sign(signer or issuing_key, hashes.SHA256()), key)


def authority(
    name: str, now: datetime, above: CertificatePair | None = None, served: FileAddresses | None = None
) -> CertificatePair:
    """A root, or an authority below one; `served` says where the files of the one above are fetched."""
    subject = make_name((NameOID.COUNTRY_NAME, "BE"), (NameOID.ORGANIZATION_NAME, name), (NameOID.COMMON_NAME, name))
    constraints = x509.BasicConstraints(True, None if above is None else 0)
    more: list[x509.ExtensionType] = [constraints, usage("key_cert_sign", "crl_sign")]
    if above is not None:
        more += [policies(extensions.ANY_POLICY), *addresses_of(served, "root")]
    elif served is not None:  # a root names its own list: `openssl -crl_check_all` wants one for each certificate
        more.append(extensions.list_of(served, "root"))
    return make_pair(subject, above, new_key("ec"), (now - AUTHORITY_AGE, now + AUTHORITY_LIFE), *more)


def leaf(
    request: CertificateRequest,
    issuer: CertificatePair,
    signer: PrivateKey | None = None,
    served: FileAddresses | None = None,
) -> CertificatePair:
    """A certificate of a TPP."""
    qualified = replace(request.statements, disclosure=served.disclosure if served else "")
    statements = x509.ObjectIdentifier(extensions.STATEMENTS), extensions.write_statements(qualified)
    more = [
        x509.BasicConstraints(False, None),
        *(_for_tls(request) if request.statements.kind == QWAC else FOR_SEALS),
        x509.UnrecognizedExtension(*statements),
        *addresses_of(served, "issuing"),
    ]
    life = (request.begins, request.ends)
    return make_pair(subject_of(request), issuer, new_key(request.key), life, *more, signer=signer)


def _for_tls(request: CertificateRequest) -> list[x509.ExtensionType]:
    identifier = extensions.organisation_identifier(request.organisation)
    return [
        usage("digital_signature"),
        x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH]),
        _hosts(hosts_of(request)),
        policies(*extensions.QWAC_POLICIES),
        *([] if identifier is None else [identifier]),
    ]


# Signatures that bind, and nothing else: no address, and no key usage of TLS.
FOR_SEALS = (usage("content_commitment"), policies(extensions.QSEAL_POLICY))


def server(
    hosts: tuple[str, ...], issuer: CertificatePair, now: datetime, served: FileAddresses | None = None
) -> CertificatePair:
    """The sandbox's own certificate for TLS."""
    subject = make_name(
        (NameOID.COUNTRY_NAME, "BE"),
        (NameOID.ORGANIZATION_NAME, "Sandbox bank"),
        (NameOID.ORGANIZATION_IDENTIFIER, "PSDBE-SBX-BANK"),
        (NameOID.COMMON_NAME, hosts[0]),
    )
    more = [
        x509.BasicConstraints(False, None),
        usage("digital_signature"),
        x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]),
        _hosts(hosts),
        policies(extensions.SERVER_POLICY),
        *addresses_of(served, "issuing"),
    ]
    return make_pair(subject, issuer, new_key("ec"), (now - timedelta(days=1), now + LIFE), *more)


def make_certificate(
    request: CertificateRequest,
    fault: str | None,
    issuer: CertificatePair,
    now: datetime,
    served: FileAddresses | None = None,
) -> CertificatePair:
    """A certificate as wanted, or with one fault; revoking is the folder's work."""
    signer = None
    match fault:
        case "expired":
            request = replace(request, begins=now - LIFE, ends=now - timedelta(days=1))
        case "not-yet-valid":
            request = replace(request, begins=now + timedelta(days=30), ends=now + timedelta(days=30) + LIFE)
        case "wrong-role":
            request = replace(request, statements=replace(request.statements, roles=("PSP_IC",)))
        case "wrong-organisation":
            request = replace(request, organisation="PSDBE-SBX-STRANGER")
        case "weak-key":
            request = replace(request, key="weak")
        case "unknown-issuer":
            issuer = authority("Unknown authority", now)
        case "broken-chain":
            signer = new_key("ec")
    return leaf(request, issuer, signer, served)


def make_revocation_list(
    issuer: CertificatePair,
    now: datetime,
    before: x509.CertificateRevocationList | None = None,
    serial: int | None = None,
) -> x509.CertificateRevocationList:
    """The next list, with one more on it where a serial number is given."""
    builder = (
        x509.CertificateRevocationListBuilder()
        .issuer_name(issuer.certificate.subject)
        .last_update(now)
        .next_update(now + AUTHORITY_LIFE)
        .add_extension(x509.CRLNumber(number_of(before) + 1), critical=False)
        .add_extension(_authority_key(issuer.key), critical=False)
    )
    revoked = list(before or ())
    if serial is not None:
        revoked.append(x509.RevokedCertificateBuilder().serial_number(serial).revocation_date(now).build())
    for row in revoked:
        builder = builder.add_revoked_certificate(row)
    return builder.sign(issuer.key, hashes.SHA256())


def number_of(revoked: x509.CertificateRevocationList | None) -> int:
    """Of a list; those that the sandbox made at first had none."""
    try:
        return 0 if revoked is None else revoked.extensions.get_extension_for_class(x509.CRLNumber).value.crl_number
    except x509.ExtensionNotFound:
        return 0


def _authority_key(key: PrivateKey) -> x509.AuthorityKeyIdentifier:
    return x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key())


def _hosts(hosts: tuple[str, ...]) -> x509.SubjectAlternativeName:
    return x509.SubjectAlternativeName([_host(host) for host in hosts])


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)
