"""Digest, Date and Signature on initiations (service 5.8, choice 9), signed by a library that is not the bank's."""

import json
from base64 import b64encode, urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jwcrypto.jwk import JWK
from werkzeug.test import TestResponse

from sandbox.contract.errors import Error, Refusal
from sandbox.pki.certificates import QSEAL, QWAC
from sandbox.web.api.signatures import demand_date, demand_digest, demand_signature
from tests.pki.conftest import REAL, Bank, Issue
from tests.pki.keys import KEY_OF, PUBLIC, RSA, STRANGE, digest, signed
from tests.tpp import Tpp, payment, refused

BODY = json.dumps(payment(), indent=1).encode()
NOW = "Fri, 20 Nov 2026 12:00:00 GMT"
PATH = "/payments/sepa-credit-transfers"


@pytest.fixture
def tpp(bank: Bank) -> Tpp:
    """Of a bank that demands all three headers, with two keys registered."""
    return registered(bank(signatures="strict"))


def registered(client: Tpp) -> Tpp:
    assert client.control("PUT", "/clients/demo-tpp", keys=PUBLIC).status_code == 200
    return client


def post(tpp: Tpp, body: bytes = BODY, **changes: str | None) -> TestResponse:
    given: dict[str, str | None] = {"Digest": digest(body), "Date": NOW, "Signature": signed(body)}
    given |= {name.capitalize(): value for name, value in changes.items()}
    return tpp.call("POST", PATH, data=body, content_type="application/json", **given)


@pytest.mark.parametrize("detached", [True, False])
@pytest.mark.parametrize("algorithm", KEY_OF)
def test_a_signed_initiation_is_taken(tpp: Tpp, algorithm: str, detached: bool) -> None:
    assert post(tpp, signature=signed(BODY, algorithm, detached=detached)).status_code == 201


@pytest.mark.parametrize("name", ["Digest", "Date", "Signature"])
def test_strict_misses_what_is_not_there(tpp: Tpp, name: str) -> None:
    assert refused(post(tpp, BODY, **{name.lower(): None}), 400, "GEN-1201-100001", name)


def test_strict_holds_for_every_initiation_and_for_nothing_else(tpp: Tpp) -> None:
    assert refused(
        tpp.call("POST", "/periodic-payments/sepa-credit-transfers", json={}, accept=_version(2)),
        400,
        "GEN-1201-100001",
        "Digest",
    )
    csv = tpp.call("POST", "/bulk-payments/csv", data=b"x", content_type="text/csv", accept=_version(2))
    assert refused(csv, 400, "GEN-1201-100001", "Digest")
    payment_id = post(tpp).get_json()["payment_id"]
    assert tpp.status(payment_id).status_code == 200


def _version(number: int) -> str:
    return f"application/vnd.service.api+json; version={number}"


def test_lenient_verifies_each_when_it_is_there(bank: Bank) -> None:
    tpp = registered(bank())
    assert post(tpp, digest=None, date=None, signature=None).status_code == 201
    assert post(tpp, date=None, signature=None).status_code == 201
    assert refused(post(tpp, digest="SHA-256=AAAA", date=None, signature=None), 401, "GEN-1203-100008", "Digest")
    assert refused(post(tpp, digest=None, date="yesterday", signature=None), 401, "GEN-1203-100008", "Date")
    assert refused(post(tpp, digest=None, date=None, signature="x"), 401, "GEN-1203-100010", "Signature")


def test_off_looks_at_none_of_them(bank: Bank) -> None:
    assert post(bank(signatures="off"), digest="x", date="x", signature="x").status_code == 201


# Digest


COMPACT = json.dumps(payment(), separators=(",", ":")).encode()
DIGESTS = (
    ("SHA-256=AAAA", digest(BODY).removeprefix("SHA-256=")),
    ("MD5=AAAA", "SHA-256="),
    (digest(COMPACT), "the same JSON without blanks"),
    (digest(b""), "an empty body"),
    (digest(BODY + b"\n"), "a newline at its end"),
    (f"SHA-256={sha256(BODY).hexdigest()}", "hexadecimal"),
    (f"SHA-256={urlsafe_b64encode(sha256(BODY).digest()).decode().rstrip('=')}", "its padding"),
    ("SHA-256", "SHA-256="),
)


@pytest.mark.parametrize("header, told", DIGESTS)
def test_a_wrong_digest_is_told_with_what_the_bank_computed(tpp: Tpp, header: str, told: str) -> None:
    assert refused(post(tpp, digest=header), 401, "GEN-1203-100008", told)


