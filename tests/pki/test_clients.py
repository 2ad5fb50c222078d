"""TPPs made and changed by the controls (choice 10): full checks, and neither secrets nor keys come out."""

import json
from typing import Any

import pytest
from jwcrypto.jwk import JWK

from sandbox.storage.codec import decode, encode
from tests.pki.keys import PUBLIC, RSA
from tests.tpp import Tpp, refused, version

NEW = {
    "client_id": "my-tpp",
    "secret": "my-secret-1",
    "name": "My TPP",
    "roles": ["PIS"],
    "redirect_uris": ["https://my.example/callback?x=1", "http://127.0.0.1:*/*"],
    "keys": PUBLIC,
    "organisation": "PSDBE-NBB-0123456789",
}


def test_a_client_that_was_made_can_pay_at_once(tpp: Tpp) -> None:
    reply = tpp.control("POST", "/clients", **NEW)
    assert reply.status_code == 201
    assert set(reply.get_json()) == {"client_id", "name", "roles", "active", "redirect_uris"}
    mine = Tpp(tpp.http.application, client_id="my-tpp")
    assert mine.initiate(redirect_uri="https://my.example/callback?x=1").status_code == 201
    assert refused(mine.initiate(redirect_uri="https://my.example/callback"), 400, "GEN-1202-100001", "Redirect-URI")
    assert refused(mine.call("GET", "/accounts", accept=version(2)), 403, "B14663ZZ-2100", "AIS")


def test_a_client_that_is_switched_off_is_an_invalid_tpp(tpp: Tpp) -> None:
    assert tpp.control("PUT", "/clients/demo-tpp", active=False).get_json()["active"] is False
    assert refused(tpp.initiate(), 403, "B14663ZZ-2100-000000", "not active")
    tpp.control("PUT", "/clients/demo-tpp", active=True)
    assert tpp.initiate().status_code == 201


def test_what_is_not_named_stays(tpp: Tpp) -> None:
    before = {row["client_id"]: row for row in tpp.listed("clients")}["demo-tpp"]
    after = tpp.control("PUT", "/clients/demo-tpp", name="Another").json
    assert after == before | {"name": "Another"}


def test_a_name_is_given_once_and_a_stranger_is_not_changed(tpp: Tpp) -> None:
    assert refused(tpp.control("POST", "/clients", client_id="demo-tpp", secret="x" * 8), 409, "SBX-0409-000005")
    assert refused(tpp.control("PUT", "/clients/nobody", active=False), 404, "SBX-0404")
    assert refused(tpp.control("PUT", "/clients/demo-tpp", client_id="other"), 400, "SBX-0400", "client_id")


@pytest.mark.parametrize("name", ["client_id", "secret"])
def test_a_client_needs_a_name_and_a_secret(tpp: Tpp, name: str) -> None:
    given = {key: value for key, value in NEW.items() if key != name}
    assert refused(tpp.control("POST", "/clients", **given), 400, "GEN-1201-100002", name)


EC, SECRET_EC = PUBLIC[0], json.loads(JWK.generate(kty="EC", crv="P-256", kid="s").export_private())
SMALL = json.loads(JWK.generate(kty="RSA", size=1024, kid="small").export_public())
P384 = json.loads(JWK.generate(kty="EC", crv="P-384", kid="p").export_public())
BAD: tuple[tuple[str, Any], ...] = (
    ("client_id", "a b"), ("client_id", "../x"), ("client_id", "x" * 65), ("client_id", 7), ("client_id", "a\n"),
    ("secret", ""), ("secret", "a" * 257), ("secret", "with blank"), ("secret", "nul\x00nul\x00"),
    ("secret", None),
    ("name", ""), ("name", "line\nbreak"), ("name", "n" * 101), ("name", "\ud7ff\x00"), ("name", 1),
    ("roles", []), ("roles", ["CBP"]), ("roles", ["PIS", "PIS"]), ("roles", "PIS"), ("roles", [1]),
    ("active", "yes"), ("active", 1),
    ("redirect_uris", "https://a.example"), ("redirect_uris", ["javascript:alert(1)"]),
    ("redirect_uris", ["//a.example"]),
    ("redirect_uris", ["https://a.example/#x"]), ("redirect_uris", ["https://user@a.example/"]),
    ("redirect_uris", ["https://*.example/"]), ("redirect_uris", ["http://a.example:*/*"]),
    ("redirect_uris", ["https://a.example/\r\nSet-Cookie: x"]), ("redirect_uris", ["https://a.example/\"><script>"]),
    ("redirect_uris", ["https://a.example:99999/"]), ("redirect_uris", [""]), ("redirect_uris", ["https:///x"]),
    ("keys", {}), ("keys", [1]), ("keys", [{}]), ("keys", [EC | {"kid": ""}]), ("keys", [EC | {"kid": 3}]),
    ("keys", [EC, EC]), ("keys", [SECRET_EC]), ("keys", [SMALL]), ("keys", [P384]), ("keys", [EC | {"x": "AA"}]),
    ("keys", [EC | {"kty": "oct"}]), ("keys", [{"kty": "oct", "k": "AAAA", "kid": "a"}]), ("keys", [EC] * 51),
    ("keys", [json.loads(RSA.export_public()) | {"n": "!"}]), ("keys", [EC | {"y": None}]),
    ("organisation", "NBB-1"), ("organisation", "PSDBE-NBB-\n1"), ("organisation", 4),
    ("unknown", 1),
)  # fmt: skip


@pytest.mark.parametrize("name, value", BAD)
def test_a_bad_value_is_refused_and_changes_nothing(tpp: Tpp, name: str, value: Any) -> None:
    before = tpp.listed("clients")
    assert refused(tpp.control("POST", "/clients", **(NEW | {name: value})), 400, "", name)
    assert tpp.listed("clients") == before


def test_neither_secrets_nor_keys_come_out(tpp: Tpp) -> None:
    made = tpp.control("POST", "/clients", **NEW)
    changed = tpp.control("PUT", "/clients/my-tpp", secret="my-secret-2")
    for text in (made.text, changed.text, tpp.control("GET", "/clients").text, tpp.control("GET", "/requests").text):
        assert "my-secret" not in text
        assert PUBLIC[0]["x"] not in text


def test_registering_is_kept_in_the_log(tpp: Tpp, worlds: Any) -> None:
    tpp.control("POST", "/clients", **NEW)
    tpp.control("PUT", "/clients/my-tpp", active=False)
    for act in list(worlds.get("default").log)[-2:]:
        assert decode(encode(act.arguments)) == act.arguments
