"""The client's certificate before all else (service 5.1, choice 9): 495 in the bank's body for every failure."""

import base64
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from hypothesis import given, settings
from hypothesis import strategies as st
from werkzeug.test import TestResponse

from sandbox.pki.certificates import QSEAL, Qualified, read_statements, write_statements
from sandbox.pki.folder import Folder, read_certificate
from sandbox.pki.trust import Untrusted, parse_certificate, read_bearer
from tests.pki.conftest import REAL, Bank, Issue
from tests.stories import explained
from tests.tpp import Tpp, headers, refused, version


def shown(place: Path) -> str:
    """As nginx passes it on."""
    return quote(place.read_text())


def call(tpp: Tpp, certificate: str | None, sender: str = "127.0.0.1", path: str = "/payments/x") -> TestResponse:
    given = headers() if certificate is None else headers() | {"X-Client-Cert": certificate}
    return tpp.http.post(path, headers=given, environ_overrides={"REMOTE_ADDR": sender})


@pytest.fixture
def tpp(bank: Bank) -> Tpp:
    return bank(client_certificates="proxy")


def test_a_believed_certificate_passes(tpp: Tpp, issue: Issue) -> None:
    assert refused(call(tpp, shown(issue())), 404, "SBX-0404")


def test_it_may_come_as_base64_of_der_too(tpp: Tpp, issue: Issue) -> None:
    der = base64.b64encode(read_certificate(issue()).public_bytes(Encoding.DER)).decode()
    assert refused(call(tpp, der), 404, "SBX-0404")
    assert refused(call(tpp, f":{der}:"), 404, "SBX-0404")


WRONG: tuple[tuple[dict[str, object], str], ...] = (
    ({"fault": "expired"}, "it expired on 2026-11-19"),
    ({"fault": "not-yet-valid"}, "not valid before 2026-12-20"),
    ({"fault": "revoked"}, "it was revoked on"),
    ({"fault": "wrong-role"}, "needs the role PSP_PI, and it bears PSP_IC"),
    ({"fault": "wrong-organisation"}, "the client demo-tpp is registered as 'PSDBE-SBX-DEMO01'"),
    ({"fault": "unknown-issuer"}, "no authority that the bank trusts"),
    ({"fault": "broken-chain"}, "its chain is broken"),
    ({"fault": "weak-key"}, "RSA of 1024 bits"),
    ({"kind": QSEAL}, "a QWAC is needed, and it is QSealC"),
)


@pytest.mark.parametrize("wrong, told", WRONG)
def test_each_failure_is_495_and_says_why(tpp: Tpp, issue: Issue, wrong: dict[str, str], told: str) -> None:
    reply = call(tpp, shown(issue(**wrong)))
    assert refused(reply, 495, "SBX-0495-000001", told)
    assert reply.status == "495 SSL Certificate Error"
    assert reply.headers["Response-ID"]


@pytest.mark.parametrize("fault, bound", [("expired", "valid_until"), ("not-yet-valid", "valid_from")])
def test_the_dates_that_decided_are_explained(tpp: Tpp, issue: Issue, fault: str, bound: str) -> None:
    reply = call(tpp, shown(issue(fault=fault)))
    decided = explained(tpp, reply.headers["Response-ID"])["decided_by"]
    assert set(decided) == {bound, "judged_at"}


def test_the_role_is_that_of_the_call(tpp: Tpp, issue: Issue) -> None:
    only_accounts = shown(issue(roles=("PSP_AI",)))
    assert refused(call(tpp, only_accounts, path="/payments/sepa-credit-transfers"), 495, "SBX-0495", "PSP_PI")
    given = headers(accept=version(2)) | {"X-Client-Cert": only_accounts}
    assert refused(tpp.http.get("/accounts", headers=given), 401, "GEN-1203-100003")


def test_at_the_token_call_the_client_is_that_of_the_credentials(tpp: Tpp, issue: Issue) -> None:
    given = {"X-Client-Cert": shown(issue())}
    assert refused(tpp.http.post("/token", headers=given, auth=("other-tpp", "x")), 495, "SBX-0495", "other-tpp")
    assert refused(tpp.http.post("/token", headers=given, auth=("demo-tpp", "x")), 406, "SBX-0406")


