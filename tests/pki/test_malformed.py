"""What cannot be parsed is refused: certificates 495, signatures 401, keys 400; never a 500 (service 5.1, choice 9)."""

import json
from base64 import b64encode
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from shutil import copytree
from typing import Any
from urllib.parse import quote_from_bytes

import pytest
from click.testing import CliRunner
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.serialization import Encoding
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from werkzeug.test import TestResponse

from sandbox.bank.records import RegisteredClient
from sandbox.cli import main
from sandbox.contract.errors import Error, Refusal
from sandbox.pki import certificates
from sandbox.pki.certificates import QSEAL, QWAC, Qualified
from sandbox.pki.folder import Folder
from sandbox.pki.trust import Bearer, Trust, Untrusted, parse_certificate
from sandbox.server_address import URL
from sandbox.web.api.certificates import TLS_KEY, seal_key
from sandbox.web.api.signatures import demand_date, demand_digest, demand_signature
from tests.pki.conftest import DEMO, REAL, Bank, Issue
from tests.pki.keys import KEY_OF, PUBLIC, signed
from tests.pki.malformed import ANY, HEADERS, content_of, der_of, harmed, odd_keys, part_of, signed_again
from tests.tpp import Tpp, headers, payment, refused

# The same examples in every run; one bank serves all examples of a test, for a refused call leaves nothing behind.
ALWAYS = settings(
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
BODY = json.dumps(payment()).encode()
CLIENT = RegisteredClient("demo-tpp", "demo-secret", name="Demo", organisation=DEMO)
DATES = ("Fri, 20 Nov 2026 12:00:00 GMT", "2026-11-20T13:00:00+01:00", "0001-01-01T00:00:00+23:59", "2026-W47-5T12Z")
KEYS = tuple(json.dumps(key) for key in PUBLIC)


@pytest.fixture(scope="module")
def sound(issue: Issue) -> list[bytes]:
    return [der_of(issue(kind=kind, key=key)) for kind in (QWAC, QSEAL) for key in ("ec", "rsa")]


@pytest.fixture(scope="module")
def trust(pki: Path) -> Trust:
    return Trust(pki)


# The readers


@ALWAYS
@given(data=st.data())
def test_a_certificate_with_any_bytes_changed_is_judged_or_untrusted(
    data: st.DataObject, trust: Trust, sound: list[bytes]
) -> None:
    content = data.draw(harmed(data.draw(st.sampled_from(sound))))
    with suppress(Untrusted):
        assert isinstance(trust.judge(parse_certificate(content), QWAC, REAL), Bearer)


@ALWAYS
@given(data=st.data())
def test_so_is_one_that_the_authority_itself_has_signed(
    data: st.DataObject, trust: Trust, pki: Path, sound: list[bytes]
) -> None:
    der = data.draw(st.sampled_from(sound))
    content = signed_again(der, data.draw(harmed(content_of(der))), pki)
    with suppress(Untrusted):
        assert isinstance(trust.judge(parse_certificate(content), QWAC, REAL), Bearer)
    with suppress(Refusal):
        assert seal_key(trust, CLIENT, "PIS", lambda: REAL, content).key_type in ("EC", "RSA")


def test_one_that_is_signed_again_unchanged_is_believed(trust: Trust, pki: Path, sound: list[bytes]) -> None:
    again = signed_again(sound[0], content_of(sound[0]), pki)
    assert trust.judge(parse_certificate(again), QWAC, REAL).organisation == DEMO


@ALWAYS
@given(text=st.sampled_from([signed(BODY, name) for name in KEY_OF]).flatmap(lambda one: harmed(one.encode())))
def test_a_signature_with_any_bytes_changed_is_refused(text: bytes) -> None:
    with suppress(Refusal):  # the last letter of BASE64URL has bits to spare
        demand_signature(text.decode("latin-1"), BODY, KEYS, unbelieved)


@ALWAYS
@given(header=HEADERS, algorithm=st.sampled_from(list(KEY_OF)))
def test_a_signature_whose_header_holds_anything_is_refused(header: dict[str, Any], algorithm: str) -> None:
    kid = KEY_OF[algorithm].get("kid")
    _, body, proof = signed(BODY, algorithm).split(".")
    with pytest.raises(Refusal):
        demand_signature(f"{part_of({'alg': algorithm, 'kid': kid} | header)}.{body}.{proof}x", BODY, KEYS, unbelieved)


def unbelieved(der: bytes) -> Any:
    raise Refusal(Error.SECURITY_PROOF_REFUSED, input="Signature", why="it is nobody's")


@ALWAYS
@given(data=st.data(), content=st.binary(max_size=40))
def test_a_date_or_digest_with_any_letters_changed_is_taken_or_refused(data: st.DataObject, content: bytes) -> None:
    dates = (
        "Fri, 20 Nov 2026 12:00:00 GMT",
        "2026-11-20T13:00:00+01:00",
        "0001-01-01T00:00:00+23:59",
        "2026-W47-5T12Z",
    )
    text = data.draw(harmed(data.draw(st.sampled_from(dates)).encode())).decode("latin-1")
    with suppress(Refusal):
        demand_date(text, REAL, lambda: REAL, timedelta(minutes=3))
    with suppress(Refusal):
        demand_digest(text, content)


# The whole bank


def pem(der: bytes) -> str:
    """As nginx passes it on."""
    lines = b"-----BEGIN CERTIFICATE-----\n" + b64encode(der) + b"\n-----END CERTIFICATE-----\n"
    return quote_from_bytes(lines)


def spoilt(der: bytes, pki: Path) -> st.SearchStrategy[bytes]:
    return harmed(der) | harmed(content_of(der)).map(lambda content: signed_again(der, content, pki))


@pytest.fixture
def tpp(bank: Bank) -> Tpp:
    return bank(client_certificates="proxy")


@ALWAYS
@given(data=st.data())
def test_whatever_a_proxy_passes_on_is_495_or_believed(
    data: st.DataObject, tpp: Tpp, pki: Path, sound: list[bytes]
) -> None:
    content = data.draw(spoilt(sound[0], pki))
    shown = data.draw(st.sampled_from([b64encode(content).decode(), pem(content)]))
    reply = tpp.http.post("/payments/x", headers=headers() | {"X-Client-Cert": shown})
    assert reply.status_code == 404 or refused(reply, 495, "SBX-0495-000001")


@ALWAYS
@given(data=st.data())
def test_whatever_a_handshake_gave_is_495_or_believed(
    data: st.DataObject, bank_of_tls: Tpp, pki: Path, sound: list[bytes]
) -> None:
    given = {TLS_KEY: data.draw(spoilt(sound[1], pki))}
    reply = bank_of_tls.http.post("/payments/x", headers=headers(), environ_overrides=given)
    assert reply.status_code == 404 or refused(reply, 495, "SBX-0495-000001")


@pytest.fixture
def bank_of_tls(bank: Bank) -> Tpp:
    return bank(client_certificates="tls")


@pytest.fixture
def signing(bank: Bank) -> Tpp:
    tpp = bank()
    assert tpp.control("PUT", "/clients/demo-tpp", keys=PUBLIC).status_code == 200
    return tpp


def pay(tpp: Tpp, signature: str) -> TestResponse:
    path = "/payments/sepa-credit-transfers"
    return tpp.call("POST", path, data=BODY, content_type="application/json", Signature=signature)


@ALWAYS
@given(data=st.data())
def test_whatever_stands_in_x5c_is_401_or_believed(
    data: st.DataObject, signing: Tpp, pki: Path, sound: list[bytes]
) -> None:
    chain = [b64encode(data.draw(spoilt(sound[2], pki))).decode()]
    header = part_of({"alg": "ES256", "x5c": data.draw(st.just(chain) | ANY)})
    assert refused(pay(signing, f"{header}..{'A' * 86}"), 401, "GEN-1203-100010")


@ALWAYS
@given(key=odd_keys())
def test_a_key_with_anything_in_it_is_400_or_verifies_like_any_other(key: dict[str, Any], signing: Tpp) -> None:
    reply = signing.control("PUT", "/clients/other-tpp", keys=[key])
    assert reply.status_code == 200 or refused(reply, 400, "", "keys")
    if reply.status_code == 200:
        other = Tpp(signing.http.application, client_id="other-tpp")
        for algorithm in KEY_OF:
            _, _, proof = signed(BODY, algorithm).split(".")
            text = f"{part_of({'alg': algorithm, 'kid': key['kid']})}..{proof}"
            reply = pay(other, text)
            assert reply.status_code == 201 or refused(reply, 401, "GEN-1203-100010")


@pytest.mark.parametrize("kind", [["EC"], {"kty": "EC"}, None, 1, True, "oct"])
def test_a_key_of_no_kind_is_400(signing: Tpp, kind: Any) -> None:
    reply = signing.control("PUT", "/clients/demo-tpp", keys=[PUBLIC[0] | {"kty": kind}])
    assert refused(reply, 400, "", "its kty must be EC or RSA")


# Keys of other kinds, the list of revocations, and the command


def seal_of(private: Any, pki: Path, monkeypatch: pytest.MonkeyPatch, kind: str = QSEAL) -> bytes:
    """A sound certificate for a key that signatures of the contract cannot use."""
    monkeypatch.setattr(certificates, "make_key", lambda kind: private)
    said = Qualified(kind, ("PSP_PI",), "Authority", "BE-SBX")
    wanted = certificates.CertificateRequest("odd", DEMO, said, REAL - timedelta(days=1), REAL + timedelta(days=9))
    served = certificates.FileAddresses(URL)
    made = certificates.make_certificate(wanted, None, Folder(pki).read_issuing(), REAL, served)
    return made.certificate.public_bytes(Encoding.DER)


@pytest.mark.parametrize(
    "make, told",
    [
        (lambda: ec.generate_private_key(ec.BrainpoolP256R1()), "the curve brainpoolP256r1"),
        (lambda: ec.generate_private_key(ec.SECP384R1()), "the curve secp384r1"),
        (ed25519.Ed25519PrivateKey.generate, "neither RSA of 2048 bits or more nor EC"),
    ],
)
def test_a_seal_with_a_key_that_signs_no_es256_is_401(
    make: Callable[[], Any], told: str, signing: Tpp, pki: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain = [b64encode(seal_of(make(), pki, monkeypatch)).decode()]
    header = part_of({"alg": "ES256", "x5c": chain})
    assert refused(pay(signing, f"{header}..{'A' * 86}"), 401, "GEN-1203-100010", told)


@pytest.mark.parametrize("harm", ["missing", "empty", "cut", "of another"])
def test_a_list_of_revocations_that_cannot_be_read_lets_nobody_in(
    harm: str, bank: Bank, pki: Path, tmp_path: Path, sound: list[bytes]
) -> None:
    copied = tmp_path / "pki"
    copytree(pki, copied)
    app = bank(client_certificates="proxy", pki=copied)
    file = copied / "crl.pem"
    match harm:
        case "missing":
            file.unlink()
        case "empty":
            file.write_bytes(b"")
        case "cut":
            file.write_bytes(file.read_bytes()[:200])
        case _:
            Folder(tmp_path / "other").init(REAL)
            file.write_bytes((tmp_path / "other" / "crl.pem").read_bytes())
    reply = app.http.post("/payments/x", headers=headers() | {"X-Client-Cert": b64encode(sound[0]).decode()})
    assert refused(reply, 495, "SBX-0495-000001", "the revocation list of the PKI")


@pytest.mark.parametrize("command", ["show", "revoke"])
def test_the_command_says_that_a_file_is_no_certificate(
    command: str, pki: Path, tmp_path: Path, sound: list[bytes]
) -> None:
    file = tmp_path / "odd.pem"
    content = content_of(sound[0]).replace(b"\xa0\x03\x02\x01\x02", b"\xa0\x03\x02\x01\x0a", 1)  # its version
    file.write_bytes(signed_again(sound[0], content, pki))
    done = CliRunner().invoke(main, ["pki", command, "--dir", str(pki), str(file)])
    assert (done.exit_code, done.output.strip()) == (1, "Error: it is no X.509 certificate: it cannot be read")
