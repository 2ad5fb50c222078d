"""The two OAuth clients of Node: they form-encode credentials (service 4.8), and find the bank by its metadata."""

from pathlib import Path

import pytest
from flask import Flask

from sandbox.server.server import serve_in_background
from tests.payer import approve, begin
from tests.spec.secrets import HARD, register
from tests.tools.node import run_script
from tests.tpp import CALLBACK, VERIFIER, Tpp

LIBRARIES = ("oauth4webapi", "openid-client")
NAMES = ("demo-tpp", *HARD)


def a_callback(tpp: Tpp) -> str:
    reply = approve(tpp, begin(tpp).address, "alice")
    return str(reply.get_json()["redirect"])


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_library_fetches_and_refreshes_tokens_whatever_the_secret(
    app: Flask, tpp: Tpp, tmp_path: Path, library: str
) -> None:
    clients = []
    for client_id in NAMES:
        secret = "demo-secret" if client_id == "demo-tpp" else register(tpp, client_id)
        callback = a_callback(Tpp(app, client_id=client_id))
        clients.append({"library": library, "client_id": client_id, "secret": secret, "callback": callback})
    with serve_in_background(app) as base:
        facts = {"base": base, "redirect_uri": CALLBACK, "verifier": VERIFIER, "clients": clients}
        pairs = run_script("oauth.mjs", facts, tmp_path, *LIBRARIES)
    assert [pair.get("scope", pair) for pair in pairs] == ["PIS"] * len(NAMES)
    for client_id, pair in zip(NAMES, pairs, strict=True):
        reply = Tpp(app, client_id=client_id).initiate(authorization=f"Bearer {pair['access_token']}")
        assert reply.status_code == 201


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_library_hears_that_a_secret_is_wrong(app: Flask, tpp: Tpp, tmp_path: Path, library: str) -> None:
    client = {"library": library, "client_id": "demo-tpp", "secret": "demo-secret-", "callback": a_callback(tpp)}
    with serve_in_background(app) as base:
        facts = {"base": base, "redirect_uri": CALLBACK, "verifier": VERIFIER, "clients": [client]}
        (told,) = run_script("oauth.mjs", facts, tmp_path, *LIBRARIES)
    assert told["status"] == 401, told


@pytest.mark.parametrize("prefix", ["", "/worlds/b"])
def test_the_libraries_go_from_the_metadata_of_a_world_to_tokens(app: Flask, tmp_path: Path, prefix: str) -> None:
    with serve_in_background(app) as root:
        facts = {"base": f"{root}{prefix}", "redirect_uri": CALLBACK}
        found = run_script("discovery.mjs", facts, tmp_path, *LIBRARIES)
    assert found["scope"] == "AIS"
    assert found["token_endpoint"] == f"{root}{prefix}/token"
    assert found["refused"] == "OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED"
