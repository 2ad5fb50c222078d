"""Junk gets an answer of the catalogue, in the bank's body, and never a 500 (choice 2 and 4)."""

from typing import Any

import orjson
import pytest
from flask import Flask
from hypothesis import given, settings
from hypothesis import strategies as st
from werkzeug.test import TestResponse

from sandbox.contract.errors import Error
from sandbox.storage.state_hash import hash_state
from sandbox.web.api.gate import UUID_4
from sandbox.worlds.registry import WorldRegistry
from tests.bank.junk import CONTROL_PATHS, METHODS, PATHS, TEXTS, VALUES, Junk, good
from tests.tpp import ISCT, SCT, XB, Tpp, payment, refused, version

CATALOGUE = {(row.value.status, row.value.error, row.value.code) for row in Error}
FIELDS = {"error", "error_code", "error_description"}


def answered(reply: TestResponse, *, bank: bool = True) -> None:
    """An answer that the catalogue knows, or a yes."""
    assert reply.status_code != 500, reply.text
    if bank:
        assert UUID_4.match(reply.headers["Response-ID"]), reply.headers
    if reply.status_code < 400 or reply.request.method == "HEAD":
        return
    assert reply.content_type == "application/json;charset=utf-8"
    body = reply.get_json()
    assert set(body) == FIELDS, body
    assert (reply.status_code, body["error"], body["error_code"]) in CATALOGUE, body
    assert body["error_description"].endswith(".")


def call(app: Flask, method: str, path: str, environ: dict[str, str] | None = None, **more: Any) -> TestResponse:
    """As a server hands it over; what is no header, such as the path, goes into the environ too."""
    reply: TestResponse = app.test_client().open(
        "/", method=method, environ_overrides={"PATH_INFO": path, **(environ or {})}, **more
    )
    return reply


OPERATIONS = (
    ("POST", f"/payments/{SCT}", 3),
    ("POST", f"/payments/{SCT}", 1),
    ("POST", f"/payments/{ISCT}", 3),
    ("POST", f"/payments/{XB}", 3),
    ("GET", f"/payments/{SCT}/x/status", 3),
    ("GET", f"/payments/{XB}/x/details", 3),
    ("DELETE", f"/payments/{SCT}/x", 2),
    ("POST", f"/periodic-payments/{SCT}", 2),
    ("GET", f"/periodic-payments/{SCT}/x/status", 2),
    ("GET", "/consent-uris", 4),
    ("GET", "/accounts/x/transactions", 2),
    ("POST", "/token", 3),
)


@pytest.mark.parametrize("method, path, number", OPERATIONS, ids=lambda part: str(part))
def test_junk_in_headers(crowd_app: Flask, method: str, path: str, number: int) -> None:
    junk = Junk(1)
    for _ in range(100):
        sent = good(accept=version(number), content_type="application/json")
        answered(call(crowd_app, method, path, junk.environ(), headers=sent, data=junk.body()))


@pytest.mark.parametrize("method, path, number", OPERATIONS, ids=lambda part: str(part))
def test_junk_in_queries(crowd_app: Flask, method: str, path: str, number: int) -> None:
    junk = Junk(2)
    for _ in range(40):
        sent = good(accept=version(number), content_type="application/json")
        body = orjson.dumps(payment(path.rpartition("/")[2]))
        answered(call(crowd_app, method, path, {"QUERY_STRING": junk.query()}, headers=sent, data=body))


@pytest.mark.parametrize("path", PATHS, ids=ascii)
def test_junk_in_paths(crowd_app: Flask, path: str) -> None:
    for method in METHODS:
        answered(call(crowd_app, method, path, {"REQUEST_METHOD": method}, headers=good()))


@pytest.mark.parametrize("product", [SCT, ISCT, XB])
def test_junk_in_every_field_of_a_body(crowd_app: Flask, product: str) -> None:
    junk = Junk(3)
    for _ in range(350):
        sent = good(content_type="application/json")
        answered(call(crowd_app, "POST", f"/payments/{product}", headers=sent, data=junk.body()))


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: ascii(text[:20]))
def test_junk_that_is_no_body(crowd_app: Flask, text: bytes) -> None:
    for number in (3, 1):
        sent = good(accept=version(number), content_type="application/json")
        reply = call(crowd_app, "POST", f"/payments/{SCT}", headers=sent, data=text)
        answered(reply)
        assert reply.status_code == 400
    form = good(content_type="application/x-www-form-urlencoded", authorization="Basic ZGVtby10cHA6ZGVtby1zZWNyZXQ=")
    reply = call(crowd_app, "POST", "/token", headers=form, data=text)
    answered(reply)
    assert reply.status_code in (400, 401)


