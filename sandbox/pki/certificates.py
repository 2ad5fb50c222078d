"""Makes test certificates: those of the sandbox's authorities, and QWAC and QSealC of TPPs, some wrong on purpose.

A certificate has a name, a key and extensions. The extensions are policies, the addresses of revocation lists and
issuers (RFC 5280), and the qcStatements of a PSD2 certificate (ETSI TS 119 495, EN 319 412-5).
"""

import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from ipaddress import ip_address

from asn1crypto.core import Any, IA5String, ObjectIdentifier, PrintableString, Sequence, SequenceOf, UTF8String
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import AuthorityInformationAccessOID, ExtendedKeyUsageOID, NameOID

from sandbox.pki import PLACE

ANY_POLICY = "2.5.29.32.0"
SERVER_POLICY = "0.4.0.2042.1.1"  # NCP (ETSI EN 319 411-1)
QSEAL_POLICY = "0.4.0.194112.1.1"  # QCP-l (ETSI EN 319 411-2)
# Extended validation, QCP-w-psd2 (ETSI TS 119 495), and QEVCP-w. The second builds on the two others.
QWAC_POLICIES = ("2.23.140.1.1", "0.4.0.19495.3.1", "0.4.0.194112.1.4")
ORGANISATION = "2.23.140.3.1"  # cabfOrganizationIdentifier

STATEMENTS = "1.3.6.1.5.5.7.1.3"
COMPLIANCE = "0.4.0.1862.1.1"
TYPE = "0.4.0.1862.1.6"
PSD2 = "0.4.0.19495.2"
DISCLOSURE = "0.4.0.1862.1.5"

QWAC = "QWAC"  # for TLS
QSEAL = "QSealC"  # for signatures
TYPES = {"0.4.0.1862.1.6.2": QSEAL, "0.4.0.1862.1.6.3": QWAC}
ROLES = {
    "0.4.0.19495.1.1": "PSP_AS",
    "0.4.0.19495.1.2": "PSP_PI",
    "0.4.0.19495.1.3": "PSP_AI",
    "0.4.0.19495.1.4": "PSP_IC",
}
ROLE_OF = {"PIS": "PSP_PI", "AIS": "PSP_AI"}  # the role in certificates that each role of a call needs

COUNTRY = re.compile(r"[A-Z]{2}")
PrivateKey = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey
LIFE = timedelta(days=365)
AUTHORITY_LIFE = timedelta(days=20 * 365)
AUTHORITY_AGE = timedelta(days=5 * 365)  # an authority must be older than the expired certificates that it issued
CRITICAL = (
    x509.BasicConstraints,
    x509.KeyUsage,
)  # a program that does not know a critical extension must refuse the certificate (RFC 5280)


# qcStatements


class OrganisationIdentifier(Sequence):  # type: ignore[misc]
    _fields = [("scheme", PrintableString), ("country", PrintableString), ("reference", UTF8String)]


class QcRole(Sequence):  # type: ignore[misc]
    _fields = [("oid", ObjectIdentifier), ("name", UTF8String)]


class Psd2Type(Sequence):  # type: ignore[misc]
    _fields = [
        ("roles", SequenceOf, {"spec": QcRole}),
        ("authority_name", UTF8String),
        ("authority_id", UTF8String),
    ]


class Types(SequenceOf):  # type: ignore[misc]
    _child_spec = ObjectIdentifier


class Place(Sequence):  # type: ignore[misc]
    _fields = [("url", IA5String), ("language", PrintableString)]


class QcStatement(Sequence):  # type: ignore[misc]
    _fields = [("id", ObjectIdentifier), ("content", Any, {"optional": True})]


@dataclass(frozen=True, slots=True)
class Qualified:
    """The statements of a qualified certificate (its extension qcStatements)."""

    kind: str | None = None  # QWAC or QSealC
    roles: tuple[str, ...] = ()
    authority_name: str = ""
    authority_id: str = ""
    disclosure: str = ""  # the address of the issuer's disclosure, which `read_statements` does not read