@pytest.mark.parametrize(
    "header, told",
    [
        (None, "the header X-Client-Cert is missing"),
        ("", "missing"),
        ("{http.request.tls.client.certificate_der_base64}", "missing"),
        ("-----BEGIN%20CERTIFICATE-----%0AAAAA", "no X.509 certificate"),
        ("!!", "neither URL-encoded PEM nor Base64"),
        ("AAAA", "no X.509 certificate"),
    ],
)
def test_what_is_no_certificate_is_495_too(tpp: Tpp, header: str | None, told: str) -> None:
    assert refused(call(tpp, header), 495, "SBX-0495", told)


def test_two_certificates_are_none(tpp: Tpp, issue: Issue) -> None:
    """A proxy may have added its header behind that of the caller."""
    right = shown(issue())
    for other in (right, "!!"):
        assert refused(call(tpp, f"{right},{other}"), 495, "SBX-0495", "has a comma")


@pytest.mark.parametrize("sender", ["192.0.2.7", "2001:db8::1", "", "nonsense"])
def test_the_header_is_believed_from_our_own_proxies_only(tpp: Tpp, issue: Issue, sender: str) -> None:
    assert refused(call(tpp, shown(issue()), sender), 495, "SBX-0495", "none of the trusted proxies")


@pytest.mark.parametrize("sender", ["127.0.0.1", "127.3.2.1", "::1", "::ffff:127.0.0.1"])
def test_the_loopback_addresses_are_trusted_proxies(tpp: Tpp, issue: Issue, sender: str) -> None:
    assert refused(call(tpp, shown(issue()), sender), 404, "SBX-0404")


def test_other_proxies_and_another_header_can_be_set(bank: Bank, issue: Issue) -> None:
    tpp = bank(client_certificates="proxy", trusted_proxies=("10.0.0.0/8",), certificate_header="Client-Cert")
    given = headers() | {"Client-Cert": shown(issue())}
    assert tpp.http.get("/x", headers=given, environ_overrides={"REMOTE_ADDR": "10.1.2.3"}).status_code == 404
    assert tpp.http.get("/x", headers=given, environ_overrides={"REMOTE_ADDR": "11.1.2.3"}).status_code == 495


def test_in_tls_mode_a_header_is_not_even_looked_at(bank: Bank, issue: Issue) -> None:
    tpp = bank(client_certificates="tls")
    assert refused(call(tpp, shown(issue())), 495, "SBX-0495", "TLS handshake")


def test_off_asks_for_nothing(bank: Bank) -> None:
    assert refused(call(bank(), None), 404, "SBX-0404")


def test_without_a_pki_nobody_is_trusted(bank: Bank, issue: Issue) -> None:
    assert refused(call(bank(trusting=False, client_certificates="proxy"), shown(issue())), 495, "SBX-0495", "--pki")


def test_the_controls_and_the_pages_need_none(tpp: Tpp) -> None:
    assert tpp.control("GET", "/health").status_code == 200
    assert tpp.http.get("/psu/sign/none").status_code != 495


def test_by_bank_time_advancing_a_year_meets_495(bank: Bank, issue: Issue) -> None:
    by_real = bank(client_certificates="proxy")
    by_bank = bank(client_certificates="proxy", certificate_clock="bank")
    for tpp in (by_real, by_bank):
        assert call(tpp, shown(issue())).status_code == 404
        tpp.advance("366d")
    assert call(by_real, shown(issue())).status_code == 404
    assert refused(call(by_bank, shown(issue())), 495, "SBX-0495", "it expired")


