"""service 4.8: an OAuth library that others wrote fetches and refreshes tokens."""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import pytest
import requests
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.base_client import OAuthError
from authlib.integrations.requests_client import OAuth2Session
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from flask import Flask

from tests.requests_line import BANK, InProcess
from tests.tpp import CALLBACK, VERIFIER, Tpp, payment, version


@pytest.fixture
def session(app: Flask) -> Iterator[OAuth2Session]:
    with OAuth2Session("demo-tpp", "demo-secret", redirect_uri=CALLBACK, code_challenge_method="S256") as made:
        made.mount(BANK, InProcess(app))
        yield made


def headers() -> Mapping[str, str]:
    """What the bank asks beyond OAuth."""
    return {
        "Request-ID": str(uuid4()),
        "Accept": "application/vnd.service.api+json; version=3",
        "Content-Type": "application/x-www-form-urlencoded",
    }


def callback_of_a_signed_payment(tpp: Tpp) -> str:
    """The challenge is the library's, the state is ours."""
    sent = tpp.initiate(body=payment(), code_challenge=create_s256_code_challenge(VERIFIER))
    address = f"{sent.headers['Location']}?state=s-1"
    return str(tpp.control("POST", "/psu/approve", address=address, customer="alice").get_json()["redirect"])


def fetched(session: OAuth2Session, callback: str, **changes: Any) -> dict[str, Any]:
    session.state = "s-1"
    asked = {"authorization_response": callback, "code_verifier": VERIFIER, "headers": headers(), **changes}
    return dict(session.fetch_token(f"{BANK}/token", **asked))


def test_the_library_fetches_tokens_for_the_code(tpp: Tpp, session: OAuth2Session) -> None:
    token = fetched(session, callback_of_a_signed_payment(tpp))
    assert (token["token_type"], token["scope"], token["expires_in"]) == ("Bearer", "PIS", 3600)
    assert tpp.initiate(authorization=f"Bearer {token['access_token']}").status_code == 201


def test_the_library_refreshes_them(tpp: Tpp, session: OAuth2Session) -> None:
    old = fetched(session, callback_of_a_signed_payment(tpp))
    new = session.refresh_token(f"{BANK}/token", headers=headers())
    assert {old["access_token"], old["refresh_token"]}.isdisjoint({new["access_token"], new["refresh_token"]})
    assert tpp.initiate(authorization=f"Bearer {new['access_token']}").status_code == 201
    assert tpp.initiate(authorization=f"Bearer {old['access_token']}").status_code == 401


def test_the_library_hears_of_a_wrong_verifier(tpp: Tpp, session: OAuth2Session) -> None:
    with pytest.raises(OAuthError, match="FAILED_SECURITY_VALIDATION"):
        fetched(session, callback_of_a_signed_payment(tpp), code_verifier="x" * 43)


def test_the_library_hears_of_a_code_used_twice(tpp: Tpp, session: OAuth2Session) -> None:
    callback = callback_of_a_signed_payment(tpp)
    fetched(session, callback)
    with pytest.raises(OAuthError, match="FAILED_SECURITY_VALIDATION"):
        fetched(session, callback)


def test_the_library_finds_the_state_it_gave(tpp: Tpp, session: OAuth2Session) -> None:
    callback = callback_of_a_signed_payment(tpp)
    assert parse_qs(urlsplit(callback).query)["state"] == ["s-1"]
    with pytest.raises(AuthlibBaseError, match="mismatching_state"):
        fetched(session, callback.replace("s-1", "s-2"))


def callback_of_a_consent(tpp: Tpp, session: OAuth2Session, query: str = "scope=AIS", number: int = 4) -> str:
    """The library appends its own parameters to the address, as OAuth libraries do; the bank's page ignores them."""
    challenge = create_s256_code_challenge(VERIFIER)
    (entry,) = tpp.call("GET", f"/consent-uris?{query}", code_challenge=challenge, accept=version(number)).get_json()
    address, _ = session.create_authorization_url(entry["consent_uri"], state="s-1", code_verifier=VERIFIER)
    return str(tpp.control("POST", "/psu/approve", address=address, customer="alice").get_json()["redirect"])


def read(session: OAuth2Session, path: str, **more: str) -> requests.Response:
    """The library adds the access token to each call."""
    sent = {"Request-ID": str(uuid4()), "Accept": version(2), "Accept-Language": "fr", "Client-ID": "demo-tpp"}
    found: requests.Response = session.get(f"{BANK}{path}", headers=sent | more)
    return found


def test_the_library_goes_from_consent_to_the_accounts_and_their_last_page(tpp: Tpp, session: OAuth2Session) -> None:
    token = fetched(session, callback_of_a_consent(tpp, session))
    assert token["scope"] == "AIS"
    rows = read(session, "/accounts").json()["_embedded"]["accounts"]
    assert len(rows) == 2
    account = read(session, rows[0]["_links"]["self"]["href"]).json()
    assert account["iban"] == rows[0]["iban"]
    path, found = account["_links"]["transactions"]["href"], []
    while path:
        page = read(session, path, **{"SCA-Token": token["sca_token"]}).json()
        found += [row["transaction_ref"] for row in page["_embedded"]["transactions"]]
        path = page["_links"].get("next", {}).get("href")
    assert len(set(found)) == len(found) > 400


def test_the_library_refreshes_tokens_for_accounts(tpp: Tpp, session: OAuth2Session) -> None:
    old = fetched(session, callback_of_a_consent(tpp, session))
    new = session.refresh_token(f"{BANK}/token", headers=headers())
    assert new["access_token"] != old["access_token"]
    assert read(session, "/accounts").status_code == 200
    tpp.advance("1h")
    assert read(session, "/accounts").status_code == 401
    session.refresh_token(f"{BANK}/token", headers=headers())
    assert read(session, "/accounts").status_code == 200


def test_the_library_reads_on_after_the_psu_authenticated_again(tpp: Tpp, session: OAuth2Session) -> None:
    fetched(session, callback_of_a_consent(tpp, session))
    path = read(session, "/accounts").json()["_embedded"]["accounts"][0]["_links"]["self"]["href"]
    tpp.advance("91d")
    session.refresh_token(f"{BANK}/token", headers=headers())
    refusal = read(session, f"{path}/transactions")
    assert (refusal.status_code, refusal.json()["error"]) == (401, "SCA_REQUIRED")
    address = refusal.json()["_links"]["sca_redirect"]["href"]
    assert tpp.control("POST", "/psu/approve", address=f"{address}?state=s-2").status_code == 200
    assert read(session, f"{path}/transactions").status_code == 200


def test_the_library_fetches_tokens_for_one_account(tpp: Tpp, session: OAuth2Session) -> None:
    callback = callback_of_a_consent(tpp, session, f"scope=CAF&iban={tpp.iban_of('alice')}", 3)
    token = fetched(session, callback, headers={**headers(), "Accept": version(2)})
    assert token["scope"] == "CAF"
    assert read(session, f"/accounts/{token['logical_id']}").json()["iban"] == tpp.iban_of("alice")