def write_statements(statements: Qualified) -> bytes:
    """Returns the content of the extension qcStatements, encoded as DER."""
    oids = {name: oid for oid, name in (ROLES | TYPES).items()}
    psd2 = Psd2Type(
        {
            "roles": [{"oid": oids[name], "name": name} for name in statements.roles],
            "authority_name": statements.authority_name,
            "authority_id": statements.authority_id,
        }
    )
    rows = [
        {"id": COMPLIANCE},
        {"id": TYPE, "content": Types([oids[str(statements.kind)]])},
        {"id": PSD2, "content": psd2},
    ]
    if statements.disclosure:
        place = {"url": statements.disclosure, "language": "en"}
        rows.append({"id": DISCLOSURE, "content": SequenceOf([place], spec=Place)})
    return bytes(SequenceOf(rows, spec=QcStatement).dump())


def read_statements(content: bytes) -> Qualified:
    """Returns the statements in the content of the extension qcStatements, without the address of the disclosure.
    Raises ValueError if the content cannot be read."""
    kind: str | None = None
    roles: tuple[str, ...] = ()
    name = identifier = ""
    try:
        for row in SequenceOf.load(content, strict=True, spec=QcStatement):
            oid = row["id"].dotted
            if oid == TYPE:
                kinds = [TYPES[item.dotted] for item in row["content"].parse(Types) if item.dotted in TYPES]
                kind = kinds[0] if kinds else None
            elif oid == PSD2:
                psd2 = row["content"].parse(Psd2Type)
                roles = tuple(ROLES.get(role["oid"].dotted, role["oid"].dotted) for role in psd2["roles"])
                name, identifier = psd2["authority_name"].native, psd2["authority_id"].native
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError) as error:
        raise ValueError("its qcStatements cannot be read") from error
    return Qualified(kind, roles, name, identifier)


# Other extensions


@dataclass(frozen=True, slots=True)
class FileAddresses:
    """The addresses of the public files of a PKI, below the base address of a sandbox."""

    base: str

    def make_address(self, name: str) -> x509.UniformResourceIdentifier:
        return x509.UniformResourceIdentifier(f"{self.base}{PLACE}{name}")

    @property
    def disclosure(self) -> str:
        """The address of the disclosure, with https because ETSI EN 319 412-5 demands it."""
        return f"https://{self.base.partition('://')[2]}{PLACE}disclosure.txt"

    def make_list_address(self, issuer: str) -> x509.CRLDistributionPoints:
        point = x509.DistributionPoint([self.make_address(f"{issuer}.crl")], None, None, None)
        return x509.CRLDistributionPoints([point])

    def list_issuer_extensions(self, issuer: str) -> list[x509.ExtensionType]:
        """Returns the extensions with the addresses of an issuer's revocation list and certificate."""
        certificate = x509.AccessDescription(
            AuthorityInformationAccessOID.CA_ISSUERS, self.make_address(f"{issuer}.cer")
        )
        return [self.make_list_address(issuer), x509.AuthorityInformationAccess([certificate])]


def make_policies(*oids: str) -> x509.CertificatePolicies:
    return x509.CertificatePolicies([x509.PolicyInformation(x509.ObjectIdentifier(oid), None) for oid in oids])


def make_key_usage(*names: str) -> x509.KeyUsage:
    every = (
        "digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement",
        "key_cert_sign", "crl_sign", "encipher_only", "decipher_only",
    )  # fmt: skip
    return x509.KeyUsage(**{name: name in names for name in every})


def make_organisation_identifier(text: str) -> list[x509.ExtensionType]:
    """Returns a list with the extension cabfOrganizationIdentifier for an identifier such as PSDBE-NBB-1234. Returns an
    empty list for an identifier of any other form."""
    country, dash, reference = text[3:].partition("-")
    if len(country) != 2 or not dash or not reference:
        return []
    parts = OrganisationIdentifier({"scheme": text[:3], "country": country, "reference": reference})
    return [x509.UnrecognizedExtension(x509.ObjectIdentifier(ORGANISATION), bytes(parts.dump()))]


