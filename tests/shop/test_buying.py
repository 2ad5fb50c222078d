"""The shop is paid by bank: every way that a payment can go, and every way that it must not (service 4.1 to 4.3)."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from flask import Flask

from sandbox.banking.iban import is_iban
from sandbox.client import Controls
from sandbox.extensions.shop.bank_client import BankClient
from sandbox.extensions.shop.goods import SHOP_IBAN
from sandbox.extensions.shop.payments import compute_next_question, follow
from sandbox.extensions.shop.visitors import ShopOrder
from tests.shop.conftest import Calls
from tests.shop.guest import HOME, Guest, seen


def iban_of(controls: Controls, customer: str) -> str:
    return next(str(row["accounts"][0]) for row in controls.listed("customers") if row["customer"] == customer)


def test_an_order_goes_from_the_shelf_to_settled_money(
    guest: Guest, controls: Controls, calls: Calls, findings: Calls
) -> None:
    path, address = guest.order("", "mug", "honey", "mug")
    assert len(parse_qs(urlsplit(address).query)["state"][0]) >= 16
    assert "Waiting for your signature" in guest.text(path)
    assert guest.sign(address).headers["Location"] == path
    controls.clock.advance("1s")
    page = guest.text(path)
    assert "Signed, and not settled yet" in page and "€ 43.40" in page
    assert "Signed by Alice Delvigne, from BE16 5391 0000 1774" in page
    controls.clock.advance("5s")
    assert "The money is on its way" in guest.text(f"{path}/state")
    controls.clock.advance("1m")
    assert "Paid" in guest.text(path)
    (payment,) = controls.listed("payments")
    assert payment["order"]["instructed_amount"] == {"amount": "43.40", "currency": "EUR"}
    assert payment["order"]["creditor_account"]["iban"] == SHOP_IBAN and is_iban(SHOP_IBAN)
    assert calls()[:3] == ["payment_initiation", "payment_status", "token"]
    assert findings() == []


@pytest.mark.parametrize("lie", ["amount", "currency", "creditor_iban", "creditor_name", "reference", "message"])
def test_nobody_is_thanked_for_a_payment_that_is_not_the_order(guest: Guest, controls: Controls, lie: str) -> None:
    controls.call("PATCH", "/settings", {"extensions": [f"lie: details_{lie}"]})
    path, address = guest.order()
    guest.sign(address)
    page = guest.text(path)
    assert "Signed, and not settled yet" in page and "Signed by" not in page


def test_a_final_status_is_not_asked_for_again(guest: Guest, controls: Controls, calls: Calls) -> None:
    path, address = guest.order()
    guest.sign(address)
    controls.clock.advance("61s")
    assert "data-after" not in guest.get(path).text
    asked = len(calls())
    assert "Paid" in guest.text(f"{path}/state") and len(calls()) == asked
    assert guest.post(f"{path}/pay").headers["Location"] == path
    assert len(calls()) == asked and len(controls.listed("payments")) == 1


def test_the_bank_is_asked_at_most_once_a_second(guest: Guest, controls: Controls, calls: Calls) -> None:
    path, _ = guest.order()
    for _ in range(3):
        assert 'data-after="2"' in guest.get(f"{path}/state").text
    assert calls().count("payment_status") == 1
    controls.clock.advance("1s")
    guest.get(f"{path}/state")
    assert calls().count("payment_status") == 2


def test_patience_grows_and_ends(guest: Guest, line: BankClient, shop: Flask) -> None:
    guest.order()
    (order,) = next(iter(shop.extensions["visitors"])).orders.values()
    steps = []
    for times in (0, 10, 30, 120):
        order.last.times_asked = times
        steps.append(compute_next_question(order, line.now()))
    assert steps == [2, 5, 15, None]
    assert compute_next_question(ShopOrder("MQ-1", {"mug": 1}), line.now()) is None


def test_the_account_may_be_named_in_the_shop(guest: Guest, findings: Calls) -> None:
    path, address = guest.order("be16 5391 0000 1774")
    guest.sign(address, None)
    assert "from BE16 5391 0000 1774" in guest.text(path)
    assert findings() == []


@pytest.mark.parametrize(
    "iban, words",
    [
        ("BE12 3456", "does not know such an account number"),
        ("BE68 5390 0754 7034", "not at this bank"),
        ('"><script>', "does not know such an account number"),
    ],
)
def test_an_account_that_the_bank_refuses_is_told_in_the_basket(
    iban: str, words: str, guest: Guest, findings: Calls
) -> None:
    guest.post("/basket", code="tea")
    for _ in range(2):
        reply = guest.post("/orders", iban=iban)
        assert reply.status_code == 422 and words in seen(reply)
    assert "<script>" not in reply.text.replace('<script src="/static/', "")
    assert "Pear and linden tea" in guest.text("/basket") and guest.orders() == []
    assert findings() == []


def test_what_the_customer_may_not_pay_is_told_in_words(guest: Guest, controls: Controls) -> None:
    for _ in range(4):
        guest.post("/basket", code="blanket")
    assert "may not pay so much" in seen(guest.post("/orders", iban=iban_of(controls, "limited")))
    assert "not enough money" in seen(guest.post("/orders", iban=iban_of(controls, "poor")))
    assert "nobody pay online" in seen(guest.post("/orders", iban=iban_of(controls, "blocked")))


def test_a_customer_refuses_and_pays_after_all(guest: Guest, controls: Controls, findings: Calls) -> None:
    path, address = guest.order()
    assert guest.refuse(address).headers["Location"] == path
    assert "You chose not to sign" in guest.text(path)
    again = guest.post(f"{path}/pay").headers["Location"]
    assert again != address
    guest.sign(again)
    controls.clock.advance("1m")
    assert "Paid" in guest.text(path)
    first, second = (row["order"]["endtoend_identification"] for row in controls.listed("payments"))
    assert {first, second} == {f"{path[8:]}-1", f"{path[8:]}-2"}
    assert findings() == []


def test_who_comes_back_unsigned_goes_on_at_the_same_address(guest: Guest, controls: Controls) -> None:
    path, address = guest.order()
    controls.clock.advance("2m")
    assert guest.post(f"{path}/pay").headers["Location"] == address
    assert len(controls.listed("payments")) == 1


def test_an_address_that_grew_old_is_renewed(guest: Guest, controls: Controls, findings: Calls) -> None:
    path, address = guest.order()
    controls.clock.advance("5m")
    page = guest.get(path)
    assert "has grown old" in page.text and "data-after" not in page.text
    controls.clock.advance("1s")
    again = guest.post(f"{path}/pay").headers["Location"]
    assert again != address
    guest.sign(again)
    controls.clock.advance("2h")
    assert "Paid" in guest.text(path)
    assert sorted(row["status"] for row in controls.listed("payments")) == ["ACSC", "CANC"]
    assert findings() == []


def test_nobody_pays_twice_who_signed_and_lost_the_way_back(guest: Guest, controls: Controls) -> None:
    path, address = guest.order()
    controls.psu.approve(address, "alice")
    assert guest.post(f"{path}/pay").headers["Location"] == path
    assert "Signed, and not settled yet" in guest.text(path)
    assert len(controls.listed("payments")) == 1


def test_an_order_is_followed_also_when_nobody_looks(
    guest: Guest, controls: Controls, shop: Flask, line: BankClient, calls: Calls, findings: Calls
) -> None:
    path, address = guest.order()
    controls.psu.approve(address, "alice")
    for _ in range(3):
        controls.clock.advance("30s")
        follow(line, shop.extensions["visitors"])
        follow(line, shop.extensions["visitors"])
    asked = calls().count("payment_status")
    assert asked == 2
    controls.clock.advance("1h")
    follow(line, shop.extensions["visitors"])
    assert calls().count("payment_status") == asked
    assert "Paid" in guest.text(path) and findings() == []


def test_a_bank_that_does_not_answer_is_followed_later(
    guest: Guest, controls: Controls, shop: Flask, line: BankClient, calls: Calls
) -> None:
    path, address = guest.order()
    controls.psu.approve(address, "alice")
    controls.call("POST", "/faults", {"when": {"operation": "payment_status", "nth": 1}, "answer": {"status": 500}})
    controls.clock.advance("61s")
    follow(line, shop.extensions["visitors"])
    controls.clock.advance("30s")
    follow(line, shop.extensions["visitors"])
    assert calls().count("payment_status") == 2
    assert "Paid" in guest.text(path) and calls().count("payment_status") == 2


def test_a_payment_that_the_bank_has_forgotten_is_said_so(
    guest: Guest, controls: Controls, shop: Flask, line: BankClient, calls: Calls
) -> None:
    path, _ = guest.order()
    controls.reset()
    page = guest.get(path).text
    assert "does not tell us about this payment" in page and 'data-after="30"' in page
    controls.clock.advance("30s")
    follow(line, shop.extensions["visitors"])
    assert calls().count("payment_status") == 2


def test_the_list_of_orders_is_as_fresh_as_the_bank_allows(guest: Guest, controls: Controls, calls: Calls) -> None:
    for _ in range(2):
        guest.sign(guest.order()[1])
    controls.clock.advance("61s")
    assert guest.text("/orders").count("Paid") == 2
    guest.order()
    controls.call("POST", "/faults", {"when": {"operation": "payment_status"}, "answer": {"status": 500}})
    controls.clock.advance("1s")
    assert "Waiting for your signature" in guest.text("/orders")


@pytest.mark.parametrize(
    "status, reason, words",
    [
        ("RJCT", "AC04", "our account is closed"),
        ("RJCT", "MS03", "did not carry out the payment. If money"),
        ("CANC", "TIME_OUT", "Nobody signed within the hour"),
    ],
)
def test_a_payment_that_fails_is_told_and_can_be_made_again(
    status: str, reason: str, words: str, guest: Guest, controls: Controls
) -> None:
    path, address = guest.order()
    if status == "RJCT":
        guest.sign(address)
        controls.move(controls.listed("payments")[0]["payment_id"], status, reason)
    else:
        controls.clock.advance("1h")
    controls.clock.advance("1s")
    assert words in guest.text(path)
    assert guest.post(f"{path}/pay").headers["Location"].startswith("http://127.0.0.1:8080/psu/")


def test_an_account_with_two_signatures_waits_for_the_second(guest: Guest, controls: Controls) -> None:
    path, address = guest.order(iban_of(controls, "notaris"))
    guest.sign(address, "notaris")
    controls.clock.advance("1s")
    assert "One more signature" in guest.text(path)
    assert guest.post(f"{path}/pay").headers["Location"] == path
    controls.psu.sign(controls.listed("payments")[0]["payment_id"], "griet")
    controls.clock.advance("61s")
    assert "Paid" in guest.text(path)


def test_what_the_bank_said_before_the_signature_is_not_taken_for_a_second_one(
    guest: Guest, controls: Controls, findings: Calls
) -> None:
    path, address = guest.order()
    assert "Waiting for your signature" in guest.text(path)
    guest.sign(address)  # within the second in which the bank was asked
    assert "Signed, and not settled yet" in guest.text(path)
    assert findings() == []


def test_a_signature_that_the_bank_does_not_speak_of_yet_is_a_signature(guest: Guest, controls: Controls) -> None:
    path, address = guest.order()
    guest.text(path)
    controls.call("POST", "/faults", {"when": {"operation": "payment_status"}, "answer": {"status": 500}})
    guest.sign(address)
    page = guest.text(path)
    assert "Signed, and not settled yet" in page and "this may be out of date" in page


# The callback


def test_a_foreign_state_is_refused_and_buys_nothing(
    guest: Guest, shop: Flask, controls: Controls, calls: Calls
) -> None:
    path, address = guest.order()
    callback = controls.psu.approve(address, "alice")
    stranger = Guest(shop, controls)
    for visitor, query in (
        (stranger, urlsplit(callback).query),  # another visitor's return
        (guest, re.sub("state=[^&]+", "state=somebody-elses-state", urlsplit(callback).query)),
        (guest, re.sub("&?state=[^&]+", "", urlsplit(callback).query)),
    ):
        reply = visitor.get(f"/callback?{query}")
        assert reply.status_code == 400 and "not yours" in reply.text
    assert "token" not in calls()
    assert guest.come_back(callback).headers["Location"] == path
    assert guest.come_back(callback).headers["Location"] == path  # as after a reload
    assert stranger.come_back(callback).status_code == 400
    assert calls().count("token") == 1


@pytest.mark.parametrize("operation", ["token", "payment_details"])
def test_a_payment_goes_on_when_the_thanks_cannot_be_said(operation: str, guest: Guest, controls: Controls) -> None:
    path, address = guest.order()
    controls.call("POST", "/faults", {"when": {"operation": operation}, "answer": {"status": 503}})
    assert guest.sign(address).headers["Location"] == path
    controls.clock.advance("61s")
    page = guest.text(path)
    assert "Paid" in page and "Signed by" not in page


# The shop's own doors


def test_a_form_that_is_not_the_visitors_own_does_nothing(guest: Guest, controls: Controls) -> None:
    guest.post("/basket", code="mug")
    for path in ("/basket", "/orders", "/orders/MQ-1/pay", "/accounts/connect", "/accounts/disconnect"):
        for forged in ("", "forged", "é"):
            assert guest.http.post(path, base_url=HOME, data={"proof": forged, "code": "tea"}).status_code == 403
    assert "Stoneware mug" in guest.text("/basket") and "Pear and linden" not in guest.text("/basket")
    assert controls.listed("payments") == []


def test_an_order_belongs_to_its_visitor(guest: Guest, shop: Flask, controls: Controls) -> None:
    path, _ = guest.order()
    stranger = Guest(shop, controls)
    assert {stranger.get(path).status_code, stranger.get(f"{path}/state").status_code} == {404}
    assert stranger.post(f"{path}/pay").status_code == 404
    assert "None so far" in stranger.text("/orders")


def test_a_name_that_the_shop_did_not_give_is_nobodys(guest: Guest) -> None:
    guest.http.set_cookie("marloquin-9000", "chosen-by-somebody", domain="127.0.0.1")
    cookie = guest.get("/").headers["Set-Cookie"]
    assert "chosen-by-somebody" not in cookie
    assert "HttpOnly" in cookie and "SameSite=Lax" in cookie


def test_counts_stay_within_reason(guest: Guest) -> None:
    assert guest.post("/orders").headers["Location"] == "/basket"
    for wanted in ("100", "-1", "x", "²", "12345"):
        guest.post("/basket", code="mug", count=wanted)
    assert "€ 162.00" in guest.text("/basket")
    guest.order()
    assert guest.post("/orders").headers["Location"] == "/orders"  # pressed twice
    guest.post("/basket", code="mug")
    guest.post("/basket", code="mug", count="0")
    assert "It is empty" in guest.text("/basket")
    assert guest.post("/basket", code="crown").status_code == 404
    assert guest.post("/basket", code="m" * 20_000).status_code == 413


def test_every_page_keeps_to_itself(guest: Guest) -> None:
    for path in ("/", "/basket", "/orders", "/accounts", "/nowhere"):
        headers = guest.get(path).headers
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "form-action 'self' http://127.0.0.1:8080" in policy
        assert headers["Cache-Control"] == "no-store" and headers["Referrer-Policy"] == "no-referrer"
    with guest.get("/static/shop.css") as style:
        assert style.headers["X-Content-Type-Options"] == "nosniff"


def test_another_name_of_the_machine_leads_to_the_one_that_the_bank_knows(guest: Guest) -> None:
    reply = guest.http.get("/orders", base_url="http://localhost:9000")
    assert (reply.status_code, reply.headers["Location"]) == (303, f"{HOME}/")
