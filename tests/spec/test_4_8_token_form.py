"""service 4.8, choice 8: the credentials, the form and the versions of POST /token."""

import pytest
from flask import Flask

from tests.payer import (
    a_code,
    approve,
    basic,
    callback,
    code_form,
    post_form,
    refresh_form,
    refreshed,
    tokens,
)
from tests.tpp import Tpp, refused, version

CREDENTIALS = "GEN-1203-100009"
BAD, MISSING = "GEN-1202-100002", "GEN-1201-100002"


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        "Basic",
        "Basic !",
        "Basic ZGVtby10cHA=",  # no colon
        basic("demo-tpp", "wrong"),
        basic("demo-tpp", ""),
        basic("nobody", "demo-secret"),
        basic("demo-tpp", "other-secret"),
        "Bearer " + basic("demo-tpp", "demo-secret")[6:],
    ],
)
def test_wrong_credentials_are_refused_before_the_form_is_read(tpp: Tpp, value: str | None) -> None:
    code = a_code(tpp)
    for form in (code_form(code), "grant_type=none"):
        reply = post_form(tpp, form, authorization=value)
        assert refused(reply, 401, CREDENTIALS, "Authorization")
        assert reply.headers["WWW-Authenticate"].startswith("Basic")
    assert post_form(tpp, code_form(code)).status_code == 200


def test_a_client_that_is_not_active_gets_no_token(app: Flask) -> None:
    reply = post_form(Tpp(app, client_id="idle-tpp"), refresh_form("none"))
    assert refused(reply, 403, "B14663ZZ-2100-000000", "idle-tpp")


@pytest.mark.parametrize("name", ("grant_type", "code", "redirect_uri", "code_verifier"))
@pytest.mark.parametrize("empty", (False, True))
def test_a_field_of_the_code_form_is_missing(tpp: Tpp, name: str, empty: bool) -> None:
    code = a_code(tpp)
    form = code_form(code, **{name: "" if empty else None})
    assert refused(post_form(tpp, form), 400, MISSING, f"'{name}'")
    assert post_form(tpp, code_form(code)).status_code == 200


def test_a_field_of_the_refresh_form_is_missing(tpp: Tpp) -> None:
    assert refused(post_form(tpp, {"grant_type": "refresh_token"}), 400, MISSING, "'refresh_token'")
    assert refused(post_form(tpp, ""), 400, MISSING, "'grant_type'")


@pytest.mark.parametrize("grant", ("client_credentials", "password", "Authorization_Code", "x"))
def test_another_kind_of_grant_is_refused(tpp: Tpp, grant: str) -> None:
    assert refused(post_form(tpp, {"grant_type": grant}), 400, BAD, "'grant_type'")


@pytest.mark.parametrize("name", ("grant_type", "code", "redirect_uri", "code_verifier"))
def test_a_field_given_twice_is_refused(tpp: Tpp, name: str) -> None:
    code = a_code(tpp)
    form = list(code_form(code).items())
    again = [*form, (name, dict(form)[name])]
    assert refused(post_form(tpp, again), 400, BAD, f"'{name}'")
    assert post_form(tpp, form).status_code == 200


@pytest.mark.parametrize("name, value", [("refresh_token", "x"), ("scope", "PIS")])
def test_fields_of_both_variants_are_refused(tpp: Tpp, name: str, value: str) -> None:
    code = a_code(tpp)
    assert refused(post_form(tpp, code_form(code, **{name: value})), 400, BAD, f"'{name}'")
    assert post_form(tpp, code_form(code)).status_code == 200


@pytest.mark.parametrize("name", ("code", "redirect_uri", "code_verifier"))
def test_fields_of_a_code_do_not_go_with_a_refresh(tpp: Tpp, name: str) -> None:
    pair = tokens(tpp)
    assert refused(post_form(tpp, refresh_form(pair["refresh_token"], **{name: "x"})), 400, BAD, f"'{name}'")
    refreshed(tpp, pair)


def test_fields_that_oauth_does_not_know_are_ignored_also_twice(tpp: Tpp) -> None:
    form = [*code_form(a_code(tpp)).items(), ("client_id", "demo-tpp"), ("colour", "red"), ("colour", "blue")]
    assert post_form(tpp, form).status_code == 200


def test_chunks_are_refused(tpp: Tpp) -> None:
    code = a_code(tpp)
    assert refused(post_form(tpp, code_form(code), transfer_encoding="chunked"), 400, "GEN-1202-100001")
    assert post_form(tpp, code_form(code)).status_code == 200


@pytest.mark.parametrize("media", (None, "application/json", "text/plain", "multipart/form-data; boundary=x", "x"))
def test_another_content_type_is_refused(tpp: Tpp, media: str | None) -> None:
    assert refused(post_form(tpp, code_form("none"), content_type=media), 415, "SBX-0415-000001")


def test_a_content_type_may_name_its_charset(tpp: Tpp) -> None:
    media = "application/x-www-form-urlencoded; charset=UTF-8"
    assert post_form(tpp, code_form(a_code(tpp)), content_type=media).status_code == 200


@pytest.mark.parametrize("form", (b"\xff", b"grant_type=%ff", b"grant_type=x&" + b"a=1&" * 101, b"a=" + b"x" * 20_000))
def test_what_is_no_form_is_refused(tpp: Tpp, form: bytes) -> None:
    assert refused(post_form(tpp, form), 400, BAD, "body")


@pytest.mark.parametrize("number", (1, 4))
def test_another_version_is_not_acceptable(tpp: Tpp, number: int) -> None:
    assert refused(post_form(tpp, code_form(a_code(tpp)), accept=version(number)), 406, "SBX-0406-000001")


def test_a_scope_that_the_version_does_not_serve_is_not_acceptable_and_the_code_lives_on(tpp: Tpp) -> None:
    (entry,) = tpp.call("GET", "/consent-uris?scope=AIS", accept=version(4)).get_json()
    code = callback(approve(tpp, entry["consent_uri"], "alice"))["code"]
    assert refused(post_form(tpp, code_form(code), accept=version(2)), 406, "SBX-0406-000001", "AIS")
    pair = post_form(tpp, code_form(code)).get_json()
    assert refused(post_form(tpp, refresh_form(pair["refresh_token"]), accept=version(2)), 406, "SBX-0406-000001")
    refreshed(tpp, pair)


def test_a_field_without_a_value_counts_as_left_out(tpp: Tpp) -> None:
    """RFC 6749, 3.2."""
    pair = tokens(tpp)
    assert post_form(tpp, refresh_form(pair["refresh_token"], scope="", code="")).status_code == 200
    assert refused(post_form(tpp, refresh_form("")), 400, MISSING, "refresh_token")
    assert refused(post_form(tpp, "grant_type=&code=x"), 400, MISSING, "grant_type")
