"""What grows with every call is bounded, by acts alone, and never at the cost of money (choice 10)."""

from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from uuid import uuid4

import pytest
from flask import Flask

from sandbox.bank.bounded_registers import drop_invalid, forget_first, forget_oldest
from sandbox.contract.decisions import Decisions
from sandbox.storage.state_hash import hash_state
from sandbox.worlds.registry import WorldRegistry
from sandbox.worlds.snapshot import replay
from sandbox.worlds.world import World
from tests.threads import wait_for_threads
from tests.tpp import CALLBACK, VERIFIER, Tpp, refused, version

FEW = 10
PAST = "2027-03-01T09:00:05+01:00"


@pytest.fixture
def world(worlds: WorldRegistry) -> World:
    settings = replace(worlds.beginning.settings, remembered_max=FEW, acts_kept=12)
    return worlds.make("default", replace(worlds.beginning, settings=settings), replacing=True)


@pytest.fixture
def tpp(world: World, app: Flask) -> Tpp:
    return Tpp(app)


def test_the_oldest_go_first_and_several_at_once() -> None:
    register, decisions = dict.fromkeys(range(100), "x"), Decisions(remembered_max=100)
    assert forget_oldest(register, decisions) == []
    register[100] = "x"
    assert forget_oldest(register, decisions) == list(range(11))
    assert list(register) == list(range(11, 101))
    kept = list(range(101))
    forget_first(kept, Decisions(remembered_max=101), int)
    assert len(kept) == 101
    forget_first(kept, decisions, int)
    assert kept == list(range(11, 101))


def test_what_stands_is_never_forgotten() -> None:
    register = {number: number % 2 for number in range(60)}
    drop_invalid(register, 30, 30, lambda key, odd: bool(odd))
    assert len(register) == 60
    drop_invalid(register, 30, 20, lambda key, odd: bool(odd))
    assert [key for key, odd in register.items() if odd] == list(range(1, 60, 2))
    assert [key for key, odd in register.items() if not odd] == list(range(24, 60, 2))


def bought(tpp: Tpp, form: dict[str, str]) -> Any:
    sent = {"Request-ID": str(uuid4()), "Accept": version(3)}
    return tpp.http.post("/token", data=form, headers=sent, auth=("demo-tpp", "demo-secret"))


def pair_of(tpp: Tpp) -> dict[str, str]:
    callback = tpp.signed(tpp.initiate(), "alice")
    code = dict(parse_qsl(urlsplit(callback).query))["code"]
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK, "code_verifier": VERIFIER}
    return dict(bought(tpp, form).json)


def test_every_register_that_calls_fill_is_bounded_and_replays_to_the_same_bank(tpp: Tpp, world: World) -> None:
    world.bank.settings = replace(world.bank.settings, acts_kept=1_000)  # all acts, to play them again
    before = sum(row["balances"][0]["balance"] for row in tpp.listed("accounts"))
    pair = pair_of(tpp)
    for _ in range(3 * FEW):
        form = {"grant_type": "refresh_token", "refresh_token": pair["refresh_token"]}
        reply = bought(tpp, form)
        assert reply.status_code == 200
        pair |= reply.json
        asked = tpp.call("GET", "/consent-uris?scope=AIS", accept=version(4))
        assert asked.status_code == 200, asked.text
        address = tpp.initiate().headers["Location"]
        assert tpp.http.get(urlsplit(address).path, headers={"Accept-Language": "fr"}).status_code in (200, 303)
    bank = world.bank
    for register in (bank.asked, bank.sessions, bank.codes, bank.sca_tokens, bank.consent_addresses):
        assert len(register) <= FEW
    assert len(bank.access_tokens) <= FEW + 1 and len(bank.refresh_tokens) <= FEW + 1
    assert len(bank.payments) == len(bank.sca_addresses) == 3 * FEW + 1
    read = {"authorization": f"Bearer {pair['access_token']}"}
    paid = tpp.call("GET", f"/payments/sepa-credit-transfers/{next(iter(bank.payments))}/details", **read)
    assert paid.status_code == 200, paid.text
    assert sum(row["balances"][0]["balance"] for row in tpp.listed("accounts")) == before
    again = replay(replace(world.beginning, at=world.opening), world.log, bank.clock.now)
    again.settings = bank.settings
    assert hash_state(again) == hash_state(bank)
    assert list(again.asked) == list(bank.asked)


