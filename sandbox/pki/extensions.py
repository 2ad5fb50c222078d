"""What certificates say beside names and keys: their policies, where lists and issuers are fetched (RFC 5280), and the
qcStatements of a PSD2 certificate (ETSI TS 119 495, EN 319 412-5), written and read.
"""

from dataclasses import dataclass

from asn1crypto.core import Any, IA5String, ObjectIdentifier, PrintableString, Sequence, SequenceOf, UTF8String
from cryptography import x509
from cryptography.x509.oid import AuthorityInformationAccessOID

from sandbox.pki import PLACE

ANY_POLICY = "2.5.29.32.0"
SERVER_POLICY = "0.4.0.2042.1.1"  # NCP (ETSI EN 319 411-1)
QSEAL_POLICY = "0.4.0.194112.1.1"  # QCP-l (ETSI EN 319 411-2)
# QCP-w-psd2 (ETSI TS 119 495), with the policies that it stands on: QEVCP-w, and extended validation.
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
ROLE_OF = {"PIS": "PSP_PI", "AIS": "PSP_AI"}  # what a call needs, as certificates name it


@dataclass(frozen=True, slots=True)
class FileAddresses:
    """Where the files of a PKI can be fetched: the base address of a sandbox."""

    base: str

    def file(self, name: str) -> str:
        return f"{self.base}{PLACE}{name}"

    @property
    def disclosure(self) -> str:
        """ETSI EN 319 412-5 wants https."""
        return f"https://{self.base.partition('://')[2]}{PLACE}disclosure.txt"


class OrganisationIdentifier(Sequence):  # type: ignore[misc]
    _fields = [("scheme", PrintableString), ("country", PrintableString), ("reference", UTF8String)]


def policies(*oids: str) -> x509.CertificatePolicies:
    return x509.CertificatePolicies([x509.PolicyInformation(x509.ObjectIdentifier(oid), None) for oid in oids])


def list_of(served: FileAddresses, issuer: str) -> x509.CRLDistributionPoints:
    """Where the revocation list of the issuer is."""
    return x509.CRLDistributionPoints([x509.DistributionPoint([_uri(served.file(f"{issuer}.crl"))], None, None, None)])


def addresses_of(served: FileAddresses | None, issuer: str) -> list[x509.ExtensionType]:
    """Where the list of the issuer and its own certificate are."""
    if served is None:
        return []
    found = x509.AccessDescription(AuthorityInformationAccessOID.CA_ISSUERS, _uri(served.file(f"{issuer}.cer")))
    return [list_of(served, issuer), x509.AuthorityInformationAccess([found])]


def organisation_identifier(text: str) -> x509.UnrecognizedExtension | None:
    """PSDBE-NBB-1234 in its parts; None for an identifier of another shape."""
    country, mark, reference = text[3:].partition("-")
    if len(country) != 2 or not mark or not reference:
        return None
    parts = OrganisationIdentifier({"scheme": text[:3], "country": country, "reference": reference})
    return x509.UnrecognizedExtension(x509.ObjectIdentifier(ORGANISATION), bytes(parts.dump()))


def _uri(text: str) -> x509.UniformResourceIdentifier:
    return x509.UniformResourceIdentifier(text)


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
    """What the statements of a certificate say."""

    kind: str | None = None  # QWAC or QSealC
    roles: tuple[str, ...] = ()
    authority_name: str = ""
    authority_id: str = ""
    disclosure: str = ""  # where the issuer says what it stands for; written, and not read


def write_statements(statements: Qualified) -> bytes:
    """The content of the extension, DER."""
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
    """What the extension of statements says; a ValueError where it cannot be read."""
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