@pytest.mark.parametrize(
    "variants, today, after_a_year",
    [
        ({}, (404, 404), (404, 404)),
        ({"client_certificates": "proxy"}, (495, 404), (495, 404)),
        ({"client_certificates": "proxy", "certificate_clock": "bank"}, (495, 404), (495, 495)),
        ({"client_certificates": "tls"}, (495, 495), (495, 495)),
    ],
)
def test_each_value_of_the_axes_of_certificates_shows_on_the_wire(
    bank: Bank, issue: Issue, variants: dict[str, str], today: tuple[int, int], after_a_year: tuple[int, int]
) -> None:
    """Without a certificate, and with one that lasts a year."""
    tpp = bank()
    if variants:
        assert tpp.control("PATCH", "/settings", variants=variants).status_code == 200
    for expected in (today, after_a_year):
        assert (call(tpp, None).status_code, call(tpp, shown(issue())).status_code) == expected
        tpp.advance("366d")
    met = {row["name"] for row in tpp.listed("variants") if row["met"]}
    assert ("certificate_clock" in met) == bool(variants)


def test_a_revocation_is_known_with_the_next_call(tpp: Tpp, issue: Issue, pki: Path) -> None:
    place = issue(roles=("PSP_PI", "PSP_AS"))
    assert call(tpp, shown(place)).status_code == 404
    Folder(pki).revoke(read_certificate(place), REAL + timedelta(seconds=1))
    assert refused(call(tpp, shown(place)), 495, "SBX-0495", "revoked")


def test_an_authority_is_no_client(tpp: Tpp, pki: Path) -> None:
    assert refused(call(tpp, shown(pki / "issuing.pem")), 495, "SBX-0495", "authority's own")
    assert refused(call(tpp, shown(pki / "server.pem")), 495, "SBX-0495", "no PSD2 certificate")


# Reading


@pytest.mark.parametrize("roles", [(), ("PSP_AS",), ("PSP_AS", "PSP_PI", "PSP_AI", "PSP_IC")])
def test_statements_come_back_as_they_were_written(roles: tuple[str, ...]) -> None:
    said = Qualified(QSEAL, roles, "Nationale Bank van België", "BE-NBB")
    assert read_statements(write_statements(said)) == said


SOUND = write_statements(Qualified(QSEAL, ("PSP_PI",), "Authority", "BE-SBX"))


def spoilt_at(change: tuple[int, bytes]) -> bytes:
    place, piece = change
    return SOUND[:place] + piece + SOUND[place + len(piece) :]


SPOILT = st.tuples(st.integers(0, len(SOUND) - 1), st.binary(min_size=1, max_size=3)).map(spoilt_at)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=60) | SPOILT)
def test_statements_of_any_bytes_are_read_or_refused(content: bytes) -> None:
    with suppress(ValueError):
        assert isinstance(read_statements(content), Qualified)


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_certificates_of_any_bytes_are_read_or_refused(data: st.DataObject, pki: Path) -> None:
    der = read_certificate(pki / "issuing.pem").public_bytes(Encoding.DER)
    place = data.draw(st.integers(0, len(der) - 1))
    spoilt = der[:place] + data.draw(st.binary(max_size=4)) + der[place + data.draw(st.integers(0, 4)) :]
    with suppress(Untrusted):
        found = parse_certificate(spoilt)
        assert isinstance(found, x509.Certificate)
        read_bearer(found)


# Settings


@pytest.mark.parametrize(
    "name, value",
    [
        ("trusted_proxies", "10.0.0.0/8"),
        ("trusted_proxies", ["everyone"]),
        ("trusted_proxies", [1]),
        ("certificate_header", "X: y"),
        ("certificate_header", ""),
    ],
)
def test_a_setting_that_says_nothing_is_refused(tpp: Tpp, name: str, value: object) -> None:
    assert refused(tpp.control("PATCH", "/settings", **{name: value}), 400, "SBX-0400", name)


def test_proxies_can_be_set_while_it_runs(tpp: Tpp, issue: Issue) -> None:
    changed = tpp.control("PATCH", "/settings", trusted_proxies=["192.0.2.0/24", "2001:db8::1"])
    assert changed.status_code == 200, changed.text
    assert call(tpp, shown(issue()), "192.0.2.7").status_code == 404
    assert call(tpp, shown(issue()), "2001:db8::1").status_code == 404
    assert call(tpp, shown(issue()), "127.0.0.1").status_code == 495
