"""The stream: bounded, heard once, and with what customers do by themselves."""

from typing import Any

import pytest
from flask import Flask

from sandbox.extensions.referee import rule, stream
from sandbox.extensions.referee.rule import RuleState
from sandbox.extensions.referee.stream import find_referee
from sandbox.worlds.registry import WorldRegistry
from tests.referee.actor import Actor


def test_what_a_rule_remembers_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rule, "KEPT_MAX", 3)
    own = RuleState()
    for number in range(5):
        own[number] = number
    own[4] = "again"
    own.trim()
    assert dict(own) == {2: 2, 3: 3, 4: "again"}


def test_of_many_findings_the_rest_is_counted(actor: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "FINDINGS_MAX", 2)
    for _ in range(5):
        actor.pay(method="plain")
    found = actor.tpp.control("GET", "/referee").get_json()
    assert (len(found["findings"]), found["not_listed"]) == (2, {"pkce-plain": 3})


def test_a_customer_of_the_scenario_who_signs_wants_a_status_call_too(actor: Actor) -> None:
    rule = {"when": {"kind": "payment"}, "psu": {"customer": "alice", "after": "10s", "approves": True}}
    assert actor.tpp.control("PUT", "/scenario", scenario={"rules": [rule]}).status_code == 200
    flow = actor.pay()
    actor.advance("1m")
    assert actor.rules() == ["status-never-asked"]
    actor.status(flow)
    assert actor.rules() == []


def test_a_lost_reply_that_is_asked_for_again_is_no_fault(actor: Actor) -> None:
    same: dict[str, Any] = {
        "request_id": "8c8ee7a5-4f0f-4d3f-9f57-1a6f1a6e2d11",
        "reference": "INVOICE-1",
        "verifier": "v" * 20 + "abcdefghijklmnopqrstuvw",
    }
    assert actor.post(**same).get_json()["payment_id"] == actor.post(**same).get_json()["payment_id"]
    assert actor.rules() == []


def test_the_pages_are_heard_too(actor: Actor) -> None:
    flow = actor.pay()
    assert actor.http.get(flow.address).status_code == 200
    assert actor.rules() == ["state-missing"]


def test_a_page_of_no_address_is_nobodys(actor: Actor) -> None:
    actor.http.get("/psu/sign/nothing?state=x")
    actor.tpp.control("POST", "/psu/approve", address="nothing")
    actor.http.post("/_sandbox/psu/approve", data=b"{")
    assert actor.rules() == []


def test_a_reply_that_a_fault_spoils_is_heard_all_the_same(actor: Actor) -> None:
    flow, tokens = actor.signed(), actor.reader()
    account = actor.ids(tokens)[0]
    for operation in ("token", "consent_addresses", "transactions", "payment_initiation"):
        actor.fault(operation, change="malformed")
    assert actor.exchange(flow).status_code == 200
    assert actor.tpp.call("GET", "/consent-uris?scope=AIS", accept="application/vnd.service.api+json; version=4")
    actor.get(f"/accounts/{account}/transactions", tokens)
    actor.post()
    assert set(actor.rules()) <= {"paging-stopped"}


def test_the_journal_is_read_once(actor: Actor, worlds: WorldRegistry) -> None:
    actor.signed()
    world = worlds.get("default")
    once = dict(find_referee(world).count_moves(world.bank))
    assert once == dict(find_referee(world).count_moves(world.bank)) and set(once.values()) == {1}


def test_made_up_headers_do_not_make_the_referee_grow(
    actor: Actor, worlds: WorldRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "TRIMMED_EVERY", 4)
    flow, letters = actor.pay(), "abcdefghijklmnop"
    for letter in letters:
        actor.status(flow, accept_language=f"fr, x{letter};q=0.5")
    referee = find_referee(worlds.get("default"))
    assert len(referee._rules) <= 3 + 4
    asked = sum(times for (operation, *_), times in referee.met.items() if operation == "payment_status")
    assert asked == len(letters)


def test_clients_that_take_turns_are_told_apart(actor: Actor, app: Flask, worlds: WorldRegistry) -> None:
    other = Actor(app, worlds.get("default").bank)
    other.tpp.client_id = "other-tpp"
    theirs, same = other.pay(), "8c8ee7a5-4f0f-4d3f-9f57-1a6f1a6e2d11"
    mine = actor.pay()
    for _ in range(2):
        actor.status(mine, request_id=same)
        other.status(theirs)
    assert actor.rules() == ["request-id-constant"]
