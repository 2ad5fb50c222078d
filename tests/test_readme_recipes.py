"""Each recipe of the README's section `Test ...` gives what it promises, with the words that stand there."""

import json
from datetime import timedelta
from typing import Any

import httpx
import pytest

from sandbox.client import Client, Controls, Initiation, Refused, Tokens
from sandbox.contract.decisions import AXES
from sandbox.web.api.faults import Cut
from tests.conftest import HERE
from tests.readme import section, spans

RECIPES = dict(told.lstrip("*").split(".**", 1) for told in section("Test ...").strip().split("\n\n"))


@pytest.fixture
def client(http: httpx.Client) -> Client:
    return Client(HERE, http=http)


def bodies(recipe: str) -> list[dict[str, Any]]:
    """What the recipe sends."""
    return [json.loads(span) for span in spans(RECIPES[recipe]) if span.startswith('{"')]


def pay(client: Client, **changes: Any) -> Initiation:
    order = {"creditor_iban": "BE68539007547034", "creditor_name": "Jan Peeters", "amount": "12.50"}
    return client.pay(**order | changes)


def consented(client: Client, controls: Controls) -> tuple[Tokens, str]:
    consent = client.consent_addresses()
    tokens = client.tokens_from(controls.psu.approve(consent.address, "alice"), consent.flow)
    return tokens, client.accounts(tokens)[0].logical_id


def history(controls: Controls, payment: Initiation) -> list[str]:
    body = controls.call("GET", f"/payments/{payment.payment_id}").body
    return [row["status"] for row in body["history"]]


def test_a_payment_that_expires(client: Client, controls: Controls) -> None:
    payment = pay(client)
    (advance,) = bodies("a payment that expires")
    controls.call("POST", "/clock", advance)
    assert (client.status(payment).status, client.status(payment).reason) == ("CANC", "TIME_OUT")


def test_a_rejected_payment(client: Client, controls: Controls) -> None:
    assert "Test AC04" in spans(RECIPES["a rejected payment"])
    known, other = pay(client, creditor_name="Test AC04"), pay(client)
    for payment in (known, other):
        controls.psu.approve(payment.sca_address or "", "alice")
    controls.clock.advance("10s")
    (move,) = bodies("a rejected payment")
    controls.call("POST", f"/payments/{other.payment_id}/move", move)
    assert [client.status(payment).reason for payment in (known, other)] == ["AC04", "AC04"]
    assert history(controls, other) == ["RCVD", "PATC", "PDNG", "ACSP", "RJCT"]
    with pytest.raises(Refused, match="409"):
        controls.call("POST", f"/payments/{other.payment_id}/move", {"status": "PATC"})


def test_a_future_dated_payment_without_funds(client: Client, controls: Controls) -> None:
    payment = pay(client, on=controls.clock.get().now.date() + timedelta(days=3), amount="900.00")
    controls.psu.approve(payment.sca_address or "", "poor")
    (wanted,) = bodies("a future-dated payment, and one without funds")
    controls.call("POST", "/await", wanted | {"payment_id": payment.payment_id})
    assert client.status(payment).reason == "AM04"
    with pytest.raises(Refused, match="409"):
        controls.call("POST", "/await", {"payment_id": payment.payment_id, "status": "ACSC"})


def test_a_second_signature(client: Client, controls: Controls) -> None:
    payment = pay(client)
    controls.psu.approve(payment.sca_address or "", "notaris")
    assert client.status(payment).status == "PATC"
    (sign,) = bodies("a second signature")
    controls.call("POST", "/psu/sign", sign | {"payment_id": payment.payment_id})
    assert client.status(payment).status == "PDNG"


def test_a_second_signer_who_refuses(client: Client, controls: Controls) -> None:
    payment = pay(client)
    controls.psu.approve(payment.sca_address or "", "notaris")
    (sign,) = bodies("a second signature")
    controls.call("POST", "/psu/refuse", sign | {"payment_id": payment.payment_id})
    found = client.status(payment)
    assert (found.status, found.reason) == ("CANC", "PSU_REFUSED")


def test_paging(client: Client, controls: Controls) -> None:
    tokens, account = consented(client, controls)
    first = client.transactions(account, tokens)
    assert len(first.transactions) == 50
    controls.book("BE16539100001774", "1.00")
    rest = list(client.all_transactions(account, tokens))
    assert len(rest) > 400 and rest[1:51] == list(first.transactions)
    (smaller,) = bodies("paging")
    controls.call("PATCH", "/settings", smaller)
    assert len(client.transactions(account, tokens).transactions) == 5


def test_references_that_change(client: Client, controls: Controls) -> None:
    tokens, account = consented(client, controls)
    (variants,) = bodies("references that change")
    controls.call("PATCH", "/settings", variants)
    first = client.transactions(account, tokens).transactions
    controls.clock.advance("1m")
    second = client.transactions(account, tokens).transactions
    assert not {line.transaction_ref for line in first} & {line.transaction_ref for line in second}
    named = [word for word in spans(RECIPES["references that change"]) if word.isidentifier()]
    assert len(named) == 5 and set(named) - set(AXES) == {"transaction_ref"}


def test_a_second_authentication(client: Client, controls: Controls) -> None:
    tokens, account = consented(client, controls)
    assert "91d" in spans(RECIPES["a second authentication"])
    controls.clock.advance("91d")
    with pytest.raises(Refused, match="GEN-1203-100003"):
        client.transactions(account, tokens)
    tokens = client.refresh(tokens)
    with pytest.raises(Refused) as refused:
        client.transactions(account, tokens)
    assert refused.value.error == "SCA_REQUIRED"
    controls.psu.approve(client.renewal(refused.value).address, "alice")
    assert client.transactions(account, tokens).transactions
    controls.psu.withdraw("demo-tpp", "alice")
    with pytest.raises(Refused, match="NO_ACTIVE_CONSENT"):
        client.transactions(account, tokens)


def test_a_standing_order(client: Client, controls: Controls) -> None:
    order: Any = {"creditor_iban": "BE68539007547034", "creditor_name": "Jan Peeters", "amount": "12.50"}
    placed = client.pay_regularly(start_date=controls.clock.get().now.date() + timedelta(days=30), **order)
    controls.psu.approve(placed.sca_address or "", "alice")
    assert "365d" in spans(RECIPES["a standing order"])
    controls.clock.advance("365d")
    told = controls.call("GET", f"/standing-orders/{placed.payment_id}").body
    states = {row["state"] for row in told["occurrences"]}
    assert {"executed", "coming"} <= states and any(row["shifted"] for row in told["occurrences"])


def test_a_bad_monday(client: Client, controls: Controls) -> None:
    controls.call("PUT", "/scenario", {"name": "a_bad_monday_of_503s"})
    controls.clock.advance("30m")
    with pytest.raises(Refused, match="503"):
        pay(client)
    controls.call("DELETE", "/faults")
    payment = pay(client)
    (fault,) = bodies("a bad Monday")
    controls.call("POST", "/faults", fault)
    client.status(payment)
    with pytest.raises(Cut):
        client.status(payment)
    client.status(payment)
