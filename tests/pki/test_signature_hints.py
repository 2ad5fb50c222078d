"""What is told to a TPP whose Digest, Date or Signature is nearly right (service 5.8, choice 9)."""

import json
from base64 import b64encode, urlsafe_b64encode
from email.utils import formatdate
from hashlib import sha256
from typing import Any

import pytest
from jwcrypto.jws import JWS

from sandbox.pki.certificates import QSEAL
from tests.pki.conftest import REAL, Bank, Issue
from tests.pki.keys import ELLIPTIC, RSA, STRANGE, digest, signed
from tests.pki.test_signatures import BODY, NOW, post, registered, sealed
from tests.tpp import Tpp, payment, refused

ACCENTED = json.dumps(payment(creditor_name="Jérôme"), ensure_ascii=False).encode()
ESCAPED = json.dumps(payment(creditor_name="Jérôme")).encode()


@pytest.fixture
def tpp(bank: Bank) -> Tpp:
    return registered(bank(signatures="strict"))


def plain(body: bytes, key: Any = ELLIPTIC, **header: Any) -> str:
    """RFC 7797: over the bytes as they are, detached."""
    name = {"alg": "ES256" if key in (ELLIPTIC, STRANGE) else "PS256", "kid": key.get("kid")}
    made = JWS(body)
    made.add_signature(key, protected=json.dumps(name | {"b64": False, "crit": ["b64"]} | header))
    made.detach_payload()
    compact: str = made.serialize(compact=True)
    return compact


@pytest.mark.parametrize("key", [ELLIPTIC, RSA])
def test_b64_false_is_taken_as_the_detached_form(tpp: Tpp, key: Any) -> None:
    assert post(tpp, signature=plain(BODY, key)).status_code == 201


def test_b64_true_called_critical_is_the_usual_form(tpp: Tpp) -> None:
    assert post(tpp, signature=signed(BODY, b64=True, crit=["b64"])).status_code == 201


def headed(**header: Any) -> str:
    head = urlsafe_b64encode(json.dumps({"alg": "ES256", "kid": "ec-1", **header}).encode()).decode().rstrip("=")
    return f"{head}..{plain(BODY).rpartition('.')[2]}"


WRONG = (
    (plain(BODY, STRANGE), "does not verify over BASE64URL(header).body"),
    (plain(BODY + b"\n"), "it verifies over the body with a newline at its end"),
    (plain(BODY).replace("..", ".e30."), "that form is detached"),
    (headed(b64=False), "wants crit: ['b64']"),
    (headed(b64="no", crit=["b64"]), "neither true nor false"),
    (headed(crit=["b64"]), "neither true nor false"),
    (headed(crit=[]), "understands ['b64'] alone"),
    (headed(crit=["b64", "exp"], b64=False), "understands ['b64'] alone"),
)


@pytest.mark.parametrize("header, told", WRONG)
def test_b64_false_is_refused_where_it_does_not_hold(tpp: Tpp, header: str, told: str) -> None:
    assert refused(post(tpp, signature=header), 401, "GEN-1203-100010", told)


def test_a_date_of_mail_is_told_from_one_of_http(tpp: Tpp) -> None:
    date = formatdate(REAL.timestamp())
    assert date.endswith("-0000")
    told = "a date of HTTP ends in GMT, and -0000 is the zone of a mail's date"
    assert refused(post(tpp, date=date), 401, "GEN-1203-100008", told)
    assert post(tpp, date=formatdate(REAL.timestamp(), usegmt=True)).status_code == 201


def test_a_date_that_is_none_has_no_hint(tpp: Tpp) -> None:
    reply = post(tpp, date="yesterday -0000")
    assert refused(reply, 401, "GEN-1203-100008") and "mail" not in reply.text


def test_a_claim_that_a_library_added_is_named(tpp: Tpp) -> None:
    claims = json.dumps({**json.loads(BODY), "iat": 1795176000}).encode()
    told = "a library of JWTs has added iat"
    assert refused(post(tpp, signature=signed(claims, detached=False)), 401, "GEN-1203-100010", told)
    changed = json.dumps({**payment(creditor_name="Another"), "iat": 1}).encode()
    assert "has added" not in post(tpp, signature=signed(changed, detached=False)).text


def test_escaped_letters_are_named(tpp: Tpp) -> None:
    told = "its letters beyond ASCII as \\\\u escapes"
    reply = post(tpp, ACCENTED, signature=signed(ESCAPED))
    assert refused(reply, 401, "GEN-1203-100010") and told in reply.text
    reply = post(tpp, ACCENTED, digest=digest(ESCAPED))
    assert refused(reply, 401, "GEN-1203-100008") and told in reply.text


def test_the_colons_of_a_content_digest_are_named(tpp: Tpp) -> None:
    header = f"sha-256=:{b64encode(sha256(BODY).digest()).decode()}:"
    assert refused(post(tpp, digest=header), 401, "GEN-1203-100008", "Content-Digest (RFC 9530)")


@pytest.mark.parametrize(
    "header, told",
    [
        ('keyId="k",algorithm="rsa-sha256",headers="(request-target) date",signature="AAAA"', "older HTTP kind"),
        ("sig1=:AAAA==:", "RFC 9421"),
        ("a.b", "it has 2 parts."),
    ],
)
def test_a_signature_of_another_kind_is_told_apart(tpp: Tpp, header: str, told: str) -> None:
    assert refused(post(tpp, signature=header), 401, "GEN-1203-100010", told)


# A seal bears the role of the call


@pytest.mark.parametrize(
    "roles, told", [(("PSP_AI",), "needs the role PSP_PI, and it bears PSP_AI"), (("PSP_IC",), "needs the role PSP_PI")]
)
def test_a_seal_without_the_role_of_the_call_is_not_believed(
    bank: Bank, issue: Issue, roles: tuple[str, ...], told: str
) -> None:
    place = issue(kind=QSEAL, roles=roles)
    assert refused(post(bank(), signature=sealed(place)), 401, "GEN-1203-100010", told)


def test_a_seal_with_the_role_of_the_call_alone_is_believed(bank: Bank, issue: Issue) -> None:
    place = issue(kind=QSEAL, roles=("PSP_PI",))
    assert post(bank(), date=NOW, signature=sealed(place)).status_code == 201
