"""What certificates say beside names and keys: their policies, and where lists and issuers are fetched (RFC 5280)."""

from dataclasses import dataclass

from asn1crypto.core import PrintableString, Sequence, UTF8String
from cryptography import x509
from cryptography.x509.oid import AuthorityInformationAccessOID

from sandbox.pki import PLACE

DEFAULT_ADDRESS = "http://127.0.0.1:8080"

ANY_POLICY = "2.5.29.32.0"
SERVER_POLICY = "0.4.0.2042.1.1"  # NCP (ETSI EN 319 411-1)
QSEAL_POLICY = "0.4.0.194112.1.1"  # QCP-l (ETSI EN 319 411-2)
# QCP-w-psd2 (ETSI TS 119 495), with the policies that it stands on: QEVCP-w, and extended validation.
QWAC_POLICIES = ("2.23.140.1.1", "0.4.0.19495.3.1", "0.4.0.194112.1.4")
ORGANISATION = "2.23.140.3.1"  # cabfOrganizationIdentifier


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


def with_addresses(builder: x509.CertificateBuilder, served: FileAddresses, issuer: str) -> x509.CertificateBuilder:
    """Where the list of the issuer and its own certificate are."""
    found = x509.AccessDescription(AuthorityInformationAccessOID.CA_ISSUERS, _uri(served.file(f"{issuer}.cer")))
    return with_list(builder, served, issuer).add_extension(x509.AuthorityInformationAccess([found]), critical=False)


def with_list(builder: x509.CertificateBuilder, served: FileAddresses, issuer: str) -> x509.CertificateBuilder:
    points = [x509.DistributionPoint([_uri(served.file(f"{issuer}.crl"))], None, None, None)]
    return builder.add_extension(x509.CRLDistributionPoints(points), critical=False)


def organisation_identifier(text: str) -> x509.UnrecognizedExtension | None:
    """PSDBE-NBB-1234 in its parts; None for an identifier of another shape."""
    country, mark, reference = text[3:].partition("-")
    if len(country) != 2 or not mark or not reference:
        return None
    parts = OrganisationIdentifier({"scheme": text[:3], "country": country, "reference": reference})
    return x509.UnrecognizedExtension(x509.ObjectIdentifier(ORGANISATION), bytes(parts.dump()))


def _uri(text: str) -> x509.UniformResourceIdentifier:
    return x509.UniformResourceIdentifier(text)
