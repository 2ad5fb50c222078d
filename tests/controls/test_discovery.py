"""Stock OAuth clients find the bank: RFC 8414 metadata and an authorization endpoint, beside the bank's interface."""

from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit
from uuid import uuid4

import pytest
from authlib.integrations.requests_client import OAuth2Session
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata
from flask import Flask
from werkzeug.test import TestResponse

from tests.payer import callback
from tests.requests_line import BANK, InProcess
from tests.tpp import CALLBACK, CHALLENGE, VERIFIER, Tpp, refused, version

METADATA = "/_sandbox/.well-known/oauth-authorization-server"
GOOD = {
    "response_type": "code",
    "client_id": "demo-tpp",
    "redirect_uri": CALLBACK,
    "scope": "AIS",
    "state": "s 1&2",
    "code_challenge": CHALLENGE,
    "code_challenge_method": "S256",
}


def authorize(tpp: Tpp, prefix: str = "", **changes: str | None) -> TestResponse:
    asked = {name: value for name, value in (GOOD | changes).items() if value is not None}
    return tpp.http.get(f"{prefix}/_sandbox/authorize?{urlencode(asked)}")


def heard(reply: TestResponse) -> dict[str, str]:
    """What the client hears at its callback."""
    assert reply.status_code == 302, reply.text
    assert reply.headers["Location"].startswith(f"{CALLBACK}?")
    return dict(parse_qsl(urlsplit(reply.headers["Location"]).query))


@pytest.mark.parametrize("prefix", ["", "/worlds/b"])
def test_the_metadata_is_sound_and_names_the_endpoints_of_its_world(tpp: Tpp, prefix: str) -> None:
    found = tpp.http.get(f"{prefix}{METADATA}", base_url=BANK)
    assert (found.status_code, found.mimetype) == (200, "application/json")
    told = AuthorizationServerMetadata(found.json)
    told.validate()
    assert told.issuer == f"{BANK}{prefix}/_sandbox"
    assert told.token_endpoint == f"{BANK}{prefix}/token"
    assert told.authorization_endpoint == f"{BANK}{prefix}/_sandbox/authorize"


def test_the_bank_itself_has_no_such_page(tpp: Tpp) -> None:
    for path in ("/.well-known/oauth-authorization-server", "/authorize", "/.well-known/openid-configuration"):
        assert refused(tpp.http.get(path), 404, "SBX-0404-000001")


def test_the_browser_is_led_to_a_consent_address_with_the_state(tpp: Tpp) -> None:
    reply = authorize(tpp)
    assert (reply.status_code, reply.headers["Cache-Control"]) == (302, "no-store")
    address = reply.headers["Location"]
    assert urlsplit(address).path.startswith("/psu/consent/")
    assert tpp.http.get(address, follow_redirects=True).status_code == 200
    told = callback(tpp.control("POST", "/psu/approve", address=address, customer="alice"))
    assert told["state"] == "s 1&2" and told["code"]


def test_caf_names_its_account(tpp: Tpp) -> None:
    address = authorize(tpp, scope="CAF", iban=tpp.iban_of("alice")).headers["Location"]
    assert "/psu/consent/" in address
    assert callback(tpp.control("POST", "/psu/approve", address=address))["code"]
    assert heard(authorize(tpp, scope="CAF", iban=tpp.iban_of("blocked")))["error"] == "access_denied"


@pytest.mark.parametrize(
    ("error", "changes"),
    [
        ("unsupported_response_type", {"response_type": "token"}),
        ("unsupported_response_type", {"response_type": None}),
        ("invalid_scope", {"scope": "PIS"}),
        ("invalid_scope", {"scope": "AIS CAF"}),
        ("invalid_request", {"scope": "CAF"}),
        ("invalid_request", {"scope": "CAF", "iban": "BE00539007547034"}),
        ("invalid_request", {"iban": "BE68539007547034"}),
        ("invalid_request", {"code_challenge": None}),
        ("invalid_request", {"code_challenge": "short"}),
        ("invalid_request", {"code_challenge_method": "S512"}),
        ("unauthorized_client", {"client_id": "idle-tpp"}),
    ],
)
def test_a_bad_request_is_told_at_the_callback_with_the_state(tpp: Tpp, error: str, changes: Any) -> None:
    told = heard(authorize(tpp, **changes))
    assert (told["error"], told["state"]) == (error, "s 1&2")
    assert told["error_description"] and "code" not in told


def test_a_callback_that_is_not_the_clients_own_is_never_led_to(tpp: Tpp) -> None:
    for changes, status, code in (
        ({"redirect_uri": "https://evil.example/"}, 400, "SBX-0400-000001"),
        ({"redirect_uri": None}, 400, "SBX-0400-000001"),
        ({"client_id": "nobody"}, 401, "GEN-1203-100009"),
        ({"client_id": None}, 400, "SBX-0400-000001"),
    ):
        assert refused(authorize(tpp, **changes), status, code)
    twice = f"/_sandbox/authorize?{urlencode(GOOD)}&redirect_uri=https%3A%2F%2Fevil.example%2F"
    assert refused(tpp.http.get(twice), 400, "SBX-0400-000001", "redirect_uri")


def test_a_stock_client_goes_from_the_metadata_to_the_accounts(app: Flask, tpp: Tpp) -> None:
    """Authlib: all that it is told beyond the metadata are the headers that the bank wants."""
    told = tpp.http.get(METADATA, base_url=BANK).get_json()
    with OAuth2Session(
        "demo-tpp", "demo-secret", redirect_uri=CALLBACK, scope="AIS", code_challenge_method="S256"
    ) as session:
        session.mount(BANK, InProcess(app))
        address, state = session.create_authorization_url(told["authorization_endpoint"], code_verifier=VERIFIER)
        consent = session.get(address, allow_redirects=False, withhold_token=True).headers["Location"]
        response = tpp.control("POST", "/psu/approve", address=consent, customer="alice").get_json()["redirect"]
        wanted = {"Request-ID": str(uuid4()), "Accept": version(3)}
        pair = session.fetch_token(
            told["token_endpoint"],
            authorization_response=response,
            code_verifier=VERIFIER,
            headers=wanted,
            state=state,
        )
        assert pair["scope"] == "AIS"
        wanted |= {"Request-ID": str(uuid4()), "Accept": version(2), "Accept-Language": "fr", "Client-ID": "demo-tpp"}
        assert session.get(f"{BANK}/accounts", headers=wanted).status_code == 200
