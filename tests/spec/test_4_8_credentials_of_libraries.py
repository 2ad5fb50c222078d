"""service 4.8: two OAuth libraries that others wrote send secrets of every printable character."""

from uuid import uuid4

import pytest
from authlib.integrations.requests_client import OAuth2Session as AuthlibSession
from flask import Flask
from oauthlib.oauth2 import OAuth2Error
from requests_oauthlib import OAuth2Session

from tests.payer import approve, begin
from tests.requests_line import BANK, InProcess
from tests.spec.secrets import HARD, register
from tests.tpp import CALLBACK, VERIFIER, Tpp, version


@pytest.fixture(autouse=True)
def _loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """requests-oauthlib would refuse a callback without TLS."""
    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")


def a_callback(tpp: Tpp) -> str:
    return str(approve(tpp, begin(tpp).address + "?state=s-1", "alice").get_json()["redirect"])


def headers() -> dict[str, str]:
    return {"Request-ID": str(uuid4()), "Accept": version(3)}


@pytest.mark.parametrize("client_id", HARD)
def test_authlib_fetches_and_refreshes_tokens(app: Flask, tpp: Tpp, client_id: str) -> None:
    secret = register(tpp, client_id)
    with AuthlibSession(client_id, secret, redirect_uri=CALLBACK, state="s-1") as session:
        session.mount(BANK, InProcess(app))
        callback = a_callback(Tpp(app, client_id=client_id))
        old = session.fetch_token(
            f"{BANK}/token", authorization_response=callback, code_verifier=VERIFIER, headers=headers()
        )
        new = session.refresh_token(f"{BANK}/token", headers=headers())
    assert old["access_token"] != new["access_token"]


@pytest.mark.parametrize("client_id", HARD)
def test_requests_oauthlib_fetches_and_refreshes_tokens(app: Flask, tpp: Tpp, client_id: str) -> None:
    secret = register(tpp, client_id)
    callback = a_callback(Tpp(app, client_id=client_id))
    with OAuth2Session(client_id, redirect_uri=CALLBACK, state="s-1") as session:
        session.mount(BANK, InProcess(app))
        old = session.fetch_token(
            f"{BANK}/token",
            client_secret=secret,
            authorization_response=callback,
            code_verifier=VERIFIER,
            headers=headers(),
        )
        new = session.refresh_token(f"{BANK}/token", auth=(client_id, secret), headers=headers())
    assert old["access_token"] != new["access_token"]


def test_requests_oauthlib_hears_that_a_secret_is_wrong(app: Flask, tpp: Tpp) -> None:
    with OAuth2Session("demo-tpp", redirect_uri=CALLBACK, state="s-1") as session:
        session.mount(BANK, InProcess(app))
        with pytest.raises(OAuth2Error, match="FAILED_SECURITY_VALIDATION"):
            session.fetch_token(
                f"{BANK}/token",
                client_secret="demo%252Dsecret",
                authorization_response=a_callback(tpp),
                code_verifier=VERIFIER,
                headers=headers(),
            )
