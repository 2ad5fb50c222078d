"""service 4.0 and choice 2: what each header must be, held and refused."""

from dataclasses import replace

import pytest
from werkzeug.test import TestResponse

from sandbox.worlds.registry import WorldRegistry
from tests.tpp import CALLBACK, CHALLENGE, ISCT, SCT, XB, Tpp, refused

MISSING = "GEN-1201-100001"
INVALID = "GEN-1202-100001"
PRODUCTS = (SCT, ISCT, XB)


def is_accepted(reply: TestResponse) -> bool:
    assert reply.status_code in (200, 201), reply.text
    return True


@pytest.fixture
def payment_id(tpp: Tpp) -> str:
    return tpp.initiated()


# Request-ID

NO_VERSION_4 = (
    "",
    "7",
    "6ba7b810-9dad-11d1-80b4-00c04fd430c8",  # version 1
    "6ba7b810-9dad-51d1-80b4-00c04fd430c8",  # version 5
    "6ba7b810-9dad-41d1-c0b4-00c04fd430c8",  # another variant
    "6ba7b8109dad41d180b400c04fd430c8",
    "{6ba7b810-9dad-41d1-80b4-00c04fd430c8}",
    "urn:uuid:6ba7b810-9dad-41d1-80b4-00c04fd430c8",
    "6ba7b810-9dad-41d1-80b4-00c04fd430c8, 6ba7b810-9dad-41d1-80b4-00c04fd430c9",
)


@pytest.mark.parametrize("given", ("6ba7b810-9dad-41d1-80b4-00c04fd430c8", "6BA7B810-9DAD-41D1-A0B4-00C04FD430C8"))
def test_a_request_id_is_a_version_4_uuid(tpp: Tpp, given: str) -> None:
    assert is_accepted(tpp.initiate(request_id=given))


@pytest.mark.parametrize("given", NO_VERSION_4)
def test_a_request_id_that_is_no_version_4_uuid_is_refused(tpp: Tpp, payment_id: str, given: str) -> None:
    for reply in (tpp.initiate(request_id=given), tpp.status(payment_id, request_id=given)):
        assert refused(reply, 400, INVALID, "'Request-ID'")


def test_a_request_id_cannot_be_left_out(tpp: Tpp, payment_id: str) -> None:
    for reply in (tpp.initiate(request_id=None), tpp.status(payment_id, request_id=None)):
        assert refused(reply, 400, MISSING, "'Request-ID'")


# Client-ID


def test_a_registered_client_is_known(tpp: Tpp, other: Tpp) -> None:
    assert is_accepted(tpp.initiate())
    assert is_accepted(other.initiate())


def test_a_client_id_cannot_be_left_out(tpp: Tpp, payment_id: str) -> None:
    for reply in (tpp.initiate(client_id=None), tpp.status(payment_id, client_id=None)):
        assert refused(reply, 400, MISSING, "'Client-ID'")


@pytest.mark.parametrize("name", ("nobody", "", "DEMO-TPP", "demo-tpp, demo-tpp"))
def test_an_unknown_client_is_refused(tpp: Tpp, payment_id: str, name: str) -> None:
    for reply in (tpp.initiate(client_id=name), tpp.status(payment_id, client_id=name)):
        assert refused(reply, 401, "GEN-1203-100009", "'Client-ID'")


def test_a_client_that_is_not_active_is_refused(tpp: Tpp, payment_id: str) -> None:
    for reply in (tpp.initiate(client_id="idle-tpp"), tpp.status(payment_id, client_id="idle-tpp")):
        assert refused(reply, 403, "B14663ZZ-2100-000000", "idle-tpp")
        assert reply.get_json()["error"] == "INVALID_TPP"


def test_a_client_without_the_role_is_refused(tpp: Tpp, worlds: WorldRegistry, payment_id: str) -> None:
    clients = worlds.get("default").bank.clients
    clients["demo-tpp"] = replace(clients["demo-tpp"], roles=("AIS",))
    for reply in (tpp.initiate(), tpp.status(payment_id)):
        assert refused(reply, 403, "B14663ZZ-2100-000000", "PIS")
        assert reply.get_json()["error"] == "INVALID_TPP"


# Redirect-URI


@pytest.mark.parametrize(
    "uri",
    (
        CALLBACK,
        "http://127.0.0.1/",
        "http://127.0.0.1:1/a/b?c=d",
        "http://localhost:8000/back",
        "http://[::1]:9000/back",
        "https://tpp.example/callback",
    ),
)
def test_a_registered_callback_is_accepted(tpp: Tpp, uri: str) -> None:
    assert is_accepted(tpp.initiate(redirect_uri=uri))


