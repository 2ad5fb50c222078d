"""Accounts are read with the customer's consent, for as long as it lives (service 4.7 to 4.10, choice 8)."""

import re
from datetime import timedelta
from urllib.parse import urlsplit

import httpx
import pytest
from flask import Flask

from sandbox.client import Controls
from sandbox.extensions.shop.app import create_app
from sandbox.extensions.shop.bank_client import BankClient
from sandbox.worlds.registry import WorldRegistry
from tests.conftest import HERE
from tests.shop.conftest import Calls
from tests.shop.guest import HOME, Guest, seen

COUNT = re.compile(r"(\d+) transactions")


def count(text: str) -> int:
    found = COUNT.search(text)
    assert found is not None, text
    return int(found[1])


def authenticate(guest: Guest, days: int = 90) -> str:
    """Where the bank wants the customer to authenticate again."""
    address: str = guest.post(f"/accounts/0/authenticate?days={days}").headers["Location"]
    assert address.startswith(HERE), address
    return address


def test_a_customer_connects_and_sees_balances_and_every_transaction(
    guest: Guest, worlds: WorldRegistry, calls: Calls, findings: Calls
) -> None:
    assert "Connect your bank" in guest.text("/accounts")
    guest.connect()
    page = guest.text("/accounts")
    assert "Your accounts are connected" in page and "BE16 5391 0000 1774" in page and "Savings account" in page
    bank = worlds.get("default").bank
    lines = bank.ledger.list_lines("BE16539100001774", "EUR")
    recent = [line for line in lines if line.on >= bank.clock.today - timedelta(days=90)]
    assert len(recent) > 50
    page = guest.text("/accounts/0")
    assert count(page) == len(recent) and calls().count("transactions") == -(-len(recent) // 50)
    assert count(guest.text("/accounts/0?days=365")) == len(
        [line for line in lines if line.on >= bank.clock.today - timedelta(days=365)]
    )
    assert count(guest.text("/accounts/0?days=30")) < len(recent)
    assert findings() == []


def test_what_is_signed_and_not_booked_yet_is_marked(guest: Guest, controls: Controls) -> None:
    controls.call("PATCH", "/settings", {"variants": {"pending_items": "shown"}})
    guest.connect()
    assert "not booked yet" not in guest.text("/accounts/0")
    _, address = guest.order("BE16539100001774")
    controls.psu.approve(address, "alice")
    controls.clock.advance("61s")
    assert "not booked yet" not in guest.text("/accounts/0")
    _, address = guest.order("BE16539100001774")
    controls.clock.advance("61s")
    controls.psu.approve(address, "alice")
    assert guest.text("/accounts/0").count("Signed, and not booked yet") == 1


def test_pages_of_the_shop_follow_each_other(guest: Guest, calls: Calls) -> None:
    guest.connect()
    first = guest.get("/accounts/0").text
    asked = len(calls())
    assert "Older" in first and "Newer" not in first
    last = int(re.findall(r"Page 1 of (\d+)", first)[0])
    rows = sum(guest.get(f"/accounts/0?page={page}").text.count('<td class="day">') for page in range(1, last + 1))
    assert rows == count(first)
    assert "Older" not in guest.get(f"/accounts/0?page={last}").text
    assert all(f"Page {last} of {last}" in guest.get(f"/accounts/0?page={far}").text for far in ("99999", "9" * 50))
    for odd in ("0", "x", "-1", "9" * 5_000):
        assert guest.get(f"/accounts/0?page={odd}").status_code == 200
    assert len(calls()) == asked  # what was just read is not read again


def test_what_was_read_a_minute_ago_is_read_again(guest: Guest, controls: Controls, findings: Calls) -> None:
    guest.connect()
    before = count(guest.text("/accounts/0"))
    controls.book("BE16539100001774", "5.00", counterparty="A friend")
    assert count(guest.text("/accounts/0")) == before
    controls.clock.advance("1m")
    page = guest.text("/accounts/0")
    assert count(page) == before + 1 and "A friend" in page and "+€ 5.00" in page
    assert findings() == []


def test_compartments_are_shown_apart(guest: Guest) -> None:
    guest.connect("bram")
    assert "USD" in guest.text("/accounts") and "GBP" in guest.text("/accounts/0")
    assert "USD" in guest.text("/accounts/0?currency=USD")
    assert guest.get("/accounts/0?currency=JPY").status_code == 404
    assert guest.get("/accounts/7").status_code == 404


def test_who_gives_no_consent_is_left_in_peace(guest: Guest, calls: Calls) -> None:
    address = guest.post("/accounts/connect").headers["Location"]
    assert guest.refuse(address).headers["Location"] == "/accounts"
    assert "You gave us no access" in guest.text("/accounts")
    assert calls() == ["consent_addresses"]


def test_no_second_consent_is_asked_for_while_one_lives(guest: Guest, calls: Calls, findings: Calls) -> None:
    guest.connect()
    assert guest.post("/accounts/connect").headers["Location"] == "/accounts"
    assert calls().count("consent_addresses") == 1


# Tokens


def test_tokens_are_renewed_before_their_hour_is_over(guest: Guest, controls: Controls, calls: Calls) -> None:
    guest.connect()
    guest.text("/accounts")
    controls.clock.advance("58m")
    guest.text("/accounts")
    assert calls().count("token") == 1
    controls.clock.advance("95s")
    guest.text("/accounts")
    assert calls().count("token") == 2


def test_a_token_that_the_bank_calls_expired_is_renewed_once(
    http: httpx.Client, controls: Controls, calls: Calls, findings: Calls
) -> None:
    """As when the shop's clock is behind."""
    began = controls.clock.get().now
    line = BankClient(HERE, "demo-tpp", "demo-secret", f"{HOME}/callback", lambda: began, http=http)
    guest = Guest(create_app(line), controls)
    guest.connect()
    controls.clock.advance("2h")
    assert "Current account" in guest.text("/accounts")
    assert calls().count("token") == 2
    assert findings() == []


def test_tokens_that_cannot_be_renewed_are_forgotten(guest: Guest, controls: Controls, worlds: WorldRegistry) -> None:
    guest.connect()
    controls.clock.advance("2h")
    worlds.get("default").bank.refresh_tokens.clear()
    assert "Access has ended" in seen(guest.get("/accounts"))
    assert "See your accounts here" in guest.text("/accounts")


# The bank asks again


def test_after_90_days_the_customer_authenticates_again(
    guest: Guest, controls: Controls, calls: Calls, findings: Calls
) -> None:
    guest.connect()
    guest.text("/accounts/0")
    controls.clock.advance("91d")
    for _ in range(2):
        page = guest.text("/accounts/0")
        assert "Your bank wants to know that it is you" in page and "€" in page
    told = calls().count("transactions")
    reply = guest.sign(authenticate(guest))
    assert reply.headers["Location"] == "/accounts/0?days=90"
    assert "lets us read on" in guest.text("/accounts/0?days=90")
    assert "Page 1 of" in guest.text("/accounts/0?days=365")
    assert calls().count("transactions") > told and calls().count("consent_addresses") == 1
    assert findings() == []


def test_a_year_needs_a_fresh_authentication(guest: Guest, controls: Controls, findings: Calls) -> None:
    guest.connect()
    controls.clock.advance("61m")
    for _ in range(2):
        assert "Your bank wants to know" in guest.text("/accounts/0?days=365")
        assert "Page 1 of" in guest.text("/accounts/0?days=90")
    guest.sign(authenticate(guest, 365))
    assert "Page 1 of" in guest.text("/accounts/0?days=365")
    assert findings() == []


def test_who_does_not_authenticate_is_asked_again_when_looking_again(
    guest: Guest, controls: Controls, findings: Calls
) -> None:
    guest.connect()
    controls.clock.advance("91d")
    guest.text("/accounts/0")
    first = authenticate(guest)
    assert guest.refuse(first).headers["Location"] == "/accounts/0?days=90"
    assert "Your bank wants to know" in guest.text("/accounts/0")
    second = authenticate(guest)
    assert urlsplit(second).path != urlsplit(first).path
    guest.sign(second)
    assert "No transactions in this period" in guest.text("/accounts/0")
    assert findings() == []


def test_an_address_to_authenticate_at_that_grew_old_is_asked_for_anew(
    guest: Guest, controls: Controls, findings: Calls
) -> None:
    guest.connect()
    controls.clock.advance("91d")
    guest.text("/accounts/0")
    first = authenticate(guest)
    controls.clock.advance("15m")
    assert guest.post("/accounts/0/authenticate").headers["Location"] == "/accounts/0?days=90"
    guest.text("/accounts/0")
    second = authenticate(guest)
    assert urlsplit(second).path != urlsplit(first).path
    guest.sign(second)
    assert "No transactions in this period" in guest.text("/accounts/0")
    assert findings() == []


# Access ends


def test_a_withdrawn_consent_ends_here_too(guest: Guest, controls: Controls, calls: Calls, findings: Calls) -> None:
    guest.connect()
    guest.text("/accounts/0")
    controls.psu.withdraw("demo-tpp", "alice")
    controls.clock.advance("2m")
    reply = guest.get("/accounts/0")
    assert reply.status_code == 403 and "Access has ended" in seen(reply)
    told = len(calls())
    assert guest.get("/accounts/0").headers["Location"] == "/accounts"
    assert guest.post("/accounts/0/authenticate").headers["Location"] == "/accounts/0?days=90"
    assert "Connect your bank" in guest.text("/accounts") and len(calls()) == told
    guest.connect()
    assert "Page 1 of" in guest.text("/accounts/0")
    assert findings() == []


def test_a_consent_that_is_over_ends_at_the_renewal_of_its_tokens(guest: Guest, controls: Controls) -> None:
    guest.connect()
    controls.clock.advance("181d")
    assert "Access has ended" in seen(guest.get("/accounts"))


def test_who_disconnects_is_forgotten(guest: Guest, calls: Calls) -> None:
    guest.connect()
    guest.text("/accounts/0")
    told = len(calls())
    assert guest.post("/accounts/disconnect").headers["Location"] == "/accounts"
    page = guest.text("/accounts")
    assert "forgotten your accounts" in page and "BE16" not in page and "Connect your bank" in page
    assert guest.get("/accounts/0").headers["Location"] == "/accounts" and len(calls()) == told


def test_a_return_from_an_authentication_after_disconnecting_is_harmless(guest: Guest, controls: Controls) -> None:
    guest.connect()
    controls.clock.advance("91d")
    guest.text("/accounts/0")
    address = authenticate(guest)
    guest.post("/accounts/disconnect")
    assert guest.sign(address).headers["Location"] == "/accounts/0?days=90"
    assert "Connect your bank" in guest.text("/accounts")


# The bank is busy


def test_a_reading_that_was_broken_off_goes_on_where_it_stopped(
    guest: Guest, controls: Controls, calls: Calls, findings: Calls
) -> None:
    guest.connect()
    whole = count(guest.text("/accounts/0"))
    controls.clock.advance("1m")
    nth = calls().count("transactions") + 2
    controls.call(
        "POST",
        "/faults",
        {"when": {"operation": "transactions", "nth": 2}, "answer": {"status": 429, "retry_after": 3}},
    )
    reply = guest.get("/accounts/0")
    assert reply.status_code == 503 and reply.headers["Retry-After"] == "3"
    assert 'class="go" href="/accounts/0"' in reply.text
    assert calls().count("transactions") == nth
    controls.clock.advance("3s")
    assert count(guest.text("/accounts/0")) == whole
    assert findings() == []


def test_a_reading_that_the_bank_will_not_go_on_with_begins_anew(guest: Guest, controls: Controls) -> None:
    guest.connect()
    controls.call("POST", "/faults", {"when": {"operation": "transactions", "nth": 2}, "answer": {"status": 400}})
    reply = guest.get("/accounts/0")
    assert reply.status_code == 502 and "The bank refused" in seen(reply)
    assert "Page 1 of" in guest.text("/accounts/0")


@pytest.mark.parametrize("operation", ["accounts", "account", "consent_addresses"])
def test_each_page_says_when_the_bank_is_busy(operation: str, guest: Guest, controls: Controls) -> None:
    controls.call("POST", "/faults", {"when": {"operation": operation}, "answer": {"status": 503, "retry_after": 9}})
    if operation == "consent_addresses":
        reply = guest.post("/accounts/connect")
    else:
        guest.connect()
        reply = guest.get("/accounts")
    assert reply.status_code == 503 and "Try again in 9 seconds" in seen(reply)
    assert 'class="go" href="/accounts"' in reply.text


def test_a_code_that_the_bank_refuses_gives_no_access(guest: Guest, controls: Controls) -> None:
    address = guest.post("/accounts/connect").headers["Location"]
    callback = controls.psu.approve(address, "alice")
    for query in (re.sub("code=[^&]+&?", "", urlsplit(callback).query), None):
        if query is not None:
            state = re.findall("state=([^&]+)", query)[0]
            assert guest.get(f"/callback?state={state}").status_code == 400
    assert guest.come_back(callback).status_code == 400  # its state was used
    assert "Connect your bank" in guest.text("/accounts")


def test_accounts_belong_to_their_visitor(guest: Guest, shop: Flask, controls: Controls) -> None:
    guest.connect()
    stranger = Guest(shop, controls)
    assert "Connect your bank" in stranger.text("/accounts")
    assert stranger.get("/accounts/0").headers["Location"] == "/accounts"


def test_a_balance_of_another_account_is_not_shown(guest: Guest, controls: Controls) -> None:
    guest.connect()
    controls.call("PATCH", "/settings", {"extensions": ["lie: account_iban"]})
    reply = guest.get("/accounts")
    assert reply.status_code == 502 and "does not answer" in seen(reply)