EARLIER = (
    "origin_account", "remote_account", "amount", "currency", "communication", "communication_type", "execution_date",
    "payment_id", "payment_treatment_type",
)  # fmt: skip


@pytest.mark.parametrize("field", EARLIER)
def test_junk_in_every_field_of_the_earlier_body(crowd_app: Flask, field: str) -> None:
    body: dict[str, Any] = {
        "remote_account": {"name": "Jan Peeters", "iban": "BE68539007547034"},
        "amount": "12.50",
        "currency": "EUR",
        "payment_id": "REF-1",
    }
    for value in VALUES:
        sent = good(accept=version(1))
        answered(call(crowd_app, "POST", f"/payments/{SCT}", headers=sent, json=body | {field: value}))


@pytest.mark.parametrize("path", CONTROL_PATHS, ids=ascii)
def test_junk_for_the_controls(crowd_app: Flask, path: str) -> None:
    junk = Junk(4)
    for method in ("GET", "PUT", "POST", "DELETE", "PATCH"):
        for body in (b"", b"{}", *(junk.control_body() for _ in range(10))):
            environ = {"QUERY_STRING": junk.query()}
            answered(call(crowd_app, method, f"/worlds/junk/_sandbox{path}", environ, data=body), bank=False)


@pytest.mark.parametrize("path", ["/clock", "/reset", "/worlds/junk", "/psu/approve", "/psu/sign"])
@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_junk_that_is_no_body_of_a_control(crowd_app: Flask, method: str, path: str) -> None:
    for text in TEXTS:
        answered(call(crowd_app, method, f"/worlds/junk/_sandbox{path}", data=text), bank=False)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=20), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(content=JSON)
def test_any_json_is_answered(crowd_app: Flask, content: Any) -> None:
    text, sent = orjson.dumps(content), good(content_type="application/json")
    reply = call(crowd_app, "POST", f"/payments/{SCT}", headers=sent, data=text)
    answered(reply)
    assert reply.status_code == 400
    reply = call(crowd_app, "POST", "/worlds/junk/_sandbox/clock", data=text)
    answered(reply, bank=False)
    assert reply.status_code == 400


@settings(max_examples=150, deadline=None)
@given(text=st.binary(max_size=60))
def test_any_bytes_are_answered(crowd_app: Flask, text: bytes) -> None:
    sent = good(content_type="application/json")
    answered(call(crowd_app, "POST", f"/payments/{SCT}", headers=sent, data=text))


@pytest.mark.parametrize("host", ["", "[", "a b", "a/b", "a:b", "[::1", "[::1]:x", "\xff", 'a"b', "user@a"], ids=ascii)
def test_a_host_that_is_none_is_refused_before_anything_is_made(app: Flask, host: str) -> None:
    """Addresses in replies begin with it (choice 1)."""
    sent = good(content_type="application/json")
    body = orjson.dumps(payment())
    reply = call(app, "POST", f"/payments/{SCT}", {"HTTP_HOST": host}, headers=sent, data=body)
    assert refused(reply, 400, "GEN-1202-100001", "Host")
    assert Tpp(app).listed("payments") == []


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "[::1]:8080", "bank.example", "BANK.example:1"])
def test_the_address_to_sign_at_begins_with_the_host_that_the_caller_used(app: Flask, host: str) -> None:
    sent = good(content_type="application/json")
    body = orjson.dumps(payment())
    reply = call(app, "POST", f"/payments/{SCT}", {"HTTP_HOST": host}, headers=sent, data=body)
    assert reply.headers["Location"].lower().startswith(f"http://{host.lower()}/psu/sign/")


def test_junk_leaves_no_trace(worlds: WorldRegistry, app: Flask) -> None:
    """Junk bodies name an account that is none of ours, so that none of them is ever accepted."""
    junk, before = Junk(5), hash_state(worlds.get("default").bank)
    for _ in range(200):
        sent = good(content_type="application/json")
        call(app, "POST", f"/payments/{SCT}", headers=sent, data=junk.body())
    assert {row["status"] for row in Tpp(app).listed("requests")} <= {400, 403}
    assert hash_state(worlds.get("default").bank) == before


def test_a_fault_of_our_own_is_a_500_in_the_bank_s_body(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    """Never a traceback (choice 4); and the test above would see it."""
    app.testing = False
    monkeypatch.setattr(app.logger, "disabled", True)
    monkeypatch.setattr("sandbox.web.api.bodies.read_json", lambda body: 1 / 0)
    reply = Tpp(app).initiate()
    assert (reply.status_code, set(reply.get_json()), reply.get_json()["error_code"]) == (
        500,
        FIELDS,
        "SBX-0500-000001",
    )
    assert "Traceback" not in reply.text
    assert "ZeroDivision" not in reply.text
    assert UUID_4.match(reply.headers["Response-ID"])