UNREGISTERED = (
    "",
    "/callback",
    "https://tpp.example/callback/",
    "https://tpp.example/callback?x=1",
    "https://tpp.example/CALLBACK",
    "http://tpp.example/callback",
    "https://tpp.example:444/callback",
    "https://127.0.0.1:9000/callback",
    "http://127.0.0.1.evil.example/callback",
    "http://127.0.0.1@evil.example/callback",
    "http://evil.example/?http://127.0.0.1:9000/callback",
    "http://127.0.0.1:9000/callback#code",
    "http://127.0.0.1:99999/callback",
    "javascript:alert(1)",
)


@pytest.mark.parametrize("uri", UNREGISTERED)
def test_a_callback_that_is_not_registered_is_refused(tpp: Tpp, payment_id: str, uri: str) -> None:
    for reply in (tpp.initiate(redirect_uri=uri), tpp.status(payment_id, redirect_uri=uri)):
        assert refused(reply, 400, INVALID, "'Redirect-URI'")


@pytest.mark.parametrize("product", PRODUCTS)
def test_an_initiation_needs_a_callback(tpp: Tpp, product: str) -> None:
    assert refused(tpp.initiate(product, redirect_uri=None), 400, MISSING, "'Redirect-URI'")


def test_a_status_needs_no_callback(tpp: Tpp, payment_id: str) -> None:
    assert is_accepted(tpp.status(payment_id, redirect_uri=None))


# PKCE


@pytest.mark.parametrize(
    "method, challenge",
    [("S256", CHALLENGE), ("plain", "a" * 43), ("plain", "a" * 32), ("plain", "-._~" * 32), ("plain", "Zz09" * 32)],
)
def test_a_challenge_has_the_syntax_of_rfc_7636(tpp: Tpp, method: str, challenge: str) -> None:
    assert is_accepted(tpp.initiate(code_challenge_method=method, code_challenge=challenge))


@pytest.mark.parametrize(
    "method, challenge",
    [
        ("S256", CHALLENGE[:-1]),
        ("S256", CHALLENGE + "A"),
        ("S256", CHALLENGE[:-1] + "="),
        ("S256", CHALLENGE[:-1] + "+"),
        ("plain", "a" * 31),
        ("plain", "a" * 129),
        ("plain", "a" * 42 + "/"),
        ("plain", "a" * 42 + " a"),
        ("plain", ""),
    ],
)
def test_another_challenge_is_refused(tpp: Tpp, method: str, challenge: str) -> None:
    reply = tpp.initiate(code_challenge_method=method, code_challenge=challenge)
    assert refused(reply, 400, INVALID, "'Code-Challenge'")


@pytest.mark.parametrize("method", ("S512", "s256", "PLAIN", ""))
def test_another_challenge_method_is_refused(tpp: Tpp, method: str) -> None:
    assert refused(tpp.initiate(code_challenge_method=method), 400, INVALID, "'Code-Challenge-Method'")


@pytest.mark.parametrize("product", PRODUCTS)
def test_without_a_token_both_pkce_headers_are_mandatory(tpp: Tpp, product: str) -> None:
    without_method = tpp.initiate(product, code_challenge_method=None)
    assert refused(without_method, 400, MISSING, "'Code-Challenge-Method'")
    assert refused(tpp.initiate(product, code_challenge=None), 400, MISSING, "'Code-Challenge'")


def test_a_status_needs_no_pkce(tpp: Tpp, payment_id: str) -> None:
    assert is_accepted(tpp.status(payment_id, code_challenge=None, code_challenge_method=None))


# Authorization


@pytest.mark.parametrize("given", ("Bearer nonsense", "Bearer ", "nonsense", "", "Basic ZGVtbzpkZW1v", "Bearer a b"))
def test_a_token_that_does_not_hold_is_refused_and_does_not_fall_back_to_pkce(
    tpp: Tpp, payment_id: str, given: str
) -> None:
    for reply in (tpp.initiate(authorization=given), tpp.status(payment_id, authorization=given)):
        assert refused(reply, 401, "GEN-1203-100003", "'Authorization'")
        assert reply.headers["WWW-Authenticate"].startswith("Bearer")


def test_neither_an_initiation_nor_a_status_needs_a_token(tpp: Tpp) -> None:
    assert is_accepted(tpp.status(tpp.initiated(), authorization=None))


@pytest.mark.parametrize("host", ("my_bank.test", "bank_1:8080", "BANK_1"))
def test_a_host_may_have_an_underscore_as_the_name_of_a_container(tpp: Tpp, host: str) -> None:
    reply = tpp.initiate(host=host)
    assert reply.status_code == 201
    assert reply.headers["Location"].startswith(f"http://{host.lower()}/psu/")


@pytest.mark.parametrize("host", ("a b", "_ _", "bank_1:x", "bank_1/x", "bank_1@x", "[_]"))
def test_what_is_no_host_is_refused(tpp: Tpp, host: str) -> None:
    assert refused(tpp.initiate(host=host), 400, "GEN-1202-100001", "Host")
