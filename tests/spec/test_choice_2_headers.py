"""service 4.0 and choice 2: what each header must be, held and refused."""

from dataclasses import replace

import pytest
from werkzeug.test import TestResponse

from sandbox.assembly import assemble, first_beginning
from sandbox.machine import machine_time
from sandbox.rules.durations import read_instant
from sandbox.settings import Settings
from sandbox.worlds import Worlds
from tests.conftest import MORNING
from tests.tpp import CALLBACK, CHALLENGE, ISCT, SCT, XB, Tpp, refused, version

MISSING = "GEN-1201-100001"
INVALID = "GEN-1202-100001"
PRODUCTS = (SCT, ISCT, XB)


def is_accepted(reply: TestResponse) -> bool:
    assert reply.status_code in (200, 201), reply.text
    return True


@pytest.fixture
def payment_id(tpp: Tpp) -> str:
    return tpp.initiated()


# Accept


@pytest.mark.parametrize(
    "accept",
    (
        "application/vnd.service.api+json; version=3",
        "application/vnd.service.api+json;version=3",
        'application/vnd.service.api+json; version="3"',
        "application/vnd.service.api+json; version=3; charset=utf-8",
        "application/vnd.service.api+json; version=3; q=0.1",
        "text/html, application/vnd.service.api+json; version=3",
        "application/vnd.service.api+json; version=9, application/vnd.service.api+json; version=3; q=0.2, */*",
        "APPLICATION/vnd.Service.api+json; Version=3",
    ),
)
def test_one_media_range_names_a_version_of_the_operation(tpp: Tpp, accept: str) -> None:
    assert is_accepted(tpp.initiate(accept=accept))


@pytest.mark.parametrize(
    "accept",
    (
        None,
        "",
        "*/*",
        "application/*",
        "application/json",
        "application/json; version=3",
        "application/vnd.service.api+json",
        "application/vnd.service.api+json; version=",
        "application/vnd.service.api+json; version=9",
        "application/vnd.service.api+json; version=3.0",
        "application/vnd.service.api+json; version=three",
        "application/vnd.service.api+json; version=٣".encode().decode("latin-1"),
        "application/vnd.service.api+json; version=-3",
        "application/vnd.service.api+json; q=0; version=3; q=0",
        "application/vnd.service.api+xml; version=3",
        "application/vnd.other.api+json; version=3",
        ";;;,,,=",
    ),
)
@pytest.mark.parametrize("product", PRODUCTS)
def test_any_other_accept_is_refused(tpp: Tpp, product: str, accept: str | None) -> None:
    assert refused(tpp.initiate(product, accept=accept), 406, "SBX-0406-000001", "Accept")


def test_a_status_has_the_same_rule_for_accept(tpp: Tpp, payment_id: str) -> None:
    assert is_accepted(tpp.status(payment_id, accept=f"*/*, {version(2)}"))
    assert refused(tpp.status(payment_id, accept="*/*"), 406, "SBX-0406-000001", "Accept")


def test_the_vendor_word_is_a_setting() -> None:
    beginning = first_beginning(seed=7, at=read_instant(MORNING), rate=0)
    acme = Tpp(assemble(Worlds(replace(beginning, settings=Settings(vendor="acme")), machine_time)))
    assert is_accepted(acme.initiate(accept="application/vnd.acme.api+json; version=3"))
    assert refused(acme.initiate(accept=version(3)), 406, "SBX-0406-000001")


# Accept-Language


@pytest.mark.parametrize(
    "languages, screens",
    [
        ("fr", "fr"),
        ("nl", "nl"),
        ("FR", "fr"),
        ("fr-BE", "fr"),
        ("nl-BE", "nl"),
        ("nl-BE, fr;q=0.5", "nl"),
        ("fr;q=0.5, nl-BE", "nl"),
        ("en, nl;q=0.5", "nl"),
        ("en;q=0.1, nl;q=0.5, fr;q=0.8", "fr"),
        ("nl;q=0.5, fr;q=0.5", "nl"),
        ("de, xx, fr;q=0.001", "fr"),
        ("nl;q=0, fr;q=0.1", "fr"),
        ("*, nl;q=0.5", "nl"),
        ("en", None),
        ("en-GB, de;q=0.9", None),
        ("*", None),
        ("xx, *;q=0.1", None),
    ],
)
def test_the_best_language_that_has_screens_decides(
    tpp: Tpp, worlds: Worlds, languages: str, screens: str | None
) -> None:
    payment_id = tpp.initiate(accept_language=languages).json["payment_id"]
    assert worlds.get("default").bank.payments[payment_id].origin.language == screens


@pytest.mark.parametrize("languages", (None, "", "xx", "fra", "x-klingon", "xx-BE, zz;q=0.5", "12", "fr;q=0", ",;"))
def test_a_missing_or_wholly_unknown_language_is_refused(tpp: Tpp, payment_id: str, languages: str | None) -> None:
    for reply in (tpp.initiate(accept_language=languages), tpp.status(payment_id, accept_language=languages)):
        assert refused(reply, 406, "SBX-0406-000002", "Accept-Language")


# Content-Type


@pytest.mark.parametrize("media", ("application/json", "application/json;charset=utf-8", "Application/JSON"))
def test_an_initiation_is_json(tpp: Tpp, media: str) -> None:
    assert is_accepted(tpp.initiate(content_type=media))


@pytest.mark.parametrize("product", PRODUCTS)
@pytest.mark.parametrize(
    "media", ("", "text/plain", "application/xml", "text/csv", "application/x-www-form-urlencoded", "application/jsonx")
)
def test_an_initiation_of_another_type_is_refused(tpp: Tpp, product: str, media: str) -> None:
    assert refused(tpp.initiate(product, content_type=media), 415, "SBX-0415-000001", "Content-Type")


def test_an_initiation_without_a_type_is_refused(tpp: Tpp) -> None:
    assert refused(tpp.call("POST", f"/payments/{SCT}", data=b"{}"), 415, "SBX-0415-000001", "Content-Type")


def test_a_read_needs_no_content_type(tpp: Tpp, payment_id: str) -> None:
    assert is_accepted(tpp.status(payment_id))
    assert is_accepted(tpp.status(payment_id, content_type="text/plain"))


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
        assert reply.json["error"] == "INVALID_TPP"


def test_a_client_without_the_role_is_refused(tpp: Tpp, worlds: Worlds, payment_id: str) -> None:
    clients = worlds.get("default").bank.clients
    clients["demo-tpp"] = replace(clients["demo-tpp"], roles=("AIS",))
    for reply in (tpp.initiate(), tpp.status(payment_id)):
        assert refused(reply, 403, "B14663ZZ-2100-000000", "PIS")
        assert reply.json["error"] == "INVALID_TPP"


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