def test_a_digest_may_stand_beside_others(tpp: Tpp) -> None:
    assert post(tpp, digest=f"SHA-512=AAAA, {digest(BODY)}").status_code == 201


# Date


@pytest.mark.parametrize(
    "date",
    [
        NOW,
        "Fri, 20 Nov 2026 12:02:59 GMT",
        "Fri, 20 Nov 2026 11:57:01 GMT",
        "2026-11-20T13:00:00+01:00",
        "2026-11-20T12:00:00.123Z",
    ],
)
def test_a_date_near_real_time_or_the_banks_is_taken(bank: Bank, date: str) -> None:
    at_real = registered(bank(signatures="strict"))
    assert post(at_real, date=date).status_code == 201
    elsewhere = registered(bank(signatures="strict", frozen_at=REAL.replace(year=2028)))
    assert post(elsewhere, date=date).status_code == 201
    assert post(elsewhere, date="2028-11-20T12:00:00Z").status_code == 201


@pytest.mark.parametrize(
    "date, told",
    [
        ("Fri, 20 Nov 2026 12:03:01 GMT", "3 minutes"),
        ("2028-11-20T12:00:00Z", "2026-11-20T12:00:00Z"),
        ("2026-11-20T12:00:00", "no time zone"),
        ("1795176000", "neither"),
        ("Fri, 32 Nov 2026 12:00:00 GMT", "2026-11-32 does not exist: November 2026 has 30 days"),
        ("2027-02-30T12:00:00Z", "2027-02-30 does not exist: February 2027 has 28 days"),
        ("1 Nov 99999999999 12:00:00", "neither"),
        ("20 Nov 2026 12:00:00 GMT", "neither"),
    ],
)
def test_another_date_is_refused(tpp: Tpp, date: str, told: str) -> None:
    assert refused(post(tpp, date=date), 401, "GEN-1203-100008", told)


# Signature


def header_of(**fields: Any) -> str:
    return urlsafe_b64encode(json.dumps(fields).encode()).decode().rstrip("=")


def der_encoded(compact: str) -> str:
    head, payload, proof = compact.split(".")
    raw = urlsafe_b64decode(proof + "==")
    der = encode_dss_signature(int.from_bytes(raw[:32]), int.from_bytes(raw[32:]))
    return f"{head}.{payload}.{urlsafe_b64encode(der).decode().rstrip('=')}"


HEAD, _, PROOF = signed(BODY).split(".")
SIGNATURES = (
    ("", "1 parts"),
    ("a.b", "2 parts"),
    ("a.b.c.d", "4 parts"),
    ("!.b.c", "header part"),
    ("e30=..x", "header part"),
    (f"{urlsafe_b64encode(b'[1]').decode().rstrip('=')}..x", "no JSON object"),
    (f"{header_of(alg='none')}..", "its alg is 'none'"),
    (f"{header_of(alg='HS256', kid='ec-1')}..{PROOF}", "ES256, RS256, PS256"),
    (f"{header_of(alg='ES256')}..{PROOF}", "names no key"),
    (f"{header_of(alg='ES256', kid='other')}..{PROOF}", "registered are ec-1, rsa-1"),
    (f"{header_of(alg='ES256', kid=7)}..{PROOF}", "'7' is not known"),
    (f"{header_of(alg='RS256', kid='ec-1')}..{PROOF}", "does not go with the key 'ec-1'"),
    (f"{header_of(alg='ES256', kid='ec-1', crit=['exp'], exp=1)}..{PROOF}", "crit"),
    (f"{header_of(alg='ES256', kid='ec-1', b64=False)}..{PROOF}", "b64"),
    (f"{HEAD}..{PROOF}=", "signature part"),
    (f"{HEAD}..{PROOF[:-8]}AAAAAAAA", f"the {len(BODY)} bytes received"),
    (f"{HEAD}.e30.{PROOF}", "differ at byte 1"),
    (der_encoded(signed(BODY)), "as DER is"),
    (signed(BODY, key=STRANGE), "does not verify"),
    (signed(COMPACT), "it verifies over the same JSON without blanks"),
    (signed(COMPACT, detached=False), "it is the same JSON without blanks"),
    (signed(b""), "an empty body"),
    (signed(BODY, "PS256", key=RSA, kid="ec-1"), "does not go with"),
    (f"{header_of(alg='ES256', x5c='AAAA')}..{PROOF}", "list of 1 to 5"),
    (f"{header_of(alg='ES256', x5c=['!'])}..{PROOF}", "DER in Base64"),
    (f"{header_of(alg='ES256', x5c=['AAAA'])}..{PROOF}", "no X.509 certificate"),
)