def test_a_request_id_that_was_forgotten_is_new_and_one_that_is_kept_is_replayed(tpp: Tpp) -> None:
    ids = [str(uuid4()) for _ in range(FEW + 1)]
    first = [tpp.initiate(request_id=one).get_json()["payment_id"] for one in ids]
    assert tpp.initiate(request_id=ids[-1]).get_json()["payment_id"] == first[-1]
    assert tpp.initiate(request_id=ids[0]).get_json()["payment_id"] not in first


def test_callbacks_keep_their_numbers_when_the_first_are_gone(tpp: Tpp) -> None:
    rule = {"when": {"creditor_name": "Jan Peeters"}, "psu": {"approves": True, "customer": "alice", "after": "1s"}}
    story = {"settings": {"remembered_max": FEW}, "rules": [rule]}
    assert tpp.control("PUT", "/scenario", scenario=story).status_code == 200
    for _ in range(FEW + 5):
        tpp.initiated()
    tpp.advance("10s")
    assert [row["seq"] for row in tpp.listed("callbacks")] == list(range(7, 16))
    reply = tpp.control("GET", "/callbacks?since=13").get_json()["callbacks"]
    assert [row["seq"] for row in reply] == [14, 15]
    assert tpp.control("GET", "/referee").status_code == 200


def test_acts_before_what_is_kept_are_folded_and_the_world_stays_whole(tpp: Tpp, world: World) -> None:
    for _ in range(40):
        tpp.initiated()
        tpp.advance("1s")
        wait_for_threads("compaction")
    assert len(list(world.log)) <= 12 and len(world.log) == 40
    again = replay(replace(world.beginning, at=world.opening), world.log, world.bank.clock.now)
    assert hash_state(again) == hash_state(world.bank)


def test_a_world_whose_first_acts_are_folded_is_not_exported(tpp: Tpp) -> None:
    tpp.initiated()
    assert tpp.control("GET", "/export").status_code == 200
    for _ in range(24):
        tpp.initiated()
        wait_for_threads("compaction")
    assert refused(tpp.control("GET", "/export"), 400, "SBX-0400", "acts_kept")


def test_a_fork_reaches_back_as_far_as_acts_are_kept_and_no_further(tpp: Tpp, app: Flask, world: World) -> None:
    seen: dict[str, int] = {}
    for number in range(40):
        tpp.initiated()
        seen[tpp.control("GET", "/clock").get_json()["now"]] = number + 1
        tpp.advance("1s")
        wait_for_threads("compaction")
    for at in list(seen)[-6:]:
        assert (
            tpp.control("POST", "/worlds/default/fork", **{"as": "then", "at": at, "replace": True}).status_code == 201
        )
        assert len(Tpp(app, "then").listed("payments")) == seen[at]
    assert refused(
        tpp.control("POST", "/worlds/default/fork", **{"as": "none", "at": PAST}), 400, "SBX-0400", "acts_kept"
    )
    assert tpp.control("POST", "/worlds/default/fork", **{"as": "twin"}).status_code == 201
    latest = list(seen)[-3]
    assert Tpp(app, "twin").control("POST", "/worlds/twin/fork", **{"as": "second", "at": latest}).status_code == 201
    assert len(Tpp(app, "second").listed("payments")) == seen[latest]
    assert tpp.control("POST", "/reset").status_code == 200
    assert tpp.listed("payments") == []


def test_a_thousand_faults_are_the_most(tpp: Tpp, world: World) -> None:
    fault = {"when": {"operation": "token"}, "delay": "1s"}
    assert tpp.control("POST", "/faults", **fault).status_code == 201
    world.faults.rules *= 1_000
    assert refused(tpp.control("POST", "/faults", **fault), 400, "SBX-0400", "1000")