def make_alternative_names(hosts: tuple[str, ...]) -> x509.SubjectAlternativeName:
    return x509.SubjectAlternativeName([_make_host_name(host) for host in hosts])


def _make_host_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _make_authority_key(key: PrivateKey) -> x509.AuthorityKeyIdentifier:
    return x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key())


# Certificates


@dataclass(frozen=True)
class CertificatePair:
    """A certificate and its private key."""

    certificate: x509.Certificate
    key: PrivateKey


@dataclass(frozen=True)
class CertificateRequest:
    """The content of a new certificate of a TPP."""

    name: str
    organisation: str
    statements: Qualified
    begins: datetime
    ends: datetime
    key: str = "ec"  # ec, rsa or weak
    hosts: tuple[str, ...] = ()


def make_key(kind: str) -> PrivateKey:
    if kind == "ec":
        return ec.generate_private_key(ec.SECP256R1())
    return rsa.generate_private_key(65537, 1024 if kind == "weak" else 2048)


def make_name(*parts: tuple[x509.ObjectIdentifier, str]) -> x509.Name:
    return x509.Name([x509.NameAttribute(oid, text) for oid, text in parts])


def make_pair(
    subject: x509.Name,
    issuer: CertificatePair | None,
    key: PrivateKey,
    life: tuple[datetime, datetime],
    *extensions: x509.ExtensionType,
    signer: PrivateKey | None = None,
) -> CertificatePair:
    """Makes a certificate for `key` and signs it with the issuer's key. Without an issuer, signs it with `key` itself,
    as a root.

    If `signer` is given, this key signs instead. Then the issuer's key does not verify the signature."""
    issuing_key = key if issuer is None else issuer.key
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject if issuer is None else issuer.certificate.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(life[0])
        .not_valid_after(life[1])
    )
    own_key = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    for extension in (own_key, _make_authority_key(issuing_key), *extensions):
        builder = builder.add_extension(extension, critical=isinstance(extension, CRITICAL))
    return CertificatePair(builder.sign(signer or issuing_key, hashes.SHA256()), key)


def make_authority(
    name: str, now: datetime, served: FileAddresses, issuer: CertificatePair | None = None
) -> CertificatePair:
    """Makes an authority whose certificate the issuer signs. Without an issuer, makes a root, which signs its own
    certificate."""
    subject = make_name((NameOID.COUNTRY_NAME, "BE"), (NameOID.ORGANIZATION_NAME, name), (NameOID.COMMON_NAME, name))
    constraints = x509.BasicConstraints(True, None if issuer is None else 0)
    extensions: list[x509.ExtensionType] = [constraints, make_key_usage("key_cert_sign", "crl_sign")]
    if issuer is not None:
        extensions += [make_policies(ANY_POLICY), *served.list_issuer_extensions("root")]
    else:  # a root names a list too, because `openssl -crl_check_all` needs one for each certificate
        extensions.append(served.make_list_address("root"))
    return make_pair(subject, issuer, make_key("ec"), (now - AUTHORITY_AGE, now + AUTHORITY_LIFE), *extensions)


def make_server_certificate(
    hosts: tuple[str, ...], issuer: CertificatePair, now: datetime, served: FileAddresses
) -> CertificatePair:
    """Makes the sandbox's own certificate for TLS."""
    subject = make_name(
        (NameOID.COUNTRY_NAME, "BE"),
        (NameOID.ORGANIZATION_NAME, "Sandbox bank"),
        (NameOID.ORGANIZATION_IDENTIFIER, "PSDBE-SBX-BANK"),
        (NameOID.COMMON_NAME, hosts[0]),
    )
    extensions = (
        x509.BasicConstraints(False, None),
        make_key_usage("digital_signature"),
        x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]),
        make_alternative_names(hosts),
        make_policies(SERVER_POLICY),
        *served.list_issuer_extensions("issuing"),
    )
    return make_pair(subject, issuer, make_key("ec"), (now - timedelta(days=1), now + LIFE), *extensions)