@pytest.mark.parametrize("header, told", SIGNATURES)
def test_each_way_to_sign_wrongly_is_told_apart(tpp: Tpp, header: str, told: str) -> None:
    assert refused(post(tpp, signature=header), 401, "GEN-1203-100010", told)


def test_a_changed_body_is_noticed(tpp: Tpp) -> None:
    changed = BODY.replace(b"12.50", b"99.99")
    reply = post(tpp, changed, signature=signed(BODY))
    assert refused(reply, 401, "GEN-1203-100010", "does not verify")


def test_a_key_of_another_client_does_not_sign_for_this_one(bank: Bank) -> None:
    tpp = bank()
    tpp.control("PUT", "/clients/other-tpp", keys=PUBLIC)
    assert refused(post(tpp, signature=signed(BODY)), 401, "GEN-1203-100010", "registered no key")


def sealed(place: Path, algorithm: str = "ES256") -> str:
    """Signed with a QSealC that travels in x5c."""
    key = JWK.from_pem(place.with_suffix(".key").read_bytes())
    shown = json.loads(place.with_suffix(".jwk").read_text())["x5c"]
    return signed(BODY, algorithm, key, kid=None, x5c=shown)


@pytest.mark.parametrize("key, algorithm", [("ec", "ES256"), ("rsa", "RS256"), ("rsa", "PS256")])
def test_a_seal_certificate_signs_without_being_registered(bank: Bank, issue: Issue, key: str, algorithm: str) -> None:
    place = issue(kind=QSEAL, key=key)
    assert load_pem_private_key(place.with_suffix(".key").read_bytes(), None)
    assert post(bank(signatures="strict"), signature=sealed(place, algorithm)).status_code == 201


@pytest.mark.parametrize(
    "wrong, told",
    [
        ({"fault": "expired"}, "expired"),
        ({"fault": "not-yet-valid"}, "not valid before"),
        ({"fault": "revoked"}, "revoked"),
        ({"fault": "wrong-organisation"}, "PSDBE-SBX-STRANGER"),
        ({"fault": "unknown-issuer"}, "issuer"),
        ({"fault": "broken-chain"}, "chain is broken"),
        ({"kind": QWAC}, "a QSealC is needed"),
    ],
)
def test_a_seal_certificate_must_be_believed(bank: Bank, issue: Issue, wrong: dict[str, str], told: str) -> None:
    place = issue(**({"kind": QSEAL} | wrong))
    assert refused(post(bank(), signature=sealed(place)), 401, "GEN-1203-100010", told)


def test_without_a_pki_no_seal_is_believed(bank: Bank, issue: Issue) -> None:
    reply = post(bank(trusting=False), signature=sealed(issue(kind=QSEAL)))
    assert refused(reply, 401, "GEN-1203-100010", "--pki")


# Whatever comes


KEYS = tuple(json.dumps(key) for key in PUBLIC)
PIECES = st.sampled_from([HEAD, PROOF, "", ".", "..", "e30", "eyJhbGciOiJFUzI1NiJ9", "=", "\x00", "é"]) | st.text()


def nobody(der: bytes) -> Any:
    raise AssertionError("no certificate was shown")


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.lists(PIECES, max_size=6).map("".join), st.binary(max_size=40))
def test_whatever_comes_is_refused_and_nothing_breaks(text: str, body: bytes) -> None:
    checks: tuple[Callable[[], object], ...] = (
        lambda: demand_signature(text, body, KEYS, nobody),
        lambda: demand_digest(text, body),
        lambda: demand_date(text, REAL, lambda: REAL, REAL - REAL),
    )
    for check in checks:
        with pytest.raises(Refusal):
            check()


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.sampled_from(["alg", "kid", "x5c", "typ", "jwk", "crit", "exp"]), st.one_of(
    st.none(), st.integers(), st.text(max_size=5), st.lists(st.text(max_size=4), max_size=2),
    st.sampled_from(["ES256", "ec-1", "RS256", "rsa-1"]),
)))  # fmt: skip
def test_whatever_a_header_says_it_is_refused(fields: dict[str, Any]) -> None:
    def unbelieved(der: bytes) -> Any:
        raise Refusal(Error.SECURITY_PROOF_REFUSED, input="Signature", why="it is nobody")

    with pytest.raises(Refusal):
        demand_signature(f"{header_of(**fields)}..{PROOF}", b"another body", KEYS, unbelieved)


def test_the_digest_is_base64_of_the_bytes() -> None:
    demand_digest(f"SHA-256={b64encode(sha256(b'abc').digest()).decode()}", b"abc")
