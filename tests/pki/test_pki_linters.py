"""Certificates and revocation lists as linters and revocation checkers want them, by tools that are not the bank's."""

import asyncio
import json
import shutil
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from datetime import timedelta
from importlib import import_module
from io import StringIO
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from sandbox.app import assemble, make_first_beginning
from sandbox.pki.certificates import QSEAL, QWAC, CertificateRequest, Qualified
from sandbox.pki.folder import Folder, read_certificate
from sandbox.pki.trust import Trust
from sandbox.web.controls.lock import Lock
from sandbox.worlds.registry import WorldRegistry
from tests.pki.conftest import DEMO, REAL
from tests.tpp import Tpp, refused

# Names that no certificate of a public authority may have, which is why a sandbox uses them.
RESERVED = {
    "cabf.internal_domain_name",
    "etsi.internal_domain_name",
    "etsi.internal_ip_address",
    "pkix.invalid_domain_name_syntax",  # localhost
}
PSD2 = ("-t", "QEVCP-W-PSD2-EIDAS-NON-BROWSER-FINAL-CERTIFICATE")


def made(path: Path, kind: str, name: str = "demo-tpp") -> Path:
    said = Qualified(kind, ("PSP_PI", "PSP_AI"), "Authority", "BE-SBX")
    wanted = CertificateRequest(name, DEMO, said, REAL, REAL + timedelta(days=199, seconds=-1))
    return Folder(path).issue(wanted, None, REAL)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("linted") / "pki"
    Folder(found).init(REAL)
    for kind in (QWAC, QSEAL):
        made(found, kind)
    return found


def errors(linter: str, *words: str) -> set[str]:
    """The codes of what a linter of pkilint calls an error."""
    output = StringIO()
    with redirect_stdout(output):
        import_module(f"pkilint.bin.{linter}").main(["lint", "-f", "JSON", "-s", "ERROR", *words])
    said = output.getvalue()
    found = json.loads(said[said.index("{") :])
    return {finding["code"] for row in found["results"] for finding in row["finding_descriptions"]}


LINTED: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("lint_pkix_cert", (), "root.pem"),
    ("lint_pkix_cert", (), "issuing.pem"),
    ("lint_pkix_cert", (), "server.pem"),
    ("lint_pkix_cert", (), "demo-tpp/qwac.pem"),
    ("lint_pkix_cert", (), "demo-tpp/qseal.pem"),
    ("lint_etsi_cert", PSD2, "demo-tpp/qwac.pem"),
    ("lint_etsi_cert", ("-d",), "demo-tpp/qwac.pem"),
    ("lint_etsi_cert", ("-d",), "demo-tpp/qseal.pem"),
    ("lint_etsi_cert", ("-d",), "server.pem"),
    ("lint_crl", ("-t", "CRL", "-p", "PKIX"), "crl.pem"),
    ("lint_crl", ("-t", "ARL", "-p", "PKIX"), "root-crl.pem"),
)


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # pkilint leaves the closing of its file to Python
@pytest.mark.parametrize("linter, words, file", LINTED)
def test_a_linter_finds_no_error_but_reserved_names(path: Path, linter: str, words: tuple[str, ...], file: str) -> None:
    assert errors(linter, *words, str(path / file)) <= RESERVED


# What they say


def extension(file: Path, kind: type[x509.ExtensionType]) -> x509.Extension[x509.ExtensionType] | None:
    try:
        return read_certificate(file).extensions.get_extension_for_class(kind)
    except x509.ExtensionNotFound:
        return None


def test_a_qwac_has_its_common_name_among_its_addresses_and_a_seal_has_no_address(path: Path) -> None:
    certificate = read_certificate(path / "demo-tpp/qwac.pem")
    (name,) = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert name.value in names.get_values_for_type(x509.DNSName)
    assert extension(path / "demo-tpp/qseal.pem", x509.SubjectAlternativeName) is None


def test_key_usages_are_apart(path: Path) -> None:
    def used(file: str) -> set[str]:
        usage = read_certificate(path / file).extensions.get_extension_for_class(x509.KeyUsage).value
        names = ("digital_signature", "content_commitment", "key_cert_sign", "crl_sign", "key_encipherment")
        return {name for name in names if getattr(usage, name)}

    assert used("demo-tpp/qwac.pem") == {"digital_signature"}
    assert used("demo-tpp/qseal.pem") == {"content_commitment"}
    assert used("issuing.pem") == used("root.pem") == {"key_cert_sign", "crl_sign"}


def test_policies_are_those_of_psd2(path: Path) -> None:
    def policies(file: str) -> set[str]:
        found = read_certificate(path / file).extensions.get_extension_for_class(x509.CertificatePolicies).value
        return {policy.policy_identifier.dotted_string for policy in found}

    assert {"0.4.0.19495.3.1", "0.4.0.194112.1.4"} <= policies("demo-tpp/qwac.pem")
    assert policies("demo-tpp/qseal.pem") == {"0.4.0.194112.1.1"}


def test_a_list_counts_up(path: Path, tmp_path: Path) -> None:
    def number(folder: Path) -> int:
        return x509.load_pem_x509_crl((folder / "crl.pem").read_bytes()).extensions.get_extension_for_class(
            x509.CRLNumber
        ).value.crl_number  # fmt: skip

    copy = tmp_path / "pki"
    shutil.copytree(path, copy)
    before = number(copy)
    Folder(copy).revoke(read_certificate(copy / "demo-tpp/qwac.pem"), REAL)
    assert number(copy) == before + 1


