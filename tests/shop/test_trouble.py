"""A bank that is busy, broken or away: the shop is patient, says so, and loses nothing (service 7)."""

from datetime import UTC, datetime

import httpx
import pytest
from flask import Flask

from sandbox.client import Controls
from sandbox.extensions.shop.app import create_app
from sandbox.extensions.shop.bank_client import BUSY_SECONDS, BUSY_SECONDS_MAX, BankClient, BankSilent, read_seconds
from tests.conftest import HERE
from tests.shop.conftest import Calls
from tests.shop.guest import HOME, Guest, seen


def fault(controls: Controls, operation: str, **what: object) -> None:
    controls.call("POST", "/faults", {"when": {"operation": operation}, **what})


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_bank_is_left_alone_until_it_said(
    status: int, guest: Guest, controls: Controls, calls: Calls, findings: Calls
) -> None:
    controls.call(
        "POST",
        "/faults",
        {"when": {"operation": "payment_initiation", "nth": 1}, "answer": {"status": status, "retry_after": 20}},
    )
    guest.post("/basket", code="mug")
    first = guest.post("/orders")
    assert (first.status_code, first.headers["Retry-After"]) == (503, "20")
    assert "Try again in 20 seconds" in seen(first) and 'class="go" href="/basket"' in first.text
    controls.clock.advance("5s")
    assert guest.post("/orders").headers["Retry-After"] == "15"
    assert calls() == ["payment_initiation"]
    controls.clock.advance("15s")
    assert guest.post("/orders").status_code == 303
    assert findings() == []


def test_a_status_that_cannot_be_had_leaves_the_last_one(guest: Guest, controls: Controls, calls: Calls) -> None:
    path, _ = guest.order()
    fault(controls, "payment_status", answer={"status": 503, "retry_after": 40})
    page = guest.get(path).text
    assert "busy just now" in page and "Waiting for your signature" in page and 'data-after="40"' in page
    assert calls().count("payment_status") == 1
    controls.clock.advance("39s")
    assert 'data-after="2"' in guest.get(f"{path}/state").text  # the second that is left is shorter than that
    assert calls().count("payment_status") == 1


@pytest.mark.parametrize("what", [{"answer": {"status": 500}}, {"change": "malformed"}], ids=["500", "no json"])
def test_a_broken_answer_is_no_end(what: dict[str, object], guest: Guest, controls: Controls) -> None:
    path, _ = guest.order()
    fault(controls, "payment_status", **what)
    page = guest.get(path).text
    assert "does not answer just now" in page and 'data-after="30"' in page
    fault(controls, "consent_addresses", **what)
    assert guest.post("/accounts/connect").status_code == 502


@pytest.fixture
def away() -> Flask:
    """A shop whose bank nobody reaches."""

    def lost(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("nobody listens there")

    return create_app(
        BankClient(
            HERE, "demo-tpp", "demo-secret", f"{HOME}/callback", http=httpx.Client(transport=httpx.MockTransport(lost))
        )
    )


def test_a_bank_that_is_away_is_said_to_be(away: Flask, controls: Controls) -> None:
    guest = Guest(away, controls)
    assert "Tea, paper" in guest.text("/")
    guest.post("/basket", code="mug")
    for path in ("/orders", "/accounts/connect"):
        reply = guest.post(path)
        assert reply.status_code == 502 and "does not answer" in seen(reply)
    assert "Stoneware mug" in guest.text("/basket") and guest.orders() == []


def test_a_refusal_without_a_remedy_is_told(http: httpx.Client, controls: Controls) -> None:
    guest = Guest(create_app(BankClient(HERE, "idle-tpp", "idle-secret", f"{HOME}/callback", http=http)), controls)
    reply = guest.post("/accounts/connect")
    assert reply.status_code == 502 and "The bank refused" in reply.text
    guest.post("/basket", code="mug")
    assert "The bank refused" in seen(guest.post("/orders"))


@pytest.mark.parametrize(
    "told, seconds",
    [
        ("7", 7),
        (None, BUSY_SECONDS),
        ("soon", BUSY_SECONDS),
        ("²", BUSY_SECONDS),
        ("9" * 40, BUSY_SECONDS_MAX),
        ("Mon, 01 Mar 2027 09:00:12 GMT", 12),
        ("Mon, 01 Mar 2027 08:00:00 GMT", 1),
        ("Mon, 01 Mar 2027 09:00:12", BUSY_SECONDS),
    ],
)
def test_retry_after_is_read_within_reason(told: str | None, seconds: int) -> None:
    assert read_seconds(told, datetime(2027, 3, 1, 9, 0, tzinfo=UTC)) == seconds


def test_an_initiation_without_an_address_is_no_payment(
    line: BankClient, guest: Guest, monkeypatch: pytest.MonkeyPatch
) -> None:
    guest.post("/basket", code="mug")
    real = line.ask

    def without(operation: str, call: object) -> object:
        if operation == "payment_initiation":
            raise BankSilent
        return real(operation, call)  # type: ignore[arg-type]

    monkeypatch.setattr(line, "ask", without)
    assert guest.post("/orders").status_code == 502
    assert "Stoneware mug" in guest.text("/basket")