def make_certificate(
    request: CertificateRequest,
    fault: str | None,
    issuer: CertificatePair,
    now: datetime,
    served: FileAddresses,
) -> CertificatePair:
    """Makes a certificate of a TPP, correct or with one fault of FAULTS. For the fault `revoked`, makes a correct
    certificate, which `Folder.issue` then revokes."""
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
            issuer = make_authority("Unknown authority", now, served)
        case "broken-chain":
            signer = make_key("ec")
    subject, extensions = _describe_for_tls(request) if request.statements.kind == QWAC else _describe_for_seal(request)
    statements = replace(request.statements, disclosure=served.disclosure)
    content = x509.UnrecognizedExtension(x509.ObjectIdentifier(STATEMENTS), write_statements(statements))
    extensions = [x509.BasicConstraints(False, None), *extensions, content, *served.list_issuer_extensions("issuing")]
    life = (request.begins, request.ends)
    return make_pair(subject, issuer, make_key(request.key), life, *extensions, signer=signer)


def _describe_for_tls(request: CertificateRequest) -> tuple[x509.Name, list[x509.ExtensionType]]:
    """Returns the subject and the extensions of a QWAC, which has a host name and fields of extended validation."""
    country, _, number = request.organisation[3:].partition("-")
    label = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in request.name.lower())
    hosts = request.hosts or (f"{label.strip('-')}.example",)
    subject = make_name(
        (NameOID.COUNTRY_NAME, _find_country(request)),
        (NameOID.LOCALITY_NAME, "Sandbox"),
        (NameOID.ORGANIZATION_NAME, request.name),
        (NameOID.COMMON_NAME, hosts[0]),
        (NameOID.BUSINESS_CATEGORY, "Private Organization"),
        (NameOID.JURISDICTION_COUNTRY_NAME, _find_country(request)),
        (NameOID.SERIAL_NUMBER, number or request.organisation),
        (NameOID.ORGANIZATION_IDENTIFIER, request.organisation),
    )
    return subject, [
        make_key_usage("digital_signature"),
        x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH]),
        make_alternative_names(hosts),
        make_policies(*QWAC_POLICIES),
        *make_organisation_identifier(request.organisation),
    ]


def _describe_for_seal(request: CertificateRequest) -> tuple[x509.Name, list[x509.ExtensionType]]:
    """Returns the subject and the extensions of a QSealC, which has no host name and no TLS key usage."""
    subject = make_name(
        (NameOID.COUNTRY_NAME, _find_country(request)),
        (NameOID.ORGANIZATION_NAME, request.name),
        (NameOID.ORGANIZATION_IDENTIFIER, request.organisation),
        (NameOID.COMMON_NAME, request.name),
    )
    return subject, [make_key_usage("content_commitment"), make_policies(QSEAL_POLICY)]


def _find_country(request: CertificateRequest) -> str:
    country = request.organisation[3:].partition("-")[0]
    return country if COUNTRY.fullmatch(country) else "BE"


# Revocation lists


def make_revocation_list(
    issuer: CertificatePair,
    now: datetime,
    before: x509.CertificateRevocationList | None = None,
    serial: int | None = None,
) -> x509.CertificateRevocationList:
    """Makes the revocation list that replaces the list `before`, or a first list if `before` is None. Adds the
    certificate with the number `serial`, if one is given."""
    number = before.extensions.get_extension_for_class(x509.CRLNumber).value.crl_number if before is not None else 0
    builder = (
        x509.CertificateRevocationListBuilder()
        .issuer_name(issuer.certificate.subject)
        .last_update(now)
        .next_update(now + AUTHORITY_LIFE)
        .add_extension(x509.CRLNumber(number + 1), critical=False)
        .add_extension(_make_authority_key(issuer.key), critical=False)
    )
    revoked = list(before or ())
    if serial is not None:
        revoked.append(x509.RevokedCertificateBuilder().serial_number(serial).revocation_date(now).build())
    for row in revoked:
        builder = builder.add_revoked_certificate(row)
    return builder.sign(issuer.key, hashes.SHA256())