# What others say of a revoked one


def by_openssl(folder: Path, file: Path) -> bool:
    lists = ("-CRLfile", str(folder / "crl.pem"), "-CRLfile", str(folder / "root-crl.pem"))
    at = ("-attime", str(int((REAL + timedelta(hours=1)).timestamp())))
    words = ("openssl", "verify", "-crl_check_all", *at, "-CAfile", str(folder / "authorities.pem"), *lists, str(file))
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


def by_pyhanko(folder: Path, file: Path) -> bool:
    """A library of its own, that wants a list for each certificate of the chain."""
    from asn1crypto import crl
    from asn1crypto.x509 import Certificate
    from pyhanko_certvalidator import CertificateValidator, ValidationContext
    from pyhanko_certvalidator.errors import RevokedError

    def der(place: Path) -> Certificate:
        return Certificate.load(read_certificate(place).public_bytes(Encoding.DER))

    context = ValidationContext(
        trust_roots=[der(folder / "root.pem")],
        other_certs=[der(folder / "issuing.pem")],
        crls=[
            crl.CertificateList.load(x509.load_pem_x509_crl((folder / name).read_bytes()).public_bytes(Encoding.DER))
            for name in ("crl.pem", "root-crl.pem")
        ],
        revocation_mode="require",
        moment=REAL + timedelta(hours=1),
        allow_fetching=False,
    )
    validator = CertificateValidator(der(file), validation_context=context)
    try:
        with ThreadPoolExecutor(1) as thread:  # of its own: a browser's tests may have a loop in this one
            thread.submit(lambda: asyncio.run(validator.async_validate_usage(set()))).result()
    except RevokedError:
        return False
    return True


@pytest.mark.parametrize("believes", [by_openssl, by_pyhanko])
def test_a_revoked_certificate_is_refused_by_others_too(
    believes: Callable[[Path, Path], bool], path: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "pki"
    shutil.copytree(path, copy)
    file = copy / "demo-tpp/qwac.pem"
    assert believes(copy, file)
    Folder(copy).revoke(read_certificate(file), REAL)
    assert not believes(copy, file)
    assert believes(copy, copy / "demo-tpp/qseal.pem")


# Where the files are


@pytest.fixture
def served(path: Path) -> Tpp:
    """By a bank whose controls need a key."""
    worlds = WorldRegistry(make_first_beginning(seed=7, at=REAL, rate=0), REAL.timestamp)
    return Tpp(assemble(worlds, trust=Trust(path), lock=Lock("secret")))


def test_what_certificates_name_is_served_without_a_key(served: Tpp, path: Path) -> None:
    points = extension(path / "demo-tpp/qwac.pem", x509.CRLDistributionPoints)
    issuers = extension(path / "demo-tpp/qwac.pem", x509.AuthorityInformationAccess)
    assert points is not None and issuers is not None
    named = [str(points.value), str(issuers.value)]
    for name, media_type in (("issuing.crl", "application/pkix-crl"), ("issuing.cer", "application/pkix-cert")):
        assert any(f"http://127.0.0.1:8080/_sandbox/pki/{name}" in text for text in named)
        reply = served.http.get(f"/_sandbox/pki/{name}")
        assert (reply.status_code, reply.content_type) == (200, media_type)
    assert x509.load_der_x509_crl(served.http.get("/_sandbox/pki/root.crl").data).issuer is not None
    issuer = x509.load_der_x509_certificate(served.http.get("/_sandbox/pki/issuing.cer").data)
    assert issuer == read_certificate(path / "issuing.pem")
    assert refused(served.http.get("/_sandbox/clock"), 401, "SBX-0401")


@pytest.mark.parametrize("name", ["issuing.key", "root.key", "server.cer", "x.crl", "..", "root.pem", "root", ".crl"])
def test_nothing_else_of_the_folder_is_served(served: Tpp, name: str) -> None:
    assert served.http.get(f"/_sandbox/pki/{name}").status_code in (401, 404)
    assert b"PRIVATE" not in served.http.get(f"/_sandbox/pki/{name}").data


def test_they_are_served_where_the_controls_are_off_and_not_without_a_pki(path: Path) -> None:
    worlds = WorldRegistry(make_first_beginning(seed=7, at=REAL, rate=0), REAL.timestamp)
    off = Tpp(assemble(worlds, trust=Trust(path), lock=Lock(here=False)))
    assert off.http.get("/_sandbox/pki/root.cer").status_code == 200
    assert off.http.get("/_sandbox/clock").status_code == 404
    assert Tpp(assemble(worlds)).http.get("/_sandbox/pki/root.cer").status_code == 404


def test_another_address_is_named_where_one_is_given(tmp_path: Path) -> None:
    Folder(tmp_path / "pki").init(REAL, address="https://bank.example/sandbox/")
    points = extension(made(tmp_path / "pki", QWAC), x509.CRLDistributionPoints)
    assert points is not None and "https://bank.example/sandbox/_sandbox/pki/issuing.crl" in str(points.value)


@pytest.mark.parametrize("address", ["bank.example", "ftp://bank.example", "http://", "http://a b", "http://a/?x=1"])
def test_an_address_that_is_none_is_refused(tmp_path: Path, address: str) -> None:
    with pytest.raises(ValueError, match="an address is like"):
        Folder(tmp_path / "pki").init(REAL, address=address)
    assert not (tmp_path / "pki").exists()
